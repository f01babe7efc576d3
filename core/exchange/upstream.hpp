// SPDX-License-Identifier: BSD-3-Clause
// The services' interface to the server that this process is connected to: it packs, sends and answers
// requests. The client role implements it, so that a service can be tested with a fake server.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/exchange/command.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// The number of commits that a process has sent to its server, and of those known to be processed. A process
/// must not pass a shared-memory barrier while one of its commits is in flight. Any thread.
class Commits {
  public:
    size_t sent() const { return sent_; }
    size_t settled() const { return settled_; }
    bool all_settled() const { return sent_ == settled_; }
    /// The last commit that the socket did not accept at once; 0 if there was none.
    size_t behind() const { return behind_; }

    /// One more was sent; `backed_up`: the socket has not taken it yet. On the loop.
    void count(bool backed_up) {
        if (backed_up) behind_ = sent_ + 1;
        ++sent_;
    }
    /// The server has processed the first `commits` of them.
    void settle(size_t commits) { settled_ = std::max(settled_.load(), commits); }

  private:
    std::atomic<size_t> sent_{0};
    std::atomic<size_t> behind_{0};
    std::atomic<size_t> settled_{0};
};

class Upstream {
  public:
    /// Gets the reply, or null if the connection ends first.
    using OnReply = std::function<void(Unpacker* reply)>;
    using OnStatus = std::function<void(pmix_status_t)>;
    using OnMessage = std::function<void(Frame frame)>;

    Upstream() = default;
    Upstream(const Upstream&) = delete;
    Upstream& operator=(const Upstream&) = delete;
    virtual ~Upstream() = default;

    /// Whether there is a server to ask. Any thread.
    virtual bool connected() const = 0;
    /// The server; the last one where its connection has ended. On the loop.
    virtual const pmix_proc_t& server() const = 0;
    /// The version of that server. Any thread.
    virtual PeerVersion server_version() const = 0;
    /// All servers that this process is connected to: the one that is asked first, then in the order of their
    /// connections. On the loop.
    virtual std::vector<pmix_proc_t> servers() const = 0;
    /// Whether this process is connected to that server. On the loop.
    virtual bool connected_to(const pmix_proc_t& server) const = 0;
    /// A message that begins with the command, in the encoding of that server.
    virtual Packer packer(Command command) const = 0;
    /// Sends a request; `done` runs on the loop, once. On the loop.
    virtual void request(Packer&& message, OnReply done) = 0;
    /// Sends a request to one of the servers; `done` gets null if there is no connection to it. On the
    /// loop.
    virtual void request_to(const pmix_proc_t& server, Packer&& message, OnReply done) = 0;
    /// Sends a request whose reply is only a status. On the loop.
    virtual void request_status(Packer&& message, OnStatus done) = 0;
    /// Sends a message that has no reply. On the loop.
    virtual void send(Packer&& message) = 0;
    /// Sends the server a sign of life (PMIX_SEND_HEARTBEAT). On the loop.
    virtual void send_heartbeat() = 0;
    /// Whether the server does not take a message of that length. On the loop.
    virtual bool too_long(size_t length) const = 0;
    /// Stops, or resumes, reading from all servers, replies included: back-pressure. On the loop.
    virtual void pause(bool on) = 0;
    /// Whether the server has still to answer, or to take, something. On the loop.
    virtual bool busy() const = 0;
    /// The encoding for this process's servers.
    virtual WireFormat format() const = 0;

    /// Calls `handler` with each message of this fixed tag (events, forwarded output). Before the connection,
    /// or on the loop.
    virtual void on_message(uint32_t fixed_tag, OnMessage handler) = 0;
    /// Calls `listener` on the loop when the connection to a server is lost.
    virtual void on_lost(std::function<void(const pmix_proc_t& server)> listener) = 0;
    /// Calls `listener` on the loop when another server becomes the one that is asked, or when this process
    /// has disconnected from that server.
    virtual void on_primary(std::function<void()> listener) = 0;

    /// The commits that this process has sent to its server. Any thread.
    virtual Commits& commits() = 0;
};

}  // namespace muster

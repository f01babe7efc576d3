// SPDX-License-Identifier: BSD-3-Clause
// One connection to one server: requests and their replies, and unsolicited messages. A client has
// one, a tool as many as it attaches to. Belongs to the loop, except where noted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/client/connector.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"

namespace muster {

class Connection {
  public:
    /// The reply to a request; null if the connection was lost before. A request that was not sent, because
    /// it could not be packed or exceeds the server's limit, has a reply that fails with the error.
    using OnReply = std::function<void(Unpacker* reply)>;
    /// A message without request.
    using OnMessage = std::function<void(Frame frame)>;
    /// The connection to the server is lost; pending requests have been answered with null.
    using OnLost = std::function<void(const std::string& reason)>;

    Connection(Runtime& runtime, Greeted greeted, WireFormat format);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Frames are read from now on.
    void start(OnMessage on_message, OnLost on_lost);

    const pmix_proc_t& server() const { return server_; }
    const PeerVersion& version() const { return version_; }
    const std::string& uri() const { return uri_; }
    bool is_open() const { return open_; }

    void request(Packer&& message, OnReply done);
    /// Gets the answer to the early request (ServerContact::asks_job_data), or sends `message`.
    void request_job_data(Packer&& message, OnReply done);
    /// A message that has no reply.
    void send(Packer&& message);
    /// The same for one that was packed in place. Throws std::bad_alloc; nothing is sent then.
    void send_parts(const Packer& message);
    /// Whether a message of this length is more than the server takes (PMIX_ERR_OUT_OF_RESOURCE).
    bool too_long(size_t length) const;
    /// Whether replies are pending.
    bool awaits_replies() const { return !pending_.empty() || asked_job_data_; }
    /// Whether the server is behind with reading: messages sent now are queued here.
    bool backed_up() const;
    void send_heartbeat();
    /// Stops (or resumes) reading, for back-pressure.
    void pause(bool on);
    /// Sends the last message to a server that need not answer it, as it reads it whatever becomes of the
    /// connection. False if the caller should wait for an answer: the server is another library's or
    /// elsewhere, replies are pending, or unrequested messages have come, of which more may be on their way.
    bool leave(Packer&& goodbye);
    /// Answers pending requests with null. No callback of start() runs afterwards.
    void close();

  private:
    uint32_t next_tag();
    pmix_status_t sendable(const Packer& message) const;
    void on_frame(Frame frame);
    void take(Frame frame);
    void on_closed(const std::string& reason);
    void answer_pending();

    Runtime& runtime_;
    const pmix_proc_t server_;
    const PeerVersion version_;
    const std::string uri_;
    const WireFormat format_;
    const uint32_t peer_index_;
    const size_t max_payload_;
    std::unique_ptr<Channel> channel_;
    bool open_ = true;
    bool heard_unasked_ = false;  // a message without request
    bool asked_job_data_;         // and its answer is not yet taken
    Frame job_data_;              // that answer, if it has arrived first
    uint32_t last_tag_;
    std::unordered_map<uint32_t, OnReply> pending_;
    OnMessage on_message_;
    OnLost on_lost_;
};

}  // namespace muster

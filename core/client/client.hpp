// SPDX-License-Identifier: BSD-3-Clause
// The client role: the conversation with our server, and what a process does through it. Requests and replies
// belong to the loop; what other threads may call says so.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/protocol/command.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// Where our server is and how it wants to be spoken to, as it left it in our environment.
struct ServerContact {
    std::string nspace;  ///< ours
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    std::vector<std::string> uris;  ///< the server's, best first: "nspace.rank;transport"
    std::string security;           ///< comma list
    std::string stores;             ///< comma list
    std::string version;            ///< the server's
    BufferType buffer_type = BufferType::NonDescribed;

    /// From the environment; nothing when we were not started by a server. An error when what is there is
    /// broken.
    static Result<std::optional<ServerContact>> from_environment();
};

class Client {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;
    /// The reply to a request; null when the connection was lost before it came.
    using OnReply = std::function<void(Unpacker* reply)>;
    /// A message without request, by its tag.
    using OnMessage = std::function<void(Frame frame)>;

    explicit Client(Runtime& runtime);
    ~Client();

    /// Connects and fetches the job data; blocks, so not on the loop. The loop must be running (or external).
    Result<void> connect(const ServerContact& contact);
    /// We have no server: fills the store with what a process alone knows of itself.
    void become_singleton();

    bool connected() const { return connected_.load(std::memory_order_acquire); }
    const pmix_proc_t& server() const { return server_; }
    const PeerVersion& server_version() const { return server_version_; }
    WireFormat format() const { return format_; }
    Packer packer(Command command) const;

    /// Sends a request; `done` runs on the loop. Loop.
    void request(Packer&& message, OnReply done);
    /// A request whose reply is a status alone. Loop.
    void request_status(Packer&& message, OnStatus done);
    /// A message that has no reply. Loop.
    void send(Packer&& message);
    void send_heartbeat();
    /// Who gets messages with this fixed tag (event, forwarded output). Before connect(), or on the loop.
    void on_message(uint32_t fixed_tag, OnMessage handler) { messages_[fixed_tag] = std::move(handler); }
    /// Called on the loop when the connection is lost.
    void on_lost(std::function<void()> listener) { lost_listeners_.push_back(std::move(listener)); }

    // --- posting and getting ---

    /// Any thread.
    pmix_status_t put(pmix_scope_t scope, const char* key, const pmix_value_t& value);
    /// Sends what was put since the last commit. Loop.
    void commit(OnStatus done);
    /// Asks the server for what the store does not have; when `done` gets PMIX_SUCCESS the store has it.
    /// Loop.
    void fetch(const pmix_proc_t& target, const char* key, InfoView info, OnStatus done);

    void fence(std::vector<pmix_proc_t> procs, InfoView info, OnStatus done);
    void abort(pmix_status_t status, const char* message, std::vector<pmix_proc_t> procs, OnStatus done);
    /// Says goodbye. `done` runs when the server has answered, or the limit is reached. Loop.
    void finalize(std::chrono::milliseconds limit, OnStatus done);
    void close();
    /// In a child of fork(): closes its copy of the connection, and does nothing else. Safe there.
    void close_in_child();

  private:
    Result<Socket> open_connection(const ServerContact& contact, std::chrono::milliseconds limit);
    Result<Bytes> handshake(Socket& socket, const ServerContact& contact, std::chrono::milliseconds limit);
    Result<void> fetch_job_data();
    pmix_status_t take_in(Unpacker& reply);
    void on_frame(Frame frame);
    void on_closed(const std::string& reason);

    Runtime& runtime_;
    pmix_proc_t server_{};
    PeerVersion server_version_;
    WireFormat format_;
    uint32_t peer_index_ = 0;
    std::unique_ptr<Channel> channel_;
    std::atomic<bool> connected_{false};
    uint32_t next_tag_ = tag::kFirstDynamic;
    std::unordered_map<uint32_t, OnReply> pending_;
    std::unordered_map<uint32_t, OnMessage> messages_;
    std::vector<std::function<void()>> lost_listeners_;
    std::unique_ptr<Watch> goodbye_limit_;

    struct Staged {
        pmix_scope_t scope;
        std::string key;
    };
    std::mutex staged_lock_;      // guards staged_
    std::vector<Staged> staged_;  ///< put since the last commit; the values are in the store
};

}  // namespace muster

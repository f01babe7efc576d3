// SPDX-License-Identifier: BSD-3-Clause
// The client role: the connection to our server, and the requests over it. A tool may be
// connected to several servers; one of them, the primary, is asked. Requests and replies belong to the loop;
// functions for other threads are marked.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/client/connection.hpp"
#include "core/client/connector.hpp"
#include "core/client/staged_keys.hpp"
#include "core/exchange/exchange.hpp"
#include "core/rendezvous/rendezvous_member.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/mutex.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

class GroupClient;

class Client : public Upstream {
  public:
    Client(Exchange& exchange, GroupClient& groups);
    ~Client() override;

    /// Connects and fetches the job data; blocks, so not on the loop. The loop must be running (or external).
    Result<void> connect(const ServerContact& contact);
    /// Without a server: fills the store with the facts that a process alone has about itself.
    void become_singleton();
    /// Fills the store with that, unless it knows our namespace already.
    void register_alone();

    // --- connections ---

    /// Takes over a connection that connect_to_server() has made, on the loop; blocks, so not from there. The
    /// first one becomes the primary, a further one if `primary` is set. PMIX_ERR_EXISTS if this process is
    /// already connected to that server.
    Result<void> add(Greeted greeted, bool primary);
    /// Requests the job data of the own namespace from the server, with further data for this process.
    /// Blocks. A tool's server may have none.
    Result<void> fetch_job_data();
    /// The same of one of the servers.
    Result<void> fetch_job_data(const pmix_proc_t& server);
    /// The encoding for all servers of this process. Before the first connection.
    void set_format(WireFormat format) { format_ = format; }

    /// Whether there is a primary server to ask. Any thread.
    bool connected() const override { return connected_.load(std::memory_order_acquire); }
    /// The primary server; the last one where its connection has ended.
    const pmix_proc_t& server() const override { return server_; }
    /// Its version. Any thread.
    PeerVersion server_version() const override { return server_version_.load(std::memory_order_acquire); }
    WireFormat format() const override { return format_; }
    /// All servers that we are connected to: the primary first, then as they came. Loop.
    std::vector<pmix_proc_t> servers() const override;
    bool connected_to(const pmix_proc_t& server) const override { return find(server) != nullptr; }
    /// PMIX_ERR_NOT_FOUND where we are not connected to it. A rank of PMIX_RANK_WILDCARD is any. Loop.
    pmix_status_t set_primary(const pmix_proc_t& server);
    /// Sends finalize to one server and ends the connection. Loop.
    void disconnect(const pmix_proc_t& server, std::chrono::milliseconds limit, OnStatus done);
    /// Called on the loop when a connection is added, for calls that wait for one.
    void on_added(std::function<void()> listener) { added_listeners_.push_back(std::move(listener)); }
    /// Called on the loop when another server has become the primary, or when we have left the primary.
    void on_primary(std::function<void()> listener) override {
        primary_listeners_.push_back(std::move(listener));
    }

    Packer packer(Command command) const override;

    /// Sends a request; `done` runs on the loop. Loop.
    void request(Packer&& message, OnReply done) override;
    /// A request whose reply is only a status. Loop.
    void request_status(Packer&& message, OnStatus done) override;
    /// A message that has no reply. Loop.
    void send(Packer&& message) override;
    /// Whether the primary server does not take a message of that length. Loop, or once it is chosen.
    bool too_long(size_t length) const override;
    void send_heartbeat() override;
    /// Whether the primary server has still to answer, or to take, something. Loop.
    bool busy() const override { return primary_ && (primary_->awaits_replies() || primary_->backed_up()); }
    /// As request(), to one of the servers; `done` gets null where we are not connected to it. Loop.
    void request_to(const pmix_proc_t& server, Packer&& message, OnReply done) override;
    /// Reads nothing more from any server for a while, replies included: back-pressure. Loop.
    void pause(bool on) override;
    Commits& commits() override { return commits_; }
    /// Sets the handler of this fixed tag (event, forwarded output). Before connect(), or on the loop.
    void on_message(uint32_t fixed_tag, OnMessage handler) override {
        messages_[fixed_tag] = std::move(handler);
    }
    /// Called on the loop when the connection to a server is lost.
    void on_lost(std::function<void(const pmix_proc_t& server)> listener) override {
        lost_listeners_.push_back(std::move(listener));
    }

    // --- posting and getting ---

    /// Any thread.
    pmix_status_t put(pmix_scope_t scope, const char* key, const pmix_value_t& value);
    /// Deletes a key that was put; `scope` is PMIX_DEL_LOCAL and so on. PMIX_ERR_NOT_SUPPORTED where others
    /// may have the value and the server knows no deletions. Any thread.
    pmix_status_t unput(pmix_scope_t scope, const char* key);
    /// Sends the values put since the last commit; `done` runs when they have been sent. Loop.
    void commit(OnStatus done);
    /// The same where the server does not answer that; nothing, and nothing is done, where it does. Loop.
    std::optional<pmix_status_t> post_staged();

    /// Asks the server. Loop.
    void fence(std::vector<pmix_proc_t> procs, InfoView info, OnStatus done);
    /// Fences in shared memory, if this fence can use it and all processes do so; returns the status. Nothing
    /// if the server has to be asked. Blocks, so not on the loop.
    std::optional<pmix_status_t> fence_in_memory(const std::vector<pmix_proc_t>& procs, InfoView info);
    /// To be held from the call on where a fence is sent to the server later. Any thread.
    Barrier::Away fence_by_server(const std::vector<pmix_proc_t>& procs);
    void abort(pmix_status_t status, const char* message, std::vector<pmix_proc_t> procs, OnStatus done);
    /// Sends finalize to all servers. `done` runs when they have answered, or the limit is reached; with
    /// `in_a_hurry` it does not wait for servers that need not answer. Loop.
    void finalize(std::chrono::milliseconds limit, bool in_a_hurry, OnStatus done);
    void close();

  private:
    std::shared_ptr<Connection> find(const pmix_proc_t& server) const;
    void choose(std::shared_ptr<Connection> primary);
    void take(std::shared_ptr<Connection> connection, bool primary);
    void tell_primary();
    void drop(const std::shared_ptr<Connection>& connection);
    void say_goodbye(const std::shared_ptr<Connection>& connection, std::chrono::milliseconds limit,
                     OnStatus done);
    pmix_status_t pack_staged(Packer& message, bool in_parts) MUSTER_REQUIRES(staged_lock_);
    void pack_deleted(Packer& message) MUSTER_REQUIRES(staged_lock_);
    void clear_staged() MUSTER_REQUIRES(staged_lock_);
    void attach_barrier(UniqueFd fd, std::optional<uid_t> owner);
    void close_memory();
    void on_message_of(Frame frame);

    Exchange& exchange_;
    Runtime& runtime_;
    GroupClient& groups_;
    WireFormat format_;
    std::shared_ptr<Barrier> barrier_;  ///< in memory; null if there is none. Fixed in connect()
    Commits commits_;
    std::vector<std::shared_ptr<Connection>> connections_;  ///< as they came
    std::shared_ptr<Connection> primary_;                   ///< null while there is none
    pmix_proc_t server_{};
    std::atomic<PeerVersion> server_version_{};
    std::atomic<bool> connected_{false};
    std::unordered_map<uint32_t, OnMessage> messages_;
    std::vector<std::function<void(const pmix_proc_t&)>> lost_listeners_;
    std::vector<std::function<void()>> added_listeners_;
    std::vector<std::function<void()>> primary_listeners_;

    Mutex staged_lock_;                                  // also held while the values that they name are read
    StagedKeys staged_ MUSTER_GUARDED_BY(staged_lock_);  ///< put since the last commit
    StagedKeys deleted_ MUSTER_GUARDED_BY(staged_lock_);  ///< likewise deleted, by PMIX_DEL_*
    std::atomic<bool> has_deleted_{false};  ///< a commit with deletions was sent since the last fence
};

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// Connections, requests and what a process does through its server: see client.hpp.
#include "core/client/client.hpp"

#include <algorithm>

#include "core/runtime/completion.hpp"
#include "core/runtime/lookup.hpp"

namespace muster {

Client::Client(Exchange& exchange, GroupClient& groups)
    : exchange_(exchange), runtime_(exchange.runtime()), groups_(groups) {}
Client::~Client() = default;

Packer Client::packer(Command command) const {
    Packer packer(format_);
    packer.command(static_cast<uint8_t>(command));
    return packer;
}

// --- connections ---

std::shared_ptr<Connection> Client::find(const pmix_proc_t& server) const {
    for (const auto& connection : connections_) {
        if (nspace_is(connection->server().nspace, server.nspace) &&
            (server.rank == PMIX_RANK_WILDCARD || connection->server().rank == server.rank))
            return connection;
    }
    return nullptr;
}

std::vector<pmix_proc_t> Client::servers() const {
    std::vector<pmix_proc_t> servers;
    if (primary_) servers.push_back(primary_->server());
    for (const auto& connection : connections_) {
        if (connection != primary_) servers.push_back(connection->server());
    }
    return servers;
}

void Client::choose(std::shared_ptr<Connection> primary) {
    primary_ = std::move(primary);
    if (primary_) {
        server_ = primary_->server();
        server_version_.store(primary_->version(), std::memory_order_release);
    }
    connected_.store(primary_ != nullptr, std::memory_order_release);
}

Result<void> Client::add(Greeted greeted, bool primary) {
    auto connection = std::make_shared<Connection>(runtime_, std::move(greeted), format_);
    const pmix_status_t status = call_and_wait<pmix_status_t>(runtime_, PMIX_ERR_WOULD_BLOCK,
                                                              [this, connection, primary](auto deliver) {
                                                                  if (find(connection->server()))
                                                                      return deliver(PMIX_ERR_EXISTS);
                                                                  take(connection, primary);
                                                                  deliver(PMIX_SUCCESS);
                                                              });
    if (status == PMIX_SUCCESS) return {};
    return Error{status, status == PMIX_ERR_EXISTS
                             ? "already connected to server " + proc_text(connection->server())
                             : "an upcall or handler cannot connect; connect from another thread"};
}

void Client::take(std::shared_ptr<Connection> connection, bool primary) {
    const bool first = connections_.empty();
    connections_.push_back(connection);
    const std::weak_ptr<Connection> weak = connection;
    connection->start([this](Frame frame) { on_message_of(std::move(frame)); },
                      [this, weak](const std::string&) {
                          const auto gone = weak.lock();
                          if (!gone) return;
                          drop(gone);
                          for (const auto& listener : lost_listeners_)
                              listener(gone->server());
                      });
    if (first || primary) choose(std::move(connection));
    if (!first && primary) tell_primary();
    for (const auto& listener : added_listeners_)
        listener();
}

pmix_status_t Client::set_primary(const pmix_proc_t& server) {
    if (primary_ && proc_is(primary_->server(), server)) return PMIX_SUCCESS;
    auto connection = find(server);
    if (!connection) return PMIX_ERR_NOT_FOUND;
    if (connection == primary_) return PMIX_SUCCESS;
    choose(std::move(connection));
    tell_primary();
    return PMIX_SUCCESS;
}

void Client::tell_primary() {
    for (const auto& listener : primary_listeners_)
        listener();
}

void Client::drop(const std::shared_ptr<Connection>& connection) {
    std::erase(connections_, connection);
    if (connection == primary_) choose(nullptr);
    close_memory();
    // Its callbacks may be on the stack: it is destroyed after they return.
    runtime_.loop().at_turn_end([connection] {});
}

void Client::say_goodbye(const std::shared_ptr<Connection>& connection, std::chrono::milliseconds limit,
                         OnStatus done) {
    struct State {
        OnStatus done;
        std::unique_ptr<Watch> watch;
        void finish(pmix_status_t status) {
            watch.reset();
            if (auto callback = std::exchange(done, nullptr)) callback(status);
        }
    };
    auto state = std::make_shared<State>();
    state->done = std::move(done);
    state->watch = runtime_.loop().after(limit, [weak = std::weak_ptr<State>(state)] {
        if (const auto waiting = weak.lock()) waiting->finish(PMIX_ERR_TIMEOUT);
    });
    connection->request(packer(Command::Finalize), [state](Unpacker* reply) {
        pmix_status_t status = PMIX_ERR_LOST_CONNECTION;
        if (reply != nullptr && !reply->status(status)) status = reply->error();
        state->finish(status);
    });
}

void Client::disconnect(const pmix_proc_t& server, std::chrono::milliseconds limit, OnStatus done) {
    const auto connection = find(server);
    if (!connection) return done(PMIX_ERR_NOT_FOUND);
    const auto end = [this, connection] {
        const bool was_primary = connection == primary_;
        drop(connection);
        connection->close();
        if (was_primary) tell_primary();
    };
    if (connection->leave(packer(Command::Finalize))) {
        end();
        return done(PMIX_SUCCESS);
    }
    say_goodbye(connection, limit, [end, done = std::move(done)](pmix_status_t status) {
        end();
        done(status);
    });
}

void Client::finalize(std::chrono::milliseconds limit, bool in_a_hurry, OnStatus done) {
    std::vector<std::shared_ptr<Connection>> waited_for;
    for (const auto& connection : std::vector(connections_)) {
        if (in_a_hurry && connection->leave(packer(Command::Finalize))) {
            drop(connection);
            connection->close();
        } else {
            waited_for.push_back(connection);
        }
    }
    if (waited_for.empty()) return done(PMIX_SUCCESS);
    struct State {
        size_t open;
        pmix_status_t status = PMIX_SUCCESS;
        OnStatus done;
    };
    auto state = std::make_shared<State>();
    state->open = waited_for.size();
    state->done = std::move(done);
    for (const auto& connection : waited_for) {
        say_goodbye(connection, limit, [state](pmix_status_t status) {
            // A server that has ended meanwhile needs no finalize request.
            if (status != PMIX_SUCCESS && status != PMIX_ERR_LOST_CONNECTION) state->status = status;
            if (--state->open == 0) state->done(state->status);
        });
    }
}

void Client::close() {
    const auto connections = std::move(connections_);
    connections_.clear();
    choose(nullptr);
    close_memory();
    for (const auto& connection : connections) {
        connection->close();
        runtime_.loop().at_turn_end([connection] {});
    }
}

// --- requests ---

void Client::request(Packer&& message, OnReply done) {
    if (!primary_) return done(nullptr);
    primary_->request(std::move(message), std::move(done));
}

void Client::request_status(Packer&& message, OnStatus done) {
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(error);
    if (!connected()) return done(PMIX_ERR_UNREACH);
    request(std::move(message), [done = std::move(done)](Unpacker* reply) {
        if (reply == nullptr) return done(PMIX_ERR_LOST_CONNECTION);
        pmix_status_t status = PMIX_SUCCESS;
        done(reply->status(status) ? status : reply->error());
    });
}

void Client::send(Packer&& message) {
    if (primary_) primary_->send(std::move(message));
}

bool Client::too_long(size_t length) const {
    return primary_ && primary_->too_long(length);
}

void Client::send_heartbeat() {
    if (primary_) primary_->send_heartbeat();
}

void Client::request_to(const pmix_proc_t& server, Packer&& message, OnReply done) {
    const auto connection = find(server);
    if (!connection) return done(nullptr);
    connection->request(std::move(message), std::move(done));
}

void Client::pause(bool on) {
    for (const auto& connection : connections_)
        connection->pause(on);
}

void Client::on_message_of(Frame frame) {
    if (const auto handler = messages_.find(frame.tag); handler != messages_.end())
        handler->second(std::move(frame));
}

// --- posting and getting ---

pmix_status_t Client::put(pmix_scope_t scope, const char* key, const pmix_value_t& value) {
    // A process can read its own values at once; peers see them after the commit.
    const MutexLock lock(staged_lock_);
    const pmix_status_t status = runtime_.store().post(runtime_.self(), scope, key, value);
    if (status != PMIX_SUCCESS || scope == PMIX_INTERNAL) return status;
    staged_.add(scope, key);
    return PMIX_SUCCESS;
}

pmix_status_t Client::unput(pmix_scope_t scope, const char* key) {
    const PeerVersion version = server_version();
    if (scope != PMIX_DEL_INTERNAL && connected() && !version.can(Capability::DataDelete) &&
        !version.at_least(7, 0))
        return PMIX_ERR_NOT_SUPPORTED;
    const MutexLock lock(staged_lock_);
    if (scope != PMIX_DEL_INTERNAL) deleted_.add(scope, key);
    if (scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_REMOTE) staged_.halve(key, scope);
    runtime_.store().remove(runtime_.self(), scope, key);
    return PMIX_SUCCESS;
}

/// Packs the keys deleted since the last commit. They precede the staged values, because a key that is still
/// in the store was put after its deletion.
void Client::pack_deleted(Packer& message) {
    for (const pmix_scope_t scope : {PMIX_DEL_LOCAL, PMIX_DEL_REMOTE, PMIX_DEL_GLOBAL}) {
        Packer keys(format_);
        for (const StagedKeys::Staged& one : deleted_) {
            if (one.scope == scope) keys.kval(one.key.c_str(), pmix_value_t{});
        }
        if (keys.length() == 0) continue;
        message.scope(scope);
        message.buffer(keys.view());
    }
}

/// Packs the values put since the last commit, in sections by scope. A message that is sent in parts refers
/// to large values in the store. The values remain staged until the message is sent.
pmix_status_t Client::pack_staged(Packer& message, bool in_parts) {
    if (!deleted_.empty()) pack_deleted(message);
    Packer local(format_), remote(format_), global(format_);
    const auto add = [in_parts](Packer& values, const Found& found) {
        if (in_parts && found.stable) {
            values.kval_in_place(found.key, found.value);
        } else {
            values.kval(found.key, found.value);
        }
    };
    for (const StagedKeys::Staged& one : staged_) {
        if (key_is(one.key.c_str(), PMIX_QUALIFIED_VALUE)) {
            // All have one key: values that were sent before are sent again.
            const auto tell = [&](View view, Packer& values) {
                runtime_.store().find_posted(runtime_.self(), view, [&](const Found& found) {
                    if (key_is(found.key, PMIX_QUALIFIED_VALUE)) add(values, found);
                });
            };
            if (one.scope != PMIX_REMOTE) tell(View::Local, local);
            if (one.scope != PMIX_LOCAL) tell(View::Remote, remote);
            continue;
        }
        Lookup lookup = lookup_of(runtime_.self().nspace, runtime_.self().rank, one.key.c_str());
        lookup.scope = one.scope;
        runtime_.store().find(lookup, [&](const Found& found) {
            if (one.scope == PMIX_GLOBAL && server_version().can(Capability::SilentCommit))
                return add(global, found);
            if (one.scope != PMIX_REMOTE) add(local, found);
            if (one.scope != PMIX_LOCAL) add(remote, found);
        });
    }
    for (const Packer* values : {&local, &remote, &global}) {
        if (values->error() != PMIX_SUCCESS) return values->error();
        if (values->length() == 0) continue;
        message.scope(values == &local ? PMIX_LOCAL : values == &remote ? PMIX_REMOTE : PMIX_GLOBAL);
        message.buffer_in_place(*values);
    }
    if (message.error() != PMIX_SUCCESS) return message.error();
    return too_long(message.length()) ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

void Client::clear_staged() {
    if (!deleted_.empty()) has_deleted_.store(true, std::memory_order_relaxed);
    staged_.clear();
    deleted_.clear();
}

std::optional<pmix_status_t> Client::post_staged() {
    if (!connected()) return std::nullopt;
    if (!server_version().can(Capability::SilentCommit) || primary_->backed_up()) return std::nullopt;
    Packer message = packer(Command::Post);
    {
        // The message refers to values in the store, which must not change until it is sent.
        const MutexLock lock(staged_lock_);
        if (const pmix_status_t status = pack_staged(message, true); status != PMIX_SUCCESS) return status;
        try {
            primary_->send_parts(message);
        } catch (const std::bad_alloc&) {
            return PMIX_ERR_NOMEM;
        }
        clear_staged();
    }
    commits_.count(!primary_ || primary_->backed_up());
    return PMIX_SUCCESS;
}

void Client::commit(OnStatus done) {
    // Muster's server does not answer and no call waits: it processes later requests after this one. The call
    // waits for a server that is behind with reading.
    if (const auto posted = post_staged()) return done(*posted);
    Packer message = packer(Command::Commit);
    pmix_status_t status = PMIX_SUCCESS;
    {
        const MutexLock lock(staged_lock_);
        status = pack_staged(message, false);
        if (status == PMIX_SUCCESS) clear_staged();
    }
    if (!connected()) return done(PMIX_ERR_LOST_CONNECTION);
    if (status != PMIX_SUCCESS) return done(status);
    request_status(std::move(message), std::move(done));
    commits_.count(!primary_ || primary_->backed_up());
}

void Client::fence(std::vector<pmix_proc_t> procs, InfoView info, OnStatus done) {
    // Our own servers translate groups themselves, as all members on a node must mean the same by one.
    if (!server_version().can(Capability::GroupNames) && !exchange_.groups().expand(procs))
        return done(PMIX_ERR_BAD_PARAM);
    has_deleted_.store(false, std::memory_order_relaxed);
    Packer message = packer(Command::Fence);
    message.procs(procs.data(), procs.size()).infos(info);
    if (!barrier_) return request_status(std::move(message), std::move(done));
    message.boolean(true);  // we could have come in memory
    request_status(std::move(message), [this, commits = commits_.sent(), away = fence_by_server(procs),
                                        done = std::move(done)](pmix_status_t status) mutable {
        // The server takes one after the other.
        commits_.settle(commits);
        away.reset();  // the next one may begin in the callback
        done(status);
    });
}

std::optional<pmix_status_t> Client::fence_in_memory(const std::vector<pmix_proc_t>& procs, InfoView info) {
    if (!barrier_ || runtime_.loop().on_loop() || runtime_.loop().stopped()) return std::nullopt;
    if (procs.size() != 1 || procs[0].rank != PMIX_RANK_WILDCARD ||
        !nspace_is(procs[0].nspace, runtime_.self().nspace))
        return std::nullopt;
    for (const pmix_info_t& directive : info) {
        // With data or without: all of it is on this node, where the server takes it in.
        if (!key_is(directive.key, PMIX_COLLECT_DATA)) return std::nullopt;
    }
    // The server's word that a key was deleted reaches the others before the end of a fence that it leads.
    if (has_deleted_.load(std::memory_order_relaxed)) return std::nullopt;
    // Peers that have passed the fence can read values committed before it: the server releases the fence
    // after it has read the pending commits.
    const size_t commits = commits_.sent(), settled = commits_.settled();
    if (commits_.behind() > settled) return std::nullopt;
    const auto tell = [this] {
        return call_and_wait<bool>(runtime_, false, [this](auto deliver) {
            const bool there = primary_ != nullptr;
            send(packer(Command::AllArrived));
            deliver(there);
        });
    };
    switch (barrier_->pass(commits != settled, tell)) {
        case Barrier::Passage::Passed:
            commits_.settle(commits);
            return PMIX_SUCCESS;
        case Barrier::Passage::Ended:
            return PMIX_ERR_INVALID_NAMESPACE;
        case Barrier::Passage::AskServer:
            break;
    }
    return std::nullopt;
}

Barrier::Away Client::fence_by_server(const std::vector<pmix_proc_t>& procs) {
    // Other namespaces may be names of groups, which may mean the job.
    const bool maybe_all = std::ranges::any_of(procs, [this](const pmix_proc_t& proc) {
        return proc.rank == PMIX_RANK_WILDCARD || !nspace_is(proc.nspace, runtime_.self().nspace);
    });
    return barrier_ && maybe_all ? barrier_->by_server() : nullptr;
}

void Client::abort(pmix_status_t status, const char* message_text, std::vector<pmix_proc_t> procs,
                   OnStatus done) {
    Packer message = packer(Command::Abort);
    message.status(status).string(message_text).procs(procs.data(), procs.size());
    request_status(std::move(message), std::move(done));
}

}  // namespace muster

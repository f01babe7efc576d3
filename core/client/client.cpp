// SPDX-License-Identifier: BSD-3-Clause
// Requests, replies and what a process does through its server: see client.hpp. connect.cpp has the way
// there.
#include "core/client/client.hpp"

#include <unistd.h>

#include "framework/base/compress.hpp"

namespace muster {

Client::Client(Runtime& runtime) : runtime_(runtime) {}
Client::~Client() = default;

Packer Client::packer(Command command) const {
    Packer packer(format_);
    packer.command(static_cast<uint8_t>(command));
    return packer;
}

void Client::request(Packer&& message, OnReply done) {
    if (!connected() || message.error() != PMIX_SUCCESS) return done(nullptr);
    if (++next_tag_ < tag::kFirstDynamic) next_tag_ = tag::kFirstDynamic + 1;  // wrapped
    const uint32_t number = next_tag_;
    pending_.emplace(number, std::move(done));
    channel_->send(peer_index_, number, message.take());
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
    if (!connected() || message.error() != PMIX_SUCCESS) return;
    if (++next_tag_ < tag::kFirstDynamic) next_tag_ = tag::kFirstDynamic + 1;
    channel_->send(peer_index_, next_tag_, message.take());
}

void Client::send_heartbeat() {
    if (connected()) channel_->send(peer_index_, tag::kHeartbeat, {});
}

void Client::on_frame(Frame frame) {
    if (frame.tag < tag::kFirstDynamic) {
        if (const auto handler = messages_.find(frame.tag); handler != messages_.end())
            handler->second(std::move(frame));
        return;
    }
    auto node = pending_.extract(frame.tag);
    if (node.empty()) {
        MUSTER_LOG(runtime_.log(), Error, "the server answered a request that was not made (tag %u)",
                   frame.tag);
        return;
    }
    if (frame.payload.empty())
        return node.mapped()(nullptr);  // the protocol's word for a connection that is lost
    Unpacker reply(format_, frame.payload.view());
    node.mapped()(&reply);
}

void Client::on_closed(const std::string& reason) {
    if (!connected_.exchange(false)) return;
    MUSTER_LOG(runtime_.log(), Error, "lost the connection to server %s: %s", proc_text(server_).c_str(),
               reason.c_str());
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& [number, done] : pending)
        done(nullptr);
    for (const auto& listener : lost_listeners_)
        listener();
}

void Client::close() {
    connected_ = false;
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& [number, done] : pending)
        done(nullptr);
    goodbye_limit_.reset();
    if (channel_) channel_->close();
}

void Client::close_in_child() {
    if (channel_ && channel_->is_open()) ::close(channel_->fd());
}

pmix_status_t Client::put(pmix_scope_t scope, const char* key, const pmix_value_t& value) {
    // What a process has put is its own to read at once; others see it after commit.
    const pmix_status_t status = runtime_.store().post(runtime_.self(), scope, key, value);
    if (status != PMIX_SUCCESS || scope == PMIX_INTERNAL) return status;
    std::lock_guard lock(staged_lock_);
    for (const Staged& staged : staged_) {
        if (staged.scope == scope && staged.key == key) return PMIX_SUCCESS;
    }
    staged_.push_back({scope, key});
    return PMIX_SUCCESS;
}

void Client::commit(OnStatus done) {
    std::vector<Staged> staged;
    {
        std::lock_guard lock(staged_lock_);
        staged.swap(staged_);
    }
    if (!connected()) return done(PMIX_SUCCESS);  // nobody to tell
    const bool ours = server_version_.muster != 0;
    Packer local(format_), remote(format_), global(format_);
    for (const Staged& one : staged) {
        if (key_is(one.key.c_str(), PMIX_QUALIFIED_VALUE)) {
            // All of them under one key: those told before are told again.
            const auto tell = [&](View view, Packer& values) {
                runtime_.store().find_posted(runtime_.self(), view, [&](const Found& found) {
                    if (key_is(found.key, PMIX_QUALIFIED_VALUE)) values.kval(found.key, found.value);
                });
            };
            if (one.scope != PMIX_REMOTE) tell(View::Local, local);
            if (one.scope != PMIX_LOCAL) tell(View::Remote, remote);
            continue;
        }
        Lookup lookup;
        lookup.nspace = runtime_.self().nspace;
        lookup.rank = runtime_.self().rank;
        lookup.key = one.key.c_str();
        lookup.scope = one.scope;
        runtime_.store().find(lookup, [&](const Found& found) {
            if (one.scope == PMIX_GLOBAL && ours) {
                global.kval(found.key, found.value);
                return;
            }
            if (one.scope != PMIX_REMOTE) local.kval(found.key, found.value);
            if (one.scope != PMIX_LOCAL) remote.kval(found.key, found.value);
        });
    }
    Packer message = packer(Command::Commit);
    const auto section = [&](pmix_scope_t scope, const Packer& values) {
        if (values.length() == 0) return;
        message.items(&scope, 1, PMIX_SCOPE);
        message.buffer(values.view());
    };
    section(PMIX_LOCAL, local);
    section(PMIX_REMOTE, remote);
    section(PMIX_GLOBAL, global);
    for (const Packer* values : {&local, &remote, &global}) {
        if (values->error() != PMIX_SUCCESS) return done(values->error());
    }
    request_status(std::move(message), std::move(done));
}

pmix_status_t Client::take_in(Unpacker& reply) {
    Gds& store = runtime_.store();
    while (!reply.at_end()) {
        ByteView bytes;
        pmix_proc_t proc{};
        if (!reply.bytes(bytes)) return reply.error();
        Unpacker object(format_, bytes);
        if (!object.proc(proc)) return object.error();
        if (proc.rank == PMIX_RANK_WILDCARD) {
            if (auto taken = store.unpack_job(proc.nspace, object); !taken) {
                MUSTER_LOG(runtime_.log(), Error, "job data of %s: %s", proc.nspace,
                           taken.error().text.c_str());
                return taken.status();
            }
            continue;
        }
        const bool own = proc_is(proc, runtime_.self());
        while (!object.at_end()) {
            std::string key;
            Value value;
            if (!object.kval(key, value)) return object.error();
            if (const pmix_status_t status = value_decompress(value.get()); status != PMIX_SUCCESS)
                return status;
            // What we posted ourselves is newer than the server's copy of it.
            if (own && !key_is_reserved(key.c_str())) continue;
            if (const pmix_status_t status = store.post(proc, PMIX_GLOBAL, key.c_str(), *value);
                status != PMIX_SUCCESS) {
                return status;
            }
        }
    }
    return PMIX_SUCCESS;
}

void Client::fetch(const pmix_proc_t& target, const char* key, InfoView info, OnStatus done) {
    if (!connected()) return done(PMIX_ERR_NOT_FOUND);
    Packer message = packer(Command::Get);
    message.string(target.nspace).rank(target.rank).infos(info);
    if (key != nullptr) message.string(key);
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(error);
    request(std::move(message), [this, done = std::move(done)](Unpacker* reply) {
        if (reply == nullptr) return done(PMIX_ERR_LOST_CONNECTION);
        pmix_status_t status = PMIX_SUCCESS;
        if (!reply->status(status)) return done(reply->error());
        done(status == PMIX_SUCCESS ? take_in(*reply) : status);
    });
}

void Client::fence(std::vector<pmix_proc_t> procs, InfoView info, OnStatus done) {
    Packer message = packer(Command::Fence);
    message.procs(procs.data(), procs.size()).infos(info);
    request_status(std::move(message), std::move(done));
}

void Client::abort(pmix_status_t status, const char* message_text, std::vector<pmix_proc_t> procs,
                   OnStatus done) {
    Packer message = packer(Command::Abort);
    message.status(status).string(message_text).procs(procs.data(), procs.size());
    request_status(std::move(message), std::move(done));
}

void Client::finalize(std::chrono::milliseconds limit, OnStatus done) {
    if (!connected()) return done(PMIX_SUCCESS);
    auto shared = std::make_shared<OnStatus>(std::move(done));
    const auto once = [this, shared](pmix_status_t status) {
        goodbye_limit_.reset();
        if (auto callback = std::exchange(*shared, nullptr)) callback(status);
    };
    goodbye_limit_ = runtime_.loop().after(limit, [once] { once(PMIX_ERR_TIMEOUT); });
    request_status(packer(Command::Finalize), once);
}

}  // namespace muster

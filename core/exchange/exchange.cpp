// SPDX-License-Identifier: BSD-3-Clause
// The common base of the services: see exchange.hpp.
#include "core/exchange/exchange.hpp"

#include <unistd.h>

namespace muster {

Caller Caller::of(const Peer& peer) {
    return {peer.proc, peer.uid, peer.gid, is_tool(peer.kind)};
}

Caller Caller::host(const Runtime& runtime) {
    return {runtime.self(), geteuid(), getegid(), false};
}

void Caller::add_identity(Info& info) const {
    Info kept;
    kept.reserve(info.size() + 2);
    for (size_t i = 0; i < info.size(); ++i) {
        if (!key_is(info[i].key, PMIX_USERID) && !key_is(info[i].key, PMIX_GRPID)) kept.add_move(info[i]);
    }
    kept.add(PMIX_USERID, uid);
    kept.add(PMIX_GRPID, gid);
    info = std::move(kept);
}

void read_infos(Unpacker& in, HostAnswer& answer) {
    in.infos(answer.info);
}

void ask(Upstream& upstream, Packer&& message, ReadReply read, HostDone done) {
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(answer_of(error));
    if (!upstream.connected()) return done(answer_of(PMIX_ERR_UNREACH));
    upstream.request(std::move(message), [read = std::move(read), done = std::move(done)](Unpacker* reply) {
        if (reply == nullptr) return done(answer_of(PMIX_ERR_LOST_CONNECTION));
        HostAnswer answer;
        if (!reply->status(answer.status)) return done(answer_of(reply->error()));
        if (read && !reply->at_end()) {
            read(*reply, answer);
            if (reply->failed()) {
                // Other libraries may send anything after a failure; only the failure counts.
                answer = answer_of(answer.status == PMIX_SUCCESS ? reply->error() : answer.status);
            }
        }
        done(std::move(answer));
    });
}

void write_infos(Packer& out, const HostAnswer& answer) {
    out.infos(answer.info);
}

HostDone reply_to(const Request& request, WriteReply write) {
    return [ref = request.asker(), tag = request.tag, write = std::move(write)](HostAnswer answer) {
        const PeerPtr peer = ref.lock();
        if (!peer) return;
        if (answer.status == PMIX_OPERATION_SUCCEEDED) answer.status = PMIX_SUCCESS;
        Packer reply = peer->packer();
        reply.status(answer.status);
        if (write && is_good(answer.status)) write(reply, answer);
        peer->reply(tag, std::move(reply));
    };
}

}  // namespace muster

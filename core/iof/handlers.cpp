// SPDX-License-Identifier: BSD-3-Clause
// What clients and tools ask of a server about forwarded input and output (docs/reference/wire.md, commands
// 22, 23, 29).
#include "core/server/handlers.hpp"
#include "core/iof/forwarder.hpp"
#include "core/server/server.hpp"

namespace muster {

void handle::iof_pull(Server& server, const Request& request) {
    PullRequest pull;
    if (!pull.read(request.in)) return request.malformed();
    server.forwarder().pull(request.peer, std::move(pull),
                            [ref = request.asker(), tag = request.tag](pmix_status_t status, size_t id) {
                                const PeerPtr peer = ref.lock();
                                if (!peer) return;
                                Packer reply = peer->packer();
                                reply.status(status);
                                if (status == PMIX_SUCCESS) reply.size(id);
                                peer->reply(tag, std::move(reply));
                            });
}

void handle::iof_push(Server& server, const Request& request) {
    PushRequest push;
    if (!push.read(request.in)) return request.malformed();
    server.forwarder().push(request.peer, std::move(push), reply_to(request));
}

void handle::iof_deregister(Server& server, const Request& request) {
    DeregisterRequest deregister;
    if (!deregister.read(request.in)) return request.malformed();
    server.forwarder().stop(request.peer, deregister.reference, std::move(deregister.directives),
                            reply_to(request));
}

}  // namespace muster

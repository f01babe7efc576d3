// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the requests of clients and tools about forwarded input and output (docs/reference/wire.md,
// commands 22, 23, 29).
#include "core/iof/forwarder.hpp"

namespace muster {
namespace {

void pull(Forwarder& forwarder, const Request& request) {
    PullRequest pull;
    if (!pull.read(request.in)) return request.malformed();
    forwarder.pull(request.peer, std::move(pull),
                   [ref = request.asker(), tag = request.tag](pmix_status_t status, size_t id) {
                       const PeerPtr peer = ref.lock();
                       if (!peer) return;
                       Packer reply = peer->packer();
                       reply.status(status);
                       if (status == PMIX_SUCCESS) reply.size(id);
                       peer->reply(tag, std::move(reply));
                   });
}

void push(Forwarder& forwarder, const Request& request) {
    PushRequest push;
    if (!push.read(request.in)) return request.malformed();
    forwarder.push(request.peer, std::move(push), reply_to(request));
}

void deregister(Forwarder& forwarder, const Request& request) {
    DeregisterRequest deregister;
    if (!deregister.read(request.in)) return request.malformed();
    forwarder.stop(request.peer, deregister.reference, std::move(deregister.directives), reply_to(request));
}

}  // namespace

void serve_forwarding(CommandTable& commands, Forwarder& forwarder) {
    commands.add(Command::IofPull, [&forwarder](const Request& request) { pull(forwarder, request); });
    commands.add(Command::IofPush, [&forwarder](const Request& request) { push(forwarder, request); });
    commands.add(Command::IofDeregister,
                 [&forwarder](const Request& request) { deregister(forwarder, request); });
}

}  // namespace muster

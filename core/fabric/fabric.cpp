// SPDX-License-Identifier: BSD-3-Clause
// Fabric registrations, on both sides of the wire: see fabric.hpp.
#include "core/fabric/fabric.hpp"

#include "core/client/client.hpp"
#include "core/server/server.hpp"

namespace muster {
namespace {

void ask_host(Server& server, const Caller& caller, pmix_fabric_operation_t operation, Info directives,
              HostDone done) {
    const auto upcall = server.host().module().fabric;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    struct Arguments {
        pmix_proc_t proc;
        Info directives;
    };
    const auto kept = std::make_shared<Arguments>(Arguments{caller.proc, std::move(directives)});
    caller.add_identity(kept->directives);
    server.host().upcall("fabric", kept,
                         bounded(server, "fabric request", caller, kept->directives, std::move(done)),
                         [&](void* cbdata) {
                             return upcall(&kept->proc, operation, kept->directives.data(),
                                           kept->directives.size(), Host::on_info, cbdata);
                         });
}

Info of_index(size_t index) {
    Info directives;
    directives.add(PMIX_FABRIC_INDEX, index);
    return directives;
}

}  // namespace

void register_fabric(Runtime& runtime, Info directives, HostDone done) {
    if (Client* client = connected_client(runtime)) {
        Packer message = client->packer(Command::FabricRegister);
        message.infos(directives);
        ask(*client, std::move(message), read_infos, std::move(done));
    } else if (Server* server = runtime.server()) {
        ask_host(*server, Caller::host(runtime), PMIX_FABRIC_REQUEST_INFO, std::move(directives),
                 std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void update_fabric(Runtime& runtime, size_t index, HostDone done) {
    if (Client* client = connected_client(runtime)) {
        Packer message = client->packer(Command::FabricUpdate);
        message.size(index);
        ask(*client, std::move(message), read_infos, std::move(done));
    } else if (Server* server = runtime.server()) {
        ask_host(*server, Caller::host(runtime), PMIX_FABRIC_UPDATE_INFO, of_index(index), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void handle::fabric_register(Server& server, const Request& request) {
    Info directives;
    if (!request.in.infos(directives)) return request.malformed();
    ask_host(server, Caller::of(*request.peer), PMIX_FABRIC_REQUEST_INFO, std::move(directives),
             reply_to(request, write_infos));
}

void handle::fabric_update(Server& server, const Request& request) {
    size_t index = 0;
    if (!request.in.size(index)) return request.malformed();
    ask_host(server, Caller::of(*request.peer), PMIX_FABRIC_UPDATE_INFO, of_index(index),
             reply_to(request, write_infos));
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// Fabric registrations, on both sides of the wire: see fabric.hpp.
#include "core/fabric/fabric.hpp"

#include <algorithm>
#include <iterator>

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

/// A fabric that the host does not tell about may be one that a network component knows.
void ask_all(Server& server, const Caller& caller, Info directives, HostDone done) {
    for (const pmix_info_t& directive : directives) {
        // The networks look at these; the rest is for the host.
        constexpr const char* kKnown[] = {PMIX_FABRIC_PLANE, PMIX_FABRIC_IDENTIFIER, PMIX_FABRIC_VENDOR,
                                          PMIX_FABRIC_DEVICE_TYPE};
        if ((directive.flags & PMIX_INFO_REQD) != 0 &&
            std::none_of(std::begin(kKnown), std::end(kKnown),
                         [&](const char* key) { return key_is(directive.key, key); })) {
            return ask_host(server, caller, PMIX_FABRIC_REQUEST_INFO, std::move(directives), std::move(done));
        }
    }
    auto kept = Info::copy_of(directives);
    if (!kept) return done(answer_of(PMIX_ERR_BAD_PARAM));
    const auto wanted = std::make_shared<Info>(std::move(*kept));
    ask_host(server, caller, PMIX_FABRIC_REQUEST_INFO, std::move(directives),
             [&server, wanted, done = std::move(done)](HostAnswer answer) {
                 if (answer.status == PMIX_ERR_NOT_SUPPORTED)
                     answer.status = server.job_networks().register_fabric(*wanted, answer.info).status();
                 done(std::move(answer));
             });
}

void update_one(Server& server, const Caller& caller, size_t index, HostDone done) {
    HostAnswer answer;
    const auto own = server.job_networks().update_fabric(index, answer.info);
    answer.status = own.status();
    if (answer.status != PMIX_ERR_NOT_FOUND) return done(std::move(answer));
    ask_host(server, caller, PMIX_FABRIC_UPDATE_INFO, of_index(index), std::move(done));
}

}  // namespace

void register_fabric(Runtime& runtime, Info directives, HostDone done) {
    if (Client* client = connected_client(runtime)) {
        Packer message = client->packer(Command::FabricRegister);
        message.infos(directives);
        ask(*client, std::move(message), read_infos, std::move(done));
    } else if (Server* server = runtime.server()) {
        ask_all(*server, Caller::host(runtime), std::move(directives), std::move(done));
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
        update_one(*server, Caller::host(runtime), index, std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void handle::fabric_register(Server& server, const Request& request) {
    Info directives;
    if (!request.in.infos(directives)) return request.malformed();
    ask_all(server, Caller::of(*request.peer), std::move(directives), reply_to(request, write_infos));
}

void handle::fabric_update(Server& server, const Request& request) {
    size_t index = 0;
    if (!request.in.size(index)) return request.malformed();
    update_one(server, Caller::of(*request.peer), index, reply_to(request, write_infos));
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// Fabric registrations, on both sides of the wire: see fabric.hpp.
#include "core/fabric/fabric.hpp"

#include <algorithm>

#include "core/attribute/directives.hpp"
#include "core/runtime/keys.hpp"
#include "core/setup/job_network.hpp"

namespace muster {
namespace {

Info of_index(size_t index) {
    Info directives;
    directives.add(PMIX_FABRIC_INDEX, index);
    return directives;
}

}  // namespace

void Fabrics::ask_host(const Caller& caller, pmix_fabric_operation_t operation, Info directives,
                       HostDone done) {
    const auto upcall = host_.module().fabric;
    muster::ask_host(host_, caller, "fabric", "fabric request", upcall, HostRequest{std::move(directives)},
                     std::move(done), [&](HostRequest& asked, void* cbdata) {
                         return upcall(&asked.proc, operation, asked.info.data(), asked.info.size(),
                                       Host::on_info, cbdata);
                     });
}

/// A network component may know a fabric that the host does not.
void Fabrics::request(const Caller& caller, Info directives, HostDone done) {
    if (needs_host(Function::FabricRegister, directives))
        return ask_host(caller, PMIX_FABRIC_REQUEST_INFO, std::move(directives), std::move(done));
    auto kept = Info::copy_of(directives);
    if (!kept) return done(answer_of(PMIX_ERR_BAD_PARAM));
    const auto wanted = std::make_shared<Info>(std::move(*kept));
    ask_host(caller, PMIX_FABRIC_REQUEST_INFO, std::move(directives),
             [this, wanted, done = std::move(done)](HostAnswer answer) {
                 if (answer.status == PMIX_ERR_NOT_SUPPORTED)
                     answer.status = networks_.register_fabric(*wanted, answer.info).status();
                 done(std::move(answer));
             });
}

void Fabrics::update(const Caller& caller, size_t index, HostDone done) {
    HostAnswer answer;
    const auto own = networks_.update_fabric(index, answer.info);
    answer.status = own.status();
    if (answer.status != PMIX_ERR_NOT_FOUND) return done(std::move(answer));
    ask_host(caller, PMIX_FABRIC_UPDATE_INFO, of_index(index), std::move(done));
}

void register_fabric(Exchange& exchange, Fabrics* own, Info directives, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::FabricRegister);
        message.infos(directives);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (own != nullptr) {
        own->request(Caller::host(exchange.runtime()), std::move(directives), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void update_fabric(Exchange& exchange, Fabrics* own, size_t index, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::FabricUpdate);
        message.size(index);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (own != nullptr) {
        own->update(Caller::host(exchange.runtime()), index, std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void serve_fabrics(CommandTable& commands, Fabrics& fabrics) {
    commands.add(Command::FabricRegister, [&fabrics](const Request& request) {
        Info directives;
        if (!request.in.infos(directives)) return request.malformed();
        fabrics.request(Caller::of(*request.peer), std::move(directives), reply_to(request, write_infos));
    });
    commands.add(Command::FabricUpdate, [&fabrics](const Request& request) {
        size_t index = 0;
        if (!request.in.size(index)) return request.malformed();
        fabrics.update(Caller::of(*request.peer), index, reply_to(request, write_infos));
    });
}

}  // namespace muster

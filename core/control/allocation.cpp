// SPDX-License-Identifier: BSD-3-Clause
// Requests to the resource manager, on both sides of the wire: see allocation.hpp.
#include "core/control/allocation.hpp"

#include "core/runtime/runtime.hpp"

namespace muster {
namespace {

struct Arguments {
    pmix_proc_t proc{};
    std::string block;
    ResourceUnits units;
    Info info;
};

std::shared_ptr<Arguments> arguments(const Caller& caller, Info info) {
    auto kept = std::make_shared<Arguments>();
    kept->proc = caller.proc;
    kept->info = std::move(info);
    caller.add_identity(kept->info);
    return kept;
}

void allocate_by_host(Host& host, const Caller& caller, pmix_alloc_directive_t directive, Info info,
                      HostDone done) {
    const auto upcall = host.module().allocate;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    const auto kept = arguments(caller, std::move(info));
    host.upcall("allocate", kept,
                host.bounded("allocation request", caller.proc, kept->info, std::move(done)),
                [&](void* cbdata) {
                    return upcall(&kept->proc, directive, kept->info.data(), kept->info.size(), Host::on_info,
                                  cbdata);
                });
}

void block_by_host(Host& host, const Caller& caller, pmix_resource_block_directive_t directive,
                   std::string block, ResourceUnits units, Info info, HostDone done) {
    const auto upcall = host.module().resource_block;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    const auto kept = arguments(caller, std::move(info));
    kept->block = std::move(block);
    kept->units = std::move(units);
    host.upcall("resource_block", kept,
                host.bounded("resource block", caller.proc, kept->info, std::move(done)), [&](void* cbdata) {
                    return upcall(&kept->proc, directive, kept->block.c_str(),
                                  kept->units.empty() ? nullptr : kept->units.data(), kept->units.size(),
                                  kept->info.data(), kept->info.size(), Host::on_op, cbdata);
                });
}

void session_by_host(Host& host, const Caller& caller, uint32_t session, Info directives, HostDone done) {
    const auto upcall = host.module().session_control;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    const auto kept = arguments(caller, std::move(directives));
    host.upcall("session_control", kept,
                host.bounded("session control", caller.proc, kept->info, std::move(done)), [&](void* cbdata) {
                    return upcall(&kept->proc, session, kept->info.data(), kept->info.size(), Host::on_info,
                                  cbdata);
                });
}

}  // namespace

void request_allocation(Exchange& exchange, pmix_alloc_directive_t directive, Info info, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::Allocate);
        message.items(&directive, 1, PMIX_ALLOC_DIRECTIVE).infos(info);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (Host* host = exchange.host()) {
        allocate_by_host(*host, Caller::host(exchange.runtime()), directive, std::move(info),
                         std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void request_resource_block(Exchange& exchange, pmix_resource_block_directive_t directive, std::string block,
                            ResourceUnits units, Info info, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::ResourceBlock);
        message.items(&directive, 1, PMIX_RESBLOCK_DIRECTIVE).string(block);
        message.counted(units.data(), units.size(), PMIX_RESOURCE_UNIT).infos(info);
        ask(*upstream, std::move(message), {}, std::move(done));
    } else if (Host* host = exchange.host()) {
        block_by_host(*host, Caller::host(exchange.runtime()), directive, std::move(block), std::move(units),
                      std::move(info), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void control_session(Exchange& exchange, uint32_t session, Info directives, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::SessionControl);
        message.uint32(session).infos(directives);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (Host* host = exchange.host()) {
        session_by_host(*host, Caller::host(exchange.runtime()), session, std::move(directives),
                        std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

namespace {

void handle_allocate(Host& host, const Request& request) {
    pmix_alloc_directive_t directive{};
    Info info;
    if (!request.in.item(&directive, PMIX_ALLOC_DIRECTIVE) || !request.in.infos(info))
        return request.malformed();
    allocate_by_host(host, Caller::of(*request.peer), directive, std::move(info),
                     reply_to(request, write_infos));
}

void handle_resource_block(Host& host, const Request& request) {
    pmix_resource_block_directive_t directive{};
    std::string block;
    void* values = nullptr;
    size_t count = 0;
    Info info;
    if (!request.in.item(&directive, PMIX_RESBLOCK_DIRECTIVE) || !request.in.string(block) ||
        !request.in.counted(&values, count, PMIX_RESOURCE_UNIT))
        return request.malformed();
    const auto* first = static_cast<const pmix_resource_unit_t*>(values);
    ResourceUnits units(first, first + count);
    data_free_elements(values, count, PMIX_RESOURCE_UNIT);
    if (!request.in.infos(info)) return request.malformed();
    block_by_host(host, Caller::of(*request.peer), directive, std::move(block), std::move(units),
                  std::move(info), reply_to(request));
}

void handle_session_control(Host& host, const Request& request) {
    uint32_t session = 0;
    Info directives;
    if (!request.in.uint32(session) || !request.in.infos(directives)) return request.malformed();
    session_by_host(host, Caller::of(*request.peer), session, std::move(directives),
                    reply_to(request, write_infos));
}

}  // namespace

void serve_allocations(CommandTable& commands, Host& host) {
    commands.add(Command::Allocate, [&host](const Request& request) { handle_allocate(host, request); });
    commands.add(Command::ResourceBlock,
                 [&host](const Request& request) { handle_resource_block(host, request); });
    commands.add(Command::SessionControl,
                 [&host](const Request& request) { handle_session_control(host, request); });
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// Requests to the resource manager, on both sides of the wire: see allocation.hpp.
#include "core/control/allocation.hpp"

namespace muster {
namespace {

struct BlockRequest : HostRequest {
    std::string block;
    ResourceUnits units;
};

void allocate_by_host(Host& host, const Caller& caller, pmix_alloc_directive_t directive, Info info,
                      HostDone done) {
    const auto upcall = host.module().allocate;
    ask_host(host, caller, "allocate", "allocation request", upcall, HostRequest{std::move(info)},
             std::move(done), [&](HostRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, directive, asked.info.data(), asked.info.size(), Host::on_info,
                               cbdata);
             });
}

void block_by_host(Host& host, const Caller& caller, pmix_resource_block_directive_t directive,
                   std::string block, ResourceUnits units, Info info, HostDone done) {
    const auto upcall = host.module().resource_block;
    ask_host(host, caller, "resource_block", "resource block", upcall,
             BlockRequest{{std::move(info)}, std::move(block), std::move(units)}, std::move(done),
             [&](BlockRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, directive, asked.block.c_str(),
                               asked.units.empty() ? nullptr : asked.units.data(), asked.units.size(),
                               asked.info.data(), asked.info.size(), Host::on_op, cbdata);
             });
}

void session_by_host(Host& host, const Caller& caller, uint32_t session, Info directives, HostDone done) {
    const auto upcall = host.module().session_control;
    ask_host(host, caller, "session_control", "session control", upcall, HostRequest{std::move(directives)},
             std::move(done), [&](HostRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, session, asked.info.data(), asked.info.size(), Host::on_info,
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

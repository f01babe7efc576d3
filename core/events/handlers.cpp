// SPDX-License-Identifier: BSD-3-Clause
// Handlers of the clients' requests about events: registrations and notifications (docs/reference/wire.md,
// commands 12-14).
#include "core/events/event_router.hpp"
#include "core/exchange/group_table.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

void register_events(EventRouter& router, const Request& request) {
    void* values = nullptr;
    size_t n = 0;
    Info info;
    if (!request.in.counted(&values, n, PMIX_STATUS)) return request.malformed();
    const std::unique_ptr<void, decltype(&std::free)> owned(values, &std::free);
    if (!request.in.infos(info)) return request.malformed();
    const auto* first = static_cast<const pmix_status_t*>(values);
    router.register_codes(request.peer, {first, first + n}, std::move(info), answer_later(request));
}

void deregister_events(EventRouter& router, const Request& request) {
    std::vector<pmix_status_t> codes;
    bool defaults = request.in.at_end();
    while (!request.in.at_end()) {
        pmix_status_t code = PMIX_SUCCESS;
        if (!request.in.status(code)) break;  // there is no reply to report it
        if (code == INT32_MIN) {
            defaults = true;  // how some clients name their default handlers
        } else {
            codes.push_back(code);
        }
    }
    if (!codes.empty()) router.deregister_codes(request.peer, codes);
    if (defaults) router.deregister_codes(request.peer, {});
}

/// The event that a client reports, and whether it can be understood.
pmix_status_t read_event(Runtime& runtime, const GroupTable& groups, const Request& request, Event& event) {
    event.source = request.peer->proc;
    event.user = request.peer->uid;
    if (!request.in.status(event.status) || !request.in.item(&event.range, PMIX_DATA_RANGE) ||
        !request.in.infos(event.info))
        return request.in.failed() ? request.in.error() : PMIX_ERR_UNPACK_FAILURE;
    const pmix_status_t status =
        request.expand_infos(runtime.log(), runtime.parameters().size("server_base_max_request_memory"),
                             [&](size_t& room) { return groups.expand(event.info, room); });
    return status == PMIX_SUCCESS ? event.read_directives() : status;
}

void notify(EventRouter& router, const Admits& admits, EventPtr event, pmix_status_t read,
            const Request& request) {
    if (read != PMIX_SUCCESS) return request.peer->reply_status(request.tag, read);
    if (!admits(*event)) return request.peer->reply_status(request.tag, PMIX_ERR_OUT_OF_RESOURCE);
    router.from_client(std::move(event), [&request](pmix_status_t status) {
        request.peer->reply_status_soon(request.tag, status);
    });
}

void report(EventRouter& router, const Log& log, EventPtr event, pmix_status_t status,
            const Request& request) {
    if (status == PMIX_SUCCESS)
        router.from_client(std::move(event), [&](pmix_status_t result) { status = result; });
    // Clients report in this way only events without requests to the host.
    if (status != PMIX_SUCCESS)
        MUSTER_LOG(log, Error, "the event of client %s was not delivered: %s", request.peer->text().c_str(),
                   status_text(status));
}

}  // namespace

void serve_events(CommandTable& commands, Runtime& runtime, EventRouter& router, const GroupTable& groups,
                  Admits admits) {
    commands.add(Command::RegisterEvents,
                 [&router](const Request& request) { register_events(router, request); });
    commands.add(
        Command::DeregisterEvents, [&router](const Request& request) { deregister_events(router, request); },
        AnswerTime::Never);
    commands.add(Command::Notify,
                 [&runtime, &router, &groups, admits = std::move(admits)](const Request& request) {
                     auto event = std::make_shared<Event>();
                     const pmix_status_t read = read_event(runtime, groups, request, *event);
                     notify(router, admits, std::move(event), read, request);
                 });
    commands.add(
        Command::Report,
        [&runtime, &router, &groups](const Request& request) {
            auto event = std::make_shared<Event>();
            const pmix_status_t read = read_event(runtime, groups, request, *event);
            report(router, runtime.log(), std::move(event), read, request);
        },
        AnswerTime::Never);
}

}  // namespace muster

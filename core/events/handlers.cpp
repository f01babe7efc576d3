// SPDX-License-Identifier: BSD-3-Clause
// What clients ask of a server about events: registrations and notifications (docs/wire.md, commands 12-14).
#include "core/server/handlers.hpp"
#include "core/groups/construct.hpp"
#include "core/server/server.hpp"
#include "framework/base/status.hpp"

namespace muster {

void handle::register_events(Server& server, const Request& request) {
    void* values = nullptr;
    size_t n = 0;
    Info info;
    if (!request.in.counted(&values, n, PMIX_STATUS)) return request.malformed();
    const std::unique_ptr<void, decltype(&std::free)> owned(values, &std::free);
    if (!request.in.infos(info)) return request.malformed();
    const auto* first = static_cast<const pmix_status_t*>(values);
    server.events().register_codes(request.peer, {first, first + n}, std::move(info),
                                   [ref = request.asker(), tag = request.tag](pmix_status_t status) {
                                       if (const PeerPtr peer = ref.lock()) peer->reply_status(tag, status);
                                   });
}

void handle::deregister_events(Server& server, const Request& request) {
    std::vector<pmix_status_t> codes;
    bool defaults = request.in.at_end();
    while (!request.in.at_end()) {
        pmix_status_t code = PMIX_SUCCESS;
        if (!request.in.status(code)) break;  // there is no reply to say so
        if (code == INT32_MIN) {
            defaults = true;  // how some clients name their default handlers
        } else {
            codes.push_back(code);
        }
    }
    if (!codes.empty()) server.events().deregister_codes(request.peer, codes);
    if (defaults) server.events().deregister_codes(request.peer, {});
}

namespace {

/// The event that a client reports, and whether it can be understood.
pmix_status_t read_event(Server& server, const Request& request, Event& event) {
    event.source = request.peer->proc;
    event.user = request.peer->uid;
    if (!request.in.status(event.status) || !request.in.item(&event.range, PMIX_DATA_RANGE) ||
        !request.in.infos(event.info))
        return request.in.failed() ? request.in.error() : PMIX_ERR_UNPACK_FAILURE;
    const pmix_status_t status = request.expand_infos(
        server, [&](size_t& room) { return server.runtime().groups().expand(event.info, room); });
    return status == PMIX_SUCCESS ? event.read_directives() : status;
}

}  // namespace

void handle::notify(Server& server, const Request& request) {
    auto event = std::make_shared<Event>();
    if (const pmix_status_t read = read_event(server, request, *event); read != PMIX_SUCCESS)
        return request.peer->reply_status(request.tag, read);
    if (const char* id = event->info.view().string(PMIX_GROUP_ID);
        event->status == PMIX_GROUP_INVITED && id != nullptr &&
        !server.group_construct().has_room(event->source, id, event->targets.size() + 1)) {
        return request.peer->reply_status(request.tag, PMIX_ERR_OUT_OF_RESOURCE);
    }
    server.events().from_client(std::move(event), [&request](pmix_status_t status) {
        request.peer->reply_status_soon(request.tag, status);
    });
}

void handle::report(Server& server, const Request& request) {
    auto event = std::make_shared<Event>();
    pmix_status_t status = read_event(server, request, *event);
    if (status == PMIX_SUCCESS)
        server.events().from_client(std::move(event), [&](pmix_status_t result) { status = result; });
    // Clients report in this way only what asks nothing of the host.
    if (status != PMIX_SUCCESS)
        MUSTER_LOG(server.log(), Error, "an event that client %s reported goes no further: %s",
                   request.peer->text().c_str(), status_text(status));
}

}  // namespace muster

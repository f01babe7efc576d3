// SPDX-License-Identifier: BSD-3-Clause
// Leaving groups: see leave.hpp.
#include "core/groups/leave.hpp"

#include "core/events/event_router.hpp"
#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/group_event.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/invitation.hpp"

namespace muster {
namespace {

/// Up to this size all members of a group, on all nodes, are notified of each one that finalizes. In larger
/// groups they must ask for that, because many jobs end with all of their processes in one group.
constexpr size_t kMostTold = 256;

/// The event for the other members; null if there are none.
std::shared_ptr<Event> departure(const Group& group, const pmix_proc_t& proc) {
    std::vector<pmix_proc_t> others = group.procs();
    std::erase_if(others, [&](const pmix_proc_t& one) { return proc_is(one, proc); });
    // Servers learn of it by this event: it is sent even without other members.
    if (others.empty()) others.push_back(proc);
    Info info;
    info.add(PMIX_EVENT_AFFECTED_PROC, proc);
    if (group.context_id) info.add(PMIX_GROUP_CONTEXT_ID, *group.context_id);
    return make_group_event(PMIX_GROUP_LEFT, proc, others, group.id, std::move(info));
}

pmix_status_t can_leave(const Group* group, const pmix_proc_t& proc) {
    if (group == nullptr || !group->has(proc)) return PMIX_ERR_NOT_FOUND;
    return group->state == GroupState::Ready ? PMIX_SUCCESS : PMIX_ERR_INVALID_OPERATION;
}

}  // namespace

void leave_group(Exchange& exchange, Events& events, const Invitations& invitations, const std::string& id,
                 HostDone done) {
    if (invitations.under_way(id)) return done(answer_of(PMIX_ERR_INVALID_OPERATION));
    const Group* group = exchange.groups().find(id);
    if (const pmix_status_t can = can_leave(group, exchange.self()); can != PMIX_SUCCESS)
        return done(answer_of(can));
    const auto event = departure(*group, exchange.self());
    // A server removes the member in its InvitationWatch. A client stays a member until its server has
    // accepted the departure.
    events.notify(event, [&exchange, id, done = std::move(done)](pmix_status_t status) {
        if (is_good(status) && exchange.host() == nullptr) exchange.groups().remove(id);
        done(answer_of(status));
    });
}

void leave_group(GroupServer& server, const Request& request) {
    // A request of other libraries' clients; ours report the event themselves.
    std::string id;
    Info info;
    if (!request.in.string(id) || !request.in.infos(info)) return request.malformed();
    const Group* group = server.groups().find(id);
    if (const pmix_status_t can = can_leave(group, request.peer->proc); can != PMIX_SUCCESS)
        return request.peer->reply_status(request.tag, can);
    const auto event = departure(*group, request.peer->proc);
    event->user = request.peer->uid;
    server.router().from_client(
        event, [done = reply_to(request)](pmix_status_t status) { done(answer_of(status)); });
}

void leave_groups(GroupServer& server, const pmix_proc_t& proc) {
    std::vector<std::string> ids;
    for (const auto& [id, group] : server.groups().all()) {
        if (group.has(proc)) ids.push_back(id);
    }
    for (const std::string& id : ids)
        leave_finalized(server, id, proc);
}

void leave_finalized(GroupServer& server, const std::string& id, const pmix_proc_t& proc) {
    const Group* group = server.groups().find(id);
    if (group == nullptr || !group->has(proc)) return;
    const bool quiet = group->members.size() > kMostTold && !group->notify_termination;
    const auto event = quiet ? nullptr : departure(*group, proc);
    server.groups().change(id, [&](Group& one) { one.finalized.push_back(proc); });
    if (quiet) return server.invitation_watch().goes_on_without(id, proc, false);
    event->user = server.namespaces().owner_of(proc);
    // Processes that come later, the next life of a member among them, are in no such group.
    event->cacheable = false;
    event->info.add(PMIX_EVENT_DO_NOT_CACHE, true);
    server.router().from_client(event, [](pmix_status_t) {});
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// Members that leave a group, or end, while other nodes have handed its destruction to the host. Their
// server takes part in their place, so that the host needs no knowledge of it (see construct.hpp;
// docs/explanation/groups.md).
#include <pmix/muster.h>

#include <algorithm>

#include "core/events/event_router.hpp"
#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_event.hpp"
#include "core/groups/group_server.hpp"

namespace muster {
namespace {

/// Limit of entries about calls of other servers, and about joined calls.
constexpr size_t kMaxCalls = 64;
/// When the other servers are notified of a request that the host does not answer. The times are spread: a
/// server that gets the notification sends none.
constexpr std::chrono::milliseconds kReminder{500};
constexpr std::chrono::milliseconds kReminderSpread{1000};

/// Whether it ran on this node, now or before.
bool was_here(GroupServer& server, const pmix_proc_t& proc) {
    const Namespace* nspace = server.namespaces().find(proc.nspace);
    return nspace != nullptr && (nspace->is_local(proc.rank) || nspace->removed.contains(proc.rank));
}

}  // namespace

GroupDestruct::GroupDestruct(GroupServer& server) : server_(server) {
    server.events().observe(kDestructCallsCode, [this](const EventPtr& event) {
        auto said = GroupEvent::read(*event, server_.store());
        if (said && server_.is_other_server(event->source) && !said->members.empty()) {
            const bool tolerant = event->info.view().is_true(PMIX_GROUP_FT_COLLECTIVE);
            called_elsewhere({std::move(said->id), std::move(said->members), tolerant});
        }
        return EventEngine::OnEnd();
    });
}

bool GroupDestruct::has_members_here(const std::string& id) const {
    const Group* group = server_.groups().find(id);
    return group != nullptr && std::ranges::any_of(group->members, [&](const GroupMember& one) {
               return server_.namespaces().is_alive(group->proc(one));
           });
}

bool GroupDestruct::may_be_ended_here(const std::string& id) const {
    return has_members_here(id) || server_.collectives().find(CollectiveKind::GroupConstruct, id);
}

std::vector<pmix_proc_t> GroupDestruct::participants_for_host(const Collective& collective) {
    // All servers must name the same processes; the first server could not know which ones would leave.
    std::vector<pmix_proc_t> procs = collective.participants();
    const std::vector<Call> calls = take_calls(collective.id());
    if (!calls.empty()) procs = calls.front().procs;
    const auto first_here = std::ranges::find_if(
        procs, [&](const pmix_proc_t& one) { return server_.namespaces().is_local(one); });
    Asked& asked = asked_[collective.id()];
    asked.call = {collective.id(), procs, tolerates_departure(collective, {})};
    asked.reminder = server_.runtime().loop().after(
        kReminder + kReminderSpread * (first_here - procs.begin()) / static_cast<int64_t>(procs.size()),
        [this, id = collective.id()] {
            if (const auto found = asked_.find(id); found != asked_.end()) tell_call(found->second.call);
        });
    took_part(asked.call);
    for (const Call& call : calls)
        join(call);
    return procs;
}

std::vector<GroupDestruct::Call> GroupDestruct::take_calls(const std::string& id) {
    std::vector<Call> taken;
    for (const Call& call : calls_) {
        if (call.id == id) taken.push_back(call);
    }
    calls_.remove_if([&](const Call& call) { return call.id == id; });
    return taken;
}

void GroupDestruct::forget_failed(const std::string& id) {
    const Group* group = server_.groups().find(id);
    if (group != nullptr && group->state == GroupState::Failed && !has_members_here(id))
        server_.groups().remove(id);
}

void GroupDestruct::left(const std::string& id, const pmix_proc_t& proc) {
    forget_failed(id);
    if (server_.groups().find(id) == nullptr) {
        over_here_.push_back(id);
        if (over_here_.size() > kMaxCalls) over_here_.pop_front();
    }
    // Callers may wait for the group at the shared-memory meeting.
    server_.meetings().call_in(proc.nspace);
    if (const auto asked = asked_.find(id); asked != asked_.end()) {
        const Call& call = asked->second.call;
        if (!server_.namespaces().is_local(proc) && among(call.procs, proc)) tell_call(call);
        return;
    }
    if (server_.collectives().find(CollectiveKind::GroupDestruct, id) || has_members_here(id)) return;
    // The last local member has left: there will be no further call.
    for (const Call& call : take_calls(id))
        join(call);
}

void GroupDestruct::departed() {
    std::vector<std::string> failed;
    for (const auto& [id, group] : server_.groups().all()) {
        if (group.state == GroupState::Failed) failed.push_back(id);
    }
    for (const std::string& id : failed)
        forget_failed(id);
    for (auto call = calls_.begin(); call != calls_.end();) {
        const std::string id = call->id;
        if (may_be_ended_here(id) || server_.collectives().find(CollectiveKind::GroupDestruct, id)) {
            ++call;
            continue;
        }
        for (const Call& taken : take_calls(id))
            join(taken);
        call = calls_.begin();
    }
}

void GroupDestruct::deregistered() {
    GroupTable& groups = server_.groups();
    std::vector<std::string> over;
    for (const auto& entry : groups.all()) {
        const Group& group = entry.second;
        const bool known = std::ranges::any_of(
            group.members, [&](const GroupMember& one) { return was_here(server_, group.proc(one)); });
        if (!known) over.push_back(entry.first);
    }
    for (const std::string& id : over)
        groups.remove(id);
}

void GroupDestruct::tell_call(const Call& call) {
    std::vector<pmix_proc_t> others = call.procs;
    std::erase_if(others, [&](const pmix_proc_t& one) { return server_.namespaces().is_local(one); });
    Info info;
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(call.procs));
    info.add(PMIX_EVENT_DO_NOT_CACHE, true);
    if (call.tolerant) info.add(PMIX_GROUP_FT_COLLECTIVE, true);
    auto event =
        make_group_event(kDestructCallsCode, server_.runtime().self(), others, call.id, std::move(info));
    // Posted: it is an event that leads to this one.
    server_.runtime().loop().post(
        [this, event] { server_.router().from_client(event, [](pmix_status_t) {}); });
}

void GroupDestruct::called_elsewhere(Call call) {
    if (const auto asked = asked_.find(call.id); asked != asked_.end()) {
        if (same_procs(asked->second.call.procs, call.procs)) {
            asked->second.reminder.reset();  // all have been notified
            return;
        }
        // Neither knew of the other's list.
        if (join(call)) tell_call(asked->second.call);
        return;
    }
    if (has_members_here(call.id)) {
        // Members become fewer: where one is not named it is about an earlier group of this name.
        const Group* group = server_.groups().find(call.id);
        if (std::ranges::any_of(group->members, [&](const GroupMember& one) {
                return !among(call.procs, group->proc(one));
            })) {
            return;
        }
    }
    // Former local members may be constructing the next group of this name.
    const bool over_here = over_here_.remove(call.id) != 0;
    if (!over_here && may_be_ended_here(call.id)) {
        calls_.push_back(std::move(call));
        if (calls_.size() > kMaxCalls) calls_.pop_front();
        return;
    }
    join(call);
}

bool GroupDestruct::join(const Call& call) {
    const bool concerned =
        std::ranges::any_of(call.procs, [&](const pmix_proc_t& one) { return was_here(server_, one); });
    const auto same = [&](const Call& other) {
        return other.id == call.id && same_procs(other.procs, call.procs);
    };
    if (!concerned || std::ranges::any_of(joined_, same)) return false;
    took_part(call);
    Info info;
    info.add(MUSTER_GROUP_STANDIN, true);
    bool failed = false;
    GroupTable& groups = server_.groups();
    const Group* group = groups.find(call.id);
    if (group != nullptr && !asked_.contains(call.id) && !has_members_here(call.id)) {
        // A local process that is still a member has ended without leaving.
        for (const GroupMember& one : group->members) {
            const pmix_proc_t proc = group->proc(one);
            if (!was_here(server_, proc) || !among(call.procs, proc)) continue;
            failed |= !call.tolerant && !group->notify_termination;
            server_.invitation_watch().tell_of_loss(call.id, proc);
        }
        groups.remove(call.id);
    }
    if (!failed) {
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(PMIX_SUCCESS));
    } else if (add_failure(server_, PMIX_GROUP_MEMBER_FAILED, info) != PMIX_SUCCESS) {
        return true;
    }
    ask_host_for_group(server_.host(), PMIX_GROUP_DESTRUCT, call.id, call.procs, std::move(info),
                       [](const HostAnswer&) {});
    return true;
}

void GroupDestruct::goes_on_without(const Collective& collective, const pmix_proc_t& proc) {
    server_.invitation_watch().tell_of_loss(collective.id(), proc);
}

void GroupDestruct::took_part(Call call) {
    joined_.push_back(std::move(call));
    if (joined_.size() > kMaxCalls) joined_.pop_front();
}

void GroupDestruct::constructed(const Group& group) {
    // Others may be ending this one already.
    calls_.remove_if([&](const Call& call) {
        return call.id == group.id && std::ranges::any_of(group.members, [&](const auto& one) {
                   return !among(call.procs, group.proc(one));
               });
    });
    joined_.remove_if([&](const Call& call) { return call.id == group.id; });
    over_here_.remove(group.id);
}

}  // namespace muster

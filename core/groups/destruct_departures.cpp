// SPDX-License-Identifier: BSD-3-Clause
// Members that leave a group while other nodes have handed its destruction to the host: their server takes
// part in their place, so that the host need not know of it (see construct.hpp; docs/groups.md).
#include <algorithm>

#include "core/events/events.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_event.hpp"
#include "core/server/server.hpp"

namespace muster {
namespace {

/// What is kept of what other servers said, and of what was joined.
constexpr size_t kMaxCalls = 64;

}  // namespace

GroupDestruct::GroupDestruct(Server& server) : server_(server) {
    server.runtime().events().observe(kDestructCallsCode, [this](const EventPtr& event) {
        const auto said = GroupEvent::read(*event);
        const bool by_server = !proc_is(event->source, server_.runtime().self()) &&
                               server_.namespaces().find(event->source.nspace) == nullptr;
        if (said && by_server && !said->members.empty()) called_elsewhere({said->id, said->members});
        return EventEngine::OnEnd();
    });
}

bool GroupDestruct::has_members_here(const std::string& id) const {
    const Group* group = server_.runtime().groups().find(id);
    if (group == nullptr) return false;
    return std::any_of(group->members.begin(), group->members.end(), [&](const GroupMember& one) {
        return server_.namespaces().is_local(group->proc(one));
    });
}

std::vector<pmix_proc_t> GroupDestruct::participants_for_host(const Collective& collective) {
    // All servers have to name the same ones; whoever asked first could not know who would leave.
    std::vector<pmix_proc_t> procs = collective.participants();
    const std::vector<Call> calls = take_calls(collective.id());
    if (!calls.empty()) procs = calls.front().procs;
    asked_[collective.id()] = procs;
    took_part({collective.id(), procs});
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

void GroupDestruct::left(const std::string& id, const pmix_proc_t& proc) {
    // Those who have called may wait for it in memory.
    server_.meetings().call_in(proc.nspace);
    if (const auto asked = asked_.find(id); asked != asked_.end()) {
        if (!server_.namespaces().is_local(proc) && among(asked->second, proc)) tell_call(id, asked->second);
        return;
    }
    if (server_.collectives().find(CollectiveKind::GroupDestruct, id) || has_members_here(id)) return;
    // The last one here has left: nobody will call any more.
    for (const Call& call : take_calls(id))
        join(call);
}

void GroupDestruct::tell_call(const std::string& id, const std::vector<pmix_proc_t>& procs) {
    std::vector<pmix_proc_t> others = procs;
    std::erase_if(others, [&](const pmix_proc_t& one) { return server_.namespaces().is_local(one); });
    Info info;
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(procs));
    auto event = make_group_event(kDestructCallsCode, server_.runtime().self(), others, id, std::move(info));
    // Posted: it is an event that leads to this one.
    server_.runtime().loop().post(
        [this, event] { server_.events().from_client(event, [](pmix_status_t) {}); });
}

void GroupDestruct::called_elsewhere(Call call) {
    if (const auto asked = asked_.find(call.id); asked != asked_.end()) {
        if (same_procs(asked->second, call.procs) || !join(call)) return;
        // Neither knew of the other's list.
        return tell_call(call.id, asked->second);
    }
    if (has_members_here(call.id)) {
        // Members become fewer: where one is not named it is about an earlier group of this name.
        const Group* group = server_.runtime().groups().find(call.id);
        if (std::any_of(group->members.begin(), group->members.end(),
                        [&](const GroupMember& one) { return !among(call.procs, group->proc(one)); })) {
            return;
        }
        calls_.push_back(std::move(call));
        if (calls_.size() > kMaxCalls) calls_.pop_front();
        return;
    }
    join(call);
}

bool GroupDestruct::join(const Call& call) {
    const bool concerned = std::any_of(call.procs.begin(), call.procs.end(), [&](const pmix_proc_t& one) {
        return server_.namespaces().is_local(one);
    });
    const auto same = [&](const Call& other) {
        return other.id == call.id && same_procs(other.procs, call.procs);
    };
    if (!concerned || std::any_of(joined_.begin(), joined_.end(), same)) return false;
    took_part(call);
    Info info;
    info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(PMIX_SUCCESS));
    info.add(kStandInKey, true);
    ask_host_for_group(server_, PMIX_GROUP_DESTRUCT, call.id, call.procs, std::move(info),
                       [](const HostAnswer&) {});
    return true;
}

void GroupDestruct::took_part(Call call) {
    joined_.push_back(std::move(call));
    if (joined_.size() > kMaxCalls) joined_.pop_front();
}

void GroupDestruct::constructed(const std::string& id) {
    const auto is_it = [&](const Call& call) { return call.id == id; };
    calls_.remove_if(is_it);
    joined_.remove_if(is_it);
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// When the meeting of a job is made, opened and shut: see meetings.hpp.
#include "core/groups/meetings.hpp"

#include <algorithm>

#include "core/exchange/namespaces.hpp"
#include "core/groups/group_call.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/meeting.hpp"

namespace muster {
namespace {

bool is_group_operation(CollectiveKind kind) {
    return kind == CollectiveKind::GroupConstruct || kind == CollectiveKind::GroupDestruct;
}

}  // namespace

Meetings::Meetings(GroupServer& server)
    : RendezvousPages(server.runtime(), server.namespaces(), "meeting", "groups", Meeting::kMost),
      server_(server) {}

int Meetings::offer(const Namespace& nspace) {
    bool made = false;
    Shared* const shared = RendezvousPages::offer(nspace, made);
    return shared == nullptr ? -1 : shared->page->descriptor();
}

bool Meetings::are_all(const char* nspace, const std::vector<pmix_proc_t>& procs) {
    const Shared* const shared = find(nspace);
    if (shared == nullptr || shared->size != procs.size()) return false;
    std::vector<bool> named(procs.size());
    for (const pmix_proc_t& proc : procs) {
        if (proc.rank >= procs.size() || named[proc.rank] || !nspace_is(proc.nspace, nspace)) return false;
        named[proc.rank] = true;
    }
    return true;
}

void Meetings::joined(const Collective& collective) {
    const Arrival& latest = collective.arrivals().back();
    if (!group_call(latest).met) call_in(latest.proc.nspace);
}

void Meetings::ended(const Collective& collective, const Outcome& outcome) {
    const std::vector<Arrival>& all = collective.arrivals();
    if (outcome.status != PMIX_SUCCESS || all.empty()) return;
    Shared* const shared = find(all.front().proc.nspace);
    // All have called the server, and none is in the page: only now the next meeting can begin there.
    if (shared == nullptr || shared->open || all.size() != shared->size) return;
    // A participant may have ended while the host was asked: the gate would not be shut for it any more.
    const bool came = std::ranges::all_of(all, [&](const Arrival& one) {
        return group_call(one).maps_meeting && !group_call(one).met &&
               nspace_is(one.proc.nspace, all.front().proc.nspace) && server_.namespaces().is_alive(one.proc);
    });
    if (!came) return;
    // Some may have called the next one here already.
    for (const auto& other : server_.collectives().active()) {
        if (!is_group_operation(other->kind())) continue;
        for (const Arrival& one : other->arrivals()) {
            if (nspace_is(one.proc.nspace, all.front().proc.nspace)) return;
        }
    }
    open(*shared);
}

void Meetings::keep(const char* nspace, CollectiveKind kind, const std::string& id, uint32_t number,
                    const Outcome& outcome) {
    if (find(nspace) == nullptr) return;
    auto copy = std::make_shared<Outcome>();
    copy->status = outcome.status;
    const MemberListPtr members = group_outcome(outcome).members;
    group_outcome(*copy).members = members;
    for (const pmix_info_t& one : outcome.info) {
        // Callers that named just these members get no list.
        if (members && key_is(one.key, PMIX_GROUP_MEMBERSHIP)) continue;
        if (copy->info.add_copy(one) != PMIX_SUCCESS) copy->status = PMIX_ERR_NOMEM;
    }
    last_[nspace] = {kind, id, number, std::move(copy)};
}

std::shared_ptr<Outcome> Meetings::kept(const char* nspace, CollectiveKind kind, const std::string& id,
                                        uint32_t number) const {
    const auto found = last_.find(nspace);
    if (found == last_.end()) return nullptr;
    const Last& last = found->second;
    return last.outcome && last.kind == kind && last.number == number && last.id == id ? last.outcome
                                                                                       : nullptr;
}

void Meetings::deregistered(const char* nspace) {
    RendezvousPages::deregistered(nspace);
    last_.erase(nspace);
}

}  // namespace muster

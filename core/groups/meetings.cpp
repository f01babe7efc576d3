// SPDX-License-Identifier: BSD-3-Clause
// When the meeting of a job is made, opened and shut: see meetings.hpp.
#include "core/groups/meetings.hpp"

#include <algorithm>

#include "core/exchange/namespaces.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/meeting.hpp"
#include "core/rendezvous/barriers.hpp"

namespace muster {
namespace {

bool is_group_operation(CollectiveKind kind) {
    return kind == CollectiveKind::GroupConstruct || kind == CollectiveKind::GroupDestruct;
}

}  // namespace

/// How many processes the job has, when all of them are here and find room; else 0.
uint32_t Meetings::size_of(const Namespace& nspace) const {
    const uint32_t size = server_.barriers().size_of(nspace);
    return size <= Meeting::kMost ? size : 0;
}

int Meetings::offer(const Namespace& nspace) {
    if (!server_.runtime().parameters().boolean("pmix_shared_barrier")) return -1;
    const auto found = shared_.find(nspace.name);
    if (found != shared_.end()) return found->second.memory ? found->second.memory->descriptor() : -1;
    const uint32_t size = size_of(nspace);
    if (size == 0) return -1;
    Shared& shared = shared_[nspace.name];
    auto memory = BarrierMemory::create("pmix:groups:" + nspace.name);
    if (!memory) {
        MUSTER_LOG(server_.log(), Error,
                   "namespace %s has no meeting in memory (%s); its groups go by this server",
                   nspace.name.c_str(), memory.error().text.c_str());
        return -1;
    }
    shared.memory = std::move(*memory);
    shared.size = size;
    return shared.memory->descriptor();
}

bool Meetings::are_all(const char* nspace, const std::vector<pmix_proc_t>& procs) const {
    const auto found = shared_.find(nspace);
    if (found == shared_.end() || !found->second.memory || found->second.size != procs.size()) return false;
    std::vector<bool> named(procs.size());
    for (const pmix_proc_t& proc : procs) {
        if (proc.rank >= procs.size() || named[proc.rank] || !nspace_is(proc.nspace, nspace)) return false;
        named[proc.rank] = true;
    }
    return true;
}

void Meetings::call_in(Shared& shared) {
    if (!std::exchange(shared.open, false)) return;
    shared.memory->shut(static_cast<int>(shared.size));
}

void Meetings::call_in(const char* nspace) {
    if (const auto found = shared_.find(nspace); found != shared_.end()) call_in(found->second);
}

void Meetings::call_in_all() {
    for (auto& [name, shared] : shared_)
        call_in(shared);
}

void Meetings::joined(const Collective& collective) {
    const Arrival& latest = collective.arrivals().back();
    if (!latest.met) call_in(latest.proc.nspace);
}

void Meetings::ended(const Collective& collective, const Outcome& outcome) {
    const std::vector<Arrival>& all = collective.arrivals();
    if (outcome.status != PMIX_SUCCESS || all.empty()) return;
    const auto found = shared_.find(all.front().proc.nspace);
    if (found == shared_.end() || !found->second.memory) return;
    // All are here, and none is in memory: the only moment when the next one can be begun there.
    Shared& shared = found->second;
    if (shared.open || all.size() != shared.size) return;
    // One may have gone while the host was asked: nobody would shut it for that one's sake any more.
    const bool came = std::all_of(all.begin(), all.end(), [&](const Arrival& one) {
        const LocalClient* client = server_.namespaces().client(one.proc);
        return one.maps_meeting && !one.met && nspace_is(one.proc.nspace, all.front().proc.nspace) &&
               client != nullptr && !client->gone();
    });
    if (!came) return;
    // Some may have called the next one here already.
    for (const auto& other : server_.collectives().active()) {
        if (!is_group_operation(other->kind())) continue;
        for (const Arrival& one : other->arrivals()) {
            if (nspace_is(one.proc.nspace, all.front().proc.nspace)) return;
        }
    }
    shared.memory->open();
    shared.open = true;
}

void Meetings::keep(const char* nspace, CollectiveKind kind, const std::string& id, uint32_t number,
                    const Outcome& outcome) {
    const auto found = shared_.find(nspace);
    if (found == shared_.end()) return;
    auto copy = std::make_shared<Outcome>();
    copy->status = outcome.status;
    copy->members = outcome.members;
    for (const pmix_info_t& one : outcome.info) {
        // Those who named just these members know them.
        if (outcome.members && key_is(one.key, PMIX_GROUP_MEMBERSHIP)) continue;
        if (copy->info.add_copy(one) != PMIX_SUCCESS) copy->status = PMIX_ERR_NOMEM;
    }
    found->second.last = {kind, id, number, std::move(copy)};
}

std::shared_ptr<Outcome> Meetings::kept(const char* nspace, CollectiveKind kind, const std::string& id,
                                        uint32_t number) const {
    const auto found = shared_.find(nspace);
    if (found == shared_.end()) return nullptr;
    const Last& last = found->second.last;
    return last.outcome && last.kind == kind && last.number == number && last.id == id ? last.outcome
                                                                                       : nullptr;
}

void Meetings::registered(const char* name) {
    const auto found = shared_.find(name);
    if (found == shared_.end()) return;
    const Namespace* nspace = server_.namespaces().find(name);
    if (nspace != nullptr && size_of(*nspace) == found->second.size) return;
    // Processes count on the size that it had.
    call_in(found->second);
    found->second.memory.reset();
}

void Meetings::deregistered(const char* nspace) {
    call_in(nspace);
    shared_.erase(nspace);
}

}  // namespace muster

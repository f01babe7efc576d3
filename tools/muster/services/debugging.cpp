// SPDX-License-Identifier: BSD-3-Clause
// Debuggers in the launcher.
#include "tools/muster/services/debugging.hpp"

#include <pmix_common.h>

#include "tools/muster/services/announcer.hpp"

namespace muster::launcher {
namespace {

/// Returns the ranks that stop at this place. Programs name their own places.
const RankChoice& choice_of(const StopPoints& stops, const std::string& place) {
    if (place == kExecBreakpoint) return stops.on_exec;
    return place == "pmix-init" ? stops.in_init : stops.in_app;
}

size_t count_of(const RankChoice& choice, const Job& job) {
    return choice.all ? job.size() : choice.ranks.size();
}

}  // namespace

void Debugging::told(uint32_t, Buffer& in) {
    ProcName name;
    std::string place;
    if (!in.unpack(name, place)) return;
    const JobRecord* record = hub_.jobs.find(name.nspace);
    if (record == nullptr || name.rank >= record->job.size()) return;
    const Job& job = record->job;
    // The requestor, and the connected debugger daemons.
    std::vector<ProcName> whom;
    if (!record->job.wishes.requestor.nspace.empty()) whom.push_back(record->job.wishes.requestor);
    for (const auto& [number, other] : hub_.jobs.all()) {
        if (other->job.debugger() && other->job.target().value_or(ProcName()).nspace == job.nspace &&
            !other->ended())
            whom.push_back({other->job.nspace, PMIX_RANK_WILDCARD});
    }
    const RankChoice& choice = choice_of(job.stops, place);
    // The stop was not requested: it is reported immediately.
    if (!choice.means(name.rank)) return ready(*record, place, name.rank, whom);
    Waiting& waiting = waiting_[job.number];
    std::set<uint32_t>& ranks = waiting.ranks[place];
    ranks.insert(name.rank);
    if (ranks.size() < count_of(choice, job) || !waiting.complete.insert(place).second) return;
    ready(*record, place, std::nullopt, whom);
}

void Debugging::ready(const JobRecord& job, const std::string& place, std::optional<uint32_t> rank,
                      const std::vector<ProcName>& whom) {
    if (whom.empty()) return;
    Notice notice = notice_about(hub_, job, PMIX_READY_FOR_DEBUG);
    notice.targets = whom;
    notice.breakpoint = place;
    if (rank) notice.affected = ProcName{job.job.nspace, *rank};
    announce(hub_, notice);
}

/// Notifies daemons that start after their targets have stopped.
void Debugging::job_started(JobRecord& job) {
    const std::optional<ProcName> name = job.job.target();
    const JobRecord* target = name ? hub_.jobs.find(name->nspace) : nullptr;
    if (target == nullptr) return;
    const auto found = waiting_.find(target->job.number);
    if (found == waiting_.end()) return;
    for (const std::string& place : found->second.complete)
        ready(*target, place, std::nullopt, {{job.job.nspace, PMIX_RANK_WILDCARD}});
}

void Debugging::job_ended(JobRecord& job) {
    waiting_.erase(job.job.number);
}

}  // namespace muster::launcher

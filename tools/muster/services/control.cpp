// SPDX-License-Identifier: BSD-3-Clause
// Control of jobs in the launcher.
#include "tools/muster/services/control.hpp"

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace muster::launcher {

void Control::asked(Asker asker, Buffer& in) {
    std::vector<ProcName> targets;
    std::vector<Step> steps;
    if (!in.unpack(targets, steps) || targets.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    for (const ProcName& target : targets) {
        const JobRecord* record = hub_.jobs.find(target.nspace);
        if (record == nullptr || record->job.ranks_meant(target.rank).empty())
            return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
    }
    int32_t status = PMIX_SUCCESS;
    for (const Step& step : steps) {
        status = act(step, targets);
        if (status != PMIX_SUCCESS) break;
    }
    hub_.answer(asker, status);
}

int32_t Control::act(const Step& step, const std::vector<ProcName>& targets) {
    std::vector<ProcId> procs;
    for (const ProcName& target : targets) {
        const JobRecord& record = *hub_.jobs.find(target.nspace);
        const bool all = target.rank == PMIX_RANK_WILDCARD;
        procs.push_back({record.job.number, all ? kAllRanks : target.rank});
    }
    switch (step.action) {
        case Action::Signal:
            if (step.number <= 0 || step.number >= NSIG) return PMIX_ERR_BAD_PARAM;
            hub_.signal(step.number, procs);
            return PMIX_SUCCESS;
        case Action::Pause:
            hub_.signal(SIGSTOP, procs);
            return PMIX_SUCCESS;
        case Action::Resume:
            hub_.signal(SIGCONT, procs);
            return PMIX_SUCCESS;
        case Action::Terminate:
            return end(targets, false);
        case Action::Kill:
            return end(targets, true);
        case Action::TerminateProcs:
        case Action::TerminateNodes:
        case Action::TerminateJobs:
        case Action::TerminateSession:
            if (step.number < 0) return PMIX_ERR_BAD_PARAM;
            end_later(step, targets);
            return PMIX_SUCCESS;
        case Action::EndSilently:
            for (const ProcName& target : targets)
                hub_.jobs.find(target.nspace)->job.wishes.silent = true;
            return PMIX_SUCCESS;
        case Action::DefineSet: {
            if (collides_with_jobs(step.text, hub_.next_nspace())) return PMIX_ERR_BAD_PARAM;
            if (hub_.jobs.has_set(step.text)) return PMIX_ERR_EXISTS;
            hub_.jobs.add_set(step.text);
            std::vector<ProcName> members;
            for (const ProcName& target : targets) {
                for (uint32_t rank : hub_.jobs.find(target.nspace)->job.ranks_meant(target.rank))
                    members.push_back({target.nspace, rank});
            }
            hub_.tell_all(Topic::Control, pack(step.text, members));
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

void Control::end_later(const Step& step, const std::vector<ProcName>& targets) {
    const auto place = later_.emplace(later_.end());
    *place = hub_.loop.after(std::chrono::seconds(step.number), [this, place, action = step.action, targets] {
        const auto asked = std::make_pair(action, targets);
        later_.erase(place);  // and the objects that this function owns
        end_as_asked(asked.first, asked.second);
    });
}

/// Ends the remaining targets.
void Control::end_as_asked(Action action, const std::vector<ProcName>& targets) {
    std::set<uint32_t> nodes;
    std::set<std::string> jobs;
    for (const ProcName& target : targets) {
        jobs.insert(target.nspace);
        const Job& job = hub_.jobs.find(target.nspace)->job;
        for (const uint32_t rank : job.ranks_meant(target.rank))
            nodes.insert(job.places[rank].node);
    }
    std::vector<ProcName> procs;
    for (const auto& entry : hub_.jobs.all()) {
        const JobRecord& record = *entry.second;
        if (record.ended()) continue;
        const std::string& nspace = record.job.nspace;
        if (action == Action::TerminateSession || (action == Action::TerminateJobs && jobs.contains(nspace)))
            procs.push_back({nspace, PMIX_RANK_WILDCARD});
        for (uint32_t rank = 0; action == Action::TerminateNodes && rank < record.job.size(); ++rank) {
            if (nodes.contains(record.job.places[rank].node)) procs.push_back({nspace, rank});
        }
    }
    if (action == Action::TerminateProcs) {
        std::ranges::copy_if(targets, std::back_inserter(procs),
                             [&](const ProcName& target) { return !hub_.jobs.find(target.nspace)->ended(); });
    }
    end(procs, false);
}

/// Ends jobs as a whole where all of their ranks are meant, else single ranks.
int32_t Control::end(const std::vector<ProcName>& targets, bool at_once) {
    std::map<JobRecord*, std::set<uint32_t>> ranks;
    for (const ProcName& target : targets) {
        JobRecord* record = hub_.jobs.find(target.nspace);
        const std::vector<uint32_t> meant = record->job.ranks_meant(target.rank);
        ranks[record].insert(meant.begin(), meant.end());
    }
    for (const auto& [record, meant] : ranks) {
        if (meant.size() == record->job.size()) {
            hub_.end_job(*record, PMIX_ERR_JOB_KILLED_BY_CMD, at_once);
            continue;
        }
        std::vector<ProcId> procs;
        for (uint32_t rank : meant)
            procs.push_back({record->job.number, rank});
        hub_.end_ranks(procs, at_once);
    }
    return PMIX_SUCCESS;
}

}  // namespace muster::launcher

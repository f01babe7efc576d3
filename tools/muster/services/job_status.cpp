// SPDX-License-Identifier: BSD-3-Clause
// The state of the jobs, for queries.
#include "tools/muster/services/job_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/muster/services/announcer.hpp"

namespace muster::launcher {

uint32_t state_of(const JobRecord& job, const RankState& rank) {
    if (!rank.ended) {
        if (rank.restarting) return PMIX_PROC_STATE_RESTART;
        if (!rank.started)
            return job.state == JobRecord::State::Registering || job.job.do_not_launch
                       ? PMIX_PROC_STATE_PREPPED
                       : PMIX_PROC_STATE_LAUNCH_UNDERWAY;
        return rank.connected && !rank.finalized ? PMIX_PROC_STATE_CONNECTED : PMIX_PROC_STATE_RUNNING;
    }
    switch (end_code(rank)) {
        case PMIX_SUCCESS:
            return PMIX_PROC_STATE_TERMINATED;
        case PMIX_ERR_PROC_FAILED_TO_START:
            return PMIX_PROC_STATE_FAILED_TO_START;
        case PMIX_ERR_PROC_REQUESTED_ABORT:
            return PMIX_PROC_STATE_CALLED_ABORT;
        case PMIX_ERR_PROC_KILLED_BY_CMD:
            return PMIX_PROC_STATE_KILLED_BY_CMD;
        case PMIX_ERR_PROC_ABORTED_BY_SIG:
            return PMIX_PROC_STATE_ABORTED_BY_SIG;
        case PMIX_ERR_EXIT_NONZERO_TERM:
            return PMIX_PROC_STATE_TERM_NON_ZERO;
        default:
            return PMIX_PROC_STATE_TERM_WO_SYNC;
    }
}

namespace {

JobStatus status_of(const JobRecord& record) {
    JobStatus job;
    job.nspace = record.job.nspace;
    job.status = record.term_status;
    job.debugger = record.job.debugger();
    job.ended = record.state == JobRecord::State::Ended;
    for (const App& app : record.job.apps) {
        if (!job.command.empty()) job.command += " : ";
        job.command += fmt::format("{}", fmt::join(app.argv, " "));
    }
    for (uint32_t rank = 0; rank < record.job.size(); ++rank) {
        const Place& place = record.job.places[rank];
        const App& app = record.job.apps[place.app];
        const RankState& state = record.ranks[rank];
        job.programs.push_back(app.program.empty() ? app.argv[0] : app.program);
        job.procs.push_back({place.node, state.pid > 0 ? state.pid : 0, state.ended ? exit_code_of(state) : 0,
                             state_of(record, state)});
    }
    return job;
}

}  // namespace

void JobStatusService::asked(Asker asker, Buffer& in) {
    std::string nspace;
    if (!in.unpack(nspace)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    std::vector<JobStatus> jobs;
    for (const auto& [number, record] : hub_.jobs.all()) {
        const bool wanted =
            nspace.empty() ? record->state != JobRecord::State::Ended : record->job.nspace == nspace;
        if (!wanted) continue;
        jobs.push_back(status_of(*record));
        jobs.back().allocation = hub_.allocations.of_job(number);
    }
    const std::vector<Allocation> allocations(hub_.allocations.all().begin(), hub_.allocations.all().end());
    hub_.answer(asker, PMIX_SUCCESS, pack(jobs, allocations));
}

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// The state of the jobs, for queries.
#include "tools/muster/services/job_status.hpp"

#include "tools/muster/services/announcer.hpp"

namespace muster::launcher {
namespace {

uint32_t state_of(const JobRecord& job, const RankState& rank) {
    if (!rank.ended) {
        if (!rank.started)
            return job.state == JobRecord::State::Registering ? PMIX_PROC_STATE_PREPPED
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

JobStatus status_of(const JobRecord& record) {
    JobStatus job;
    job.nspace = record.job.nspace;
    job.status = record.term_status;
    job.ended = record.state == JobRecord::State::Ended;
    for (const App& app : record.job.apps) {
        if (!job.command.empty()) job.command += " : ";
        std::string words;
        for (const std::string& word : app.argv)
            words += (words.empty() ? "" : " ") + word;
        job.command += words;
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

void write_job_status(Writer& out, const JobStatus& job) {
    out.bytes(job.nspace).bytes(job.command).i32(job.status).u32(job.ended ? 1 : 0);
    out.texts(job.programs).u32(static_cast<uint32_t>(job.procs.size()));
    for (const ProcStatus& proc : job.procs)
        out.u32(proc.node).u64(static_cast<uint64_t>(proc.pid)).i32(proc.exit_code).u32(proc.state);
}

JobStatus read_job_status(Reader& in) {
    JobStatus job;
    job.nspace = in.bytes();
    job.command = in.bytes();
    job.status = in.i32();
    job.ended = in.u32() != 0;
    job.programs = in.texts();
    for (uint32_t left = in.count(5 * sizeof(uint32_t)); left > 0 && in.ok(); --left) {
        ProcStatus proc;
        proc.node = in.u32();
        proc.pid = static_cast<int64_t>(in.u64());
        proc.exit_code = in.i32();
        proc.state = in.u32();
        job.procs.push_back(proc);
    }
    job.programs.resize(job.procs.size());
    return job;
}

void JobStatusService::asked(Asker asker, Reader& in) {
    const std::string nspace(in.bytes());
    Writer jobs;
    uint32_t count = 0;
    for (const auto& [number, record] : hub_.jobs().all()) {
        const bool wanted =
            nspace.empty() ? record->state != JobRecord::State::Ended : record->job.nspace == nspace;
        if (!wanted) continue;
        write_job_status(jobs, status_of(*record));
        ++count;
    }
    hub_.answer(asker, PMIX_SUCCESS, Writer().u32(count).raw(jobs).body());
}

}  // namespace muster::launcher

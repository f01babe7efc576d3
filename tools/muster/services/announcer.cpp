// SPDX-License-Identifier: BSD-3-Clause
// Events in the launcher.
#include "tools/muster/services/announcer.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <sys/wait.h>

#include <ctime>
#include <set>

namespace muster::launcher {
namespace {

/// The namespace from which a job descends by spawns: a tool's, or that of a job that was not spawned.
std::string root_of(JobTable& jobs, const Job& job) {
    const Job* at = &job;
    while (at->parent) {
        const JobRecord* parent = jobs.find(at->parent->nspace);
        if (parent == nullptr) return at->parent->nspace;
        // PMIX_PARENT_ID may name any process; an ancestor is older.
        if (parent->job.number >= at->number) break;
        at = &parent->job;
    }
    return at->nspace;
}

/// An event of a job's life, as a line of a log.
std::string line_of(const Notice& notice) {
    std::string line = fmt::format("{}: {}", PMIx_Error_string(notice.code), notice.nspace);
    if (notice.job_status) line += fmt::format(" ended with {}", PMIx_Error_string(*notice.job_status));
    const bool one = notice.affected && notice.affected->rank != PMIX_RANK_WILDCARD;
    if (one) line += fmt::format(", rank {} with exit code {}", notice.affected->rank, *notice.exit_code);
    return line;
}

}  // namespace

int32_t exit_code_of(const RankState& rank) {
    if (!rank.started) return 0;
    return WIFSIGNALED(rank.status) ? 128 + WTERMSIG(rank.status) : WEXITSTATUS(rank.status);
}

int32_t end_code(const RankState& rank) {
    if (!rank.started) return PMIX_ERR_PROC_FAILED_TO_START;
    if (rank.aborted) return PMIX_ERR_PROC_REQUESTED_ABORT;
    if (rank.dismissed && WIFSIGNALED(rank.status)) return PMIX_ERR_PROC_KILLED_BY_CMD;
    if (WIFSIGNALED(rank.status)) return PMIX_ERR_PROC_ABORTED_BY_SIG;
    if (WEXITSTATUS(rank.status) != 0) return PMIX_ERR_EXIT_NONZERO_TERM;
    if (rank.connected && !rank.finalized) return PMIX_ERR_PROC_TERM_WO_SYNC;
    return PMIX_SUCCESS;
}

void Announcer::asked(Asker asker, Buffer& in) {
    Notice notice;
    if (!in.unpack(notice)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    // The node of the source has notified its own processes.
    launcher::announce(hub_, notice, asker.node);
    hub_.answer(asker, PMIX_SUCCESS);
}

void announce(Hub& hub, const Notice& notice, std::optional<uint32_t> but_not) {
    std::set<uint32_t> nodes;
    bool all = false;
    auto add = [&](const ProcName& proc) {
        const JobRecord* record = hub.jobs.find(proc.nspace);
        if (record == nullptr) {
            all = true;  // a tool's, perhaps
        } else if (proc.rank < record->job.size()) {
            nodes.insert(record->job.places[proc.rank].node);
        } else {
            for (uint32_t node : record->job.used_nodes())
                nodes.insert(node);
        }
    };
    switch (notice.range) {
        case PMIX_RANGE_LOCAL:
        case PMIX_RANGE_PROC_LOCAL:
        case PMIX_RANGE_RM:
            return;
        case PMIX_RANGE_NAMESPACE:
            add({notice.source.nspace, PMIX_RANK_WILDCARD});
            break;
        case PMIX_RANGE_CUSTOM:
            for (const ProcName& target : notice.targets)
                add(target);
            break;
        default:
            all = true;
    }
    const Buffer body = pack(notice);
    for (uint32_t node = 0; node < hub.nodes.size(); ++node) {
        if (node != but_not && (all || nodes.contains(node))) hub.tell(node, Topic::Event, body);
    }
}

Notice notice_about(const Hub& hub, const JobRecord& job, int32_t code) {
    Notice notice;
    notice.code = code;
    notice.source = hub.launcher;
    notice.targets = {job.job.wishes.requestor};
    notice.non_default = true;
    notice.affected = ProcName{job.job.nspace, PMIX_RANK_WILDCARD};
    notice.nspace = job.job.nspace;
    notice.time = static_cast<uint64_t>(time(nullptr));
    return notice;
}

/// Notifies the requestor of the job, and logs the event, if requested.
void Announcer::report(const JobRecord& job, const Notice& notice, bool notify, bool log) {
    if (notify) announce(notice);
    // The first node has a server, whose channels write it.
    if (log) hub_.tell(0, Topic::Log, pack(line_of(notice), notice.time, job.job.wishes.log));
}

void Announcer::add_tree(const JobRecord& job, Notice& notice) const {
    notice.tree_root = root_of(hub_.jobs, job.job);
    for (const auto& [number, other] : hub_.jobs.all()) {
        const bool runs = other.get() != &job && !other->ended();
        if (runs && root_of(hub_.jobs, other->job) == notice.tree_root) ++notice.tree_active;
    }
}

void Announcer::job_begun(JobRecord& job) {
    report(job, about(job, PMIX_EVENT_JOB_START), job.job.wishes.notify_events, job.job.wishes.log_events);
}

void Announcer::job_started(JobRecord& job) {
    report(job, about(job, PMIX_LAUNCH_COMPLETE), job.job.wishes.notify_events, job.job.wishes.log_events);
}

void Announcer::proc_ended(JobRecord& job, uint32_t rank) {
    const RankState& state = job.ranks[rank];
    const int32_t code = end_code(state);
    const JobWishes& wishes = job.job.wishes;
    const ProcName name{job.job.nspace, rank};
    if (state.started) {
        const bool failed = code != PMIX_SUCCESS;
        Notice notice = about(job, PMIX_EVENT_PROC_TERMINATED);
        notice.affected = name;
        notice.exit_code = exit_code_of(state);
        report(job, notice, wishes.notify_procs || (wishes.notify_failures && failed),
               wishes.log_procs || (wishes.log_failures && failed));
    }
    // The first failure is announced to the spawner, to the jobs that are connected, and to the job itself if
    // it continues. Failures caused by the first one are not.
    const bool goes_on = wishes.recoverable || state.restarting;
    if (code == PMIX_SUCCESS || !state.started || (job.failed_rank != rank && !goes_on)) return;
    Notice notice = about(job, code);
    notice.affected = name;
    notice.exit_code = exit_code_of(state);
    notice.targets.clear();
    if (job.job.parent) notice.targets.push_back(*job.job.parent);
    if (goes_on) notice.targets.push_back({job.job.nspace, PMIX_RANK_WILDCARD});
    if (!notice.targets.empty()) announce(notice);
    notice.targets.clear();
    // Default handlers of those that it is connected with are asked, too.
    notice.non_default = false;
    for (uint32_t other : std::set<uint32_t>(job.linked.begin(), job.linked.end())) {
        if (const JobRecord* record = hub_.jobs.find(other); record != nullptr && !record->ended())
            notice.targets.push_back({record->job.nspace, PMIX_RANK_WILDCARD});
    }
    if (!notice.targets.empty()) announce(notice);
}

void Announcer::job_ended(JobRecord& job) {
    const JobWishes& wishes = job.job.wishes;
    Notice notice = about(job, PMIX_EVENT_JOB_END);
    notice.job_status = job.term_status;
    notice.exit_code = 0;
    if (job.failed_rank) {
        notice.affected = ProcName{job.job.nspace, *job.failed_rank};
        notice.exit_code = exit_code_of(job.ranks[*job.failed_rank]);
    }
    const bool silent = wishes.silent && job.term_status == PMIX_SUCCESS;
    const bool notify = !silent && (wishes.notify_end || wishes.notify_events);
    if (notify) add_tree(job, notice);
    report(job, notice, notify, wishes.log_end || wishes.log_events);
}

}  // namespace muster::launcher

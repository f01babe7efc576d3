// SPDX-License-Identifier: BSD-3-Clause
// The launcher's knowledge of all jobs: the first one, those that were spawned, and those that have ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

struct RankState {
    pid_t pid = -1;  ///< kept after its end
    bool started = false;
    bool connected = false;  ///< has called PMIx_Init
    bool finalized = false;
    bool dismissed = false;  ///< its end was asked for; its status does not matter
    bool aborted = false;    ///< called PMIx_Abort
    bool ended = false;
    bool paused = false;
    int status = 0;  ///< as of waitpid, once it has ended
};

/// What a spawn asks for beyond the job itself.
struct JobWishes {
    bool notify_end = false;       ///< PMIX_EVENT_JOB_END
    bool notify_events = false;    ///< its start, launch and end
    bool notify_procs = false;     ///< the end of each process
    bool notify_failures = false;  ///< the abnormal end of each process
    bool log_end = false;          ///< the same four, written down (PMIx_Log)
    bool log_events = false;
    bool log_procs = false;
    bool log_failures = false;
    bool silent = false;             ///< no event of a normal end
    bool separate = false;           ///< lives on when the job of its parent fails
    bool report_separately = false;  ///< its failure does not count for muster's exit status
    bool recoverable = false;        ///< lives on when a process fails
    bool nonzero_is_fine = false;    ///< an exit code other than 0 is no failure
    uint32_t forward = 0;            ///< channels that a tool will ask for (PMIX_FWD_STDOUT and its like)
    ProcName requestor;              ///< who is told
    std::string log;                 ///< packed: where to it is written, and how; empty: standard error
    static auto fields(auto& self) {
        return std::tie(self.notify_end, self.notify_events, self.notify_procs, self.notify_failures,
                        self.log_end, self.log_events, self.log_procs, self.log_failures, self.silent,
                        self.separate, self.report_separately, self.recoverable, self.nonzero_is_fine,
                        self.forward, self.requestor, self.log);
    }
};

/// A job, as long as muster runs.
struct JobRecord {
    enum class State {
        Registering,  ///< the nodes are told of it
        Starting,
        Running,
        Ending,  ///< it has failed, or is to end: its ranks are being ended
        Ended,
    };
    Job job;
    State state = State::Registering;
    std::vector<RankState> ranks;
    uint32_t ranks_left = 0;        ///< not ended
    uint32_t ranks_to_start = 0;    ///< neither started nor given up
    std::set<uint32_t> nodes_left;  ///< that have yet to register it
    std::optional<int> failure;     ///< exit status of its first failure
    int32_t term_status = 0;        ///< how it ended: a status of PMIx
    JobWishes wishes;
    std::optional<uint32_t> failed_rank;  ///< the first that failed
    std::optional<int> first_status;      ///< of a job that can recover: what its first failure would give
    uint32_t ranks_failed = 0;            ///< of such a job
    std::multiset<uint32_t> linked;       ///< jobs connected to it: one fails with the other

    bool ended() const { return state == State::Ending || state == State::Ended; }
};

class JobTable {
  public:
    /// Takes a job in; its number and offset are set here.
    JobRecord& add(Job job);
    JobRecord* find(uint32_t number);
    JobRecord* find(std::string_view nspace);
    /// The rank's state, or null when there is no such process.
    RankState* find(ProcId proc);
    RankState* find(const ProcName& proc);
    /// By number.
    std::map<uint32_t, std::unique_ptr<JobRecord>>& all() { return jobs_; }
    uint32_t next_number() const { return next_; }
    /// True when each job has ended.
    bool all_ended() const;

    /// Whether a process set of this name is there: of a job that has not ended, or defined by command.
    bool has_set(std::string_view name) const;
    /// One was defined by command.
    void add_set(std::string name) { sets_.insert(std::move(name)); }

  private:
    std::map<uint32_t, std::unique_ptr<JobRecord>> jobs_;
    std::set<std::string, std::less<>> sets_;
    std::vector<uint32_t> on_node_;  ///< processes so far, by node
    uint32_t next_ = 1;
    uint32_t processes_ = 0;
};

}  // namespace muster::launcher

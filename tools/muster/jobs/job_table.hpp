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
    bool restarting = false;     ///< has failed, and has yet to be started again
    uint32_t reincarnation = 0;  ///< how often it was started again
    bool paused = false;
    int status = 0;  ///< as of waitpid, once it has ended
};

/// A job, as long as muster runs.
struct JobRecord {
    enum class State {
        Registering,  ///< the nodes are notified of it
        Starting,
        Running,
        Ending,  ///< it has failed, or is being terminated: its ranks are being ended
        Ended,
    };
    Job job;
    State state = State::Registering;
    std::vector<RankState> ranks;
    bool begun = false;                   ///< one of its processes has been started
    uint32_t ranks_left = 0;              ///< not ended
    uint32_t ranks_to_start = 0;          ///< neither started nor abandoned
    std::set<uint32_t> nodes_left;        ///< that have yet to register it
    std::optional<int> failure;           ///< exit status of its first failure
    int32_t term_status = 0;              ///< how it ended: a status of PMIx
    std::optional<uint32_t> failed_rank;  ///< the first that failed
    std::optional<int> first_status;      ///< of a job that can recover: the status of its first failure
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
    /// Processes that have not ended, by node; those of debuggers do not count.
    std::vector<uint32_t> busy() const;
    /// True when each job has ended.
    bool all_ended() const;

    /// Whether a process set of this name exists: of a job that has not ended, or defined by command.
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

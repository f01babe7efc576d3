// SPDX-License-Identifier: BSD-3-Clause
// The state of the jobs and their processes at this moment, for queries.
#pragma once

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

struct ProcStatus {
    uint32_t node = 0;
    int64_t pid = 0;
    int32_t exit_code = 0;
    uint32_t state = 0;  ///< PMIX_PROC_STATE_...
    static auto fields(auto& self) { return std::tie(self.node, self.pid, self.exit_code, self.state); }
};

struct JobStatus {
    std::string nspace;
    std::string command;
    int32_t status = 0;  ///< PMIX_ERR_JOB_... when it failed, PMIX_SUCCESS otherwise
    bool ended = false;
    bool debugger = false;              ///< its processes are a debugger's daemons
    std::string allocation;             ///< the scheduler's name of its allocation; empty: none
    std::vector<std::string> programs;  ///< by rank
    std::vector<ProcStatus> procs;      ///< by rank
    static auto fields(auto& self) {
        return std::tie(self.nspace, self.command, self.status, self.ended, self.debugger, self.allocation,
                        self.programs, self.procs);
    }
};

/// PMIX_PROC_STATE_... of a process.
uint32_t state_of(const JobRecord& job, const RankState& rank);

/// Topic::Query. The request: a namespace, "" for all that have not ended. The answer: a JobStatus of each,
/// and every Allocation.
class JobStatusService final : public Service {
  public:
    explicit JobStatusService(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
};

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// Events: passes those of processes on to the other nodes with a process in range, and raises those of
// the launcher, about jobs and processes that start and end (Standard 5.0, 12.2.4 and 8.2), which it logs if
// a spawn requests it (PMIX_LOG_JOB_EVENTS and similar attributes).
#pragma once

#include <string>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// One event in the message to nodes: the fixed fields first, then attributes.
struct Notice {
    int32_t code = 0;
    ProcName source;
    uint32_t range = PMIX_RANGE_CUSTOM;
    std::vector<ProcName> targets;  ///< of PMIX_RANGE_CUSTOM
    bool non_default = false;
    std::string info;  ///< packed attributes; of a process's event these are all
    // Set in the launcher's own events.
    std::optional<ProcName> affected;
    std::optional<int32_t> exit_code;
    std::optional<int32_t> job_status;
    std::string nspace;
    std::string breakpoint;    ///< PMIX_BREAKPOINT; empty: none
    uint64_t time = 0;         ///< seconds since 1970; 0: not given
    std::string tree_root;     ///< of the end of a job: the namespace from which it descends by spawns
    uint32_t tree_active = 0;  ///< and how many other jobs of that descent run
    static auto fields(auto& self) {
        return std::tie(self.code, self.source, self.range, self.targets, self.non_default, self.info,
                        self.affected, self.exit_code, self.job_status, self.nspace, self.breakpoint,
                        self.time, self.tree_root, self.tree_active);
    }
};

/// Notifies the nodes that have, or may have, a process in range.
void announce(Hub& hub, const Notice& notice, std::optional<uint32_t> but_not = std::nullopt);
/// The beginning of the launcher's own event, for the requestor of the job.
Notice notice_about(const Hub& hub, const JobRecord& job, int32_t code);

class Announcer final : public Service {
  public:
    explicit Announcer(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void job_begun(JobRecord& job) override;
    void job_started(JobRecord& job) override;
    void job_ended(JobRecord& job) override;

  private:
    void add_tree(const JobRecord& job, Notice& notice) const;
    void report(const JobRecord& job, const Notice& notice, bool notify, bool log);
    void announce(const Notice& notice) { launcher::announce(hub_, notice); }
    Notice about(const JobRecord& job, int32_t code) const { return notice_about(hub_, job, code); }
};

/// How a process ended: a status of PMIX_ERR_..., PMIX_SUCCESS for a normal end.
int32_t end_code(const RankState& rank);
/// Its exit code as a shell would give it.
int32_t exit_code_of(const RankState& rank);

}  // namespace muster::launcher

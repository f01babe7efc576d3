// SPDX-License-Identifier: BSD-3-Clause
// Debuggers: the waiting processes and their places, and the notification that all of a job wait
// (PMIX_READY_FOR_DEBUG; Standard: Debugger Support).
#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Topic::Debug. A node tells: a process that waits for a debugger, and the name of the place.
class Debugging final : public Service {
  public:
    explicit Debugging(Hub& hub) : Service(hub) {}
    void told(uint32_t node, Buffer& in) override;
    void job_started(JobRecord& job) override;
    void job_ended(JobRecord& job) override;

  private:
    void ready(const JobRecord& job, const std::string& place, std::optional<uint32_t> rank,
               const std::vector<ProcName>& whom);

    struct Waiting {
        std::map<std::string, std::set<uint32_t>> ranks;  ///< by the place
        std::set<std::string> complete;                   ///< places that all expected processes have reached
    };
    std::map<uint32_t, Waiting> waiting_;  ///< by the job's number
};

}  // namespace muster::launcher

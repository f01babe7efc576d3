// SPDX-License-Identifier: BSD-3-Clause
// What is to be said of the jobs and their processes at this moment, for queries.
#pragma once

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

struct ProcStatus {
    uint32_t node = 0;
    int64_t pid = 0;
    int32_t exit_code = 0;
    uint32_t state = 0;  ///< PMIX_PROC_STATE_...
};

struct JobStatus {
    std::string nspace;
    std::string command;
    int32_t status = 0;  ///< PMIX_ERR_JOB_... when it failed, PMIX_SUCCESS otherwise
    bool ended = false;
    std::vector<std::string> programs;  ///< by rank
    std::vector<ProcStatus> procs;      ///< by rank
};

void write_job_status(Writer& out, const JobStatus& job);
JobStatus read_job_status(Reader& in);

/// Topic::Query. The request: a namespace, "" for all that have not ended. The answer: how many, and those.
class JobStatusService final : public Service {
  public:
    explicit JobStatusService(Hub& hub) : hub_(hub) {}
    void asked(Asker asker, Reader& in) override;

  private:
    Hub& hub_;
};

}  // namespace muster::launcher

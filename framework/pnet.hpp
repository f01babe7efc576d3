// SPDX-License-Identifier: BSD-3-Clause
// pnet: networks as jobs use them. Facade over the SDK's C interface (pmix/sdk/pnet.h).
#pragma once

#include <pmix/sdk/pnet.h>

#include <string>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/component_table.hpp"

namespace muster {

/// A job and the nodes of its processes, for components; owns the memory of the C struct.
class PnetJob {
  public:
    /// `node_of`: by rank, an index into `nodes` or MUSTER_PNET_UNKNOWN.
    PnetJob(std::string nspace, std::string hostname, std::vector<std::string> nodes,
            std::vector<uint32_t> node_of);
    PnetJob(const PnetJob&) = delete;
    PnetJob& operator=(const PnetJob&) = delete;

    const muster_pnet_job_t& c() const { return job_; }

  private:
    std::string nspace_, hostname_;
    std::vector<std::string> nodes_;
    std::vector<const char*> names_;
    std::vector<uint32_t> node_of_;
    muster_pnet_job_t job_{};
};

/// One component. Each call adds to `out` when it succeeds, and only then; PMIX_ERR_NOT_AVAILABLE where this
/// is not for the component, or it does not offer the operation. Loop thread.
class Pnet : public TableFacade<muster_pnet_t> {
  public:
    using TableFacade::TableFacade;

    Result<void> allocate(const PnetJob& job, InfoView directives, uint32_t what, Info& out) const;
    Result<void> setup_local(const PnetJob& job, InfoView info, Info& out) const;
    /// Whether it has variables for each process (setup_fork). Any thread.
    bool sets_variables() const;
    Result<void> setup_fork(const pmix_proc_t& proc, Variables& variables) const;
    void deregister(const char* nspace) const;
    Result<void> collect_inventory(InfoView directives, Info& out) const;
    Result<void> deliver_inventory(const char* node, InfoView info) const;
    Result<void> describe_fabric(InfoView directives, Info& out) const;
};

}  // namespace muster

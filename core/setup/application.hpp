// SPDX-License-Identifier: BSD-3-Clause
// Setup data of a job: gathered once on the launcher's node (PMIx_server_setup_application), carried by the
// host, applied on each node (PMIx_server_setup_local_support, PMIx_server_setup_fork). On the loop.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

class JobNetworks;
class Runtime;

/// Gathers the data that the directives request: PMIX_SET_ENVAR entries of the variables of this process that
/// match server_base_forward_environment, and the entries of the networks (JobNetworks).
/// PMIX_ERR_NOT_SUPPORTED for an unknown directive that is required.
pmix_status_t setup_application(Runtime& runtime, JobNetworks& networks, const char* nspace,
                                InfoView directives, Info& result);

/// Variables for the processes of each job, as setup_local_support delivered them. Any thread.
class JobEnvironments {
  public:
    /// Takes PMIX_SET_ENVAR and PMIX_ADD_ENVAR out of `info`; other entries are not for us.
    /// PMIX_ERR_BAD_PARAM for an entry of the wrong type; nothing has changed then.
    pmix_status_t add(const char* nspace, InfoView info);
    void forget(const char* nspace);

    /// Appends the job's variables. `env`: the existing variables of the process, may be null; PMIX_ADD_ENVAR
    /// does not replace them. `locks`: false in a child of fork(), which has no other threads, and where one
    /// of the parent's may have held the lock.
    void apply(const char* nspace, const char* const* env,
               std::vector<std::pair<std::string, std::string>>& variables,
               bool locks) const MUSTER_NO_THREAD_SAFETY_ANALYSIS;

  private:
    struct Variable {
        std::string name, value;
        bool replace = true;
    };
    void append(const char* nspace, const char* const* env,
                std::vector<std::pair<std::string, std::string>>& variables) const MUSTER_REQUIRES(lock_);

    mutable Mutex lock_;
    TextMap<std::vector<Variable>> by_nspace_ MUSTER_GUARDED_BY(lock_);
};

/// Applies the results of setup_application on the launcher's node.
pmix_status_t setup_local_support(Runtime& runtime, JobEnvironments& environments, JobNetworks& networks,
                                  const char* nspace, InfoView info);

/// Collects the inventory of this node (memory, topology, networks) as an entry that another server accepts
/// (PMIx_server_collect_inventory). `topology`: hwloc's XML, empty for none.
pmix_status_t collect_inventory(Runtime& runtime, InfoView directives, const std::string& topology,
                                Info& inventory);
/// Stores inventories (PMIx_server_deliver_inventory); entries of other libraries are skipped.
pmix_status_t deliver_inventory(Runtime& runtime, InfoView info);

/// The job data of the namespaces of `procs`, packed for another server: a byte object for each namespace
/// that is known here. PMIX_ERR_NOT_FOUND when none is.
pmix_status_t collect_job_info(Runtime& runtime, const std::vector<pmix_proc_t>& procs, Bytes& packed);

}  // namespace muster

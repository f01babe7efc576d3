// SPDX-License-Identifier: BSD-3-Clause
// Networks (pnet) of jobs: allocates them where a job is launched, sets them up on each node, and describes
// them to callers. On the loop.
#pragma once

#include <map>

#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/result.hpp"

namespace muster {

class Namespaces;
class Pnet;
class Runtime;

class JobNetworks {
  public:
    JobNetworks(Runtime& runtime, Namespaces& namespaces) : runtime_(runtime), namespaces_(namespaces) {}

    /// PMIx_server_setup_application: adds the data for all nodes to `result`. A PMIX_ALLOC_FABRIC that
    /// no component answers is an error when it is required (PMIX_ERR_NOT_SUPPORTED), or was meant for a
    /// network here that could not (its code); then nothing stays reserved.
    Result<void> allocate(const char* nspace, InfoView directives, Info& result);

    /// PMIx_server_setup_local_support: adds variables of the job's processes to `environment`, and passes
    /// the rest to the store (at the registration of the job, if that is later).
    Result<void> setup_local(const char* nspace, InfoView info, Info& environment);
    /// A job has been registered.
    void registered(const char* nspace);
    /// It has ended.
    void forget(const char* nspace);

    /// Index of the fabric that the directives select, with its description in `result`.
    /// PMIX_ERR_NOT_SUPPORTED if there is none.
    Result<void> register_fabric(InfoView directives, Info& result);
    /// The refreshed description. PMIX_ERR_NOT_FOUND for a number that register_fabric did not give.
    Result<void> update_fabric(size_t index, Info& result);

  private:
    struct Fabric {
        Pnet* pnet = nullptr;
        Info directives;
    };
    Result<void> store(const char* nspace, InfoView data);

    Runtime& runtime_;
    Namespaces& namespaces_;
    TextMap<Info> waiting_;  ///< data of jobs that are not registered yet
    std::map<size_t, Fabric> fabrics_;
};

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// The data of a job for a node's server: the arrays that PMIx_server_register_nspace takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// The directories of a job on a node: <session>/node<N>/<job>, and below it one a rank.
struct JobDirs {
    std::string session, job;
    std::string of_rank(uint32_t rank) const { return job + "/" + std::to_string(rank); }
    /// Files of one program for all of its ranks here.
    std::string of_app(uint32_t app) const { return job + "/app" + std::to_string(app); }
};

/// Returns the data of `job` for the server of node `node`, which is a process of `server_nspace`.
InfoList job_data(const Job& job, uint32_t node, const JobDirs& dirs, const std::string& server_nspace);

/// PMIX_NODE_MAP and PMIX_PROC_MAP of the job.
void add_maps(InfoList& info, const Job& job);

/// PMIX_ANL_MAP of the job: "(vector,(NODE,NODES,RANKS_EACH),...)" in the order of ranks, with the index of
/// the first node in PMIX_NODE_MAP.
std::string anl_map(const Job& job);

/// "0,2-3" of a processor list.
std::string cpu_text(const std::vector<unsigned>& cpus);

}  // namespace muster::launcher

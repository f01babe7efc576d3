// SPDX-License-Identifier: BSD-3-Clause
// Fork/exec agents (PMIX_FORKEXEC_AGENT): processes that are started in place of those of a job, get the
// programs from the server, and start them. They are a separate job, like debugger daemons: not in the
// application's data and ranks, each with the name of its process (Standard: Debugger Agents).
#pragma once

#include <map>
#include <string>

#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/job_data.hpp"
#include "tools/muster/nodes/process.hpp"

namespace muster::launcher {

/// The namespace of the agents of a job; the rank of each is that of its process.
std::string agents_nspace(const Job& job);

/// Registers the agents of this node with the server. `programs`: the program of each, by rank, which it
/// finds in PMIX_LAUNCH_DIRECTIVES. Returns the reason of a failure.
std::string register_agents(const Job& job, uint32_t node, const JobDirs& dirs,
                            const std::string& server_nspace,
                            const std::map<uint32_t, ProcessSpec>& programs);

/// Turns the description of a rank into that of its agent.
bool replace_by_agent(const Job& job, uint32_t rank, ProcessSpec& spec, StartFailure& failure);

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// Reading the attributes of a spawn into the description of a job.
#pragma once

#include <vector>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// Reads a tool's directives for a job that it does not spawn itself (PMIX_LAUNCH_DIRECTIVES): attributes for
/// programs that others name. The job has one program, which represents them. Errors as of a spawn.
pmix_status_t read_directives(const Infos& directives, Job& job);

/// The attributes that a spawn through muster honours.
const std::vector<const char*>& spawn_attributes();

/// Reads an attribute that debuggers give; PMIX_ERR_NOT_FOUND for other attributes, PMIX_ERR_NOT_SUPPORTED
/// where this system does not allow it.
pmix_status_t read_debug_info(const pmix_info_t& info, App& app);

/// The attributes of debuggers that are honoured on this system.
const std::vector<const char*>& debug_attributes();

/// Whether processes may be stopped at their first instruction here: ptrace may be forbidden.
bool can_stop_on_exec();

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// The environment that a process of a job is started with.
#pragma once

#include <pmix_common.h>

#include <map>
#include <string>
#include <vector>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

using Environment = std::map<std::string, std::string>;

/// Defaults, the launcher's own, what was asked for, and what the server adds for `proc`; appended to `out`
/// as "NAME=VALUE".
pmix_status_t server_environment(const pmix_proc_t& proc, const App& app, const std::string& wdir,
                                 const Environment& defaults, std::vector<std::string>& out);

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// The environment that a process of a job is started with, and the private directory of a run of muster,
// below TMPDIR: rendezvous files of the servers, session directories of the ranks. Mode 0700; removed with
// all that is in it when the run ends.
#pragma once

#include <pmix_common.h>

#include <map>
#include <string>
#include <vector>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

using Environment = std::map<std::string, std::string>;

/// Defaults, the launcher's own variables, requested ones, and those that the server adds for `proc`;
/// appended to `out` as "NAME=VALUE".
pmix_status_t server_environment(const pmix_proc_t& proc, const App& app, const std::string& wdir,
                                 const Environment& defaults, std::vector<std::string>& out);

/// Makes a directory with a unique name in TMPDIR, or else in /tmp. Throws JobError.
std::string make_session_dir();

/// Creates a directory, mode 0700; true also if it exists.
bool make_dir(const std::string& path);

/// Removes a directory that this run made, with its contents; links are removed, not followed.
void remove_session_dir(const std::string& path);

}  // namespace muster::launcher

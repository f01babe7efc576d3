// SPDX-License-Identifier: BSD-3-Clause
// What a tool wants of a job that it does not spawn itself (PMIX_LAUNCH_DIRECTIVES).
#pragma once

#include <pmix_common.h>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// Reads attributes of a spawn for programs that others name: the job has one program, which stands for them.
/// Errors as of a spawn.
pmix_status_t read_directives(const pmix_info_t info[], size_t count, Job& job);

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// The attributes of a spawn that debuggers give.
#pragma once

#include <vector>

#include "tools/muster/host/attributes.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// Reads one; PMIX_ERR_NOT_FOUND for other attributes, PMIX_ERR_NOT_SUPPORTED where this system does not
/// allow it.
pmix_status_t read_debug_info(const pmix_info_t& info, App& app);

/// Those that are honoured on this system.
const std::vector<const char*>& debug_attributes();

/// Whether processes may be stopped at their first instruction here: ptrace may be forbidden.
bool can_stop_on_exec();

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// Reports about jobs that have reached their time limit (PMIX_TIMEOUT_REPORT_STATE,
// PMIX_TIMEOUT_STACKTRACES).
#pragma once

#include <functional>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Records the states and stacks of the processes of these jobs, as requested by `wishes`, and calls `done`
/// once: at once if no stacks are requested, otherwise when the nodes have sent them, or after a time limit.
/// The jobs continue meanwhile.
void report_timeout(Hub& hub, const std::vector<const JobRecord*>& jobs, const TimeoutWishes& wishes,
                    std::function<void()> done);

}  // namespace muster::launcher

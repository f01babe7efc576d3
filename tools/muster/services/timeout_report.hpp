// SPDX-License-Identifier: BSD-3-Clause
// Reports about jobs that have reached their time limit (PMIX_TIMEOUT_REPORT_STATE,
// PMIX_TIMEOUT_STACKTRACES).
#pragma once

#include <functional>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Notes the states and stacks of the processes of these jobs, as `wishes` says, and calls `done` once: at
/// once where no stacks are wanted, else when the nodes have told them, or have taken too long. The jobs go
/// on meanwhile.
void report_timeout(Hub& hub, const std::vector<const JobRecord*>& jobs, const TimeoutWishes& wishes,
                    std::function<void()> done);

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Job_control (Standard: Job Management): what is to be cleaned up after the end is the server library's
// to do, all else the host's. On the loop.
#pragma once

#include <vector>

#include "core/exchange/exchange.hpp"

namespace muster {

/// No targets: the caller's own job.
void control_job(Runtime& runtime, std::vector<pmix_proc_t> targets, Info directives, HostDone done);

}  // namespace muster

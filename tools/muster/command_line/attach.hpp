// SPDX-License-Identifier: BSD-3-Clause
// A job at a muster that runs already (`muster --attach`): this process is a tool, which spawns the job
// there, brings input and output, passes signals on, and ends as the job does.
#pragma once

#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {

/// Runs the job of `options` at the server that it names. Blocking, on the main thread, which must be the
/// only one; signals are blocked from here on. The exit status, as Launcher::run's. Throws std::runtime_error
/// with a sentence where the server cannot be reached.
int run_attached(const Options& options);

}  // namespace muster::launcher

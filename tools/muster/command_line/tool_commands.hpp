// SPDX-License-Identifier: BSD-3-Clause
// muster ps, muster top and muster kill: tools that connect with a running muster and look at its jobs, or
// end them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {

/// Runs "ps ...", "top ..." or "kill ..." and returns the exit status: 0, 1 after a failure, 2 for wrong
/// arguments. Nothing if the arguments begin with none of these.
std::optional<int> run_tool_command(const std::vector<std::string>& arguments);

/// Runs the job of `options` at a muster that runs already (`muster --attach`): this process is a tool, which
/// spawns the job there, brings input and output, passes signals on, and ends as the job does. Blocking, on
/// the main thread, which must be the only one; signals are blocked from here on. The exit status, as
/// Launcher::run's. Throws std::runtime_error with a sentence where the server cannot be reached.
int run_attached(const Options& options);

}  // namespace muster::launcher

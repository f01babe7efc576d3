// SPDX-License-Identifier: BSD-3-Clause
// muster ps, muster top and muster kill: tools that connect with a running muster and look at its jobs, or
// end them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// Runs "ps ...", "top ..." or "kill ..." and gives the exit status: 0, 1 when it failed, 2 for wrong
/// arguments. Nothing when the arguments begin with none of these.
std::optional<int> run_tool_command(const std::vector<std::string>& arguments);

}  // namespace muster::launcher

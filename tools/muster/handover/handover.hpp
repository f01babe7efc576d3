// SPDX-License-Identifier: BSD-3-Clause
// Jobs on several machines are another launcher's: srun's in an allocation of Slurm, else prterun's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/muster/command_line/options.hpp"
#include "tools/muster/handover/command.hpp"

namespace muster::launcher {

/// A command to execute in place of muster, and why, as the begin of a sentence.
struct Handover {
    Command command;
    std::string why;
    std::vector<std::string> warnings;  ///< of settings without effect there either
};

/// The launcher that the options and the environment (Slurm's variables, MUSTER_LAUNCHER, PATH) name; nothing
/// where muster starts the processes itself. `guided`: a tool waits for this muster. Throws UsageError for an
/// option that cannot be translated, and std::runtime_error where the launcher is not installed.
std::optional<Handover> handover(const Options& options, bool guided);

/// A message for an allocation of several nodes of which muster uses one; empty otherwise.
std::string unused_nodes(const Options& options);

}  // namespace muster::launcher

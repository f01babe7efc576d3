// SPDX-License-Identifier: BSD-3-Clause
// The effect of each setting of the command line on the options and on the job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/muster/command_line/arguments.hpp"
#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The policy of mapping, which several options set in part.
struct MapWords {
    std::string policy;     ///< "core", "ppr:2:node"; empty: not given
    std::string given_by;   ///< the option that gave it
    std::string modifiers;  ///< ":PE=2:SPAN"
};

/// The program being read, and the common settings of all programs.
struct Draft {
    Options& options;
    App& app;
    MapWords& map;
    Pairs& common;  ///< variables of all programs
    Pairs own;      ///< variables of this program
    Pairs first;    ///< given by -x: of all programs where this is the first
    std::optional<std::vector<std::string>>& keep_common;  ///< the only variables that programs inherit
    std::optional<std::vector<std::string>> keep;          ///< the same of this program
};

/// A word of --launcher. Throws UsageError.
Handler read_handler(const std::string& option, const std::string& name);

/// Whether it is a parameter of mpirun's launcher (PRRTE or ORTE), which muster is not.
bool is_parameter_of_prrte(std::string_view name);

/// Applies one option. Throws std::runtime_error with a sentence.
void apply(const Given& given, Draft& draft);

}  // namespace muster::launcher

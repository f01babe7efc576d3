// SPDX-License-Identifier: BSD-3-Clause
// The words of the command line, split into programs and their options by the table of options.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tools/muster/command_line/option_table.hpp"

namespace muster::launcher {

/// An error in the command line, as a sentence for the user.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An option that was given.
struct Given {
    const Spelling* spelling = nullptr;
    std::string written;             ///< its name, with dashes
    std::vector<std::string> words;  ///< those that belong to it

    Setting setting() const { return spelling->setting; }
    /// The value of its setting; "" for a flag.
    std::string value() const;
};

/// The options and the arguments of one program, up to the next ":".
struct GivenProgram {
    std::vector<Given> options;
    std::vector<std::string> argv;
};

/// Splits the arguments. An option ends with its words; the first other word is the program. "-np" is "--np",
/// "-n2" is "-n 2", "--np=2" is "--np 2". Throws UsageError for an unknown or refused option, and for a
/// missing word.
std::vector<GivenProgram> split_arguments(const std::vector<std::string>& arguments);

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// muster top: the processes of a running muster as a table that is redrawn every few seconds, with the memory
// and the wait of each.
#pragma once

#include <string>
#include <vector>

namespace muster::launcher {

/// A process as top shows it.
struct TopRow {
    std::string job;
    unsigned rank = 0;
    std::string node;
    int pid = 0;
    std::string state;
    long memory = -1;  ///< KiB; negative: not known
    std::string program;
    std::string wait;  ///< its wait; empty: none known
};

/// The table, at most `lines` lines of `columns` characters (0: unlimited), without colours or cursor
/// movements; control characters in names are shown as '?'.
std::string top_table(const std::vector<TopRow>& rows, unsigned lines, unsigned columns);

/// "top ..." from the command line. Exit status; std::invalid_argument for wrong arguments.
int top(const std::vector<std::string>& arguments);

}  // namespace muster::launcher

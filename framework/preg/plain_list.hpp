// SPDX-License-Identifier: BSD-3-Clause
// Lists with each name and each rank written out. OpenPMIx takes "[1-3]" for a part of a name, and "0-3" for
// rank 0 alone.
#pragma once

#include <string>
#include <string_view>

namespace muster::preg {

/// A comma list of names without ranges in brackets, made in `space`. The list is unchanged if it has no
/// ranges, cannot be parsed, expands to more than `limit` names, or has a name with a bracket.
std::string_view plain_names(std::string_view list, size_t limit, std::string& space);

/// The same of a semicolon list of the ranks on each node.
std::string_view plain_ranks(std::string_view list, size_t limit, std::string& space);

}  // namespace muster::preg

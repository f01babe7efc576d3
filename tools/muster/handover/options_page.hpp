// SPDX-License-Identifier: BSD-3-Clause
// The table of all options, as docs/reference/options.md has it.
#pragma once

#include <string>

namespace muster::launcher {

/// A table in Markdown, for muster --help options.
std::string options_page();

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of a job that is laid out, for people: its map, bindings, and the nodes that it could use.
#pragma once

#include <string>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// All that the job's DisplayWishes ask for, as lines; empty if nothing is asked for.
std::string display_text(const Job& job);

}  // namespace muster::launcher

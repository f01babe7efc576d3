// SPDX-License-Identifier: BSD-3-Clause
// The groups of all nodes, for the upcall query.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/muster/host/attributes.hpp"
#include "tools/muster/services/known_groups.hpp"

namespace muster::launcher {

/// Calls `done` once; with nothing where the launcher is gone. On the node's loop.
void list_groups(std::function<void(std::vector<KnownGroup> groups)> done);

}  // namespace muster::launcher

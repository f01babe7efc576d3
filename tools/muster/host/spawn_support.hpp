// SPDX-License-Identifier: BSD-3-Clause
// What spawn understands, for those who query it.
#pragma once

#include <vector>

namespace muster::launcher {

/// The attributes that a spawn through muster honours.
const std::vector<const char*>& spawn_attributes();

}  // namespace muster::launcher

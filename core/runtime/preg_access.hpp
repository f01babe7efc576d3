// SPDX-License-Identifier: BSD-3-Clause
// The forms of node and process maps for C functions that work before PMIx_Init and after PMIx_Finalize too.
#pragma once

#include <vector>

#include "framework/preg.hpp"

namespace muster {

/// The preg components of the process, preferred first, chosen by the usual parameters. Made at the first
/// call, with a registry of their own, and kept until the process ends: there is no point at which nobody
/// could ask again. Any thread.
const std::vector<Preg*>& preg_for_api();

}  // namespace muster

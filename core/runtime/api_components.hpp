// SPDX-License-Identifier: BSD-3-Clause
// Components for C functions that work before PMIx_Init and after PMIx_Finalize too: chosen by the usual
// parameters at the first call, with a registry of their own, and kept until the process ends: a later call
// is always possible. Any thread.
#pragma once

#include <vector>

#include "framework/pcompress.hpp"
#include "framework/preg.hpp"

namespace muster {

/// The forms of node and process maps, preferred first.
const std::vector<Preg*>& preg_for_api();

/// The components that know compressed blocks.
const std::vector<Pcompress*>& pcompress_for_api();

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// The fabric's data as applications register for it (Standard: Fabric): asked of the host, and
// where it knows nothing, of the networks (pnet). On the loop.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

/// The answer's infos describe the fabric.
void register_fabric(Runtime& runtime, Info directives, HostDone done);
/// `index`: the number that the registration gave (PMIX_FABRIC_INDEX).
void update_fabric(Runtime& runtime, size_t index, HostDone done);

}  // namespace muster

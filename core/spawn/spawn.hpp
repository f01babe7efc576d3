// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Spawn: the request to the host, and the job data of what was started on the way back (Standard:
// Process Management). On the loop.
#pragma once

#include "core/exchange/exchange.hpp"
#include "core/spawn/apps.hpp"

namespace muster {

/// Asks our server, or our own host. The answer holds the new namespace; its job data is in the store as far
/// as the server knew it.
void spawn(Runtime& runtime, Info job_info, Apps apps, HostDone done);

}  // namespace muster

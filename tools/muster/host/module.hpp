// SPDX-License-Identifier: BSD-3-Clause
// The host's side of a node's server: the table of upcalls. Each service enters its own (host/upcalls.hpp).
#pragma once

#include <pmix_server.h>

#include "tools/muster/host/bridge.hpp"

namespace muster::launcher {

/// The table for PMIx_server_init. What is not in it is refused by the library. `node` outlives the server;
/// one server a process.
pmix_server_module_t* host_module(Bridge& node);

/// Tells the library which attributes the upcalls honour, for those who query it. Behind PMIx_server_init.
void register_attributes();

}  // namespace muster::launcher

// SPDX-License-Identifier: BSD-3-Clause
// The host's side of a node's server: the table of upcalls. Each service enters its own (host/upcalls.hpp).
#pragma once

#include <pmix_server.h>

namespace muster::launcher {

/// The table for PMIx_server_init. What is not in it is refused by the library. Its upcalls are for
/// this_node().
pmix_server_module_t* host_module();

/// Tells the library which attributes the upcalls honour, for those who query it. Behind PMIx_server_init.
void register_attributes();

}  // namespace muster::launcher

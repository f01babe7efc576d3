// SPDX-License-Identifier: BSD-3-Clause
// The topology that the C API gives to every caller of this process.
#pragma once

#include "core/topology/topology.hpp"

namespace muster::api {

/// The one of this process. Init calls tell it where to look, the last finalize resets it.
NodeTopology& node_topology();

}  // namespace muster::api

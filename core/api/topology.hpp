// SPDX-License-Identifier: BSD-3-Clause
// The topology that the C API gives to every caller of this process.
#pragma once

#include "core/topology/topology.hpp"
#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/base/value.hpp"

namespace muster {
class NodeDescription;
class Parameters;
}  // namespace muster

namespace muster::api {

/// The topology of this process: from the job's data, otherwise from the file in the parameter
/// pmix_hwloc_topo_file, otherwise from the machine.
NodeTopology& node_topology();

/// PMIx_server_init: copies the topology that the host brings.
Result<void> use_topology_of_host(InfoView directives);
/// PMIx_server_init: clients that ask for the topology get it, unless the host or the parameter
/// server_base_describe_node forbids sharing. If the host asks for sharing, the topology is part of the job
/// data. Called before the loop runs.
void describe_node_to_clients(NodeDescription& description, const Parameters& parameters,
                              InfoView directives);
/// PMIx_Get of PMIX_TOPOLOGY2: a copy of this node's topology, which value_destruct() frees. Any thread.
Result<Value> topology_value();
/// The same with PMIX_GET_POINTER_VALUES: one value for all callers, valid until forget_topology().
Result<pmix_value_t*> shared_topology_value();
/// The last finalize.
void forget_topology();

}  // namespace muster::api

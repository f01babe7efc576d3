// SPDX-License-Identifier: BSD-3-Clause
// How far the devices of a node (network interfaces, GPUs, ...) are from where a process is bound.
#pragma once

#include <pmix_common.h>

#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.hpp"

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace muster {

/// The requested devices.
struct DeviceFilter {
    pmix_device_type_t types = 0;      ///< bits of PMIX_DEVTYPE_*; 0 asks for all
    std::vector<std::string> devices;  ///< names or uuids; empty asks for all
    /// Distances are those from this device instead of the process: its uuid, one of its names, the vendor's
    /// identity, or its PCI bus id.
    std::optional<std::string> origin = {};
};

/// A device and the distance from the nearest and the farthest processing unit of the process, counted in
/// levels of the topology between the unit and what it shares with the device: smaller is nearer; UINT16_MAX
/// is unknown.
struct DeviceDistance {
    std::string uuid;  ///< unique in the cluster
    std::string name;  ///< the operating system's
    pmix_device_type_t type;
    uint16_t nearest;
    uint16_t farthest;
};

/// Distances to the devices of `topology` from `units`, in the order of the topology. A GPU is listed once,
/// under the name that programs compute with (cuda0 before renderD128 before card0). `hostname` is the
/// node's, for the uuids of devices without one. PMIX_ERR_NOT_FOUND when no device fits. From an origin: as
/// from the units that are local to it, and 0 for what is on the same PCI bus; `units` may be null.
/// PMIX_ERR_NOT_FOUND, too, when it is not there.
Result<std::vector<DeviceDistance>> device_distances(hwloc_topology* topology, const hwloc_bitmap_s* units,
                                                     const DeviceFilter& filter, const std::string& hostname);

}  // namespace muster

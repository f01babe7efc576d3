// SPDX-License-Identifier: BSD-3-Clause
// Distances to devices, from hwloc's I/O objects.
#include "core/topology/distance.hpp"

#include <hwloc.h>
#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace muster {
namespace {

pmix_device_type_t type_of(hwloc_obj_t device) {
    switch (device->attr->osdev.type) {
        case HWLOC_OBJ_OSDEV_BLOCK:
            return PMIX_DEVTYPE_BLOCK;
        case HWLOC_OBJ_OSDEV_GPU:
            return PMIX_DEVTYPE_GPU;
        case HWLOC_OBJ_OSDEV_NETWORK:
            return PMIX_DEVTYPE_NETWORK;
        case HWLOC_OBJ_OSDEV_OPENFABRICS:
            return PMIX_DEVTYPE_OPENFABRICS;
        case HWLOC_OBJ_OSDEV_DMA:
            return PMIX_DEVTYPE_DMA;
        case HWLOC_OBJ_OSDEV_COPROC:
            return PMIX_DEVTYPE_COPROC;
        default:
            return PMIX_DEVTYPE_UNKNOWN;
    }
}

// The names by which the system knows one GPU, best first: a vendor's compute device, a render node, the
// rest.
int usefulness(hwloc_obj_t device) {
    switch (type_of(device)) {
        case PMIX_DEVTYPE_COPROC:
            return 3;
        case PMIX_DEVTYPE_GPU:
            return device->name && std::strncmp(device->name, "renderD", 7) == 0 ? 2 : 1;
        default:
            return 0;
    }
}

// Whether another requested name of the same GPU represents it.
bool stood_in_for(hwloc_obj_t device, pmix_device_type_t types) {
    const int own = usefulness(device);
    if (own == 0 || !device->parent || device->parent->type != HWLOC_OBJ_PCI_DEVICE) return false;
    bool before = true;
    for (hwloc_obj_t other = device->parent->io_first_child; other; other = other->next_sibling) {
        if (other == device) {
            before = false;
        } else if (other->type == HWLOC_OBJ_OS_DEVICE && (type_of(other) & types)) {
            const int its = usefulness(other);
            if (its > own || (its == own && before)) return true;
        }
    }
    return false;
}

std::string uuid_of(hwloc_obj_t device, const std::string& hostname) {
    const char* node_guid = hwloc_obj_get_info_by_name(device, "NodeGUID");
    const char* image_guid = hwloc_obj_get_info_by_name(device, "SysImageGUID");
    if (node_guid && image_guid) return std::string("fab://") + node_guid + "::" + image_guid;
    if (const char* address = hwloc_obj_get_info_by_name(device, "Address")) {
        // 6 bytes for Ethernet, 20 for InfiniBand; the schemes are the ones that programs already know.
        const auto colons = std::count(address, address + std::strlen(address), ':');
        if (colons == 5) return std::string("ipv4://") + address;
        if (colons == 19) return std::string("ipv6://") + address;
    }
    const char* scheme = "dev";
    switch (type_of(device)) {
        case PMIX_DEVTYPE_BLOCK:
            scheme = "blk";
            break;
        case PMIX_DEVTYPE_GPU:
        case PMIX_DEVTYPE_COPROC:
            scheme = "gpu";
            break;
        case PMIX_DEVTYPE_NETWORK:
            scheme = "net";
            break;
        case PMIX_DEVTYPE_OPENFABRICS:
            scheme = "fab";
            break;
        case PMIX_DEVTYPE_DMA:
            scheme = "dma";
            break;
        default:
            break;
    }
    return std::string(scheme) + "://" + hostname + "::" + device->name;
}

void measure(hwloc_topology* topology, const hwloc_bitmap_s* units, hwloc_obj_t device,
             DeviceDistance& distance) {
    distance.nearest = distance.farthest = UINT16_MAX;
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);
    if (!place) return;
    bool first = true;
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
        if (!hwloc_bitmap_isset(units, unit->os_index)) continue;
        hwloc_obj_t shared = hwloc_get_common_ancestor_obj(topology, unit, place);
        if (!shared) continue;
        const auto levels = static_cast<uint16_t>(std::clamp(unit->depth - shared->depth, 0, UINT16_MAX - 1));
        distance.nearest = first ? levels : std::min(distance.nearest, levels);
        distance.farthest = first ? levels : std::max(distance.farthest, levels);
        first = false;
    }
}

bool is_io(hwloc_obj_t object) {
    return object != nullptr && (object->type == HWLOC_OBJ_BRIDGE || object->type == HWLOC_OBJ_PCI_DEVICE ||
                                 object->type == HWLOC_OBJ_OS_DEVICE);
}

/// The identities that vendors' libraries give to devices.
bool has_vendor_identity(hwloc_obj_t device, const char* wanted) {
    constexpr const char* kIdentities[] = {"NVIDIAUUID", "AMDUUID", "LevelZeroUUID", "NVIDIASerial",
                                           "AMDSerial"};
    return std::ranges::any_of(kIdentities, [&](const char* name) {
        const char* value = hwloc_obj_get_info_by_name(device, name);
        return value != nullptr && strcasecmp(value, wanted) == 0;
    });
}

bool has_bus_id(hwloc_obj_t device, const char* wanted) {
    const hwloc_obj_t pci = device->parent;
    if (pci == nullptr || pci->type != HWLOC_OBJ_PCI_DEVICE) return false;
    const auto& at = pci->attr->pcidev;
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%01x", at.domain, at.bus, at.dev, at.func);
    // The domain may be left out, as lspci does.
    return strcasecmp(text, wanted) == 0 || (at.domain == 0 && strcasecmp(text + 5, wanted) == 0);
}

/// The device with this name in any form; null for none.
hwloc_obj_t find_device(hwloc_topology* topology, const std::string& wanted, const std::string& hostname) {
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_osdev(topology, device)) != nullptr) {
        const char* const name = wanted.c_str();
        if (device->name != nullptr &&
            (strcasecmp(device->name, name) == 0 || strcasecmp(uuid_of(device, hostname).c_str(), name) == 0))
            return device;
        if (has_vendor_identity(device, name) || has_bus_id(device, name)) return device;
    }
    return nullptr;
}

/// Whether the two have a bus or a card in common, below the bridge of the host.
bool share_bus(hwloc_obj_t one, hwloc_obj_t other) {
    const auto below_host = [](hwloc_obj_t object) {
        return object->type != HWLOC_OBJ_BRIDGE ||
               object->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_HOST;
    };
    for (hwloc_obj_t mine = one; is_io(mine) && below_host(mine); mine = mine->parent) {
        for (hwloc_obj_t its = other; is_io(its) && below_host(its); its = its->parent) {
            if (mine == its) return true;
        }
    }
    return false;
}

}  // namespace

Result<std::vector<DeviceDistance>> device_distances(hwloc_topology* topology, const hwloc_bitmap_s* units,
                                                     const DeviceFilter& filter,
                                                     const std::string& hostname) {
    const pmix_device_type_t types = filter.types ? filter.types : ~pmix_device_type_t{0};
    std::vector<DeviceDistance> found;
    hwloc_obj_t origin = nullptr;
    if (filter.origin) {
        origin = find_device(topology, *filter.origin, hostname);
        const hwloc_obj_t place = origin ? hwloc_get_non_io_ancestor_obj(topology, origin) : nullptr;
        if (place == nullptr || place->cpuset == nullptr)
            return Error{PMIX_ERR_NOT_FOUND, "no device \"" + *filter.origin + "\" is on this node"};
        units = place->cpuset;
    }
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_osdev(topology, device)) != nullptr) {
        const pmix_device_type_t type = type_of(device);
        if (!(type & types) || !device->name) continue;
        DeviceDistance distance{uuid_of(device, hostname), device->name, type, 0, 0};
        if (filter.devices.empty()) {
            if (stood_in_for(device, types)) continue;
        } else if (std::ranges::none_of(filter.devices, [&](const std::string& wanted) {
                       return strcasecmp(wanted.c_str(), distance.name.c_str()) == 0 ||
                              strcasecmp(wanted.c_str(), distance.uuid.c_str()) == 0;
                   })) {
            continue;
        }
        if (origin == nullptr || !share_bus(origin, device)) measure(topology, units, device, distance);
        found.push_back(std::move(distance));
    }
    if (found.empty()) return Error{PMIX_ERR_NOT_FOUND, "no device on this node has the given type and name"};
    return found;
}

}  // namespace muster

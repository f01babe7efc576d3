// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces of a node: as the system names them, as inventory entries, and which of them is
// meant by the name of a plane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/info.hpp"

namespace muster::pnet_tcp {

/// Key of a device's IP addresses in an inventory: a comma list.
inline constexpr const char* kAddressesKey = "pnet.tcp.addresses";

struct Interface {
    std::string name;
    std::string hardware_address;  ///< "52:54:00:12:34:56"; empty if there is none
    std::vector<std::string> addresses;
    uint64_t mtu = 0;    ///< bytes; 0: not known
    uint64_t speed = 0;  ///< bits per second; 0: not known
    bool up = false;
    bool loopback = false;
};

/// Returns the interfaces of this node.
std::vector<Interface> local_interfaces();

/// PMIX_FABRIC_DEVICES: an array of PMIX_FABRIC_DEVICE. `hostname`: named in each, where it is not null.
Value to_devices(const std::vector<Interface>& interfaces, const char* hostname);
/// The reverse; other text is skipped.
std::vector<Interface> from_devices(InfoView devices);

struct Address {
    std::string device;
    std::string text;  ///< "10.0.0.7"; empty: none
};
/// The address on a plane: an interface's name, a subnet "10.0.0.0/8", the beginning of an address, or "any"
/// (or nothing) for the first address of an interface that is up, loopback last.
Address address_on(const std::vector<Interface>& interfaces, const std::string& plane);

}  // namespace muster::pnet_tcp

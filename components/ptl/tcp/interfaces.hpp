// SPDX-License-Identifier: BSD-3-Clause
// The address and port to listen on: lists of interfaces, networks and ports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/internet_address.hpp"
#include "framework/base/result.hpp"

namespace muster::tcp {

using Address = InternetAddress;

/// One address of an interface of this machine.
struct Interface {
    std::string name;
    Address address;
};

/// The addresses of all interfaces that are up, in the kernel's order; without those that work only with a
/// scope.
Result<std::vector<Interface>> interfaces_up();

struct AddressWish {
    std::string include = {};  ///< comma list of interface names, addresses and address/prefix; empty: all
    std::string exclude = {};  ///< the same; not both
    bool ipv4 = true;
    bool ipv6 = true;
    bool remote = false;  ///< other machines must reach it
};

/// The matching addresses, best first: IPv4 before IPv6; only loopback, unless others are requested (remote,
/// or the lists exclude loopback). The error names the lists and the available interfaces.
Result<std::vector<Address>> choose_addresses(const std::vector<Interface>& available,
                                              const AddressWish& wish);

/// "0", "4000", "4000-4010,5000": the ports to try, in order. Empty and -1 mean 0, any.
Result<std::vector<uint16_t>> parse_ports(std::string_view text);

}  // namespace muster::tcp

// SPDX-License-Identifier: BSD-3-Clause
// The allocation of a job, as the launcher's node sends it to the others: a few length-prefixed fields in one
// byte object. The reader trusts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "components/pnet/tcp/ports.hpp"
#include "framework/base/bytes.hpp"

namespace muster::pnet_tcp {

/// Key of the byte object.
inline constexpr const char* kCarriedKey = "pnet.tcp.job";

/// The addresses of a node.
struct NodeAddress {
    std::string node;
    std::string device;
    std::string address;
};

/// One answered request.
struct Allocation {
    std::string id, type, plane;
    uint32_t per_process = 0;  ///< ports
    uint32_t per_node = 0;
    PortRanges ports;  ///< of each node: its own first, then those of its processes by rank
    std::string key;   ///< bytes; empty: none was requested
    std::vector<NodeAddress> addresses;
};

struct Carried {
    std::vector<std::pair<std::string, std::string>> variables;
    std::vector<Allocation> allocations;

    bool empty() const { return variables.empty() && allocations.empty(); }
};

Bytes write(const Carried& carried);
/// False when the bytes are not of that form, whole; `carried` is empty then.
bool read(ByteView bytes, Carried& carried);

}  // namespace muster::pnet_tcp

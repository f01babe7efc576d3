// SPDX-License-Identifier: BSD-3-Clause
// The static ports that the administrator assigned, and their owners. Not locked: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::pnet_tcp {

/// A run of ports, both ends included.
struct PortRange {
    uint16_t first = 0;
    uint16_t last = 0;
};
using PortRanges = std::vector<PortRange>;

/// "32000-32007,33000".
std::string to_text(const PortRanges& ranges);
size_t count_of(const PortRanges& ranges);
/// The port at a position, counted through all runs; 0 after the last.
uint16_t port_at(const PortRanges& ranges, size_t position);

class Ports {
  public:
    /// Reads "type:plane:ranges;...". False, and a sentence, when a part cannot be read.
    bool parse(std::string_view text, std::string& complaint);

    enum class Outcome : uint8_t { Taken, NoSuchPool, TooFew };
    /// Takes `count` ports of the first pool of that type and plane (empty: any) that has that many; returns
    /// the pool's in `type` and `plane`. The ports are released by `owner`.
    Outcome take(const std::string& owner, size_t count, std::string& type, std::string& plane,
                 PortRanges& taken);
    void give_back(const std::string& owner);
    /// The free ports.
    size_t free_ports() const;

  private:
    struct Port {
        uint16_t number = 0;
        std::string owner;  ///< empty: free
    };
    struct Pool {
        std::string type;
        std::string plane;
        std::vector<Port> ports;  ///< ascending
    };
    std::vector<Pool> pools_;
};

}  // namespace muster::pnet_tcp

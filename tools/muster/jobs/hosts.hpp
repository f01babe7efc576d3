// SPDX-License-Identifier: BSD-3-Clause
// The nodes that a user names: host lists ("a:4,b") and files of hosts ("a slots=4 max_slots=8"), with
// their slots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// Whether the name means this machine: localhost, the host's name with or without its domain, or a name or
/// an address that resolves to an address of one of its interfaces. May ask the name service; a name that is
/// not known there is not ours.
bool is_this_machine(const std::string& name);

/// A host as it is written.
struct Mention {
    std::string name;
    std::optional<uint32_t> slots;
    uint32_t most = 0;  ///< 0: no bound
};

/// The hosts that a list ("NAME" or "NAME:SLOTS") and a file of hosts name, in that order; a file named "" is
/// none. Throws JobError and std::runtime_error for a wrong number, a file that cannot be read, an unknown
/// word in it.
std::vector<Mention> mentioned_hosts(const std::vector<std::string>& hosts, const std::string& hostfile);

/// A node of the launcher, and the number of its slots.
struct NamedNode {
    uint32_t node = 0;   ///< its number
    uint32_t slots = 0;  ///< 0: as many as the node has cores
    uint32_t most = 0;   ///< processes that it may have, even where slots are exceeded; 0: no bound
};

/// The nodes that `hosts` (each "NAME" or "NAME:SLOTS") and the file name, in that order, each node once. The
/// slots of a node that is named several times add up. A node of `hosts` without slots takes those that the
/// file gives. `names`: of all nodes, by number. Throws JobError for an unknown node, a wrong number, a file
/// that cannot be read, and an unknown word in it.
std::vector<NamedNode> named_nodes(const std::vector<std::string>& names,
                                   const std::vector<std::string>& hosts, const std::string& hostfile);

}  // namespace muster::launcher

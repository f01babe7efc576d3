// SPDX-License-Identifier: BSD-3-Clause
// The realm of each reserved key (Standard: Reserved Keys), and the keys that are derived from a job's map.
#pragma once

#include <string_view>

#include "framework/gds.hpp"

namespace muster {

/// A key whose value can be derived, or that means something when a job is registered.
enum class Fact : uint8_t {
    None,
    // session
    SessionId,
    UniverseSize,
    // job
    AnlMap,
    JobApps,
    JobSize,
    MaxProcs,
    NodeList,
    NodeMap,
    NodeMapRaw,
    Nspace,
    NumNodes,
    NumSlots,
    Offset,
    ProcMap,
    ProcMapRaw,
    // application
    AppLeader,
    AppSize,
    // node
    Aliases,
    Hostname,
    LocalLeader,
    LocalPeers,
    LocalProcs,
    LocalSize,
    NodeId,
    NodeSize,
    // process
    AppNumber,
    AppRank,
    GlobalRank,
    LocalRank,
    NodeRank,
    ProcId,
    Rank,
    // arrays of the realms
    AppArray,
    JobArray,
    NodeArray,
    ProcArray,
    SessionArray,
    QualifiedValue,
    RegisterNoData
};

struct KeyInfo {
    std::string_view key;
    Lookup::Realm realm = Lookup::Realm::Auto;  ///< Auto: not in the Standard's lists
    Fact fact = Fact::None;
};

/// Row of a reserved key; one with realm Auto for any other key. Any thread, no allocation.
const KeyInfo& key_info(std::string_view key);

/// All rows, ascending by key.
std::span<const KeyInfo> known_keys();

}  // namespace muster

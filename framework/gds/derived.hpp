// SPDX-License-Identifier: BSD-3-Clause
// Values that follow from the map of a job, for each store that has such a map.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/base/proc.hpp"
#include "framework/gds/realm.hpp"

namespace muster {

/// A value that was computed, with the memory that it points to. Must not be copied or moved. The functions
/// return false, and set nothing, if there is no value.
struct Derived {
    pmix_value_t value = {};
    std::string text;
    pmix_proc_t proc;  ///< of a value that is one; else its 260 bytes are not touched

    bool number(std::optional<uint32_t> n) {
        if (!n) return false;
        value.type = PMIX_UINT32;
        value.data.uint32 = *n;
        return true;
    }
    bool small(std::optional<uint32_t> n) {
        if (!n || *n > UINT16_MAX) return false;
        value.type = PMIX_UINT16;
        value.data.uint16 = static_cast<uint16_t>(*n);
        return true;
    }
    bool rank(std::optional<uint32_t> n) {
        if (!n) return false;
        value.type = PMIX_PROC_RANK;
        value.data.rank = *n;
        return true;
    }
    /// Text that stays where it is. Empty text is no value.
    bool string(const char* of) {
        if (of == nullptr || *of == '\0') return false;
        value.type = PMIX_STRING;
        value.data.string = const_cast<char*>(of);
        return true;
    }
    bool string(std::string&& of) {
        text = std::move(of);
        return string(text.c_str());
    }
};

/// A value that follows from the name of a process.
inline bool derive_from_name(Fact fact, std::string_view nspace, pmix_rank_t rank, Derived& out) {
    if (fact == Fact::Nspace) return out.string(std::string(nspace));
    if (fact != Fact::ProcId) return false;
    out.proc = make_proc(nspace, rank);
    out.value.type = PMIX_PROC;
    out.value.data.proc = &out.proc;
    return true;
}

/// A value of a node that follows from the map. `Map` has node_name, node_id, peers, leader and local_size of
/// a node. They return empty text or no number for data that the map lacks.
template <class Map>
bool derive_of_node(Fact fact, const Map& map, uint32_t node, Derived& out) {
    switch (fact) {
        case Fact::Hostname:
            return out.string(map.node_name(node));
        case Fact::NodeId:
            return out.number(map.node_id(node));
        case Fact::LocalPeers:
            return out.string(map.peers(node));
        case Fact::LocalLeader:
            return out.rank(map.leader(node));
        case Fact::LocalSize:
            return out.number(map.local_size(node));
        default:
            return false;
    }
}

/// A value of a process that follows from the map, but for those of its node. `Map` has appnum, app_rank,
/// global_rank, local_rank and node_rank of a rank.
template <class Map>
bool derive_of_rank(Fact fact, const Map& map, pmix_rank_t rank, Derived& out) {
    switch (fact) {
        case Fact::AppNumber:
            return out.number(map.appnum(rank));
        case Fact::AppRank:
            return out.rank(map.app_rank(rank));
        case Fact::GlobalRank:
            return out.rank(map.global_rank(rank));
        case Fact::LocalRank:
            return out.small(map.local_rank(rank));
        case Fact::NodeRank:
            return out.small(map.node_rank(rank));
        default:
            return false;
    }
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// The data of one job in gds/hash, and the tables that hold them.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/gds.hpp"
#include "framework/gds/job_map.hpp"

namespace muster::gds {

/// Values by key. A value stays at its address until it is replaced or removed.
using Table = TextMap<Value>;

inline const Value* find(const Table& table, std::string_view key) {
    const auto at = table.find(key);
    return at == table.end() ? nullptr : &at->second;
}

/// A value that was given with qualifiers (PMIX_QUALIFIED_VALUE).
struct Qualified {
    std::string key;
    Info qualifiers;
    std::shared_ptr<const Value> value;  ///< null: it was removed
    bool local = true, remote = true;    ///< processes that may see it

    /// The value and its qualifiers in one array.
    Value as_given() const {
        Info entries;
        entries.add_copy(key.c_str(), *value->get());
        entries.add_copies(qualifiers);
        return std::move(entries).to_value();
    }
};

/// One key that a process posted, as peers on its node, on other nodes, and it alone see it.
struct Posted {
    std::shared_ptr<const Value> local, remote, internal;
};

/// Everything that one process posted.
struct PostedTable {
    TextMap<Posted> keys;
    std::vector<Qualified> qualified;  // only grows
    /// By a hash of key and qualifiers: the positions of the first `placed` of these.
    std::unordered_multimap<size_t, size_t> places;
    size_t placed = 0;
};

/// The shared empty map of jobs without a map, so that a job with only posted values allocates none.
inline std::shared_ptr<const JobMap> no_map() {
    // Never destroyed: other threads may read when a process ends.
    alignas(JobMap) static unsigned char room[sizeof(JobMap)];
    static const JobMap* const map = new (room) JobMap;
    return {std::shared_ptr<void>(), map};
}

struct Job {
    std::shared_ptr<const JobMap> map = no_map();
    Table facts;                                   ///< job level
    Table own_node;                                ///< node-level keys without a node: of this process's node
    std::unordered_map<uint32_t, Table> nodes;     ///< by index in the map: not derived
    std::unordered_map<uint32_t, Table> apps;      ///< by application number
    std::unordered_map<pmix_rank_t, Table> procs;  ///< the host's values for single ranks
    std::vector<Qualified> qualified;              ///< job level
    Table session;                                 ///< session-level keys, while no session id is known
    std::optional<uint32_t> session_id;
    bool sessionless = false;             ///< in a client: its server has no session id
    std::optional<uint32_t> local_procs;  ///< as registered by the host
    std::unordered_map<pmix_rank_t, PostedTable> posted;

    /// Derived values that a caller holds pointers to.
    struct Pins {
        TextMap<const Value*> latest;
        std::list<Value> values;  ///< also those that are not the latest any more
    };
    /// Guarded by the store's pins_guard_: readers add under its shared lock.
    mutable std::unique_ptr<Pins> pins;

    /// Whether nothing is known of it any more.
    bool empty() const {
        return map == no_map() && facts.empty() && own_node.empty() && nodes.empty() && apps.empty() &&
               procs.empty() && qualified.empty() && session.empty() && !session_id && !local_procs &&
               posted.empty() && !pins;
    }
};

/// Moves all entries over, those of tables one by one; they replace those of the same key. Fails only where
/// room has to be made.
template <class Map>
void move_in(Map& into, Map& from) {
    while (!from.empty()) {
        auto entry = from.extract(from.begin());
        const auto known = into.find(entry.key());
        if (known == into.end()) {
            into.insert(std::move(entry));
        } else if constexpr (std::is_same_v<Map, Table>) {
            known->second = std::move(entry.mapped());
        } else {
            move_in(known->second, entry.mapped());
        }
    }
}

/// Whether two values were given with the same qualifiers, in any order.
inline bool same_qualifiers(InfoView a, InfoView b) {
    if (a.size != b.size) return false;
    for (const pmix_info_t& entry : a) {
        const pmix_info_t* other = b.find(entry.key);
        if (other == nullptr || value_compare(&entry.value, &other->value) != PMIX_EQUAL) return false;
    }
    return true;
}

/// Independent of the order of the qualifiers. `marked`: only of those that are marked as such.
size_t hash_of(std::string_view key, InfoView qualifiers, bool marked);

}  // namespace muster::gds

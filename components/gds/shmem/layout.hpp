// SPDX-License-Identifier: BSD-3-Clause
// The layout of a segment (docs/explanation/store.md). Offsets in bytes from its beginning, 0 for none;
// numbers in the machine's format. Any change here is another layout: increment kLayout.
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <string_view>

namespace muster::gds::shmem {

inline constexpr uint64_t kMagic = 0x4d75737465725347;  // "MusterSG"
inline constexpr uint32_t kLayout = 4;
/// Written as a number: peers with different numbers or pointers do not match.
inline constexpr uint32_t kMachine = 0x01020300 + sizeof(void*);
/// Everything begins at a multiple of it.
inline constexpr uint64_t kAlign = 8;
inline constexpr uint32_t kNone = UINT32_MAX;

struct Header {
    uint64_t magic;
    uint32_t layout;
    uint32_t machine;
    char nspace[256];
    uint64_t table;  ///< published: the newest Table
    uint64_t map;    ///< published: the newest Map
};

/// The kind of object that an entry describes; `of` is its number.
enum class Kind : uint8_t {
    Session = 1,
    Job,
    App,     ///< number
    Node,    ///< index in the map; kNone: this node, which is not in the map
    Proc,    ///< rank: the host's data
    Posted,  ///< rank: the process's data
    Packed   ///< the reply to a client's request for job data, for data that the entries lack
};

/// An open hash of entries, followed by `capacity` (a power of two) slots of 64 bits: the lowest 40 the
/// offset of the entry, the others the highest of its hash; 0 for free, offset 1 for one whose entry is gone.
/// Slots are published one by one; only the newest table has all. An entry is within kMostProbes slots of the
/// one that its hash gives: no reader searches further.
struct Table {
    uint64_t capacity;
};
inline constexpr int kOffsetBits = 40;
inline constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;
inline constexpr uint64_t kGone = 1;
/// Peers can choose keys that all collide (docs/decisions/0028). In a table that is at most 5/8 full, no
/// entry is that far away by chance.
inline constexpr uint64_t kMostProbes = 512;

/// The form of the value after its entry.
enum class Form : uint8_t {
    Scalar = 1,  ///< the union of a pmix_value_t, as it is
    Text,        ///< with its terminator, which `length` does not count
    Bytes,       ///< of a byte object
    Packed       ///< one PMIX_VALUE in the encoding v41, not described
};

/// A new value is a new entry. The writer reuses the blocks of replaced entries of kind Posted: the last word
/// is kBeingWritten during that, and has a new generation afterwards. Entries of other kinds never change.
struct Entry {
    uint32_t hash;  ///< the lower half
    uint32_t of;
    uint64_t key;  ///< offset of a Key
    uint64_t length;
    uint16_t type;  ///< pmix_data_type_t
    Kind kind;
    Form form;
    uint32_t generation;  ///< another one for each entry that was posted
};
inline constexpr uint64_t kEntryWords = sizeof(Entry) / sizeof(uint64_t);
inline constexpr uint64_t kBeingWritten = 0;

/// A key's name, once in a segment; `length` characters follow.
struct Key {
    uint32_t length;
};

/// Whether a value of the type is all in its own bytes: nothing that it points to.
inline bool is_scalar(pmix_data_type_t type) {
    switch (type) {
        case PMIX_BOOL:
        case PMIX_BYTE:
        case PMIX_SIZE:
        case PMIX_PID:
        case PMIX_INT:
        case PMIX_INT8:
        case PMIX_INT16:
        case PMIX_INT32:
        case PMIX_INT64:
        case PMIX_UINT:
        case PMIX_UINT8:
        case PMIX_UINT16:
        case PMIX_UINT32:
        case PMIX_UINT64:
        case PMIX_FLOAT:
        case PMIX_DOUBLE:
        case PMIX_TIMEVAL:
        case PMIX_TIME:
        case PMIX_STATUS:
        case PMIX_PROC_RANK:
        case PMIX_PERSIST:
        case PMIX_SCOPE:
        case PMIX_DATA_RANGE:
        case PMIX_PROC_STATE:
        case PMIX_JOB_STATE:
            return true;
        default:
            return false;
    }
}

/// One number for each rank or node.
struct Column {
    enum class Rule : uint32_t {
        None,      ///< nothing is known
        Constant,  ///< base
        Sum,       ///< index + base
        Block,     ///< index / base
        Starts,    ///< the node with the last start in rank_starts that is not above the rank
        Position,  ///< of the rank among those of its node
        Listed     ///< at + 4 * index; kNone: not known
    };
    Rule rule;
    uint32_t base;
    uint64_t at;
};

struct Map {
    uint32_t node_count;
    uint32_t used_nodes;
    uint32_t placed;
    uint32_t rank_end;
    uint32_t own_node;  ///< of the server; kNone if it has no part in the job
    uint32_t apps;      ///< number of applications; 0: not given
    uint32_t has_aliases;
    uint32_t reserved;
    Column node_of, local_rank, node_rank, global_rank, appnum, app_rank;  ///< by rank
    Column node_id;                                                        ///< by node
    uint64_t name_starts;  ///< offsets in names, 4 bytes for each node; kNone: without a name
    uint64_t names;        ///< each with its terminator
    uint64_t names_size;
    /// 4 bytes for each node and the end; 0 with Block. With Starts its first rank, else where its ranks
    /// begin in `ranks`.
    uint64_t rank_starts;
    uint64_t ranks;  ///< ascending for each node; 0 with Block and Starts
};

inline uint64_t hash_of(std::string_view key) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : key)
        hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}
inline uint64_t hash_of(uint64_t key_hash, Kind kind, uint32_t of) {
    uint64_t hash = key_hash ^ (((uint64_t{of} << 8) | static_cast<uint8_t>(kind)) * 0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93;
    return hash ^ (hash >> 32);
}
inline uint64_t slot_of(uint64_t hash, uint64_t offset) {
    return (hash & ~kOffsetMask) | offset;
}

}  // namespace muster::gds::shmem

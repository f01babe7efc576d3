// SPDX-License-Identifier: BSD-3-Clause
// Reads an untrusted segment: every offset and length is copied, and checked against the segment before its
// use. No lock, and no system call once the memory is known to be present: a lookup is repeated when the
// writer reuses the entry during the read. Any thread.
#pragma once

#include <string_view>

#include "components/gds/shmem/layout.hpp"
#include "components/gds/shmem/segment.hpp"
#include "framework/base/value.hpp"
#include "framework/gds/derived.hpp"
#include "framework/packer.hpp"

namespace muster::gds::shmem {

/// A value as it was found. Text and bytes of posted values are copied, others stay in the segment. Must not
/// be copied or moved.
struct Item : Derived {
    Value parts;  ///< owner of the value if it was unpacked, or copied and did not fit in `small`; else UNDEF
    char small[512];  ///< most copies, without an allocation; not filled with zeros each time

    /// The owner of the value, if it is a copy outside `small`.
    Value* copy() {
        const bool owned = parts.type() == value.type && parts->data.ptr == value.data.ptr;
        return owned && value.type != PMIX_UNDEF ? &parts : nullptr;
    }
};

class Reader {
  public:
    /// Both outlive it.
    Reader(const Segment& segment, WireFormat format) : segment_(segment), format_(format) {}

    /// Whether it is a segment of this layout, of that namespace.
    Result<void> check(std::string_view nspace) const;

    /// false if there is none, or none that is readable.
    bool find(Kind kind, uint32_t of, std::string_view key, Item& out) const {
        return find(hash_of(key), kind, of, key, out);
    }
    /// The same with hash_of(key), for several questions about one key.
    bool find(uint64_t key_hash, Kind kind, uint32_t of, std::string_view key, Item& out) const;

    /// The newest map; false if there is none. It is valid as long as the segment.
    bool map(Map& out) const;

    // Facts of a map. kNone or null for unknown ones.
    uint32_t node_of(const Map& map, uint32_t rank) const { return of_rank(map, map.node_of, rank); }
    uint32_t of_rank(const Map& map, const Column& column, uint32_t rank) const;
    uint32_t node_id(const Map& map, uint32_t node) const;
    const char* node_name(const Map& map, uint32_t node) const;
    uint32_t ranks_on(const Map& map, uint32_t node) const;
    uint32_t rank_on(const Map& map, uint32_t node, uint32_t place) const;

  private:
    const Header* header() const { return reinterpret_cast<const Header*>(segment_.at(0, sizeof(Header))); }
    uint32_t number_in(const Column& column, uint32_t index) const;
    struct Range {
        uint64_t begin = 0, end = 0;
    };
    Range range_on(const Map& map, uint32_t node) const;
    uint32_t position(const Map& map, uint32_t rank) const;
    uint32_t node_by_starts(const Map& map, uint32_t rank) const;
    enum class Seen { Absent, There, Changed };
    Seen look(uint64_t key_hash, Kind kind, uint32_t of, std::string_view key, Item& out) const;
    bool has_name(const Entry& entry, std::string_view key) const;
    bool load(uint64_t offset, const Entry& entry, Item& out) const;
    bool unpack(ByteView packed, bool copied, Item& out) const;

    const Segment& segment_;
    WireFormat format_;
};

}  // namespace muster::gds::shmem

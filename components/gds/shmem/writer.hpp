// SPDX-License-Identifier: BSD-3-Clause
// Writes a segment, on one thread. Concurrent readers see each entry whole or not at all. Published data are
// immutable, except for slots, and for the entries of posted values that no slot refers to any more.
#pragma once

#include <string>
#include <string_view>

#include "components/gds/shmem/free_blocks.hpp"
#include "components/gds/shmem/layout.hpp"
#include "components/gds/shmem/segment.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/gds/job_map.hpp"
#include "framework/packer.hpp"

namespace muster::gds::shmem {

class Writer {
  public:
    /// `segment` outlives it and is empty; `format` is for values that have parts.
    Writer(Segment& segment, WireFormat format) : segment_(segment), format_(format) {}

    /// Everything that a reader needs to begin with. Before all else.
    Result<void> begin(std::string_view nspace);
    /// The result of a put: the offset of the key's name, and whether the key is new.
    struct Put {
        uint64_t key = 0;
        bool fresh = false;
    };
    /// Adds or replaces. If there is no space, or the value cannot be shared, the old value is removed.
    Result<void> put(Kind kind, uint32_t of, std::string_view key, const pmix_value_t& value,
                     Put* done = nullptr);
    Result<void> put_bytes(Kind kind, std::string_view key, ByteView bytes);
    void remove(Kind kind, uint32_t of, std::string_view key);
    /// Everything of this kind.
    void remove_all(Kind kind, uint32_t of);
    Result<void> put_map(const JobMap& map, uint32_t own_node);

    /// The position of the name of a key that was put; 0 for one that was not.
    std::string_view key_name(uint64_t key) const {
        const Key& name = *reinterpret_cast<const Key*>(segment_.base() + key);
        return {reinterpret_cast<const char*>(&name + 1), name.length};
    }
    uint64_t find_key(std::string_view name) const {
        const auto known = keys_.find(name);
        return known != keys_.end() ? known->second : 0;
    }

    /// Takes memory now for that many bytes, within reason, where there is some.
    void expect(uint64_t bytes);
    uint64_t used() const { return used_; }

  private:
    struct Payload {
        Form form = Form::Scalar;
        pmix_data_type_t type = PMIX_UNDEF;
        const void* data = nullptr;
        uint64_t length = 0;
        Bytes packed;
    };
    Result<void> describe(const pmix_value_t& value, Payload& out) const;
    Result<void> insert(Kind kind, uint32_t of, std::string_view key, const Payload& payload,
                        Put* done = nullptr);
    Result<uint64_t> allocate(uint64_t size);
    Result<uint64_t> block_for(Kind kind, uint64_t length);
    void write_entry(uint64_t offset, Entry entry, const void* payload);
    /// Sets a slot to that entry, or to none (kGone).
    void refer(uint64_t& slot, uint64_t hash, uint64_t offset);
    Result<uint64_t> intern(std::string_view key);
    Result<void> make_room();
    /// Returns the entry's slot, or null and a usable slot, if any, in `free_slot` (initially null).
    uint64_t* find_slot(uint64_t hash, Kind kind, uint32_t of, std::string_view key, uint64_t** free_slot);
    template <class T>
    T* object(uint64_t offset) {
        return reinterpret_cast<T*>(segment_.base() + offset);
    }
    template <class F>
    Result<void> put_column(Column& out, uint32_t count, F&& value_of);

    Segment& segment_;
    WireFormat format_;
    uint64_t used_ = 0;
    uint64_t table_ = 0;
    uint64_t slots_used_ = 0;
    uint32_t generation_ = 0;
    FreeBlocks free_;
    TextMap<uint64_t> keys_;  ///< offsets of names
    /// The last one: a fence brings the same key of many processes.
    const std::pair<const std::string, uint64_t>* last_key_ = nullptr;
};

}  // namespace muster::gds::shmem

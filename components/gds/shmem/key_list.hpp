// SPDX-License-Identifier: BSD-3-Clause
// The keys of one rank, as places of their names in the segment (Writer::key_name). A job has as many of
// these lists as ranks, most of them short: one key is in the list itself, which is eight bytes, more keys
// are in a block. A process may have posted any number of keys: a long list has a hash table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "framework/base/keyed_hash.hpp"

namespace muster::gds::shmem {

class KeyList {
  public:
    KeyList() = default;
    KeyList(KeyList&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    KeyList& operator=(KeyList&& other) noexcept {
        std::swap(word_, other.word_);
        return *this;
    }
    ~KeyList() {
        if (in_block()) std::free(block());
    }

    const uint64_t* begin() const { return in_block() ? block() + 1 : &word_; }
    const uint64_t* end() const { return begin() + size(); }
    bool has(uint64_t key) const {
        return indexed() ? *slot_of(key) != 0 : std::find(begin(), end(), key) != end();
    }

    /// `key` is a multiple of two, and not 0. Throws std::bad_alloc without a change.
    void add(uint64_t key) {
        const uint64_t count = size();
        if (count == 0 && !in_block()) {
            word_ = key;
            return;
        }
        if (!in_block() || count == room()) grow(count < 2 ? 2 : 2 * count);
        block()[1 + count] = key;
        ++block()[0];
        if (indexed()) enter(count);
    }

    /// In a long list the last takes its place.
    void remove(uint64_t key) {
        if (!in_block()) {
            if (word_ == key) word_ = 0;
        } else if (indexed()) {
            while (remove_indexed(key)) {
            }
        } else {
            uint64_t* const keys = block() + 1;
            block()[0] -= static_cast<uint64_t>(keys + size() - std::remove(keys, keys + size(), key));
        }
    }

  private:
    static constexpr uint64_t kInBlock = 1;
    /// A block with space for more has a table.
    static constexpr uint64_t kSearched = 64;

    bool in_block() const { return (word_ & kInBlock) != 0; }
    /// How many there are in the lower half of a word, and for how many, a power of two, there is room in the
    /// upper; then they; then the table: twice as many places in the list, each plus one, or 0.
    uint64_t* block() const { return reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(word_ & ~kInBlock)); }
    uint64_t size() const { return in_block() ? block()[0] & UINT32_MAX : word_ != 0 ? 1 : 0; }
    uint64_t room() const { return block()[0] >> 32; }
    bool indexed() const { return in_block() && room() > kSearched; }

    void grow(uint64_t room) {
        if (room > UINT32_MAX) throw std::bad_alloc();
        const uint64_t count = size();
        auto* made = static_cast<uint64_t*>(std::realloc(
            in_block() ? block() : nullptr, (1 + room + (room > kSearched ? room : 0)) * sizeof(uint64_t)));
        if (made == nullptr) throw std::bad_alloc();
        if (!in_block()) made[1] = word_;
        made[0] = room << 32 | count;
        word_ = reinterpret_cast<uintptr_t>(made) | kInBlock;
        if (!indexed()) return;
        std::fill_n(table(), 2 * room, 0);
        for (uint64_t place = 0; place < count; ++place)
            enter(place);
    }

    uint32_t* table() const { return reinterpret_cast<uint32_t*>(block() + 1 + room()); }
    uint64_t mask() const { return 2 * room() - 1; }
    /// The first slot of a key's probe sequence. Keyed hash, because peers choose the offsets of names.
    uint64_t first_of(uint64_t key) const { return KeyedHash().add(key).end() & mask(); }
    /// The slot of a key, or the free one that ends its probe.
    template <class Is>
    uint32_t* slot_of(uint64_t key, Is&& is) const {
        uint32_t* const slots = table();
        uint64_t at = first_of(key);
        while (slots[at] != 0 && !is(slots[at] - 1))
            at = (at + 1) & mask();
        return &slots[at];
    }
    uint32_t* slot_of(uint64_t key) const {
        return slot_of(key, [&](uint32_t place) { return block()[1 + place] == key; });
    }
    void enter(uint64_t place) {
        *slot_of(block()[1 + place], [](uint32_t) { return false; }) = static_cast<uint32_t>(place + 1);
    }

    bool remove_indexed(uint64_t key) {
        uint64_t* const keys = block() + 1;
        uint32_t* const slots = table();
        uint32_t* const slot = slot_of(key);
        if (*slot == 0) return false;
        const uint32_t place = *slot - 1;
        // Moves up later entries that the probe would no longer find.
        auto hole = static_cast<uint64_t>(slot - slots);
        for (uint64_t at = (hole + 1) & mask(); slots[at] != 0; at = (at + 1) & mask()) {
            const uint64_t first = first_of(keys[slots[at] - 1]);
            if (((at - first) & mask()) < ((at - hole) & mask())) continue;
            slots[hole] = slots[at];
            hole = at;
        }
        slots[hole] = 0;
        const auto last = static_cast<uint32_t>(size() - 1);
        if (place != last) {
            *slot_of(keys[last], [&](uint32_t one) { return one == last; }) = place + 1;
            keys[place] = keys[last];
        }
        --block()[0];
        return true;
    }

    uint64_t word_ = 0;  ///< the only key, or where the block is
};

}  // namespace muster::gds::shmem

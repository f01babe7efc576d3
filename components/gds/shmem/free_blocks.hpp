// SPDX-License-Identifier: BSD-3-Clause
// Blocks of replaced entries, kept by size until a new entry takes them. Blocks are neither split nor joined:
// the first words of a block always belong to an entry, by which a late reader detects the change.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <new>
#include <unordered_map>

#include "components/gds/shmem/layout.hpp"

namespace muster::gds::shmem {

/// The size of the block for an entry with `length` bytes of payload and their terminator. Blocks above 256
/// bytes have eight sizes per power of two, so that values of varying length can use each other's blocks.
inline uint64_t block_size(uint64_t length) {
    constexpr uint64_t kExact = 256, kSteps = 8;
    const uint64_t needed = sizeof(Entry) + length + 1;
    const uint64_t step = needed <= kExact ? kAlign : std::bit_floor(needed) / kSteps;
    return (needed + step - 1) / step * step;
}

class FreeBlocks {
  public:
    /// The block is lost if there is no memory to record it.
    void add(uint64_t size, uint64_t offset) noexcept {
        try {
            by_size_[size].push_back(offset);
        } catch (const std::bad_alloc&) {
        }
    }
    /// The block that was freed first; 0 for none. The last few stay: a reader may still use them.
    uint64_t take(uint64_t size) {
        const auto found = by_size_.find(size);
        if (found == by_size_.end() || found->second.size() <= kResting) return 0;
        const uint64_t offset = found->second.front();
        found->second.pop_front();
        return offset;
    }

  private:
    static constexpr size_t kResting = 4;
    std::unordered_map<uint64_t, std::deque<uint64_t>> by_size_;
};

}  // namespace muster::gds::shmem

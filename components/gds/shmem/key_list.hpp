// SPDX-License-Identifier: BSD-3-Clause
// The keys of one rank, as places of their names in the segment (Writer::key_name). A job has as many of
// these lists as ranks, most of them short: one key stands in the list itself, which is eight bytes, and more
// in a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

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
    bool has(uint64_t key) const { return std::find(begin(), end(), key) != end(); }

    /// `key` is a multiple of two, and not 0. Throws std::bad_alloc, and is what it was then.
    void add(uint64_t key) {
        const uint64_t count = size();
        if (count == 0 && !in_block()) {
            word_ = key;
            return;
        }
        // Of any power of two a block is full.
        if (!in_block() || (count & (count - 1)) == 0) {
            const size_t room = count < 2 ? 2 : 2 * count;
            auto* made = static_cast<uint64_t*>(
                std::realloc(in_block() ? block() : nullptr, (room + 1) * sizeof(uint64_t)));
            if (made == nullptr) throw std::bad_alloc();
            if (!in_block()) made[1] = word_;
            made[0] = count;
            word_ = reinterpret_cast<uintptr_t>(made) | kInBlock;
        }
        uint64_t* const keys = block();
        keys[++keys[0]] = key;
    }

    void remove(uint64_t key) {
        if (!in_block()) {
            if (word_ == key) word_ = 0;
            return;
        }
        uint64_t* const keys = block();
        uint64_t* const last = keys + 1 + keys[0];
        keys[0] = static_cast<uint64_t>(std::remove(keys + 1, last, key) - (keys + 1));
    }

  private:
    static constexpr uint64_t kInBlock = 1;

    bool in_block() const { return (word_ & kInBlock) != 0; }
    /// How many there are, and then they.
    uint64_t* block() const { return reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(word_ & ~kInBlock)); }
    uint64_t size() const { return in_block() ? block()[0] : word_ != 0 ? 1 : 0; }

    uint64_t word_ = 0;  ///< the only key, or where the block is
};

}  // namespace muster::gds::shmem

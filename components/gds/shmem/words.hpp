// SPDX-License-Identifier: BSD-3-Clause
// Memory that the server changes while clients read it: copied by words, so that no access is a data race,
// and in the order of the program. On most processors that costs nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace muster::gds::shmem {

inline void store_word(uint64_t& word, uint64_t value) {
    std::atomic_ref<uint64_t>(word).store(value, std::memory_order_release);
}
inline uint64_t load_word(const uint64_t& word) {
    return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(word)).load(std::memory_order_acquire);
}

/// `to` has space for whole words; the last one is padded with zeros.
inline void store_words(uint64_t* to, const void* from, uint64_t bytes) {
    const auto* source = static_cast<const uint8_t*>(from);
    uint64_t word = 0;
    for (; bytes >= sizeof word; bytes -= sizeof word, source += sizeof word) {
        std::memcpy(&word, source, sizeof word);
        store_word(*to++, word);
    }
    if (bytes == 0) return;
    word = 0;
    std::memcpy(&word, source, bytes);
    store_word(*to, word);
}
inline void load_words(void* to, const uint64_t* from, uint64_t bytes) {
    auto* target = static_cast<uint8_t*>(to);
    const auto load = [](uint8_t* word_to, const uint64_t& word_from) {
        const uint64_t word = load_word(word_from);
        std::memcpy(word_to, &word, sizeof word);
    };
    // Compilers do not unroll loops of atomic loads.
    constexpr uint64_t kBlock = 4 * sizeof(uint64_t);
    for (; bytes >= kBlock; bytes -= kBlock, target += kBlock, from += 4) {
        load(target, from[0]);
        load(target + 8, from[1]);
        load(target + 16, from[2]);
        load(target + 24, from[3]);
    }
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), target += sizeof(uint64_t))
        load(target, *from++);
    if (bytes == 0) return;
    const uint64_t word = load_word(*from);
    std::memcpy(target, &word, bytes);
}

}  // namespace muster::gds::shmem

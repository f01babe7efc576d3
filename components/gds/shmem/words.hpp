// SPDX-License-Identifier: BSD-3-Clause
// Memory that the server changes while clients read it: copied by words, so that no access is a data race,
// and in the order of the program. On most processors that costs nothing. Payloads are the exception.
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
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), target += sizeof(uint64_t)) {
        const uint64_t word = load_word(*from++);
        std::memcpy(target, &word, sizeof word);
    }
    if (bytes == 0) return;
    const uint64_t word = load_word(*from);
    std::memcpy(target, &word, bytes);
}
/// Copies a payload of any size, possibly parts of two. The caller loads a word of its entry afterwards, by
/// which it detects the change, before it returns the copy.
inline void load_payload(void* to, const uint64_t* from, uint64_t bytes) {
#ifdef __SANITIZE_THREAD__  // which does not know fences
    load_words(to, from, bytes);
#else
    std::memcpy(to, from, bytes);  // in half the time of words
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace muster::gds::shmem

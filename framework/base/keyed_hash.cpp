// SPDX-License-Identifier: BSD-3-Clause
// The key of hashes: see keyed_hash.hpp.
#include "framework/base/keyed_hash.hpp"

#include <sys/auxv.h>

#include <array>
#include <cstring>

namespace muster {
namespace {

using Secret = std::array<uint64_t, 2>;

/// Copies the kernel's random bytes of this program (AT_RANDOM), which the process may overwrite.
Secret take_secret() {
    Secret secret{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the kernel passes.
    const auto* random = reinterpret_cast<const void*>(getauxval(AT_RANDOM));
    if (random != nullptr) std::memcpy(secret.data(), random, sizeof secret);
    return secret;
}

const Secret& secret() {
    static const Secret taken = take_secret();
    return taken;
}

uint64_t word_at(const char* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace

// The constants are SipHash's.
KeyedHash::KeyedHash(const Secret& key)
    : v0_(key[0] ^ 0x736f6d6570736575),
      v1_(key[1] ^ 0x646f72616e646f6d),
      v2_(key[0] ^ 0x6c7967656e657261),
      v3_(key[1] ^ 0x7465646279746573) {}

KeyedHash::KeyedHash() : KeyedHash(secret()) {}

KeyedHash& KeyedHash::add(std::string_view text) {
    constexpr size_t kWord = sizeof(uint64_t);
    add(uint64_t{text.size()});
    const char* at = text.data();
    size_t left = text.size();
    if (left >= kWord) {
        for (; left > kWord; left -= kWord, at += kWord)
            add(word_at(at));
        // Some of it for the second time, rather than byte by byte.
        return add(word_at(at + left - kWord));
    }
    uint64_t last = 0;
    for (; left > 0; --left)
        last = last << 8 | static_cast<uint8_t>(at[left - 1]);
    return add(last);
}

}  // namespace muster

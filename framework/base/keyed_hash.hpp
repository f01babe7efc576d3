// SPDX-License-Identifier: BSD-3-Clause
// A hash that no other process can predict, for tables whose keys come from peers: with a known one a peer
// could choose keys that all collide, and each lookup would be linear.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace muster {

/// SipHash-1-3 of numbers and texts, in the order in which they are added. The key is this process's, and of
/// this shared object: a table must not be filled in the library and searched in a component, nor the other
/// way.
class KeyedHash {
  public:
    KeyedHash();
    KeyedHash& add(uint64_t number) {
        v3_ ^= number;
        mix();
        v0_ ^= number;
        return *this;
    }
    /// With its length, so that later data is not taken for a part of it.
    KeyedHash& add(std::string_view text);
    size_t end() {
        v2_ ^= 0xff;
        mix();
        mix();
        mix();
        return static_cast<size_t>(v0_ ^ v1_ ^ v2_ ^ v3_);
    }

  private:
    explicit KeyedHash(const std::array<uint64_t, 2>& key);
    static constexpr uint64_t turned(uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }
    void mix() {
        v0_ += v1_;
        v2_ += v3_;
        v1_ = turned(v1_, 13) ^ v0_;
        v3_ = turned(v3_, 16) ^ v2_;
        v0_ = turned(v0_, 32);
        v2_ += v1_;
        v0_ += v3_;
        v1_ = turned(v1_, 17) ^ v2_;
        v3_ = turned(v3_, 21) ^ v0_;
        v2_ = turned(v2_, 32);
    }

    uint64_t v0_, v1_, v2_, v3_;
};

/// Lets tables of std::string be searched by a view, without an allocation.
struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return KeyedHash().add(text).end(); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;
using TextSet = std::unordered_set<std::string, TextHash, std::equal_to<>>;
/// A set of texts that outlive it.
using ViewSet = std::unordered_set<std::string_view, TextHash>;

}  // namespace muster

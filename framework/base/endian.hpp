// SPDX-License-Identifier: BSD-3-Clause
// Fixed-width integers in network byte order, at any alignment.
#pragma once

#include <cstdint>

namespace muster {

inline uint32_t load_be32(const uint8_t* at) {
    return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

inline uint32_t load_le32(const uint8_t* at) {
    return uint32_t{at[3]} << 24 | uint32_t{at[2]} << 16 | uint32_t{at[1]} << 8 | uint32_t{at[0]};
}

inline void store_be32(uint8_t* at, uint32_t value) {
    at[0] = static_cast<uint8_t>(value >> 24);
    at[1] = static_cast<uint8_t>(value >> 16);
    at[2] = static_cast<uint8_t>(value >> 8);
    at[3] = static_cast<uint8_t>(value);
}

}  // namespace muster

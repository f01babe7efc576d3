// SPDX-License-Identifier: BSD-3-Clause
// Fixed-width integers in the byte order of a format, at any alignment.
#pragma once

#include <endian.h>

#include <cstdint>
#include <cstring>

namespace muster {

inline uint32_t load_le32(const uint8_t* at) {
    uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return le32toh(value);
}

inline uint32_t load_be32(const uint8_t* at) {
    uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return be32toh(value);
}

inline void store_le32(uint8_t* at, uint32_t value) {
    value = htole32(value);
    std::memcpy(at, &value, sizeof value);
}

inline void store_be32(uint8_t* at, uint32_t value) {
    value = htobe32(value);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace muster

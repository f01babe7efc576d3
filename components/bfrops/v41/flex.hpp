// SPDX-License-Identifier: BSD-3-Clause
// Integers of variable length: seven bits a byte, least significant first, the top bit means that more
// follows. A ninth byte holds the last eight bits unchanged. Signed numbers carry their sign in the lowest
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace muster::v41 {

/// The most bytes that a number of `width` bytes can take.
constexpr std::size_t max_flex_size(std::size_t width) {
    return width == 1 ? 1 : width == 2 ? 3 : width == 4 ? 5 : 9;
}

/// Writes to a buffer with space for nine bytes; returns the end of the written bytes.
inline std::uint8_t* put_flex(std::uint8_t* at, std::uint64_t number) {
    for (int group = 0; group < 8; ++group) {
        if (number < 0x80) {
            *at++ = static_cast<std::uint8_t>(number);
            return at;
        }
        *at++ = static_cast<std::uint8_t>(number | 0x80);
        number >>= 7;
    }
    *at++ = static_cast<std::uint8_t>(number);
    return at;
}

/// Reads from [at, end); returns the end of the bytes read, or null if the input ends first.
inline const std::uint8_t* get_flex(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t* number) {
    if (at != end && *at < 0x80) {  // most are small
        *number = *at;
        return at + 1;
    }
    std::uint64_t sum = 0;
    for (int shift = 0; shift < 56; shift += 7) {
        if (at == end) return nullptr;
        const std::uint8_t byte = *at++;
        sum |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) {
            *number = sum;
            return at;
        }
    }
    if (at == end) return nullptr;
    *number = sum | std::uint64_t{*at++} << 56;
    return at;
}

/// The unsigned number that represents a number of any integer type.
template <class T>
constexpr std::uint64_t to_wire(T number) {
    if constexpr (std::is_signed_v<T>) {
        const auto wide = static_cast<std::int64_t>(number);
        return (static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63);
    } else {
        return number;
    }
}

/// The reverse; false if the number does not fit the type.
template <class T>
constexpr bool from_wire(std::uint64_t wire, T* number) {
    if constexpr (sizeof(T) < sizeof wire) {
        if (wire >> (8 * sizeof(T)) != 0) return false;
    }
    if constexpr (std::is_signed_v<T>) {
        *number = static_cast<T>(static_cast<std::int64_t>((wire >> 1) ^ (~(wire & 1) + 1)));
    } else {
        *number = static_cast<T>(wire);
    }
    return true;
}

}  // namespace muster::v41

// SPDX-License-Identifier: BSD-3-Clause
// Elements come from C callers, packed in unions and arrays: where their static type is not known they are
// read and written by copying bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace muster {

inline char* at(void* element, std::size_t offset) {
    return static_cast<char*>(element) + offset;
}
inline const char* at(const void* element, std::size_t offset) {
    return static_cast<const char*>(element) + offset;
}

/// The element as the type of its tag.
template <class T>
T* as(void* element) {
    return static_cast<T*>(element);
}
template <class T>
const T* as(const void* element) {
    return static_cast<const T*>(element);
}

template <class T>
T load(const void* where) {
    T value;
    std::memcpy(&value, where, sizeof(T));
    return value;
}
/// The integer of `size` bytes.
inline std::int64_t signed_at(const void* where, std::size_t size) {
    switch (size) {
        case 1:
            return load<std::int8_t>(where);
        case 2:
            return load<std::int16_t>(where);
        case 4:
            return load<std::int32_t>(where);
        default:
            return load<std::int64_t>(where);
    }
}
inline std::uint64_t unsigned_at(const void* where, std::size_t size) {
    switch (size) {
        case 1:
            return load<std::uint8_t>(where);
        case 2:
            return load<std::uint16_t>(where);
        case 4:
            return load<std::uint32_t>(where);
        default:
            return load<std::uint64_t>(where);
    }
}
template <class T>
void store(void* where, const T& value) {
    std::memcpy(where, &value, sizeof(T));
}

}  // namespace muster

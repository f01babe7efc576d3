// SPDX-License-Identifier: BSD-3-Clause
// Elements come from C callers, packed in unions and arrays: where their static type is not known they are
// read and written by copying bytes.
#pragma once

#include <cstddef>
#include <cstring>

namespace muster {

inline char* at(void* element, std::size_t offset) {
    return static_cast<char*>(element) + offset;
}
inline const char* at(const void* element, std::size_t offset) {
    return static_cast<const char*>(element) + offset;
}

template <class T>
T load(const void* where) {
    T value;
    std::memcpy(&value, where, sizeof(T));
    return value;
}
template <class T>
void store(void* where, const T& value) {
    std::memcpy(where, &value, sizeof(T));
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// For calls of libraries that end the process where they are given no memory (hwloc, libltdl).
#pragma once

#include <cstddef>
#include <cstdlib>

namespace muster {

/// Whether that many bytes can be allocated now: then such a library usually has enough memory.
inline bool has_memory_for(size_t bytes) {
    void* const room = std::malloc(bytes);
    // Or else the compiler would leave both out.
    asm volatile("" : : "r"(room) : "memory");
    std::free(room);
    return room != nullptr;
}

}  // namespace muster

// SPDX-License-Identifier: BSD-3-Clause
// A library with a C++ runtime of its own, for runtime_crossing.cpp.
#include <exception>
#include <new>

/// Lets the C library allocate what the runtime has for this thread: that ends the process where there is no
/// memory.
extern "C" __attribute__((visibility("default"))) int prepare() {
    return std::uncaught_exceptions();
}

extern "C" __attribute__((visibility("default"))) void throw_bad_alloc() {
    throw std::bad_alloc();
}

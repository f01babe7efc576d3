// SPDX-License-Identifier: BSD-3-Clause
// A library with a C++ runtime of its own, for runtime_crossing.cpp.
#include <new>

extern "C" __attribute__((visibility("default"))) void throw_bad_alloc() {
    throw std::bad_alloc();
}

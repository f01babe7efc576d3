// SPDX-License-Identifier: BSD-3-Clause
//
// The measurements as C++ sees them, and the signatures, which only C++ can compare.

#include <type_traits>

#include "measure.inc"

Measured measured_in_cxx(void) {
    return measured();
}

#define ROW(name, result, ...) \
    static_assert(std::is_same_v<decltype(&name), result (*)(__VA_ARGS__)>, #name " has another signature");
#include "functions.inc"
#undef ROW

#define ROW(name, result, ...) \
    static_assert(std::is_same_v<name, result (*)(__VA_ARGS__)>, #name " has another signature");
#include "callbacks.inc"
#undef ROW

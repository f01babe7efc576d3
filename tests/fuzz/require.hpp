// SPDX-License-Identifier: BSD-3-Clause
// The assertions of a fuzz target. A failed one is printed with its place before the target aborts, since a
// fuzzer's own report ends at the target.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace muster {

inline void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (holds) return;
    std::fprintf(stderr, "ERROR: %s:%d: what is required does not hold\n", file, line);
    std::abort();
}

}  // namespace muster

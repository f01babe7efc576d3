// SPDX-License-Identifier: BSD-3-Clause
// How many descriptors the kernel has room for in this process, before it has to make more.
#pragma once

#include <cstdio>

namespace tests {

/// -1 where /proc does not say.
inline int descriptor_room() {
    FILE* file = fopen("/proc/self/status", "r");
    char line[256];
    int size = -1;
    while (file != nullptr && fgets(line, sizeof line, file) != nullptr) {
        if (sscanf(line, "FDSize: %d", &size) == 1) break;
    }
    if (file != nullptr) fclose(file);
    return size;
}

}  // namespace tests

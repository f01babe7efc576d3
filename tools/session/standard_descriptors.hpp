// SPDX-License-Identifier: BSD-3-Clause
// What each program does before anything else.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace muster {

/// Opens /dev/null in the place of those of standard input, output and error that are closed, so that nothing
/// that the program opens gets their numbers and is taken for them.
inline void open_standard_descriptors() {
    int fd = -1;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace muster

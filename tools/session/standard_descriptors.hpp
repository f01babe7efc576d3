// SPDX-License-Identifier: BSD-3-Clause
// What each program does before anything else.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace muster {

/// Opens /dev/null in the place of those of standard input, output and error that are closed, so that nothing
/// that the program opens gets their numbers and is taken for them. Output is opened for reading only: a
/// write to it fails as it does for a closed descriptor. Errors are discarded.
inline void open_standard_descriptors() {
    const bool no_output = ::fcntl(STDOUT_FILENO, F_GETFD) < 0;
    int fd = -1;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
    if (!no_output) return;
    fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ::dup2(fd, STDOUT_FILENO);
    ::close(fd);
}

}  // namespace muster

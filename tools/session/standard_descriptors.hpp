// SPDX-License-Identifier: BSD-3-Clause
// The first and the last step of each program.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace muster {

/// Ends the program with status 1 if its output could not be written. A closed reader needs no message.
inline void check_output() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    // An earlier write has failed, and one more returns the reason.
    int why = errno;
    if (why == 0 && ::write(STDOUT_FILENO, "\n", 1) < 0) why = errno;
    if (why != EPIPE) {
        std::fprintf(stderr, "%s: standard output cannot be written: %s\n", program_invocation_short_name,
                     why != 0 ? std::strerror(why) : "a write has failed");
    }
    ::_exit(1);
}

/// Opens /dev/null in place of closed standard input, output and error, so that no file that the program
/// opens gets their numbers and is taken for them. Output is opened for reading only: a write to it fails as
/// it does for a closed descriptor. Errors are discarded.
inline void open_standard_descriptors() {
    std::atexit(check_output);
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

// SPDX-License-Identifier: BSD-3-Clause
// Reports of a client of these tests: lines on its output; a line that begins with BAD ends the client.
#pragma once

#include <pmix.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace integration {

inline void say(const std::string& line) {
    printf("%s\n", line.c_str());
    fflush(stdout);
}

[[noreturn]] inline void fail(const std::string& what) {
    say("BAD " + what);
    _exit(1);
}

inline void expect(const std::string& what, pmix_status_t status, pmix_status_t wanted = PMIX_SUCCESS) {
    if (status != wanted)
        fail(what + ": " + PMIx_Error_string(status) + ", not " + PMIx_Error_string(wanted));
}

/// Waits until the parent of this process releases it.
inline void wait_for_word() {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
    }
}

inline void expect_true(const std::string& what, bool holds) {
    if (!holds) fail(what);
}

}  // namespace integration

// SPDX-License-Identifier: BSD-3-Clause
// Error reports of the client programs of the tests: a line that begins with BAD, which fails the test.
#pragma once

#include <pmix.h>

#include <cstdio>
#include <string>

namespace complaints {

inline pmix_proc_t self;
inline bool failed = false;

inline void complain(const std::string& what) {
    printf("BAD rank %u: %s\n", self.rank, what.c_str());
    fflush(stdout);
    failed = true;
}
inline void need(bool good, const std::string& what) {
    if (!good) complain(what);
}
inline void is(pmix_status_t status, pmix_status_t wanted, const std::string& what) {
    if (status != wanted)
        complain(what + ": " + PMIx_Error_string(status) + ", not " + PMIx_Error_string(wanted));
}

}  // namespace complaints

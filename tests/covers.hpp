// SPDX-License-Identifier: BSD-3-Clause
// A test says which requirements of tests/conformance/requirements.tsv it shows.
#pragma once

#include <cstdio>

/// Prints the line `COVERS SRV-65 SRV-66`, which tests/conformance/coverage counts if the ctest test passes.
/// The call is the first statement of the test.
template <typename... Ids>
void covers(const Ids&... ids) {
    fputs("COVERS", stdout);
    (printf(" %s", ids), ...);
    putchar('\n');
    fflush(stdout);
}

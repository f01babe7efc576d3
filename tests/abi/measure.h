// SPDX-License-Identifier: BSD-3-Clause
//
// The public headers as a compiler sees them, as tables that a test can read. measure.inc fills them, once in
// C and once in C++: both languages must see the same numbers.

#ifndef MUSTER_TESTS_ABI_MEASURE_H
#define MUSTER_TESTS_ABI_MEASURE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char* what;
    const char* version;  // of OpenPMIx, where the expected number was measured
    long long found;
    long long expected;
} NumberRow;

typedef struct {
    const char* what;
    const char* version;
    const char* found;
    const char* expected;
} KeyRow;

typedef struct {
    const NumberRow* numbers;  // constants, sizes, alignments, offsets
    size_t number_count;
    const KeyRow* keys;
    size_t key_count;
} Measured;

Measured measured_in_c(void);
Measured measured_in_cxx(void);

#ifdef __cplusplus
}
#endif

#endif

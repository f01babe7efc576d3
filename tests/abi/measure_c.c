// SPDX-License-Identifier: BSD-3-Clause
//
// The measurements as C sees them.

#include "measure.inc"

Measured measured_in_c(void) {
    return measured();
}

// SPDX-License-Identifier: BSD-3-Clause
// The first steps of the probes of this folder, based on those of the acceptance tests.
#include "../acceptance/probes/common.h"

// Initializes, proves which library is loaded, and gets the size of the job.
static void begin(void) {
    char who[32];
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) exit(1);
    snprintf(who, sizeof who, "rank%u", me.rank);
    proof_line(stdout, who);
    size = (uint32_t)get_num(ALL, PMIX_JOB_SIZE, NULL, 0, "job size");
}

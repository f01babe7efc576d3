// SPDX-License-Identifier: BSD-3-Clause
// The target of pdebug: rank 0 waits in one function, the others in another.
#include <pmix.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int going_on = 1;

__attribute__((noinline)) static void wait_as_the_first(void) {
    while (going_on)
        usleep(10000);
}
__attribute__((noinline)) static void wait_as_the_others(void) {
    while (going_on)
        usleep(10000);
}

int main(void) {
    pmix_proc_t me;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
    printf("waiting\n");
    fflush(stdout);
    if (me.rank == 0) wait_as_the_first();
    wait_as_the_others();
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// The smallest PMIx client: it learns its rank, the size of its job and where it runs.
//
//     muster -n 4 hello
//
// Started without a launcher it is the only process of its own job ("singleton"), if the library allows that
// here.
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads a number that the launcher told the library. Facts of the whole job belong to no rank: they are asked
// of rank PMIX_RANK_WILDCARD.
static int get_u32(const char* nspace, pmix_rank_t rank, const char* key, uint32_t* result) {
    pmix_proc_t proc;
    pmix_value_t* value = NULL;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    pmix_status_t status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) return status;
    PMIX_VALUE_GET_NUMBER(status, value, *result, uint32_t);
    PMIX_VALUE_RELEASE(value);  // the caller frees the result of PMIx_Get
    return status;
}

int main(void) {
    pmix_proc_t me;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "hello: PMIx_Init: %s\n", PMIx_Error_string(status));
        return EXIT_FAILURE;
    }

    uint32_t size = 0;
    status = get_u32(me.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &size);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "hello: the size of the job: %s\n", PMIx_Error_string(status));
        PMIx_Abort(1, "no job size", NULL, 0);
        return EXIT_FAILURE;
    }

    // Facts of one process are asked of that process.
    char host[256] = "an unnamed host";
    pmix_value_t* value = NULL;
    if (PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &value) == PMIX_SUCCESS) {
        if (value->type == PMIX_STRING && value->data.string != NULL)
            snprintf(host, sizeof host, "%s", value->data.string);
        PMIX_VALUE_RELEASE(value);
    }
    printf("hello from rank %u of %u on %s\n", me.rank, size, host);

    // A process that used the library leaves it in order; one that only exits counts as failed.
    status = PMIx_Finalize(NULL, 0);
    return status == PMIX_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}

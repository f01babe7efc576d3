// SPDX-License-Identifier: BSD-3-Clause
// Every rank posts two keys, which all others read, and deletes one of them: after the next fence the deleted
// key is not found, and the other one is. Libraries before 7.0 have no deletions, and their processes keep
// the values that they have read.
#include "probe.h"

static void post(const char* key) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, key, PMIX_STRING);
    OKAY(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    PMIX_VALUE_DESTRUCT(&value);
}

static pmix_status_t look_for(uint32_t rank, const char* key) {
    pmix_proc_t owner = RANK(rank);
    pmix_value_t* value = NULL;
    pmix_info_t limit;
    int seconds = 2;
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    const pmix_status_t status = PMIx_Get(&owner, key, &limit, 1, &value);
    if (status == PMIX_SUCCESS) PMIX_VALUE_RELEASE(value);
    PMIX_INFO_DESTRUCT(&limit);
    return status;
}

int main(void) {
    begin();
    // The first collecting fence over nodes of both libraries leaves data to direct modex, and
    // OpenPMIx 7.0.0rc1 keeps the data of a direct modex, also between two of its own servers.
    fence(true);
    post("goes");
    post("stays");
    OKAY(PMIx_Commit(), "commit");
    fence(true);
    for (uint32_t rank = 0; rank < size; rank++) {
        OKAY(look_for(rank, "goes"), "first get");
        OKAY(look_for(rank, "stays"), "first get");
    }
    fence(false);
    pmix_status_t deleted = PMIX_ERR_NOT_SUPPORTED;
#ifdef PMIX_DEL_GLOBAL
    deleted = PMIx_Put(PMIX_DEL_GLOBAL, "goes", NULL);
#endif
    // An older server cannot delete.
    if (deleted == PMIX_SUCCESS) post("deleted");
    NEED(deleted == PMIX_SUCCESS || deleted == PMIX_ERR_NOT_SUPPORTED, "delete");
    OKAY(PMIx_Commit(), "second commit");
    fence(true);
    for (uint32_t rank = 0; rank < size; rank++) {
        const bool gone = look_for(rank, "deleted") == PMIX_SUCCESS;
#ifdef PMIX_DEL_GLOBAL
        NEED((look_for(rank, "goes") == PMIX_SUCCESS) != gone,
             "what was deleted is there, or the rest is not");
#endif
        OKAY(look_for(rank, "stays"), "second get");
    }
    fence(false);
    OKAY(PMIx_Finalize(NULL, 0), "finalize");
    if (!bad) printf("GOOD deletions\n");
    return bad;
}

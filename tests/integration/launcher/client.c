// SPDX-License-Identifier: BSD-3-Clause
// A client that the tests of muster start: it does what its first argument says, and exits 0 when all was
// well.
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static int wrong = 0;

static void expect(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "client: rank %u: %s\n", me.rank, what);
    wrong = 1;
}

static uint32_t number(pmix_rank_t rank, const char* key) {
    pmix_proc_t proc;
    pmix_value_t* value = NULL;
    uint32_t result = UINT32_MAX;
    pmix_status_t status;
    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "client: rank %u: %s of %u: %s\n", me.rank, key, rank, PMIx_Error_string(status));
        wrong = 1;
        return result;
    }
    PMIX_VALUE_GET_NUMBER(status, value, result, uint32_t);
    expect(status == PMIX_SUCCESS, key);
    PMIX_VALUE_RELEASE(value);
    return result;
}

static void text(pmix_rank_t rank, const char* key, char* result, size_t size) {
    pmix_proc_t proc;
    pmix_value_t* value = NULL;
    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    result[0] = '\0';
    if (PMIx_Get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS || value->type != PMIX_STRING) {
        expect(0, key);
        return;
    }
    snprintf(result, size, "%s", value->data.string);
    PMIX_VALUE_RELEASE(value);
}

// What the host has to register, for a job of argv[2] ranks, even blocks of them on argv[3] nodes.
static void facts(char** argv) {
    const uint32_t size = (uint32_t)atoi(argv[2]), nodes = (uint32_t)atoi(argv[3]), each = size / nodes;
    char got[4096], wanted[4096] = "";
    expect(number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) == size, PMIX_JOB_SIZE);
    expect(number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) == size, PMIX_UNIV_SIZE);
    expect(number(PMIX_RANK_WILDCARD, PMIX_MAX_PROCS) == size, PMIX_MAX_PROCS);
    expect(number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES) == nodes, PMIX_NUM_NODES);
    expect(number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) == each, PMIX_LOCAL_SIZE);
    text(PMIX_RANK_WILDCARD, PMIX_JOBID, got, sizeof got);
    expect(strcmp(got, me.nspace) == 0, PMIX_JOBID);
    for (uint32_t rank = 0; rank < size; ++rank) {
        expect(number(rank, PMIX_LOCAL_RANK) == rank % each, PMIX_LOCAL_RANK);
        expect(number(rank, PMIX_NODE_RANK) == rank % each, PMIX_NODE_RANK);
        expect(number(rank, PMIX_NODEID) == rank / each, PMIX_NODEID);
        expect(number(rank, PMIX_GLOBAL_RANK) == rank, PMIX_GLOBAL_RANK);
    }
    for (uint32_t rank = me.rank / each * each; rank < (me.rank / each + 1) * each; ++rank) {
        const size_t length = strlen(wanted);
        snprintf(wanted + length, sizeof wanted - length, "%s%u", length == 0 ? "" : ",", rank);
    }
    text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, got, sizeof got);
    expect(strcmp(got, wanted) == 0, PMIX_LOCAL_PEERS);
    if (nodes > 1) {
        snprintf(wanted, sizeof wanted, "node%u", me.rank / each);
        text(me.rank, PMIX_HOSTNAME, got, sizeof got);
        expect(strcmp(got, wanted) == 0, PMIX_HOSTNAME);
    }
}

// Two programs: argv[2] is the number of this one, argv[3] its first rank, argv[4] its size.
static void apps(char** argv) {
    const uint32_t first = (uint32_t)atoi(argv[3]);
    expect(number(me.rank, PMIX_APPNUM) == (uint32_t)atoi(argv[2]), PMIX_APPNUM);
    expect(number(me.rank, PMIX_APP_RANK) == me.rank - first, PMIX_APP_RANK);
    expect(number(me.rank, PMIX_APP_SIZE) == (uint32_t)atoi(argv[4]), PMIX_APP_SIZE);
}

// Each gets what the last rank posts, before and after that has posted it; no fence carries it.
static void modex(void) {
    const uint32_t size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    pmix_proc_t last;
    pmix_value_t value, *got = NULL;
    PMIX_LOAD_PROCID(&last, me.nspace, size - 1);
    if (me.rank == size - 1) {
        PMIX_VALUE_LOAD(&value, "here", PMIX_STRING);
        expect(PMIx_Put(PMIX_GLOBAL, "test.key", &value) == PMIX_SUCCESS, "put");
        PMIX_VALUE_DESTRUCT(&value);
        expect(PMIx_Commit() == PMIX_SUCCESS, "commit");
    }
    expect(
        PMIx_Get(&last, "test.key", NULL, 0, &got) == PMIX_SUCCESS && strcmp(got->data.string, "here") == 0,
        "get");
    if (got != NULL) PMIX_VALUE_RELEASE(got);
    expect(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "fence");
}

// Odd and even ranks fence among themselves, naming the members in different orders; then all, within a time
// limit that rank 0 does not keep.
static void fences(void) {
    const uint32_t size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    pmix_proc_t members[64];
    size_t count = 0;
    for (uint32_t rank = me.rank % 2; rank < size && count < 64; rank += 2) {
        PMIX_LOAD_PROCID(&members[count], me.nspace,
                         me.rank % 4 < 2 ? rank : size - 2 + me.rank % 2 - (rank - me.rank % 2));
        ++count;
    }
    for (int round = 0; round < 10; ++round) {
        expect(PMIx_Fence(members, count, NULL, 0) == PMIX_SUCCESS, "fence of a half");
    }
    int seconds = 1;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (me.rank != 0) {
        const pmix_status_t status = PMIx_Fence(NULL, 0, &info, 1);
        expect(status == PMIX_ERR_TIMEOUT, PMIx_Error_string(status));
    }
    PMIX_INFO_DESTRUCT(&info);
    expect(PMIx_Fence(members, count, NULL, 0) == PMIX_SUCCESS, "fence after the time limit");
    // No one may go before all have seen their time limit. By name, so that it is not the fence that is
    // waited for.
    for (count = 0; count < size && count < 64; ++count)
        PMIX_LOAD_PROCID(&members[count], me.nspace, (pmix_rank_t)count);
    expect(PMIx_Fence(members, count, NULL, 0) == PMIX_SUCCESS, "fence of all by name");
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const char* what = argv[1];
    const int one = argc > 2 ? atoi(argv[2]) : 0;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "client: PMIx_Init: %s\n", PMIx_Error_string(status));
        return 1;
    }
    if (strcmp(what, "facts") == 0) {
        facts(argv);
    } else if (strcmp(what, "apps") == 0) {
        apps(argv);
    } else if (strcmp(what, "modex") == 0) {
        modex();
    } else if (strcmp(what, "fences") == 0) {
        fences();
    } else if (strcmp(what, "absent") == 0) {
        // A rank that has ended will never come: better an error than to wait for it.
        expect(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_ERR_LOST_CONNECTION, "fence with one that never came");
    } else if (strcmp(what, "abort") == 0) {
        if ((int)me.rank == one) PMIx_Abort(42, "no more", NULL, 0);
        pause();
    } else if (strcmp(what, "abort-one") == 0) {
        pmix_proc_t victim;
        PMIX_LOAD_PROCID(&victim, me.nspace, (pmix_rank_t)one);
        if (me.rank == 0) PMIx_Abort(42, "you", &victim, 1);
        if ((int)me.rank == one) pause();
    } else if (strcmp(what, "signal") == 0) {
        if ((int)me.rank == one) {
            signal(SIGSEGV, SIG_DFL);  // a sanitizer takes it for a fault of its own
            kill(getpid(), SIGSEGV);
        }
        PMIx_Fence(NULL, 0, NULL, 0);
        pause();
    } else if (strcmp(what, "no-finalize") == 0) {
        if ((int)me.rank == one) return 0;
        pause();
    } else {
        wrong = 2;
    }
    status = PMIx_Finalize(NULL, 0);
    expect(status == PMIX_SUCCESS, "PMIx_Finalize");
    return wrong;
}

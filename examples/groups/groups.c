// SPDX-License-Identifier: BSD-3-Clause
// A group among the processes of a job, as the Standard wants programs to use them: a name that nothing else
// has, handlers for the events that the program depends on, a time limit on every call that waits, one
// process that leaves by itself, and a destruct that all remaining processes call together.
//
//     muster -n 4 groups             every process joins in
//     muster -n 6 --nodes 3 groups   the same over three (pretended) nodes
// muster -n 4 groups late        the last process never calls: the others continue without it
#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pmix_proc_t me;
static char group[PMIX_MAX_NSLEN + 1];

// The handler's counters: written on the library's thread, read by ours.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned gone;

static void fail(const char* what, const char* why) {
    fprintf(stderr, "groups: rank %u: %s: %s\n", me.rank, what, why);
    PMIx_Abort(EXIT_FAILURE, what, NULL, 0);
    exit(EXIT_FAILURE);
}

static void check(pmix_status_t status, const char* what) {
    if (status != PMIX_SUCCESS) fail(what, PMIx_Error_string(status));
}

// Members that leave, or that fail, are no longer waited for: each process has to know how many are left
// before it calls anything that all of them call.
static void on_gone(size_t handler, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                    size_t count, pmix_info_t results[], size_t result_count,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
    (void)handler, (void)status, (void)source, (void)results, (void)result_count;
    for (size_t i = 0; i < count; ++i) {
        if (!PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ID) || strcmp(info[i].value.data.string, group) != 0)
            continue;
        pthread_mutex_lock(&lock);
        ++gone;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void wait_for_gone(unsigned number) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    pthread_mutex_lock(&lock);
    while (gone < number) {
        if (pthread_cond_timedwait(&changed, &lock, &limit) != 0) fail("leaving", "nobody told us of it");
    }
    pthread_mutex_unlock(&lock);
}

static uint32_t job_size(void) {
    pmix_value_t* value = NULL;
    pmix_proc_t job = me;
    job.rank = PMIX_RANK_WILDCARD;
    check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "size of the job");
    const uint32_t size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return size;
}

// A group's name stands where a namespace's does, so it must differ from all of these and from those of other
// groups. One that begins with our own namespace's, which the host keeps unique, does.
static void choose_name(void) {
    if (snprintf(group, sizeof group, "%s.workers", me.nspace) >= (int)sizeof group)
        fail("name of the group", "too long");
    pmix_query_t query;
    pmix_info_t* results = NULL;
    size_t count = 0;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_GROUP_NAMES);
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    for (size_t i = 0; status == PMIX_SUCCESS && i < count; ++i) {
        if (results[i].value.type != PMIX_DATA_ARRAY) continue;
        char** names = results[i].value.data.darray->array;
        for (size_t n = 0; n < results[i].value.data.darray->size; ++n) {
            if (strcmp(names[n], group) == 0) fail("name of the group", "in use");
        }
    }
    PMIX_INFO_FREE(results, count);
    PMIX_QUERY_DESTRUCT(&query);
}

int main(int argc, char** argv) {
    const bool late = argc > 1 && strcmp(argv[1], "late") == 0;
    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    const uint32_t size = job_size();
    const pmix_rank_t last = size - 1;
    choose_name();
    // All have looked before the first makes the group.
    check(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");

    // Handlers come first: earlier events would be missed.
    pmix_status_t codes[] = {PMIX_GROUP_LEFT, PMIX_GROUP_MEMBER_FAILED};
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, on_gone, NULL, NULL) < 0)
        fail("PMIx_Register_event_handler", "refused");

    if (late && me.rank == last) {
        check(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
        check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
        return EXIT_SUCCESS;
    }

    // A member may fail without harm to the others (optional), but one that lives and never calls would be
    // waited for without end: hence the time limit.
    pmix_proc_t everybody = me;
    everybody.rank = PMIX_RANK_WILDCARD;
    pmix_info_t directives[2];
    const bool yes = true;
    const int seconds = late ? 1 : 60;
    PMIX_INFO_LOAD(&directives[0], PMIX_GROUP_OPTIONAL, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&directives[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_info_t* results = NULL;
    size_t count = 0;
    const pmix_status_t made = PMIx_Group_construct(group, &everybody, 1, directives, 2, &results, &count);
    if (made != (late ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS))
        fail("PMIx_Group_construct", PMIx_Error_string(made));
    size_t members = 0;
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_MEMBERSHIP)) members = results[i].value.data.darray->size;
    }
    PMIX_INFO_FREE(results, count);
    if (members != (late ? size - 1 : size)) fail("PMIx_Group_construct", "who is in it?");

    // The group's name stands for its members.
    pmix_proc_t all;
    PMIX_LOAD_PROCID(&all, group, PMIX_RANK_WILDCARD);
    check(PMIx_Fence(&all, 1, &directives[1], 1), "fence over the group");

    // One process leaves for reasons of its own, and the rest stays a group. The others
    // wait until they know, so that all mean the same by the group when they use it next.
    const pmix_rank_t leaver = late ? last - 1 : last;
    if (members > 1 && me.rank == leaver) {
        check(PMIx_Group_leave(group, NULL, 0), "PMIx_Group_leave");
    } else {
        if (members > 1) wait_for_gone(1);
        check(PMIx_Fence(&all, 1, &directives[1], 1), "fence over who is left");
        // All remaining members end the group together.
        check(PMIx_Group_destruct(group, &directives[1], 1), "PMIx_Group_destruct");
    }
    check(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    if (me.rank == 0) printf("groups: %zu of %u were in it\n", members, size);
    check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return EXIT_SUCCESS;
}

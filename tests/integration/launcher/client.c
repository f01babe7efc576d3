// SPDX-License-Identifier: BSD-3-Clause
// A client for the tests of muster: the first argument selects the test; exits with 0 on success.
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

// The required job data, for a job of argv[2] ranks in even blocks on argv[3] nodes.
static void facts(char** argv) {
    const uint32_t size = (uint32_t)atoi(argv[2]), nodes = (uint32_t)atoi(argv[3]), each = size / nodes;
    char got[4096], wanted[4096] = "";
    expect(number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) == size, PMIX_JOB_SIZE);
    expect(number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) >= size, PMIX_UNIV_SIZE);
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

// Each gets the last rank's data, before and after it has posted them; no fence carries them.
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

// Odd and even ranks fence among themselves, naming the members in different orders; then all, with a time
// limit that rank 0 exceeds.
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
    // No process may leave before all have timed out. By name, so that it is a different fence.
    for (count = 0; count < size && count < 64; ++count)
        PMIX_LOAD_PROCID(&members[count], me.nspace, (pmix_rank_t)count);
    expect(PMIx_Fence(members, count, NULL, 0) == PMIX_SUCCESS, "fence of all by name");
}

static _Atomic int deaths;

static void on_death(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                     size_t count, pmix_info_t* results, size_t result_count,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
    (void)id, (void)status, (void)source, (void)results, (void)result_count;
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.data.proc->rank == 1)
            ++deaths;
    }
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void until(_Atomic int* what) {
    for (int i = 0; i < 30000 && *what == 0; ++i)
        usleep(1000);
    expect(*what != 0, "waited in vain");
}

// Rank 1 dies; the others are notified, and continue without it.
static void survive(void) {
    const uint32_t size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    pmix_status_t code = PMIX_ERR_PROC_ABORTED_BY_SIG;
    pmix_proc_t left[64];
    size_t count = 0;
    expect(PMIx_Register_event_handler(&code, 1, NULL, 0, on_death, NULL, NULL) >= 0, "register");
    expect(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "fence of all");
    if (me.rank == 1) kill(getpid(), SIGKILL);
    until(&deaths);
    expect(PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS, "fence with the dead");
    for (uint32_t rank = 0; rank < size && count < 64; ++rank) {
        if (rank != 1) PMIX_LOAD_PROCID(&left[count++], me.nspace, rank);
    }
    expect(PMIx_Fence(left, count, NULL, 0) == PMIX_SUCCESS, "fence of those that are left");
}

// Data gathered on one node before the launch are available on all nodes: every process has the same key.
static void set_up(void) {
    char id[PMIX_MAX_NSLEN + 8];
    const char* shown = NULL;
    pmix_proc_t job;
    pmix_value_t* value = NULL;
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    snprintf(id, sizeof id, "%s.net", me.nspace);
    expect(PMIx_Get(&job, id, NULL, 0, &value) == PMIX_SUCCESS && value->type == PMIX_DATA_ARRAY, id);
    if (value == NULL) return;
    const pmix_info_t* facts = (const pmix_info_t*)value->data.darray->array;
    for (size_t i = 0; i < value->data.darray->size; ++i) {
        if (!PMIX_CHECK_KEY(&facts[i], PMIX_ALLOC_FABRIC_SEC_KEY)) continue;
        shown = "key";
        printf("%s ", shown);
        for (size_t byte = 0; byte < facts[i].value.data.bo.size; ++byte)
            printf("%02x", (unsigned char)facts[i].value.data.bo.bytes[byte]);
        printf("\n");
    }
    expect(shown != NULL, PMIX_ALLOC_FABRIC_SEC_KEY);
    PMIX_VALUE_RELEASE(value);
}

static void wait_for_file(const char* name) {
    for (int i = 0; i < 30000 && access(name, F_OK) != 0; ++i)
        usleep(1000);
    expect(access(name, F_OK) == 0, name);
}

static _Atomic int published, publish_status = 1;

static void on_published(pmix_status_t status, void* data) {
    (void)data;
    publish_status = status;
    published = 1;
}

// While the host cannot answer an upcall (the launcher is stopped), its servers continue to serve.
static void upcalls(void) {
    pmix_info_t info;
    pmix_proc_t other;
    pmix_value_t value, *got = NULL;
    PMIX_VALUE_LOAD(&value, "local", PMIX_STRING);
    expect(PMIx_Put(PMIX_GLOBAL, "test.key", &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS, "put");
    PMIX_VALUE_DESTRUCT(&value);
    fclose(fopen(me.rank == 0 ? "up.0" : "up.1", "w"));
    wait_for_file("stopped");
    PMIX_INFO_LOAD(&info, me.rank == 0 ? "pub.0" : "pub.1", "text", PMIX_STRING);
    expect(PMIx_Publish_nb(&info, 1, on_published, NULL) == PMIX_SUCCESS, "publish");
    PMIX_LOAD_PROCID(&other, me.nspace, 1 - me.rank);
    expect(PMIx_Get(&other, "test.key", NULL, 0, &got) == PMIX_SUCCESS, "get beside an upcall");
    if (got != NULL) PMIX_VALUE_RELEASE(got);
    expect(published == 0, "nobody can have answered the upcall");
    fclose(fopen(me.rank == 0 ? "served.0" : "served.1", "w"));
    until(&published);
    expect(publish_status == PMIX_SUCCESS, "publish's answer");
    PMIX_INFO_DESTRUCT(&info);
}

static _Atomic int fenced, controlled;

static void on_fenced(pmix_status_t status, void* data) {
    (void)data;
    expect(status == PMIX_SUCCESS, "fence");
    fenced = 1;
}

static void on_controlled(pmix_status_t status, pmix_info_t* info, size_t count, void* data,
                          pmix_release_cbfunc_t release, void* release_data) {
    (void)info, (void)count, (void)data;
    // muster's processes do not move.
    expect(status == PMIX_ERR_NOT_SUPPORTED || status == PMIX_SUCCESS, "job control");
    if (release != NULL) release(release_data);
    controlled = 1;
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Publishes the time of an action of this rank in this round.
static void tell(const char* what, int round) {
    char key[64], text[32];
    pmix_info_t info;
    snprintf(key, sizeof key, "%s.%u.%d", what, me.rank, round);
    snprintf(text, sizeof text, "%lld", now());
    PMIX_INFO_LOAD(&info, key, text, PMIX_STRING);
    expect(PMIx_Publish(&info, 1) == PMIX_SUCCESS, "publish");
    PMIX_INFO_DESTRUCT(&info);
}

// Waits for the time of another rank.
static long long told(const char* what, uint32_t rank, int round) {
    pmix_pdata_t word;
    pmix_info_t wait[2];
    int all = 0, seconds = 30;
    long long time = 0;
    PMIX_PDATA_CONSTRUCT(&word);
    snprintf(word.key, sizeof word.key, "%s.%u.%d", what, rank, round);
    PMIX_INFO_LOAD(&wait[0], PMIX_WAIT, &all, PMIX_INT);
    PMIX_INFO_LOAD(&wait[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    const pmix_status_t status = PMIx_Lookup(&word, 1, wait, 2);
    expect(status == PMIX_SUCCESS && word.value.type == PMIX_STRING, "lookup");
    if (status == PMIX_SUCCESS && word.value.type == PMIX_STRING) time = atoll(word.value.data.string);
    PMIX_PDATA_DESTRUCT(&word);
    return time;
}

// Requests a checkpoint and restart, which may move processes, only between collectives: each process has
// reported the end of its own before the request, and begins the next after the answer.
static void move(void) {
    const uint32_t size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    pmix_info_t directives[2];
    PMIX_INFO_LOAD(&directives[0], PMIX_JOB_CTRL_ID, "move", PMIX_STRING);
    PMIX_INFO_LOAD(&directives[1], PMIX_JOB_CTRL_CHECKPOINT, "move", PMIX_STRING);
    for (int round = 0; round < 3; ++round) {
        fenced = 0;
        if (round > 0) tell("begins", round);
        expect(PMIx_Fence_nb(NULL, 0, NULL, 0, on_fenced, NULL) == PMIX_SUCCESS, "fence");
        until(&fenced);
        tell("ended", round);
        if (me.rank != 0) {
            told("moved", 0, round);
            continue;
        }
        long long last = 0;
        for (uint32_t rank = 0; rank < size; ++rank) {
            const long long ended = told("ended", rank, round);
            if (ended > last) last = ended;
        }
        const long long asked = now();
        expect(last != 0 && last < asked, "a collective runs while processes may be moved");
        controlled = 0;
        expect(PMIx_Job_control_nb(NULL, 0, directives, 2, on_controlled, NULL) == PMIX_SUCCESS, "control");
        until(&controlled);
        const long long answered = now();
        tell("moved", round);
        for (uint32_t rank = 0; round < 2 && rank < size; ++rank) {
            if (rank != 0)
                expect(told("begins", rank, round + 1) > answered, "a collective begins before the answer");
        }
    }
    PMIX_INFO_DESTRUCT(&directives[0]);
    PMIX_INFO_DESTRUCT(&directives[1]);
}

// Rank 1 fails argv[2] times, by argv[3]; the restarted process is like any other of the job.
static void restarts(int times, const char* how) {
    const uint32_t life = number(me.rank, PMIX_REINCARNATION);
    char key[] = "life", got[16], wanted[16];
    snprintf(got, sizeof got, "%u", life);
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, got, PMIX_STRING);
    PMIx_Put(PMIX_GLOBAL, key, &value);
    PMIX_VALUE_DESTRUCT(&value);
    expect(PMIx_Commit() == PMIX_SUCCESS, "PMIx_Commit");
    printf("life %u of rank %u\n", life, me.rank);
    fflush(stdout);
    if (me.rank == 1 && life < (uint32_t)times) {
        if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
        _exit(strcmp(how, "exit") == 0 ? 3 : 0);
    }
    snprintf(wanted, sizeof wanted, "%d", times);
    while (me.rank != 1) {
        pmix_proc_t other;
        pmix_value_t* now = NULL;
        PMIX_LOAD_PROCID(&other, me.nspace, 1);
        pmix_info_t fresh;
        const bool yes = true;
        PMIX_INFO_LOAD(&fresh, PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
        const pmix_status_t status = PMIx_Get(&other, key, &fresh, 1, &now);
        const bool last = status == PMIX_SUCCESS && strcmp(now->data.string, wanted) == 0;
        if (status == PMIX_SUCCESS) PMIX_VALUE_RELEASE(now);
        if (last) break;
        usleep(1000);
    }
    expect(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "fence of all");
    expect(number(1, PMIX_REINCARNATION) == (uint32_t)times, "the reincarnation of rank 1");
}

// Preloaded files: the program, and a file.
static void preloaded(void) {
    char program[4096] = "", dir[4096], path[8192], line[64] = "";
    expect(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "the program");
    text(me.rank, PMIX_PROCDIR, dir, sizeof dir);
    snprintf(path, sizeof path, "%s/data", dir);
    FILE* file = fopen(path, "r");
    expect(file != NULL && fgets(line, sizeof line, file) != NULL, path);
    if (file != NULL) fclose(file);
    text(PMIX_RANK_WILDCARD, PMIX_NSDIR, dir, sizeof dir);
    expect(strncmp(program, dir, strlen(dir)) == 0, program);
    printf("rank %u has %s", me.rank, line);
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
    } else if (strcmp(what, "survive") == 0) {
        survive();
    } else if (strcmp(what, "set-up") == 0) {
        set_up();
    } else if (strcmp(what, "upcalls") == 0) {
        upcalls();
    } else if (strcmp(what, "move") == 0) {
        move();
    } else if (strcmp(what, "restarts") == 0) {
        restarts(one, argv[3]);
    } else if (strcmp(what, "preloaded") == 0) {
        preloaded();
    } else if (strcmp(what, "absent") == 0) {
        // A rank that has ended will never call: an error is better than a wait.
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
            signal(SIGSEGV, SIG_DFL);  // a sanitizer treats it as its own fault
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

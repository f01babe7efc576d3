// SPDX-License-Identifier: BSD-3-Clause
// A client of the host's services in muster: publish, spawn, connect, events, queries, job control. The first
// argument selects the test; exits with 0 on success.
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;
static uint32_t size;
static int wrong = 0;
static char* self;

static void expect_at(int line, int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "services.c:%d: %s:%u: %s\n", line, me.nspace, me.rank, what);
    wrong = 1;
}
#define EXPECT(condition) expect_at(__LINE__, (condition), #condition)

static void is_at(int line, pmix_status_t got, pmix_status_t wanted, const char* what) {
    if (got == wanted) return;
    fprintf(stderr, "services.c:%d: %s:%u: %s is %s, not %s\n", line, me.nspace, me.rank, what,
            PMIx_Error_string(got), PMIx_Error_string(wanted));
    wrong = 1;
}
#define IS(call, status) is_at(__LINE__, (call), (status), #call)
#define OKAY(call) IS(call, PMIX_SUCCESS)

static pmix_proc_t named(const char* nspace, pmix_rank_t rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    return proc;
}

static void fence(void) {
    pmix_proc_t all = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Fence(&all, 1, NULL, 0));
}

static void init(void) {
    pmix_value_t* value = NULL;
    OKAY(PMIx_Init(&me, NULL, 0));
    pmix_proc_t job = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value));
    if (value == NULL) exit(1);
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
}

static pmix_status_t publish(const char* key, const char* text, pmix_info_t* more, size_t count) {
    pmix_info_t info[4];
    PMIX_INFO_LOAD(&info[0], key, text, PMIX_STRING);
    for (size_t i = 0; i < count; ++i)
        info[i + 1] = more[i];
    return PMIx_Publish(info, count + 1);
}

// Looks one key up and stores its text in `text`. `range` and `seconds` (of waiting) may be 0.
static pmix_status_t look_up(const char* key, char* text, pmix_data_range_t range, int seconds) {
    pmix_pdata_t data;
    pmix_info_t info[3];
    size_t count = 0;
    int all = 0;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    if (range != 0) PMIX_INFO_LOAD(&info[count++], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    if (seconds != 0) {
        PMIX_INFO_LOAD(&info[count++], PMIX_WAIT, &all, PMIX_INT);
        PMIX_INFO_LOAD(&info[count++], PMIX_TIMEOUT, &seconds, PMIX_INT);
    }
    const pmix_status_t status = PMIx_Lookup(&data, 1, info, count);
    text[0] = '\0';
    if (status == PMIX_SUCCESS && data.value.type == PMIX_STRING)
        snprintf(text, 256, "%s", data.value.data.string);
    PMIX_PDATA_DESTRUCT(&data);
    return status;
}

static int is_published(const char* key, const char* wanted) {
    char text[256];
    return look_up(key, text, 0, 0) == PMIX_SUCCESS && strcmp(text, wanted) == 0;
}

// --- publish ---

static void ranges(void) {
    char key[64], text[256];
    pmix_info_t more[3];
    pmix_data_range_t range = PMIX_RANGE_LOCAL;
    const uint32_t half = size / 2;  // even blocks on two nodes
    // Range local: the same key on each node is not a duplicate.
    PMIX_INFO_LOAD(&more[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    if (me.rank == 0) OKAY(publish("on.node", "first", more, 1));
    if (me.rank == half) OKAY(publish("on.node", "second", more, 1));
    fence();
    EXPECT(is_published("on.node", me.rank < half ? "first" : "second"));
    if (me.rank == 1) IS(publish("on.node", "third", more, 1), PMIX_ERR_DUPLICATE_KEY);
    // Range of one process: every process may use the key.
    range = PMIX_RANGE_PROC_LOCAL;
    PMIX_INFO_LOAD(&more[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    snprintf(text, sizeof text, "%u", me.rank);
    OKAY(publish("own", text, more, 1));
    fence();
    EXPECT(is_published("own", text));
    // Custom: rank 1 only.
    pmix_proc_t second = named(me.nspace, 1);
    range = PMIX_RANGE_CUSTOM;
    PMIX_INFO_LOAD(&more[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&more[1], PMIX_EVENT_CUSTOM_RANGE, &second, PMIX_PROC);
    if (me.rank == half) OKAY(publish("for.one", "secret", more, 2));
    fence();
    if (me.rank == 1) {
        EXPECT(is_published("for.one", "secret"));
    } else {
        IS(look_up("for.one", text, 0, 0), PMIX_ERR_NOT_FOUND);
    }
    // The search may be restricted, too.
    if (me.rank == 0) OKAY(publish("wide", "yes", NULL, 0));
    fence();
    IS(look_up("wide", text, PMIX_RANGE_LOCAL, 0), me.rank < half ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    IS(look_up("wide", text, PMIX_RANGE_NAMESPACE, 0), PMIX_SUCCESS);
    IS(look_up("wide", text, PMIX_RANGE_RM, 0), PMIX_ERR_NOT_FOUND);
    // A list without processes restricts nothing.
    IS(look_up("wide", text, PMIX_RANGE_CUSTOM, 0), PMIX_SUCCESS);
    IS(look_up("wide", text, 99, 0), PMIX_SUCCESS);
    fence();
    // Only the publisher can unpublish; the default range is the session.
    snprintf(key, sizeof key, "wide");
    char* keys[] = {key, NULL};
    if (me.rank == 1) IS(PMIx_Unpublish(keys, NULL, 0), PMIX_ERR_NOT_FOUND);
    fence();
    if (me.rank == 0) OKAY(PMIx_Unpublish(keys, NULL, 0));
    fence();
    IS(look_up("wide", text, 0, 0), PMIX_ERR_NOT_FOUND);
    OKAY(PMIx_Unpublish(NULL, NULL, 0));
    fence();
    IS(look_up("own", text, 0, 0), PMIX_ERR_NOT_FOUND);
}

static void access_rights(void) {
    char text[256];
    pmix_info_t more[1], permission[1];
    uint32_t users[] = {geteuid(), geteuid() + 1}, strangers[] = {geteuid() + 1};
    pmix_data_array_t ids = {PMIX_UINT32, 2, users}, permissions = {PMIX_INFO, 1, permission};
    PMIX_INFO_LOAD(&permission[0], PMIX_ACCESS_USERIDS, &ids, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&more[0], PMIX_ACCESS_PERMISSIONS, &permissions, PMIX_DATA_ARRAY);
    if (me.rank == 0) OKAY(publish("ours", "open", more, 1));
    ids.size = 1;
    ids.array = strangers;
    PMIX_INFO_LOAD(&permission[0], PMIX_ACCESS_USERIDS, &ids, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&more[0], PMIX_ACCESS_PERMISSIONS, &permissions, PMIX_DATA_ARRAY);
    if (me.rank == 0) OKAY(publish("theirs", "shut", more, 1));
    fence();
    EXPECT(is_published("ours", "open"));
    IS(look_up("theirs", text, 0, 0), PMIX_ERR_NO_PERMISSIONS);
    // The owner of the data on request, and a lookup of several keys.
    pmix_pdata_t data[3];
    for (int i = 0; i < 3; ++i)
        PMIX_PDATA_CONSTRUCT(&data[i]);
    PMIX_LOAD_KEY(data[0].key, "ours");
    PMIX_LOAD_KEY(data[1].key, PMIX_USERID);
    PMIX_LOAD_KEY(data[2].key, PMIX_GRPID);
    OKAY(PMIx_Lookup(data, 3, NULL, 0));
    EXPECT(data[0].proc.rank == 0);
    EXPECT(data[1].value.type == PMIX_UINT32 && data[1].value.data.uint32 == geteuid());
    EXPECT(data[2].value.type == PMIX_UINT32 && data[2].value.data.uint32 == getegid());
    PMIX_LOAD_KEY(data[1].key, "theirs");
    IS(PMIx_Lookup(data, 2, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    fence();
}

static void persistence(void) {
    char text[256];
    pmix_info_t more[1];
    pmix_persistence_t persist = PMIX_PERSIST_FIRST_READ;
    PMIX_INFO_LOAD(&more[0], PMIX_PERSISTENCE, &persist, PMIX_PERSIST);
    if (me.rank == 0) OKAY(publish("once", "here", more, 1));
    fence();
    if (me.rank == size - 1) EXPECT(is_published("once", "here"));
    fence();
    IS(look_up("once", text, 0, 0), PMIX_ERR_NOT_FOUND);
    persist = PMIX_PERSIST_INVALID;
    PMIX_INFO_LOAD(&more[0], PMIX_PERSISTENCE, &persist, PMIX_PERSIST);
    IS(publish("bad", "here", more, 1), PMIX_ERR_BAD_PARAM);
    // Persistence of process, application and session: by a child that ends afterwards.
    fence();
    if (me.rank == 0) {
        pmix_app_t app;
        pmix_info_t info;
        bool yes = true;
        char nspace[PMIX_MAX_NSLEN + 1];
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = strdup(self);
        PMIx_Argv_append_nosize(&app.argv, self);
        PMIx_Argv_append_nosize(&app.argv, "persist_child");
        app.maxprocs = 2;
        PMIX_INFO_LOAD(&info, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
        OKAY(PMIx_Spawn(&info, 1, &app, 1, nspace));
        PMIX_APP_DESTRUCT(&app);
        OKAY(look_up("of.proc", text, 0, 20));
        OKAY(look_up("of.app", text, 0, 20));
        OKAY(look_up("of.session", text, 0, 20));
        OKAY(publish("go", "first", NULL, 0));
        // Rank 0 of the child ends, rank 1 does not yet.
        while (look_up("of.proc", text, 0, 0) == PMIX_SUCCESS)
            usleep(1000);
        OKAY(look_up("of.app", text, 0, 0));
        OKAY(publish("go.on", "second", NULL, 0));
        while (look_up("of.app", text, 0, 0) == PMIX_SUCCESS)
            usleep(1000);
        OKAY(look_up("of.session", text, 0, 0));
        OKAY(look_up("by.default", text, 0, 0));
    }
    fence();
}

static void persist_child(void) {
    char text[256];
    if (me.rank == 0) {
        const char* keys[] = {"of.proc", "of.app", "of.session"};
        const pmix_persistence_t persist[] = {PMIX_PERSIST_PROC, PMIX_PERSIST_APP, PMIX_PERSIST_SESSION};
        for (int i = 0; i < 3; ++i) {
            pmix_info_t more[1];
            PMIX_INFO_LOAD(&more[0], PMIX_PERSISTENCE, &persist[i], PMIX_PERSIST);
            OKAY(publish(keys[i], "x", more, 1));
        }
        OKAY(publish("by.default", "x", NULL, 0));
        OKAY(look_up("go", text, 0, 20));
    } else {
        OKAY(look_up("go.on", text, 0, 20));
    }
}

static void waiting(void) {
    char text[256];
    if (me.rank == 0) {
        IS(look_up("never", text, 0, 1), PMIX_ERR_TIMEOUT);
        OKAY(publish("late", "now", NULL, 0));
    } else {
        OKAY(look_up("late", text, 0, 30));
        EXPECT(strcmp(text, "now") == 0);
    }
    fence();
}

// --- required directives ---

static void put_text(const char* key, const char* text) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    OKAY(PMIx_Put(PMIX_GLOBAL, key, &value));
    PMIX_VALUE_DESTRUCT(&value);
}

static pmix_info_t directive(const char* key, const void* value, pmix_data_type_t type, bool required) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, key, value, type);
    if (required) PMIX_INFO_REQUIRED(&info);
    return info;
}

// An unknown directive, and two of a fence that the host does not honour, are ignored, or refused if
// required. A time limit is honoured.
static void required_of_collectives(void) {
    const bool yes = true;
    const int seconds = 60;
    pmix_proc_t all = named(me.nspace, PMIX_RANK_WILDCARD);
    for (int required = 0; required < 2; ++required) {
        const pmix_status_t expected = required ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
        const pmix_info_t algorithm = directive(PMIX_COLLECTIVE_ALGO, "tree", PMIX_STRING, required);
        const pmix_info_t only = directive(PMIX_COLLECTIVE_ALGO_REQD, &yes, PMIX_BOOL, required);
        const pmix_info_t unknown = directive("test.unknown", &yes, PMIX_BOOL, required);
        IS(PMIx_Fence(&all, 1, &algorithm, 1), expected);
        IS(PMIx_Fence(&all, 1, &only, 1), expected);
        IS(PMIx_Fence(&all, 1, &unknown, 1), expected);
        IS(PMIx_Connect(&all, 1, &unknown, 1), expected);
        if (!required) IS(PMIx_Disconnect(&all, 1, &unknown, 1), expected);
    }
    const pmix_info_t known[] = {directive(PMIX_COLLECT_DATA, &yes, PMIX_BOOL, true),
                                 directive(PMIX_TIMEOUT, &seconds, PMIX_INT, true)};
    OKAY(PMIx_Fence(&all, 1, known, 2));
    OKAY(PMIx_Connect(&all, 1, &known[1], 1));
    OKAY(PMIx_Disconnect(&all, 1, &known[1], 1));
}

static bool several_nodes(void) {
    pmix_value_t* value = NULL;
    pmix_proc_t job = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Get(&job, PMIX_NUM_NODES, NULL, 0, &value));
    const bool several = value != NULL && value->data.uint32 > 1;
    if (value != NULL) PMIX_VALUE_RELEASE(value);
    return several;
}

// The other node's data, if there is another node.
static void required_of_get(void) {
    if (!several_nodes()) return;
    const bool yes = true;
    const int seconds = 1;
    pmix_value_t* value = NULL;
    pmix_proc_t other = named(me.nspace, me.rank == 0 ? size - 1 : 0);
    const pmix_info_t unknown = directive("test.unknown", &yes, PMIX_BOOL, true);
    const pmix_info_t ignored = directive("test.unknown", &yes, PMIX_BOOL, false);
    const pmix_info_t limit = directive(PMIX_TIMEOUT, &seconds, PMIX_INT, true);
    put_text("test.posted", "there");
    OKAY(PMIx_Commit());
    fence();
    if (me.rank == 0 || me.rank == size - 1) {
        IS(PMIx_Get(&other, "test.posted", &unknown, 1, &value), PMIX_ERR_NOT_SUPPORTED);
        IS(PMIx_Get(&other, "test.never", &limit, 1, &value), PMIX_ERR_TIMEOUT);
        value = NULL;
        OKAY(PMIx_Get(&other, "test.posted", &ignored, 1, &value));
        if (value != NULL) PMIX_VALUE_RELEASE(value);
    }
    fence();
}

static void required_of_publications(void) {
    char text[256];
    const bool yes = true;
    const int seconds = 60, all = 0;
    const uint32_t users = geteuid();
    const pmix_data_range_t range = PMIX_RANGE_SESSION;
    const pmix_info_t unmet[] = {directive("required", "here", PMIX_STRING, false),
                                 directive(PMIX_ACCESS_USERIDS, &users, PMIX_UINT32, true)};
    const pmix_info_t met[] = {directive("required", "here", PMIX_STRING, false),
                               directive(PMIX_RANGE, &range, PMIX_DATA_RANGE, true),
                               directive(PMIX_TIMEOUT, &seconds, PMIX_INT, true)};
    if (me.rank == 0) {
        IS(PMIx_Publish(unmet, 2), PMIX_ERR_NOT_SUPPORTED);
        IS(look_up("required", text, 0, 0), PMIX_ERR_NOT_FOUND);
        OKAY(PMIx_Publish(met, 3));
    }
    fence();
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, "required");
    pmix_info_t unknown = directive("test.unknown", &yes, PMIX_BOOL, true);
    IS(PMIx_Lookup(&data, 1, &unknown, 1), PMIX_ERR_NOT_SUPPORTED);
    unknown = directive("test.unknown", &yes, PMIX_BOOL, false);
    OKAY(PMIx_Lookup(&data, 1, &unknown, 1));
    PMIX_VALUE_DESTRUCT(&data.value);
    const pmix_info_t known[] = {met[1], directive(PMIX_WAIT, &all, PMIX_INT, true), met[2]};
    OKAY(PMIx_Lookup(&data, 1, known, 3));
    PMIX_PDATA_DESTRUCT(&data);
    fence();
}

static void forget_distances(pmix_status_t status, pmix_device_distance_t* distances, size_t count,
                             void* data, pmix_release_cbfunc_t release, void* release_data) {
    (void)status, (void)distances, (void)count, (void)data;
    if (release != NULL) release(release_data);
}

// A machine may have no device.
static void required_of_distances(void) {
    const bool yes = true;
    pmix_device_distance_t* distances = NULL;
    size_t count = 0;
    pmix_info_t unknown = directive("test.unknown", &yes, PMIX_BOOL, true);
    pmix_info_t mistyped = directive(PMIX_DEVICE_TYPE, "text", PMIX_STRING, false);
    IS(PMIx_Compute_distances(NULL, NULL, &unknown, 1, &distances, &count), PMIX_ERR_NOT_SUPPORTED);
    IS(PMIx_Compute_distances_nb(NULL, NULL, &unknown, 1, forget_distances, NULL), PMIX_ERR_NOT_SUPPORTED);
    IS(PMIx_Compute_distances(NULL, NULL, &mistyped, 1, &distances, &count), PMIX_ERR_BAD_PARAM);
    IS(PMIx_Compute_distances_nb(NULL, NULL, &mistyped, 1, forget_distances, NULL), PMIX_ERR_BAD_PARAM);
    unknown = directive("test.unknown", &yes, PMIX_BOOL, false);
    const pmix_status_t without = PMIx_Compute_distances(NULL, NULL, &unknown, 1, &distances, &count);
    EXPECT(without == PMIX_SUCCESS || without == PMIX_ERR_NOT_FOUND);
    PMIx_Device_distance_free(distances, count);
    IS(PMIx_Compute_distances_nb(NULL, NULL, &unknown, 1, forget_distances, NULL), without);
}

static void required(void) {
    required_of_collectives();
    required_of_distances();
    required_of_get();
    required_of_publications();
}

// --- spawn and connect: one round of all ---

static void expect_text(const char* nspace, pmix_rank_t rank, const char* key, const char* wanted) {
    pmix_proc_t proc = named(nspace, rank);
    pmix_value_t* value = NULL;
    OKAY(PMIx_Get(&proc, key, NULL, 0, &value));
    EXPECT(value != NULL && value->type == PMIX_STRING && strcmp(value->data.string, wanted) == 0);
    if (value != NULL) PMIX_VALUE_RELEASE(value);
}

static void start_child(const char* mode, int ranks, pmix_info_t* info, size_t count, char* nspace) {
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(self);
    PMIx_Argv_append_nosize(&app.argv, self);
    PMIx_Argv_append_nosize(&app.argv, mode);
    app.maxprocs = ranks;
    OKAY(PMIx_Spawn(info, count, &app, 1, nspace));
    PMIX_APP_DESTRUCT(&app);
}

static void meet(const char* other, uint32_t others) {
    char text[64];
    pmix_proc_t both[2] = {named(me.nspace, PMIX_RANK_WILDCARD), named(other, PMIX_RANK_WILDCARD)};
    if (strcmp(other, me.nspace) < 0) both[0] = both[1], both[1] = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Connect(both, 2, NULL, 0));
    pmix_proc_t job = named(other, PMIX_RANK_WILDCARD);
    pmix_value_t* value = NULL;
    OKAY(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value));
    EXPECT(value != NULL && value->data.uint32 == others);
    if (value != NULL) PMIX_VALUE_RELEASE(value);
    for (uint32_t rank = 0; rank < others; ++rank) {
        snprintf(text, sizeof text, "%s/%u", other, rank);
        expect_text(other, rank, "card", text);
    }
    OKAY(PMIx_Disconnect(both, 2, NULL, 0));
}

static void show_card(void) {
    char text[PMIX_MAX_NSLEN + 16];
    snprintf(text, sizeof text, "%s/%u", me.nspace, me.rank);
    put_text("card", text);
    OKAY(PMIx_Commit());
}

static void round_parent(void) {
    char nspace[256];
    show_card();
    if (me.rank == 0) {
        start_child("round_child", 4, NULL, 0, nspace);
        EXPECT(strcmp(nspace, me.nspace) != 0);
        OKAY(publish("child", nspace, NULL, 0));
    }
    OKAY(look_up("child", nspace, 0, 30));
    meet(nspace, 4);
    fence();
}

static void round_child(void) {
    pmix_value_t* value = NULL;
    pmix_proc_t parent;
    show_card();
    OKAY(PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value));
    if (value == NULL) return;
    EXPECT(value->type == PMIX_PROC && value->data.proc->rank == 0);
    parent = *value->data.proc;
    PMIX_VALUE_RELEASE(value);
    value = NULL;
    pmix_proc_t job = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Get(&job, PMIX_SPAWNED, NULL, 0, &value));
    EXPECT(value != NULL && value->data.flag);
    if (value != NULL) PMIX_VALUE_RELEASE(value);
    meet(parent.nspace, 8);
}

// --- spawn's attributes ---

static void show_child(void) {
    char cwd[1024], line[2048];
    if (getcwd(cwd, sizeof cwd) == NULL) cwd[0] = '\0';
    const char* set = getenv("SVC_SET");
    const char* added = getenv("SVC_ADD");
    const char* front = getenv("SVC_LIST");
    snprintf(line, sizeof line, "child %u set=%s add=%s list=%s gone=%d app=%s cwd=%s argv0=%s\n", me.rank,
             set != NULL ? set : "", added != NULL ? added : "", front != NULL ? front : "",
             getenv("SVC_GONE") == NULL, getenv("SVC_APP") != NULL ? getenv("SVC_APP") : "", cwd, self);
    fputs(line, stdout);
}

static pmix_info_t envar(const char* key, char* name, char* value, char separator) {
    pmix_info_t info;
    pmix_envar_t variable = {name, value, separator};
    PMIX_INFO_LOAD(&info, key, &variable, PMIX_ENVAR);
    return info;
}

static void attributes(void) {
    pmix_info_t info[16];
    size_t count = 0;
    bool yes = true;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_app_t apps[2], app;
    if (me.rank != 0) return;
    info[count++] = envar(PMIX_SET_ENVAR, "SVC_SET", "one", ':');
    info[count++] = envar(PMIX_ADD_ENVAR, "SVC_ADD", "kept", ':');
    info[count++] = envar(PMIX_SET_ENVAR, "SVC_LIST", "b:c", ':');
    info[count++] = envar(PMIX_PREPEND_ENVAR, "SVC_LIST", "a", ':');
    info[count++] = envar(PMIX_APPEND_ENVAR, "SVC_LIST", "d", ':');
    info[count++] = envar(PMIX_FIRST_ENVAR, "SVC_LIST", "c", ':');
    PMIX_INFO_LOAD(&info[count++], PMIX_UNSET_ENVAR, "SVC_GONE", PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_WDIR, "/", PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_IOF_TAG_OUTPUT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[count++], PMIX_HOST, "node1", PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_INDEX_ARGV, &yes, PMIX_BOOL);
    for (int i = 0; i < 2; ++i) {
        PMIX_APP_CONSTRUCT(&apps[i]);
        apps[i].cmd = strdup(self);
        PMIx_Argv_append_nosize(&apps[i].argv, "launcher_services");
        PMIx_Argv_append_nosize(&apps[i].argv, "show_child");
        PMIx_Argv_append_nosize(&apps[i].env, i == 0 ? "SVC_APP=first" : "SVC_APP=second");
        apps[i].maxprocs = i == 0 ? 2 : 1;
    }
    // Directives of one program override those of all programs.
    PMIX_INFO_CREATE(apps[1].info, 1);
    apps[1].ninfo = 1;
    PMIX_INFO_LOAD(&apps[1].info[0], PMIX_WDIR, "/usr", PMIX_STRING);
    OKAY(PMIx_Spawn(info, count, apps, 2, nspace));
    PMIX_APP_DESTRUCT(&apps[0]);
    PMIX_APP_DESTRUCT(&apps[1]);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(self);
    PMIx_Argv_append_nosize(&app.argv, self);
    app.maxprocs = 1;
    // The whole job is on node1.
    pmix_query_t query;
    pmix_info_t* results = NULL;
    size_t found = 0;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_PROC_TABLE);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    OKAY(PMIx_Query_info(&query, 1, &results, &found));
    if (found == 1) {
        const pmix_proc_info_t* table = results[0].value.data.darray->array;
        EXPECT(results[0].value.data.darray->size == 3);
        EXPECT(strcmp(table[0].hostname, "node1") == 0 && strcmp(table[2].hostname, "node1") == 0);
    }
    PMIX_INFO_FREE(results, found);
    PMIX_QUERY_DESTRUCT(&query);

    // An impossible spawn is refused.
    PMIX_INFO_LOAD(&info[0], PMIX_HOST, "nowhere", PMIX_STRING);
    IS(PMIx_Spawn(info, 1, &app, 1, nspace), PMIX_ERR_JOB_FAILED_TO_MAP);
    PMIX_INFO_LOAD(&info[0], PMIX_SPAWN_PTY, &yes, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info[0]);
    IS(PMIx_Spawn(info, 1, &app, 1, nspace), PMIX_ERR_NOT_SUPPORTED);
    PMIX_INFO_LOAD(&info[0], PMIX_PERSONALITY, "nobody", PMIX_STRING);
    PMIX_INFO_REQUIRED(&info[0]);
    IS(PMIx_Spawn(info, 1, &app, 1, nspace), PMIX_ERR_NOT_SUPPORTED);
    PMIX_INFO_LOAD(&info[0], PMIX_WDIR, "/no/such/directory", PMIX_STRING);
    IS(PMIx_Spawn(info, 1, &app, 1, nspace), PMIX_ERR_JOB_WDIR_NOT_FOUND);
    free(app.cmd);
    app.cmd = strdup("/no/such/program");
    IS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_JOB_EXE_NOT_FOUND);
    free(app.cmd);
    app.cmd = strdup("/etc/passwd");
    IS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_JOB_APP_NOT_EXECUTABLE);
    PMIX_APP_DESTRUCT(&app);
}

// --- events of jobs ---

static _Atomic int unaffected, started, launched, ended, terminated, failed;
static _Atomic int end_status = 1, exit_code = -1, first_failed = -1, stamped, disordered;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                     size_t count, pmix_info_t* results, size_t result_count,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
    (void)id, (void)source, (void)results, (void)result_count;
    int affected = 0;
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_TIMESTAMP)) stamped = 1;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) affected = 1;
        if (status != PMIX_EVENT_JOB_END) continue;
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS)) end_status = info[i].value.data.status;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EXIT_CODE)) exit_code = info[i].value.data.integer;
        if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID)) first_failed = (int)info[i].value.data.proc->rank;
    }
    if (!affected) ++unaffected;
    if (status == PMIX_EVENT_JOB_START && (launched != started || ended != started)) ++disordered;
    if (status == PMIX_LAUNCH_COMPLETE && (launched != started - 1 || ended != started - 1)) ++disordered;
    if (status == PMIX_EVENT_JOB_START) ++started;
    if (status == PMIX_LAUNCH_COMPLETE) ++launched;
    if (status == PMIX_EVENT_PROC_TERMINATED) ++terminated;
    if (status == PMIX_ERR_EXIT_NONZERO_TERM) ++failed;
    if (status == PMIX_EVENT_JOB_END) ++ended;
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void until(_Atomic int* what, int count) {
    for (int i = 0; i < 30000 && *what < count; ++i)
        usleep(1000);
}

static void events(void) {
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE, PMIX_EVENT_JOB_END,
                             PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_EXIT_NONZERO_TERM};
    pmix_info_t info[4];
    bool yes = true;
    char nspace[PMIX_MAX_NSLEN + 1];
    const pmix_status_t added = PMIx_Register_event_handler(codes, 5, NULL, 0, on_event, NULL, NULL);
    EXPECT(added >= 0);
    fence();
    if (me.rank == size - 1) {
        PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_JOB_EVENTS, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&info[1], PMIX_NOTIFY_PROC_TERMINATION, &yes, PMIX_BOOL);
        start_child("quiet_child", 3, info, 2, nspace);
        until(&ended, 1);
        EXPECT(started == 1 && launched == 1 && ended == 1 && stamped && disordered == 0);
        EXPECT(terminated == 3);
        EXPECT(end_status == PMIX_SUCCESS && exit_code == 0);
        // A failure that does not fail the job: the event of the job's end names the first.
        PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&info[1], PMIX_REPORT_CHILD_SEP, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&info[2], PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, &yes, PMIX_BOOL);
        start_child("failing_child", 2, info, 3, nspace);
        until(&ended, 2);
        EXPECT(ended == 2 && started == 1);
        EXPECT(end_status == PMIX_ERR_JOB_NON_ZERO_TERM && exit_code == 7 && first_failed == 1);
        EXPECT(failed == 1);  // the spawner is notified of its children's failures
        // Silent: no event of a successful end; the next end, of the failing job, is the third.
        exit_code = 0;
        PMIX_INFO_LOAD(&info[1], PMIX_EVENT_SILENT_TERMINATION, &yes, PMIX_BOOL);
        start_child("quiet_child", 1, info, 2, nspace);
        PMIX_INFO_LOAD(&info[1], PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL);
        start_child("failing_child", 2, info, 2, nspace);
        until(&ended, 3);
        EXPECT(ended == 3 && unaffected == 0 && exit_code == 7);
        // The second process cannot be started: the job has begun, but its launch is never complete.
        PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_JOB_EVENTS, &yes, PMIX_BOOL);
        pmix_app_t apps[2];
        const char* programs[] = {self, "/no/such/program"};
        for (int i = 0; i < 2; ++i) {
            PMIX_APP_CONSTRUCT(&apps[i]);
            apps[i].cmd = strdup(programs[i]);
            apps[i].maxprocs = 1;
            PMIx_Argv_append_nosize(&apps[i].argv, programs[i]);
            PMIx_Argv_append_nosize(&apps[i].argv, "sleeping_child");
        }
        IS(PMIx_Spawn(info, 1, apps, 2, nspace), PMIX_ERR_JOB_EXE_NOT_FOUND);
        for (int i = 0; i < 2; ++i)
            PMIX_APP_DESTRUCT(&apps[i]);
        until(&ended, 4);
        EXPECT(ended == 4 && started == 2 && launched == 1);
    }
    fence();
    EXPECT(me.rank == size - 1 || ended == 0);
}

// --- queries ---

static pmix_status_t ask(const char* key, const char* qualifier, const char* text, pmix_info_t** results,
                         size_t* count) {
    pmix_query_t query;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (qualifier != NULL) {
        PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
        PMIX_INFO_LOAD(&query.qualifiers[0], qualifier, text, PMIX_STRING);
    }
    const pmix_status_t status = PMIx_Query_info(&query, 1, results, count);
    PMIX_QUERY_DESTRUCT(&query);
    return status;
}

// The same for one process.
static pmix_status_t ask_proc(const char* key, const char* nspace, pmix_rank_t rank, pmix_info_t** results,
                              size_t* count) {
    pmix_query_t query;
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_PROCID, &proc, PMIX_PROC);
    const pmix_status_t status = PMIx_Query_info(&query, 1, results, count);
    PMIX_QUERY_DESTRUCT(&query);
    return status;
}

static void queries(void) {
    pmix_info_t* results = NULL;
    size_t count = 0;
    char nspace[256];
    if (me.rank == 0) {
        start_child("waiting_child", 2, NULL, 0, nspace);
        OKAY(publish("other", nspace, NULL, 0));
    }
    OKAY(look_up("other", nspace, 0, 30));
    OKAY(ask(PMIX_QUERY_NAMESPACES, NULL, NULL, &results, &count));
    EXPECT(count == 1 && strstr(results[0].value.data.string, nspace) != NULL &&
           strstr(results[0].value.data.string, me.nspace) != NULL);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_NAMESPACE_INFO, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_DATA_ARRAY && results[0].value.data.darray->size == 1);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_JOB_STATUS, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_STATUS &&
           results[0].value.data.status == PMIX_SUCCESS);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_PROC_TABLE, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.data.darray->size == 2);
    if (count == 1) {
        const pmix_proc_info_t* table = results[0].value.data.darray->array;
        EXPECT(table[1].proc.rank == 1 && kill(table[1].pid, 0) == 0);
        EXPECT(strcmp(table[0].executable_name, self) == 0);
        EXPECT(table[0].state > PMIX_PROC_STATE_UNDEF && table[0].state < PMIX_PROC_STATE_UNTERMINATED);
    }
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_CMD_LINE, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && strstr(results[0].value.data.string, self) != NULL);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_RESOLVE_PEERS, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_DATA_ARRAY && results[0].value.data.darray->size == 2);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_RESOLVE_NODE, PMIX_NSPACE, nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_STRING);
    PMIX_INFO_FREE(results, count);
    OKAY(ask_proc(PMIX_PROC_PID, nspace, 1, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_PID && kill(results[0].value.data.pid, 0) == 0);
    PMIX_INFO_FREE(results, count);
    OKAY(ask_proc(PMIX_PROC_STATE_STATUS, nspace, 1, &results, &count));
    EXPECT(count == 1 && results[0].value.data.state < PMIX_PROC_STATE_UNTERMINATED);
    PMIX_INFO_FREE(results, count);
    EXPECT(ask_proc(PMIX_PROC_PID, nspace, 2, &results, &count) != PMIX_SUCCESS);
    OKAY(ask(PMIX_QUERY_MEMORY_USAGE, PMIX_NSPACE, me.nspace, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(results, count);
    OKAY(ask(PMIX_QUERY_SPAWN_SUPPORT, NULL, NULL, &results, &count));
    EXPECT(count == 1 && strstr(results[0].value.data.string, PMIX_WDIR) != NULL);
    PMIX_INFO_FREE(results, count);
    results = NULL;
    EXPECT(ask("no.such.key", NULL, NULL, &results, &count) != PMIX_SUCCESS);
    EXPECT(ask(PMIX_QUERY_PROC_TABLE, PMIX_NSPACE, "nobody", &results, &count) != PMIX_SUCCESS);
    fence();
    if (me.rank == 0) OKAY(publish("end.of.wait", "x", NULL, 0));
    fence();
}

static uint32_t slots(const char* key, const char* host) {
    pmix_info_t* results = NULL;
    size_t count = 0;
    uint32_t number = UINT32_MAX;
    OKAY(ask(key, host != NULL ? PMIX_HOSTNAME : NULL, host, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_UINT32);
    if (count == 1) number = results[0].value.data.uint32;
    PMIX_INFO_FREE(results, count);
    return number;
}

// The slots of all nodes and of this one, some of which the local processes occupy.
static void all_slots(void) {
    pmix_info_t* results = NULL;
    size_t count = 0;
    pmix_value_t *host = NULL, *local = NULL, *nodes = NULL;
    pmix_proc_t job = named(me.nspace, PMIX_RANK_WILDCARD);
    OKAY(PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &host));
    OKAY(PMIx_Get(&job, PMIX_LOCAL_SIZE, NULL, 0, &local));
    OKAY(PMIx_Get(&job, PMIX_NUM_NODES, NULL, 0, &nodes));
    if (wrong) return;
    fence();  // all processes run
    OKAY(ask(PMIX_QUERY_ALLOCATION, NULL, NULL, &results, &count));
    EXPECT(count == 1 && results[0].value.type == PMIX_DATA_ARRAY);
    if (wrong) return;
    const pmix_data_array_t* list = results[0].value.data.darray;
    EXPECT(list->type == PMIX_INFO && list->size == nodes->data.uint32);
    const pmix_info_t* entry = list->array;
    EXPECT(PMIX_CHECK_KEY(entry, PMIX_NODE_INFO));
    const pmix_info_t* facts = entry->value.data.darray->array;
    uint32_t each = 0;
    for (size_t i = 0; i < entry->value.data.darray->size; ++i) {
        if (PMIX_CHECK_KEY(&facts[i], PMIX_NUM_SLOTS)) each = facts[i].value.data.uint32;
    }
    PMIX_INFO_FREE(results, count);
    EXPECT(each > 0);
    const uint32_t here = local->data.uint32;
    EXPECT(slots(PMIX_QUERY_AVAILABLE_SLOTS, host->data.string) == (each > here ? each - here : 0));
    EXPECT(slots(PMIX_QUERY_AVAILABLE_SLOTS, NULL) < each * nodes->data.uint32);
    EXPECT(slots(PMIX_NUM_SLOTS, host->data.string) == each);
    fence();
    PMIX_VALUE_RELEASE(host);
    PMIX_VALUE_RELEASE(local);
    PMIX_VALUE_RELEASE(nodes);
}

static void waiting_child(void) {
    char text[256];
    OKAY(look_up("end.of.wait", text, 0, 60));
}

// --- job control ---

static volatile sig_atomic_t signals;
static void on_signal(int number) {
    (void)number;
    ++signals;
}

static pmix_status_t control(pmix_proc_t* target, const char* key, void* value, pmix_data_type_t type) {
    pmix_info_t info, *results = NULL;
    size_t count = 0;
    PMIX_INFO_LOAD(&info, key, value, type);
    PMIX_INFO_REQUIRED(&info);
    return PMIx_Job_control(target, target != NULL ? 1 : 0, &info, 1, &results, &count);
}

static void job_control(void) {
    bool yes = true;
    int number = SIGUSR1;
    char nspace[PMIX_MAX_NSLEN + 1];
    signal(SIGUSR1, on_signal);
    fence();
    if (me.rank == 0) {
        pmix_proc_t last = named(me.nspace, size - 1);
        OKAY(control(&last, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT));
        // An idle child is paused, resumed, and terminated.
        pmix_info_t info[3];
        pmix_status_t code = PMIX_EVENT_JOB_END;
        EXPECT(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
        PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
        start_child("sleeping_child", 2, info, 1, nspace);
        pmix_proc_t child = named(nspace, PMIX_RANK_WILDCARD);
        OKAY(control(&child, PMIX_JOB_CTRL_PAUSE, &yes, PMIX_BOOL));
        OKAY(control(&child, PMIX_JOB_CTRL_RESUME, &yes, PMIX_BOOL));
        IS(control(&child, PMIX_JOB_CTRL_RESTART, "here", PMIX_STRING), PMIX_ERR_NOT_SUPPORTED);
        IS(control(&child, PMIX_JOB_CTRL_CHECKPOINT, "here", PMIX_STRING), PMIX_ERR_NOT_SUPPORTED);
        OKAY(control(&child, PMIX_JOB_CTRL_TERMINATE, &yes, PMIX_BOOL));
        until(&ended, 1);
        EXPECT(ended == 1 && end_status == PMIX_ERR_JOB_KILLED_BY_CMD);
        start_child("sleeping_child", 2, info, 1, nspace);
        child = named(nspace, PMIX_RANK_WILDCARD);
        OKAY(control(&child, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL));
        until(&ended, 2);
        EXPECT(ended == 2);
        child = named("nobody", 0);
        IS(control(&child, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL), PMIX_ERR_NOT_FOUND);
        // A set of processes of several nodes, and allocations, which this host cannot grant.
        pmix_proc_t own = named(me.nspace, PMIX_RANK_WILDCARD);
        OKAY(control(&own, PMIX_JOB_CTRL_DEFINE_PSET, "everyone", PMIX_STRING));
        pmix_info_t want, *got = NULL;
        size_t got_count = 0;
        uint64_t nodes = 2;
        PMIX_INFO_LOAD(&want, PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
        IS(PMIx_Allocation_request(PMIX_ALLOC_NEW, &want, 1, &got, &got_count), PMIX_ERR_NOT_SUPPORTED);
    }
    fence();
    EXPECT(me.rank != size - 1 || signals == 1);
}

static void log_lines(void) {
    pmix_info_t info[2], directive;
    bool yes = true;
    if (me.rank == size - 1) {
        PMIX_INFO_LOAD(&info[0], PMIX_LOG_STDOUT, "to the output", PMIX_STRING);
        PMIX_INFO_LOAD(&info[1], PMIX_LOG_STDERR, "to the errors", PMIX_STRING);
        PMIX_INFO_LOAD(&directive, PMIX_LOG_TAG_OUTPUT, &yes, PMIX_BOOL);
        OKAY(PMIx_Log(info, 2, &directive, 1));
        PMIX_INFO_LOAD(&directive, PMIX_LOG_ONCE, &yes, PMIX_BOOL);
        OKAY(PMIx_Log(info, 2, &directive, 1));
        PMIX_INFO_LOAD(&info[0], PMIX_LOG_STDOUT, "a<b", PMIX_STRING);
        PMIX_INFO_LOAD(&directive, PMIX_LOG_XML_OUTPUT, &yes, PMIX_BOOL);
        OKAY(PMIx_Log(info, 1, &directive, 1));
    }
    fence();
}

// A connected child fails: its parent ends with it.
static void linked(void) {
    char nspace[256];
    if (me.rank == 0) {
        start_child("linked_child", 2, NULL, 0, nspace);
        OKAY(publish("linked", nspace, NULL, 0));
    }
    OKAY(look_up("linked", nspace, 0, 30));
    pmix_proc_t both[2] = {named(me.nspace, PMIX_RANK_WILDCARD), named(nspace, PMIX_RANK_WILDCARD)};
    OKAY(PMIx_Connect(both, 2, NULL, 0));
    sleep(60);
}

static void linked_child(void) {
    char text[256];
    pmix_value_t* value = NULL;
    OKAY(PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value));
    if (value == NULL) return;
    OKAY(look_up("linked", text, 0, 30));
    pmix_proc_t both[2] = {named(value->data.proc->nspace, PMIX_RANK_WILDCARD),
                           named(me.nspace, PMIX_RANK_WILDCARD)};
    OKAY(PMIx_Connect(both, 2, NULL, 0));
    if (me.rank == 1) exit(9);
    sleep(60);
}

// A tool of a persistent muster: starts a job, and disconnects.
static int tool(pid_t server) {
    pmix_info_t info;
    bool yes = true;
    char nspace[PMIX_MAX_NSLEN + 1];
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &server, PMIX_PID);
    OKAY(PMIx_tool_init(&me, &info, 1));
    if (wrong) return wrong;
    EXPECT(me.nspace[0] != '\0');
    PMIX_INFO_LOAD(&info, PMIX_NOHUP, &yes, PMIX_BOOL);
    start_child("sleeping_child", 2, &info, 1, nspace);
    EXPECT(strcmp(nspace, me.nspace) != 0);
    OKAY(PMIx_tool_finalize());
    return wrong;
}

// A tool with data of its process ("of.process") and of the session ("of.session"), which disconnects or
// dies; or one that looks up the remaining data of another.
static int tool_data(pid_t server, const char* what) {
    pmix_info_t info, more;
    char text[256];
    pmix_persistence_t persistence = PMIX_PERSIST_PROC;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &server, PMIX_PID);
    OKAY(PMIx_tool_init(&me, &info, 1));
    if (wrong) return wrong;
    if (strcmp(what, "look") == 0) {
        // The server learns of a death a moment later.
        for (int i = 0; i < 1000 && look_up("of.process", text, 0, 0) == PMIX_SUCCESS; ++i)
            usleep(20000);
        IS(look_up("of.process", text, 0, 0), PMIX_ERR_NOT_FOUND);
        EXPECT(is_published("of.session", "kept"));
    } else {
        PMIX_INFO_LOAD(&more, PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
        OKAY(publish("of.process", "gone", &more, 1));
        EXPECT(is_published("of.process", "gone"));
        if (strcmp(what, "die") == 0) kill(getpid(), SIGKILL);
        OKAY(publish("of.session", "kept", NULL, 0));
    }
    OKAY(PMIx_tool_finalize());
    return wrong;
}

static void sleep_on(void) {
    sleep(60);
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "round";
    static const struct {
        const char* name;
        void (*run)(void);
    } kModes[] = {{"ranges", ranges},
                  {"access", access_rights},
                  {"persistence", persistence},
                  {"persist_child", persist_child},
                  {"waiting", waiting},
                  {"required", required},
                  {"round", round_parent},
                  {"round_child", round_child},
                  {"attributes", attributes},
                  {"show_child", show_child},
                  {"events", events},
                  {"queries", queries},
                  {"slots", all_slots},
                  {"waiting_child", waiting_child},
                  {"control", job_control},
                  {"log", log_lines},
                  {"tool_host", sleep_on},
                  {"linked", linked},
                  {"linked_child", linked_child}};
    self = argv[0];
    if (strcmp(mode, "tool") == 0) return tool((pid_t)atoi(argv[2]));
    if (strcmp(mode, "tool_data") == 0) return tool_data((pid_t)atoi(argv[2]), argv[3]);
    // These are not clients.
    if (strcmp(mode, "sleeping_child") == 0) return (int)sleep(60);
    init();
    if (strcmp(mode, "failing_child") == 0) {
        PMIx_Finalize(NULL, 0);
        return me.rank == 1 ? 7 : 0;
    }
    for (size_t i = 0; i < sizeof kModes / sizeof kModes[0]; ++i) {
        if (strcmp(mode, kModes[i].name) == 0) kModes[i].run();
    }
    OKAY(PMIx_Finalize(NULL, 0));
    return wrong;
}

// SPDX-License-Identifier: BSD-3-Clause
// A small parallel debugger: shows where all processes of a running job are, each stack once, with the ranks
// that have it. It reaches the job through PMIx alone: it connects to the launcher as a tool, has one daemon
// started on each node of the job, and collects their output.
//
//     pdebug 4711                   the first job of the launcher with process ID 4711
//     pdebug 4711 muster-host-4711@2    that job
//     pdebug URI                    the same by the URI of its server (muster --report-uri)
//
// The daemons are this program again (pdebug --daemon). Each reads from its job's data which job to debug,
// asks its server for the processes on its node, and attaches gdb to them.
#include <pmix.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;

static void fail(const char* what, pmix_status_t status) {
    fprintf(stderr, "pdebug: %s: %s\n", what, PMIx_Error_string(status));
    exit(EXIT_FAILURE);
}
static void check(pmix_status_t status, const char* what) {
    if (status != PMIX_SUCCESS) fail(what, status);
}

// Asks one question about a job. The answer is the caller's to free, with PMIx_Info_free(answer, 1).
static pmix_info_t* ask(const char* key, const char* nspace) {
    char name[PMIX_MAX_KEYLEN + 1];
    PMIx_Load_key(name, key);
    char* keys[] = {name, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t qualifier, *answer = NULL;
    size_t count = 0;
    memset(&qualifier, 0, sizeof qualifier);
    if (nspace != NULL) {
        PMIx_Info_load(&qualifier, PMIX_NSPACE, nspace, PMIX_STRING);
        query.qualifiers = &qualifier;
        query.nqual = 1;
    }
    const pmix_status_t status = PMIx_Query_info(&query, 1, &answer, &count);
    if (nspace != NULL) PMIx_Info_destruct(&qualifier);
    if (status != PMIX_SUCCESS || count != 1) fail(key, status);
    return answer;
}

// The table of a job's processes: a view into the answer.
static pmix_proc_info_t* table_of(const pmix_info_t* answer, size_t* count) {
    *count = 0;
    if (answer->value.type != PMIX_DATA_ARRAY || answer->value.data.darray->type != PMIX_PROC_INFO)
        return NULL;
    *count = answer->value.data.darray->size;
    return answer->value.data.darray->array;
}

// --- the daemon ---

// Writes the stack of one process, in lines that begin with its rank.
static void show_stack(pmix_rank_t rank, pid_t pid) {
    char command[256], *line = NULL;
    size_t size = 0;
    bool any = false;
    snprintf(command, sizeof command,
             "gdb -nx -batch -iex 'set debuginfod enabled off' -p %ld -ex 'bt 64' 2>/dev/null </dev/null",
             (long)pid);
    FILE* gdb = popen(command, "r");
    while (gdb != NULL && getline(&line, &size, gdb) > 0) {
        if (line[0] != '#') continue;
        printf("%u %s", rank, line);
        any = true;
    }
    free(line);
    if (gdb != NULL) pclose(gdb);
    if (!any) printf("%u #0 (gdb could not attach to process %ld)\n", rank, (long)pid);
    printf("%u .\n", rank);
    fflush(stdout);
}

static int run_daemon(void) {
    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    pmix_proc_t job;
    pmix_value_t *target = NULL, *own = NULL;
    PMIx_Load_procid(&job, me.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&job, PMIX_DEBUG_TARGET, NULL, 0, &target), "the target");
    check(PMIx_Get(&me, PMIX_LOCAL_RANK, NULL, 0, &own), "the local rank");
    pmix_info_t* answer = ask(PMIX_QUERY_LOCAL_PROC_TABLE, target->data.proc->nspace);
    size_t count = 0;
    const pmix_proc_info_t* table = table_of(answer, &count);
    // One daemon a node: with more, each would take those whose place in the table is its local rank.
    for (size_t i = 0; own->data.uint16 == 0 && i < count; ++i)
        show_stack(table[i].proc.rank, table[i].pid);
    PMIx_Info_free(answer, 1);
    PMIx_Value_free(own, 1);
    PMIx_Value_free(target, 1);
    check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

// --- the front end ---

// Output of the daemons, a text for each source: a piece may end anywhere.
struct source {
    pmix_rank_t daemon;
    char* text;
    size_t size;
    struct source* next;
};
struct stack {
    char* frames;  // lines without addresses
    bool whole;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // guards the variables below
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct source* sources;
static struct stack* stacks;  // by rank
static size_t ranks, whole;
static bool ended;

static void append(char** text, const char* more) {
    const size_t before = *text == NULL ? 0 : strlen(*text);
    char* longer = realloc(*text, before + strlen(more) + 1);
    if (longer == NULL) fail("memory", PMIX_ERR_NOMEM);
    strcpy(longer + before, more);
    *text = longer;
}

// "#3  0x00007f... in wait_for (n=2) at x.c:7" without the parts that differ between processes.
static void take_frame(struct stack* stack, char* frame) {
    char* words = frame + strcspn(frame, " ");
    words += strspn(words, " ");
    char* in = strstr(words, " in ");
    if (strncmp(words, "0x", 2) == 0 && in != NULL) words = in + 4;
    char* arguments = strstr(words, " (");
    char* place = strstr(words, ") at ");
    if (place == NULL) place = strstr(words, ") from ");
    char line[1024];
    if (arguments != NULL && arguments > words) {
        snprintf(line, sizeof line, "    %.*s%s\n", (int)(arguments - words), words,
                 place != NULL ? place + 1 : "");
    } else {
        snprintf(line, sizeof line, "    %s\n", words);
    }
    append(&stack->frames, line);
}

static void take_line(char* line) {
    char* rest = NULL;
    const unsigned long rank = strtoul(line, &rest, 10);
    if (rest == line || *rest != ' ' || rank >= ranks) return;  // no line of ours
    ++rest;
    if (*rest == '#') {
        take_frame(&stacks[rank], rest);
    } else if (*rest == '.' && !stacks[rank].whole) {
        stacks[rank].whole = true;
        ++whole;
    }
}

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t* from,
                      pmix_byte_object_t* bytes, pmix_info_t info[], size_t count) {
    (void)handler, (void)channel, (void)info, (void)count;
    if (bytes == NULL || bytes->size == 0) return;
    pthread_mutex_lock(&lock);
    struct source* source = sources;
    while (source != NULL && source->daemon != from->rank)
        source = source->next;
    if (source == NULL) {
        source = calloc(1, sizeof *source);
        if (source == NULL) fail("memory", PMIX_ERR_NOMEM);
        source->daemon = from->rank;
        source->next = sources;
        sources = source;
    }
    char* text = realloc(source->text, source->size + bytes->size + 1);
    if (text == NULL) fail("memory", PMIX_ERR_NOMEM);
    memcpy(text + source->size, bytes->bytes, bytes->size);
    source->text = text;
    source->size += bytes->size;
    text[source->size] = '\0';
    for (char* end; (end = strchr(text, '\n')) != NULL;) {
        *end = '\0';
        take_line(text);
        source->size -= (size_t)(end + 1 - text);
        memmove(text, end + 1, source->size + 1);
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_end(size_t handler, pmix_status_t code, const pmix_proc_t* source, pmix_info_t info[],
                   size_t count, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void* data) {
    (void)handler, (void)code, (void)source, (void)info, (void)count, (void)results, (void)nresults;
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void connect_to(const char* launcher) {
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    char* end = NULL;
    const pid_t pid = (pid_t)strtol(launcher, &end, 10);
    if (*end == '\0') {
        PMIx_Info_load(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    } else {
        PMIx_Info_load(&info, PMIX_SERVER_URI, launcher, PMIX_STRING);
    }
    const pmix_status_t status = PMIx_tool_init(&me, &info, 1);
    PMIx_Info_destruct(&info);
    if (status != PMIX_SUCCESS) fail("no launcher that lets us in", status);
}

// Has a daemon started on each node that has a process of the job; gives back their namespace.
static void start_daemons(const char* job, pmix_nspace_t daemons) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) fail("/proc/self/exe", PMIX_ERR_NOT_FOUND);
    self[length] = '\0';
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(self);
    PMIx_Argv_append_nosize(&app.argv, self);
    PMIx_Argv_append_nosize(&app.argv, "--daemon");
    void* list = PMIx_Info_list_start();
    const bool yes = true;
    const uint16_t one = 1;
    pmix_proc_t target;
    PMIx_Load_procid(&target, job, PMIX_RANK_WILDCARD);
    PMIx_Info_list_add(list, PMIX_DEBUGGER_DAEMONS, &yes, PMIX_BOOL);
    PMIx_Info_list_add(list, PMIX_DEBUG_TARGET, &target, PMIX_PROC);
    PMIx_Info_list_add(list, PMIX_DEBUG_DAEMONS_PER_NODE, &one, PMIX_UINT16);
    PMIx_Info_list_add(list, PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    PMIx_Info_list_add(list, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    pmix_data_array_t infos;
    check(PMIx_Info_list_convert(list, &infos), "attributes");
    PMIx_Info_list_release(list);
    check(PMIx_Spawn(infos.array, infos.size, &app, 1, daemons), "the daemons");
    PMIx_Data_array_destruct(&infos);
    PMIX_APP_DESTRUCT(&app);
}

// "0-3,7": the ranks from `first` on that have its stack; they are marked as shown.
static void show_ranks(size_t first, bool* shown) {
    size_t begin = first, end = first;
    const char* comma = "";
    printf("ranks ");
    for (size_t rank = first; rank <= ranks; ++rank) {
        const bool same = rank < ranks && stacks[rank].frames != NULL && stacks[first].frames != NULL &&
                          strcmp(stacks[rank].frames, stacks[first].frames) == 0;
        if (same) shown[rank] = true;
        if (same && end == rank) {
            end = rank + 1;
        } else if (same || rank == ranks) {
            if (end - begin == 1) printf("%s%zu", comma, begin);
            if (end - begin > 1) printf("%s%zu-%zu", comma, begin, end - 1);
            comma = ",";
            begin = rank;
            end = rank + 1;
        }
    }
    printf(":\n");
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "--daemon") == 0) return run_daemon();
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: pdebug PID|URI [NAMESPACE]\n");
        return 2;
    }
    connect_to(argv[1]);
    char* job = argc > 2 ? strdup(argv[2]) : NULL;
    if (job == NULL) {
        pmix_info_t* names = ask(PMIX_QUERY_NAMESPACES, NULL);
        job = strdup(names->value.type == PMIX_STRING ? names->value.data.string : "");
        job[strcspn(job, ",")] = '\0';
        PMIx_Info_free(names, 1);
        if (*job == '\0') fail("no job runs there", PMIX_ERR_NOT_FOUND);
    }
    pmix_info_t* answer = ask(PMIX_QUERY_PROC_TABLE, job);
    table_of(answer, &ranks);
    PMIx_Info_free(answer, 1);
    stacks = calloc(ranks + 1, sizeof *stacks);
    bool* shown = calloc(ranks + 1, sizeof *shown);
    if (stacks == NULL || shown == NULL) fail("memory", PMIX_ERR_NOMEM);

    pmix_status_t code = PMIX_EVENT_JOB_END;
    const pmix_status_t handler = PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL);
    if (handler < 0) fail("events", handler);
    pmix_nspace_t daemons;
    start_daemons(job, daemons);
    // The launcher keeps earlier output for us.
    pmix_proc_t all;
    PMIx_Load_procid(&all, daemons, PMIX_RANK_WILDCARD);
    const pmix_status_t pull =
        PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
    if (pull < 0) fail("the daemons' output", pull);

    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 120;
    pthread_mutex_lock(&lock);
    int waited = 0;
    while (whole < ranks && waited == 0) {
        // The last output may come behind the news of the end.
        if (ended) {
            clock_gettime(CLOCK_REALTIME, &limit);
            limit.tv_sec += 5;
            ended = false;
        }
        waited = pthread_cond_timedwait(&changed, &lock, &limit);
    }
    printf("%zu processes of %s\n", ranks, job);
    for (size_t rank = 0; rank < ranks; ++rank) {
        if (shown[rank]) continue;
        if (stacks[rank].frames == NULL) {
            printf("rank %zu: nothing was heard of it\n", rank);
            continue;
        }
        show_ranks(rank, shown);
        fputs(stacks[rank].frames, stdout);
    }
    const int status = whole == ranks ? EXIT_SUCCESS : EXIT_FAILURE;
    pthread_mutex_unlock(&lock);
    check(PMIx_tool_finalize(), "PMIx_tool_finalize");
    for (struct source* next; sources != NULL; sources = next) {
        next = sources->next;
        free(sources->text);
        free(sources);
    }
    for (size_t rank = 0; rank < ranks; ++rank)
        free(stacks[rank].frames);
    free(stacks);
    free(shown);
    free(job);
    return status;
}

// SPDX-License-Identifier: BSD-3-Clause
// A tool that has a launcher start a program and follows what becomes of it, as debuggers do that do not know
// the launcher's command line (Standard: Tools and Debuggers, Indirect launch).
//
//     initiator muster -n 4 ring                     the launcher reads the whole command line
//     initiator --stop muster -n 4 ring              the processes wait in PMIx_Init until we have seen them
//     initiator --launcher "muster serve" -n 4 ring  the launcher is started first, then asked for the job
//     initiator --daemon PROGRAM muster --nodes 4 ring   the launcher's daemons are PROGRAM
//     initiator --uri URI muster -n 4 ring           the launcher itself is started by the server at URI
//
// Options of the tool end at the first word that is none; what follows is passed on as it is.
#include <fcntl.h>
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

static void check(pmix_status_t status, const char* what) {
    if (status == PMIX_SUCCESS) return;
    fprintf(stderr, "initiator: %s: %s\n", what, PMIx_Error_string(status));
    // A launcher has files by which it is found.
    if (PMIx_Initialized()) PMIx_tool_finalize();
    exit(EXIT_FAILURE);
}

// --- events ---

// The state so far.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool launcher_ready, job_launched, job_waits, job_over;
static pmix_nspace_t job;  // the program's namespace, once it is known
static pmix_nspace_t launcher;
static int job_status, exit_code;

static void on_event(size_t handler, pmix_status_t code, const pmix_proc_t* source, pmix_info_t info[],
                     size_t count, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
    (void)handler, (void)source, (void)results, (void)nresults;
    const char* nspace = "";
    int status = PMIX_SUCCESS, code_of_exit = 0;
    for (size_t i = 0; i < count; ++i) {
        const pmix_value_t* value = &info[i].value;
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE) && value->type == PMIX_STRING)
            nspace = value->data.string;
        if (PMIx_Check_key(info[i].key, PMIX_JOB_TERM_STATUS)) status = value->data.status;
        if (PMIx_Check_key(info[i].key, PMIX_EXIT_CODE)) code_of_exit = value->data.integer;
    }
    pthread_mutex_lock(&lock);
    const bool of_launcher = PMIx_Check_nspace(nspace, launcher);
    if (code == PMIX_LAUNCHER_READY) {
        launcher_ready = true;
    } else if (code == PMIX_LAUNCH_COMPLETE && !of_launcher) {
        PMIx_Load_nspace(job, nspace);
        job_launched = true;
    } else if (code == PMIX_READY_FOR_DEBUG && !of_launcher) {
        job_waits = true;
    } else if (code == PMIX_EVENT_JOB_END &&
               (of_launcher || PMIx_Check_nspace(nspace, job) || *job == '\0')) {
        // The launcher's own end, too: no further job follows.
        if (!job_over) {
            job_status = status;
            exit_code = code_of_exit;
        }
        job_over = true;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

// Waits until it has happened, or the job is over.
static bool wait_for(const bool* what) {
    pthread_mutex_lock(&lock);
    while (!*what && !job_over)
        pthread_cond_wait(&changed, &lock);
    const bool happened = *what;
    pthread_mutex_unlock(&lock);
    return happened;
}

// --- steps ---

static void begin(const char* uri) {
    const bool yes = true;
    void* list = PMIx_Info_list_start();
    PMIx_Info_list_add(list, PMIX_LAUNCHER, &yes, PMIX_BOOL);
    if (uri != NULL) {
        PMIx_Info_list_add(list, PMIX_SERVER_URI, uri, PMIX_STRING);
    } else {
        PMIx_Info_list_add(list, PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
    }
    pmix_data_array_t infos;
    check(PMIx_Info_list_convert(list, &infos), "attributes");
    PMIx_Info_list_release(list);
    check(PMIx_tool_init(&me, infos.array, infos.size), "PMIx_tool_init");
    PMIx_Data_array_destruct(&infos);
    pmix_status_t codes[] = {PMIX_LAUNCHER_READY, PMIX_LAUNCH_COMPLETE, PMIX_READY_FOR_DEBUG,
                             PMIX_EVENT_JOB_END};
    const pmix_status_t handler =
        PMIx_Register_event_handler(codes, sizeof codes / sizeof *codes, NULL, 0, on_event, NULL, NULL);
    if (handler < 0) check(handler, "events");
}

// Gives the launcher our address, and lets it notice our end.
static void add_rendezvous(pmix_app_t* app, bool local) {
    pmix_value_t* uri = NULL;
    check(PMIx_Get(&me, PMIX_SERVER_URI, NULL, 0, &uri), "our own URI");
    PMIx_Setenv("PMIX_LAUNCHER_RNDZ_URI", uri->data.string, true, &app->env);
    PMIx_Value_free(uri, 1);
    int ends[2];
    if (!local || pipe(ends) != 0) return;
    char number[16];
    snprintf(number, sizeof number, "%d", ends[0]);
    PMIx_Setenv("PMIX_KEEPALIVE_PIPE", number, true, &app->env);
    // Our end closes when this process ends; no child may inherit it.
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

// Starts the launcher. With `hold` it waits in its init for our release; with `stop` what it starts waits
// too.
static void start_launcher(char** words, const char* daemon, bool hold, bool stop, bool local) {
    const bool yes = true;
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(words[0]);
    app.argv = PMIx_Argv_copy(words);
    app.maxprocs = 1;
    add_rendezvous(&app, local);
    void* list = PMIx_Info_list_start();
    PMIx_Info_list_add(list, PMIX_SPAWN_TOOL, &yes, PMIX_BOOL);
    PMIx_Info_list_add(list, PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    PMIx_Info_list_add(list, PMIX_FWD_STDERR, &yes, PMIX_BOOL);
    PMIx_Info_list_add(list, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    if (daemon != NULL) PMIx_Info_list_add(list, PMIX_LAUNCHER_DAEMON, daemon, PMIX_STRING);
    if (hold) PMIx_Info_list_add(list, PMIX_DEBUG_STOP_IN_INIT, &yes, PMIX_BOOL);
    pmix_info_t directive;
    memset(&directive, 0, sizeof directive);
    if (stop) {
        PMIx_Info_load(&directive, PMIX_DEBUG_STOP_IN_INIT, &yes, PMIX_BOOL);
        pmix_data_array_t directives = {.type = PMIX_INFO, .size = 1, .array = &directive};
        PMIx_Info_list_add(list, PMIX_LAUNCH_DIRECTIVES, &directives, PMIX_DATA_ARRAY);
    }
    pmix_data_array_t infos;
    check(PMIx_Info_list_convert(list, &infos), "attributes");
    PMIx_Info_list_release(list);
    pmix_nspace_t nspace;
    check(PMIx_Spawn(infos.array, infos.size, &app, 1, nspace), words[0]);
    PMIx_Data_array_destruct(&infos);
    PMIX_APP_DESTRUCT(&app);
    pthread_mutex_lock(&lock);
    PMIx_Load_nspace(launcher, nspace);
    pthread_mutex_unlock(&lock);
}

// From now on the launcher is the server that we ask.
static void turn_to_launcher(void) {
    const bool yes = true;
    const int seconds = 60;
    pmix_proc_t server;
    PMIx_Load_procid(&server, launcher, 0);
    pmix_info_t how[2];
    memset(how, 0, sizeof how);
    PMIx_Info_load(&how[0], PMIX_WAIT_FOR_CONNECTION, &yes, PMIX_BOOL);
    PMIx_Info_load(&how[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    check(PMIx_tool_set_server(&server, how, 2), "the launcher does not come");
}

static void release(const char* nspace, pmix_rank_t rank) {
    pmix_proc_t whom;
    PMIx_Load_procid(&whom, nspace, rank);
    pmix_info_t range;
    memset(&range, 0, sizeof range);
    PMIx_Info_load(&range, PMIX_EVENT_CUSTOM_RANGE, &whom, PMIX_PROC);
    check(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &me, PMIX_RANGE_CUSTOM, &range, 1, NULL, NULL), "release");
    PMIx_Info_destruct(&range);
}

static void start_job(char** words, int count) {
    const bool yes = true;
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(words[0]);
    app.argv = PMIx_Argv_copy(words);
    app.maxprocs = count;
    pmix_info_t notify;
    memset(&notify, 0, sizeof notify);
    PMIx_Info_load(&notify, PMIX_NOTIFY_JOB_EVENTS, &yes, PMIX_BOOL);
    pmix_nspace_t nspace;
    check(PMIx_Spawn(&notify, 1, &app, 1, nspace), words[0]);
    PMIX_APP_DESTRUCT(&app);
}

// Prints the processes to which a debugger would attach.
static void show_processes(void) {
    char key[] = PMIX_QUERY_PROC_TABLE;
    char* keys[] = {key, NULL};
    pmix_info_t nspace, *answer = NULL;
    size_t count = 0;
    memset(&nspace, 0, sizeof nspace);
    PMIx_Info_load(&nspace, PMIX_NSPACE, job, PMIX_STRING);
    pmix_query_t query = {.keys = keys, .qualifiers = &nspace, .nqual = 1};
    check(PMIx_Query_info(&query, 1, &answer, &count), "the table of processes");
    if (count == 1 && answer->value.type == PMIX_DATA_ARRAY) {
        const pmix_proc_info_t* table = answer->value.data.darray->array;
        for (size_t i = 0; i < answer->value.data.darray->size; ++i)
            printf("rank %u is process %ld on %s\n", table[i].proc.rank, (long)table[i].pid,
                   table[i].hostname);
    }
    fflush(stdout);
    PMIx_Info_free(answer, count);
    PMIx_Info_destruct(&nspace);
}

int main(int argc, char** argv) {
    const char *uri = NULL, *command = NULL, *daemon = NULL;
    bool stop = false;
    int count = 1, at = 1;
    for (; at < argc; ++at) {
        if (strcmp(argv[at], "--stop") == 0) {
            stop = true;
        } else if (strcmp(argv[at], "--daemon") == 0 && at + 1 < argc) {
            daemon = argv[++at];
        } else if (strcmp(argv[at], "--uri") == 0 && at + 1 < argc) {
            uri = argv[++at];
        } else if (strcmp(argv[at], "--launcher") == 0 && at + 1 < argc) {
            command = argv[++at];
        } else if (strcmp(argv[at], "-n") == 0 && command != NULL && at + 1 < argc) {
            count = atoi(argv[++at]);
        } else {
            break;
        }
    }
    if (at == argc) {
        fprintf(stderr,
                "usage: initiator [--stop] [--daemon PROGRAM] [--uri URI] LAUNCHER ARGUMENT...\n"
                "       initiator [--daemon PROGRAM] [--uri URI] --launcher COMMAND [-n COUNT] PROGRAM "
                "ARGUMENT...\n");
        return 2;
    }
    begin(uri);
    if (command != NULL) {
        char** words = PMIx_Argv_split(command, ' ');
        start_launcher(words, daemon, false, false, uri == NULL);
        PMIx_Argv_free(words);
        turn_to_launcher();
        if (wait_for(&launcher_ready)) start_job(argv + at, count);
    } else {
        start_launcher(argv + at, daemon, true, stop, uri == NULL);
        turn_to_launcher();
        release(launcher, 0);
    }
    if (wait_for(&job_launched)) printf("launched\n");
    fflush(stdout);
    if (stop && wait_for(&job_waits)) {
        show_processes();
        release(job, PMIX_RANK_WILDCARD);
    }
    wait_for(&job_over);
    printf("ended: %s, exit code %d\n", PMIx_Error_string(job_status), exit_code);
    check(PMIx_tool_finalize(), "PMIx_tool_finalize");
    return job_status == PMIX_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}

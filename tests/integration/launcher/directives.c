// SPDX-License-Identifier: BSD-3-Clause
// Spawns a job according to its arguments, and waits for its end:
//   directives RANKS ATTRIBUTE... -- PROGRAM [ARGUMENT...] [-- RANKS ATTRIBUTE... -- PROGRAM2 ...]
// "ENV:NAME=VALUE" among the attributes is a variable of the program. An attribute is NAME (true), NAME=TEXT
// or NAME:=NUMBER, or one of these behind + (required), of the job in front of the first program, of the
// program for others. Prints "SPAWNED NAMESPACE" and "ENDED STATUS", or "REFUSED STATUS".
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pmix_status_t job_status;
static int ended = 0;

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t* source, pmix_info_t info[], size_t count,
                   pmix_info_t results[], size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                   void* data) {
    (void)id, (void)code, (void)source, (void)results, (void)result_count;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS)) job_status = info[i].value.data.status;
    }
    ended = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void read_attribute(char* word, pmix_info_t* info) {
    const bool required = word[0] == '+';
    if (required) ++word;
    char* value = strchr(word, '=');
    const bool number = value != NULL && value > word && value[-1] == ':';
    if (value != NULL) *(number ? value - 1 : value) = '\0';
    const char* key = PMIx_Get_attribute_string(word);
    if (value == NULL) {
        const bool yes = true;
        PMIX_INFO_LOAD(info, key, &yes, PMIX_BOOL);
    } else if (number) {
        const uint32_t read = (uint32_t)strtoul(value + 1, NULL, 10);
        PMIX_INFO_LOAD(info, key, &read, PMIX_UINT32);
    } else {
        PMIX_INFO_LOAD(info, key, value + 1, PMIX_STRING);
    }
    if (required) PMIX_INFO_REQUIRED(info);
}

// Reads one program from `argv`; returns the number of consumed words.
static int read_app(char** argv, pmix_app_t* app, pmix_info_t* info, size_t* count) {
    int at = 0;
    PMIX_APP_CONSTRUCT(app);
    app->maxprocs = atoi(argv[at++]);
    for (; argv[at] != NULL && strcmp(argv[at], "--") != 0 && *count < kMost; ++at) {
        if (strncmp(argv[at], "ENV:", 4) == 0) {
            PMIx_Argv_append_nosize(&app->env, argv[at] + 4);
        } else {
            read_attribute(argv[at], &info[(*count)++]);
        }
    }
    if (argv[at] == NULL || argv[at + 1] == NULL) exit(2);
    app->cmd = strdup(argv[++at]);
    while (argv[at] != NULL && strcmp(argv[at], "--") != 0)
        PMIx_Argv_append_nosize(&app->argv, argv[at++]);
    return argv[at] == NULL ? at : at + 1;
}

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    pmix_proc_t self;
    if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) return 1;
    pmix_status_t code = PMIX_EVENT_JOB_END;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL);
    pmix_app_t apps[2];
    pmix_info_t info[kMost + 1], more[kMost];
    size_t count = 0, more_count = 0, app_count = 1;
    const int read = 1 + read_app(argv + 1, &apps[0], info, &count);
    if (read < argc) {
        read_app(argv + read, &apps[1], more, &more_count);
        apps[1].info = more;
        apps[1].ninfo = more_count;
        app_count = 2;
    }
    const bool yes = true;
    PMIX_INFO_LOAD(&info[count], PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    ++count;
    pmix_nspace_t job;
    const pmix_status_t status = PMIx_Spawn(info, count, apps, app_count, job);
    if (status != PMIX_SUCCESS) {
        printf("REFUSED %s\n", PMIx_Error_string(status));
    } else {
        printf("SPAWNED %s\n", job);
        fflush(stdout);
        pthread_mutex_lock(&lock);
        while (!ended)
            pthread_cond_wait(&changed, &lock);
        printf("ENDED %s\n", PMIx_Error_string(job_status));
        pthread_mutex_unlock(&lock);
    }
    PMIx_Finalize(NULL, 0);
    return 0;
}

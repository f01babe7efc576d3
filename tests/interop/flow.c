// SPDX-License-Identifier: BSD-3-Clause
// flow host FILE: a host that suspends a tool's input twice, by an answer and by a call, and receives all of
// it; it writes its process ID to FILE. flow tool PID: a tool that pushes its own stdin. Both need the API of
// OpenPMIx 7.0.
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PMIX_ERR_IOF_XOFF
static atomic_size_t received, pieces, wrong;
static atomic_bool ended;

static void resume(void) {
    const pmix_status_t status =
        PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL, NULL);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) printf("BAD resume %d\n", status);
}

typedef struct {
    pmix_op_cbfunc_t done;
    void* data;
} answer_t;

// No input may arrive between the answer and the end of the suspension.
static void* suspend_by_answer(void* given) {
    const answer_t answer = *(answer_t*)given;
    free(given);
    answer.done(PMIX_ERR_IOF_XOFF, answer.data);
    const size_t before = pieces;
    usleep(300000);
    if (pieces != before) ++wrong;
    resume();
    return NULL;
}

static void* suspend_by_call(void* given) {
    const answer_t answer = *(answer_t*)given;
    free(given);
    PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, NULL, NULL);
    answer.done(PMIX_SUCCESS, answer.data);
    usleep(100000);  // a piece may be in flight
    const size_t before = pieces;
    usleep(300000);
    if (pieces != before) ++wrong;
    resume();
    return NULL;
}

static pmix_status_t push_stdin(const pmix_proc_t* source, const pmix_proc_t targets[], size_t ntargets,
                                const pmix_info_t directives[], size_t ndirs, const pmix_byte_object_t* bytes,
                                pmix_op_cbfunc_t done, void* data) {
    if (bytes == NULL || bytes->size == 0) {
        ended = true;
        return PMIX_OPERATION_SUCCEEDED;
    }
    for (size_t i = 0; i < bytes->size; ++i)
        wrong += (unsigned char)bytes->bytes[i] != (received + i) % 251;
    received += bytes->size;
    const size_t piece = ++pieces;
    if (piece != 1 && piece != 4) return PMIX_OPERATION_SUCCEEDED;
    answer_t* answer = malloc(sizeof *answer);
    *answer = (answer_t){done, data};
    pthread_t thread;
    pthread_create(&thread, NULL, piece == 1 ? suspend_by_answer : suspend_by_call, answer);
    pthread_detach(thread);
    return PMIX_SUCCESS;
}

static void tool_connected(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t done, void* data) {
    pmix_proc_t tool = {"flow-tool", 0};
    done(PMIX_SUCCESS, &tool, data);
}

static int host(const char* file) {
    pmix_server_module_t module = {.push_stdin = push_stdin, .tool_connected = tool_connected};
    const bool yes = true;
    pmix_info_t info[3];
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SYSTEM_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    if (PMIx_server_init(&module, info, 3) != PMIX_SUCCESS) return 1;
    FILE* out = fopen(file, "w");
    fprintf(out, "%d\n", (int)getpid());
    fclose(out);
    while (!ended)
        usleep(1000);
    usleep(10000);  // the tool gets its answer
    printf("%s %zu bytes in %zu pieces, %zu wrong\n", wrong == 0 && pieces >= 4 ? "GOOD" : "BAD",
           (size_t)received, (size_t)pieces, (size_t)wrong);
    fflush(stdout);
    PMIx_server_finalize();
    return 0;
}

static void pushed(pmix_status_t status, void* data) {
    if (status != PMIX_SUCCESS) printf("BAD push %d\n", status);
}

static int tool(const char* pid) {
    const pid_t server = atoi(pid);
    pmix_proc_t me, target = {"flow-job", 0};
    const bool yes = true;
    pmix_info_t info, push;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &server, PMIX_PID);
    PMIX_INFO_LOAD(&push, PMIX_IOF_PUSH_STDIN, &yes, PMIX_BOOL);
    pmix_status_t status = PMIx_tool_init(&me, &info, 1);
    if (status == PMIX_SUCCESS) status = PMIx_IOF_push(&target, 1, NULL, &push, 1, pushed, NULL);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        printf("BAD tool %s\n", PMIx_Error_string(status));
    pause();  // its input continues until the host has all of it
    return 0;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    return strcmp(argv[1], "host") == 0 ? host(argv[2]) : tool(argv[2]);
}
#else
int main(void) {
    return 77;
}
#endif

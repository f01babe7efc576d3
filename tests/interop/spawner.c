// SPDX-License-Identifier: BSD-3-Clause
// A tool at the server of process PID that starts a shell with a script, and stays until its own input ends:
//   spawner PID SCRIPT [WORD...]   prints SPAWNED
// Words: forward: it requests the job's standard output; local: the library prints the output; tag: with
// marks; quiet: not for this job; pull: it also pulls the output, and prints it after PULLED. Public
// functions only, so that it runs on any library; output that the library prints is not marked by the tool.
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const char* what, pmix_status_t status) {
    printf("BAD %s: %s\n", what, PMIx_Error_string(status));
    return 1;
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t* source, pmix_byte_object_t* bytes,
                      pmix_info_t info[], size_t count) {
    (void)id, (void)channel, (void)source, (void)info, (void)count;
    if (bytes->size > 0) printf("PULLED %.*s", (int)bytes->size, bytes->bytes);
    fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    bool forward = false, local = false, tag = false, quiet = false, pull = false;
    for (int i = 3; i < argc; ++i) {
        forward |= strcmp(argv[i], "forward") == 0;
        local |= strcmp(argv[i], "local") == 0;
        tag |= strcmp(argv[i], "tag") == 0;
        quiet |= strcmp(argv[i], "quiet") == 0;
        pull |= strcmp(argv[i], "pull") == 0;
    }
    pid_t server = (pid_t)atol(argv[1]);
    bool yes = true, no = false;
    pmix_info_t where[2];
    PMIX_INFO_LOAD(&where[0], PMIX_SERVER_PIDINFO, &server, PMIX_PID);
    PMIX_INFO_LOAD(&where[1], PMIX_IOF_LOCAL_OUTPUT, &yes, PMIX_BOOL);
    pmix_proc_t self;
    pmix_status_t status = PMIx_tool_init(&self, where, local ? 2 : 1);
    if (status != PMIX_SUCCESS) return failed("init", status);
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("/bin/sh");
    app.maxprocs = 1;
    app.argv = calloc(4, sizeof(char*));
    app.argv[0] = strdup("sh");
    app.argv[1] = strdup("-c");
    app.argv[2] = strdup(argv[2]);
    pmix_info_t info[3];
    size_t count = 0;
    if (forward) PMIX_INFO_LOAD(&info[count++], PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    if (tag) PMIX_INFO_LOAD(&info[count++], PMIX_IOF_TAG_OUTPUT, &yes, PMIX_BOOL);
    if (quiet) PMIX_INFO_LOAD(&info[count++], PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL);
    pmix_nspace_t job;
    status = PMIx_Spawn(count > 0 ? info : NULL, count, &app, 1, job);
    PMIX_APP_DESTRUCT(&app);
    if (status != PMIX_SUCCESS) return failed("spawn", status);
    printf("SPAWNED\n");
    fflush(stdout);
    if (pull) {
        pmix_proc_t all;
        PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
        status = PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
        if (status < 0) return failed("pull", status);
        printf("PULLS\n");
        fflush(stdout);
    }
    char rest[16];
    while (read(0, rest, sizeof rest) > 0) {
    }
    status = PMIx_tool_finalize();
    return status == PMIX_SUCCESS ? 0 : failed("finalize", status);
}

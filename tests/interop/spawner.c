// SPDX-License-Identifier: BSD-3-Clause
// A tool at the server of process PID that starts a shell with a script, and stays until its own input ends:
//   spawner PID SCRIPT [forward]   prints SPAWNED; forward: it wants the job's standard output
// Public functions only, so that it runs on any library; what the library prints of the job it prints by
// itself.
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const char* what, pmix_status_t status) {
    printf("BAD %s: %s\n", what, PMIx_Error_string(status));
    return 1;
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    pid_t server = (pid_t)atol(argv[1]);
    pmix_info_t where;
    PMIX_INFO_LOAD(&where, PMIX_SERVER_PIDINFO, &server, PMIX_PID);
    pmix_proc_t self;
    pmix_status_t status = PMIx_tool_init(&self, &where, 1);
    if (status != PMIX_SUCCESS) return failed("init", status);
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("/bin/sh");
    app.maxprocs = 1;
    app.argv = calloc(4, sizeof(char*));
    app.argv[0] = strdup("sh");
    app.argv[1] = strdup("-c");
    app.argv[2] = strdup(argv[2]);
    bool yes = true;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    pmix_nspace_t job;
    status = PMIx_Spawn(argc > 3 ? &info : NULL, argc > 3 ? 1 : 0, &app, 1, job);
    if (status != PMIX_SUCCESS) return failed("spawn", status);
    printf("SPAWNED\n");
    fflush(stdout);
    char rest[16];
    while (read(0, rest, sizeof rest) > 0) {
    }
    status = PMIx_tool_finalize();
    return status == PMIX_SUCCESS ? 0 : failed("finalize", status);
}

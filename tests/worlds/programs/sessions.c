/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions [PSET] - MPI sessions: a communicator from the process set mpi://WORLD, and one from PSET when it
 * is named. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "sessions: %s\n", what);
    exit(1);
}

static int sum_over(MPI_Session session, const char* pset) {
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0, rank;
    need(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS, "no group of the process set");
    need(MPI_Comm_create_from_group(group, "muster.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
             MPI_SUCCESS,
         "no communicator of the group");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) printf("OK %s %d\n", strcmp(pset, "mpi://WORLD") == 0 ? "sessions" : "pset", sum);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return sum;
}

int main(int argc, char** argv) {
    MPI_Session session;
    int sets = 0, found = 0;
    need(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "no session");
    need(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets) == MPI_SUCCESS && sets >= 2,
         "no process sets");
    for (int i = 0; i < sets; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name;
        need(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name) == MPI_SUCCESS,
             "a process set without a name");
        if (argc > 1 && strcmp(name, argv[1]) == 0) found = 1;
    }
    need(argc == 1 || found, "the named process set is not among those of the session");
    sum_over(session, argc > 1 ? argv[1] : "mpi://WORLD");
    need(MPI_Session_finalize(&session) == MPI_SUCCESS, "the session does not end");
    return 0;
}

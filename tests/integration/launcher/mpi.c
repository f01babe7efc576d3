// SPDX-License-Identifier: BSD-3-Clause
// MPI programs, in one file: hello, ring, allreduce, split; spawn, several (programs spawned at once) and
// names (publish a name, connect by it). Rank 0 also prints the libpmix that it has mapped.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static int hello(void) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    printf("hello from %d of %d on %s\n", rank, size, name);
    return 0;
}

static int ring(void) {
    int token = rank;
    for (int step = 0; step < size; ++step) {
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return token == rank ? 0 : 1;
}

static int allreduce(void) {
    static int data[100000], sum[100000];
    for (int i = 0; i < 100000; ++i)
        data[i] = rank + i;
    MPI_Allreduce(data, sum, 100000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 100000; ++i) {
        if (sum[i] != size * (size - 1) / 2 + size * i) return 1;
    }
    return 0;
}

static int split(void) {
    MPI_Comm half, node;
    int sum = 0, wanted = 0, local = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    for (int other = rank % 2; other < size; other += 2)
        wanted += other;
    MPI_Comm_free(&half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &local);
    MPI_Comm_free(&node);
    return sum == wanted && local >= 1 ? 0 : 1;
}

// Sums over both groups of an intercommunicator: all must be present.
static int family(MPI_Comm inter, int high, int wanted) {
    MPI_Comm all;
    int one = 1, sum = 0;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
    return sum == wanted ? 0 : 1;
}

static int child(int parents) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) return 1;
    printf("child %d of %d\n", rank, size);
    return family(parent, 1, parents + size);
}

static int spawn(char* self) {
    MPI_Comm children;
    int codes[3];
    char* arguments[] = {"child", "4", NULL};
    MPI_Comm_spawn(self, arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    return family(children, 0, size + 3);
}

static int several(char* self) {
    MPI_Comm children;
    char *commands[] = {self, self}, *arguments[] = {"child", "4", NULL};
    char** lists[] = {arguments, arguments};
    int counts[] = {1, 2}, codes[3];
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, commands, lists, counts, infos, 0, MPI_COMM_WORLD, &children, codes);
    return family(children, 0, size + 3);
}

// The lower half publishes a port, the upper one connects to it.
static int names(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    const int serves = rank < size / 2;
    int bad = 0;
    MPI_Comm_split(MPI_COMM_WORLD, serves, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        bad |= MPI_Publish_name("launcher test", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (serves) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    } else {
        bad |= MPI_Lookup_name("launcher test", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    }
    bad |= family(inter, serves, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        bad |= MPI_Unpublish_name("launcher test", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Lookup_name("launcher test", MPI_INFO_NULL, port) == MPI_SUCCESS) bad = 1;
    MPI_Comm_free(&half);
    return bad;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "hello";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int bad = 1;
    if (strcmp(what, "hello") == 0) bad = hello();
    if (strcmp(what, "ring") == 0) bad = ring();
    if (strcmp(what, "allreduce") == 0) bad = allreduce();
    if (strcmp(what, "split") == 0) bad = split();
    if (strcmp(what, "spawn") == 0) bad = spawn(argv[0]);
    if (strcmp(what, "several") == 0) bad = several(argv[0]);
    if (strcmp(what, "names") == 0) bad = names();
    if (strcmp(what, "child") == 0) bad = child(argc > 2 ? atoi(argv[2]) : 0);
    int any = 0;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && strcmp(what, "child") != 0) {
        char line[4096], last[4096] = "";
        FILE* maps = fopen("/proc/self/maps", "r");
        while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
            char* path = strchr(line, '/');
            if (path == NULL || strstr(path, "/libpmix.so") == NULL || strcmp(path, last) == 0) continue;
            printf("library %s", path);
            strcpy(last, path);
        }
        if (maps != NULL) fclose(maps);
        printf("%s of %d ranks: %s\n", what, size, any == 0 ? "right" : "wrong");
    }
    MPI_Finalize();
    return any;
}

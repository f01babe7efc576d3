// SPDX-License-Identifier: BSD-3-Clause
// partitioned: each rank sends an array of several parts to the next one, part by part and the last one
// first, three times by one persistent request. Prints "OK partitioned SIZE" on rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kParts = 8, kWords = 512, kRounds = 3 };

int main(int argc, char** argv) {
    static int sent[kParts * kWords], received[kParts * kWords];
    int rank, size, bad = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Psend_init(sent, kParts, kWords, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(received, kParts, kWords, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < kRounds; ++round) {
        MPI_Startall(2, requests);
        for (int part = kParts - 1; part >= 0; --part) {
            for (int i = 0; i < kWords; ++i)
                sent[part * kWords + i] = (rank * kRounds + round) * kParts * kWords + part * kWords + i;
            MPI_Pready(part, requests[0]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < kParts * kWords; ++i)
            bad += received[i] != (from * kRounds + round) * kParts * kWords + i;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    int all = 0;
    MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf(all == 0 ? "OK partitioned %d\n" : "BAD partitioned %d\n", size);
    MPI_Finalize();
    return bad != 0;
}

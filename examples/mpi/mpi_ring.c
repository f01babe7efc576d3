// SPDX-License-Identifier: BSD-3-Clause
// An ordinary MPI program that has no code for Muster. Built with Debian's mpicc and started by muster,
// its MPI library is a client of Muster's server.
//
//     mpicc mpi_ring.c -o mpi_ring && muster -n 4 mpi_ring
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, token = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (rank == 0) {
        token = 1;
        MPI_Sendrecv_replace(&token, 1, MPI_INT, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++token;
        MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    int status = 0;
    if (rank == 0) {
        status = token == size && sum == size * (size - 1) / 2 ? 0 : 1;
        printf("MPI ring of %d ranks: the token counted %d, the ranks add up to %d: %s\n", size, token, sum,
               status == 0 ? "right" : "WRONG");
    }
    MPI_Finalize();
    return status;
}

/* A stencil of ranks in a ring, for the tests of 'monarc ranks'. Arguments: the rank that does
 * three times the work of a step, the one that does as much as ten steps before the first, the one
 * that is killed in the middle; -1: none. */
#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 10 };
#define STEP_SECONDS 0.03

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void spin(double seconds)
{
    for (double end = used() + seconds; used() < end;)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double mine, left, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int slow = atoi(argv[1]), late = atoi(argv[2]), dying = atoi(argv[3]);
    mine = rank;
    if (rank == late)
        spin(STEPS * STEP_SECONDS);
    for (int i = 0; i < STEPS; i++) {
        spin(rank == slow ? 3 * STEP_SECONDS : STEP_SECONDS);
        if (rank == dying && i == STEPS / 2)
            raise(SIGKILL);
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &left, 1, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&left, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

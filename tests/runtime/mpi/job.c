/* A job whose ranks call different functions a known number of times: `even` or `odd` 1000 + rank
 * times, `third` ten times the rank in every third one. With an argument, that rank kills itself
 * when all have made their calls. */
#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) void even(void)
{
    for (int i = 0; i < 30000; i++)
        sink += i;
}

__attribute__((noinline)) void odd(void)
{
    for (int i = 0; i < 30000; i++)
        sink += 3 * i;
}

__attribute__((noinline)) void third(void)
{
    sink++;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1000 + rank; i++)
        rank % 2 ? odd() : even();
    for (int i = 0; i < 10 * rank && rank % 3 == 0; i++)
        third();
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == atoi(argv[1]))
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

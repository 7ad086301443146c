/* busy SECONDS THREADS: three quarters of the time below left(), one quarter below right(); prints
 * the CPU time that was used. Both reach spin() through a function of their own. */
#include "counting.h"

#include <pthread.h>
#include <time.h>

NOINLINE void spin(long n)
{
    for (volatile long i = 0; i < n; i++)
        ;
}

NOINLINE void left(void)
{
    spin(300000);
    sink++;
}

NOINLINE void right(void)
{
    spin(100000);
    sink++;
}

static double seconds;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOINLINE void *work(void *unused)
{
    while (now(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        left();
        right();
    }
    return unused;
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : 0.5;
    int n = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t id[16];
    for (int i = 1; i < n; i++)
        pthread_create(&id[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < n; i++)
        pthread_join(id[i], NULL);
    printf("cpu %.3f\n", now(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}

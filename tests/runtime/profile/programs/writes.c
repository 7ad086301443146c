/* Works for half a second, and has its recording written again and again; prints the CPU time of
 * the work. */
#include "counting.h"

#include <monarc/runtime.h>
#include <time.h>

#pragma weak monarc_rt_dump
#pragma weak monarc_rt_start
#pragma weak monarc_rt_stop

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOINLINE double work(double seconds)
{
    double begun = now(), end = begun + seconds, at;
    while ((at = now()) < end)
        sink++;
    return at - begun;
}

int main(int argc, char **argv)
{
    double worked = 0;
    int failed = 0;
    for (int i = 0; i < 20; i++) {
        worked += work(0.025);
        if (argc > 1 && argv[1][0] == 's') { /* not recorded */
            failed |= monarc_rt_stop();
            work(0.025);
            failed |= monarc_rt_start();
        } else {
            failed |= monarc_rt_dump("aside");
        }
    }
    printf("cpu %.3f\n", worked);
    return failed;
}

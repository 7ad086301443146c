/* A program with a profiling timer of its own: it must see its ticks and nobody else's. */
#include "counting.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

int main(void)
{
    struct itimerval every = {{0, 20000}, {0, 20000}}, now;
    struct sigaction old;
    sigaction(SIGPROF, NULL, &old);
    printf("default %d\n", old.sa_handler == SIG_DFL);
    signal(SIGPROF, tick);
    setitimer(ITIMER_PROF, &every, NULL);
    while (clock() < CLOCKS_PER_SEC / 2)
        sink++;
    getitimer(ITIMER_PROF, &now);
    printf("interval %ld, ticks %s\n", (long)now.it_interval.tv_usec,
           ticks >= 15 && ticks <= 30 ? "right" : "wrong");
    return 0;
}

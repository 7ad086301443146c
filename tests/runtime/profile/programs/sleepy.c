/* Sleeps for half a second, whatever interrupts it: until a time, since each rest of a sleep that
 * is cut off leaves out what passes between two of them, on a busy machine without end. */
#include "counting.h"

#include <errno.h>
#include <time.h>

NOINLINE void asleep(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 500000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        sink++;
    sink++;
}

int main(void)
{
    asleep();
    return 0;
}

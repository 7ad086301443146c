/* Sleeps for half a second, whatever interrupts it. */
#include "counting.h"

#include <errno.h>
#include <time.h>

NOINLINE void asleep(void)
{
    struct timespec left = {0, 500000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        sink++;
    sink++;
}

int main(void)
{
    asleep();
    return 0;
}

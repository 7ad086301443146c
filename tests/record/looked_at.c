/* Reads from a device that never has less, and computes; it counts what it did, and its reads that
 * were not whole. */
#include "looked_at.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

static struct looked_at *shared;

static void count(int number)
{
    (void)number;
    shared->signals++;
}

/* Signals come between reads: one that was handled within would cut it by right. */
int main(void)
{
    static uint8_t bytes[PIECE];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int zero = open("/dev/zero", O_RDONLY);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, LOOKED_AT_MEMORY, 0);
    if (zero < 0 || shared == MAP_FAILED)
        return 1;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    signal(SIGUSR1, count);
    for (;;) {
        sigprocmask(SIG_BLOCK, &one, NULL);
        shared->wrong += read(zero, bytes, sizeof bytes) != sizeof bytes;
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        for (volatile int i = 0; i < 2000000; i++)
            ;
        shared->rounds++;
    }
}

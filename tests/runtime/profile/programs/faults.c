/* 2,000 page faults in one function. */
#include "counting.h"

#include <sys/mman.h>

#define PAGES 2000

NOINLINE void touch(volatile char *at)
{
    for (long i = 0; i < PAGES; i++)
        at[i * 4096] = 1;
}

int main(void)
{
    char *at =
        mmap(NULL, PAGES * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, PAGES * 4096L, MADV_NOHUGEPAGE);
    touch(at);
    return 0;
}

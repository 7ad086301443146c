/* Loops over independent pieces in the caller's thread, in place of base/parallel.c: a library
 * starts no threads that its caller does not know of, and a call that runs out of memory has one
 * stack to leave (report.c). The numbers are the same, for pieces are independent of each other and
 * are taken in their order. */
#include "base/parallel.h"

void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context)
{
    (void)threads;
    for (size_t i = 0; i < pieces; i++)
        work(i, context);
}

void parallel_for_workers(size_t pieces, unsigned threads,
                          void (*work)(size_t i, unsigned worker, void *context), void *context)
{
    (void)threads;
    for (size_t i = 0; i < pieces; i++)
        work(i, 0, context);
}

unsigned parallel_workers(size_t pieces, unsigned threads)
{
    (void)threads;
    return pieces > 0;
}

unsigned parallel_cpus(void)
{
    return 1;
}

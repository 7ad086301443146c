/* The program's memory: the C library's. */
#include "base/arena.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) _Noreturn void memory_exhausted(size_t bytes)
{
    (void)bytes;
    abort();
}

void *memory_zeroed(size_t count, size_t size)
{
    void *at = calloc(count ? count : 1, size);
    if (!at)
        memory_exhausted(count * size);
    return at;
}

void *memory_resized(void *at, size_t bytes)
{
    void *moved = realloc(at, bytes ? bytes : 1);
    if (!moved)
        memory_exhausted(bytes);
    return moved;
}

void memory_free(void *at)
{
    free(at);
}

enum { LARGE = 2 << 20 };

/* The heap grows by a step of addresses, of which what is not used costs nothing, and only the
 * first step is asked to be of large pages: arrays that go beyond it ask for themselves. */
void memory_keep(void)
{
    enum { MAPPED = 32 << 20, STEP = 256 << 20 };
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, STEP);
    uint8_t *first = malloc(LARGE), *end = sbrk(0); /* more than the first heap has: it grows */
    if (first && end > first)
        memory_prefer_large_pages(first, (size_t)(end - first));
    free(first);
}

/* glibc gives each thread but the first a heap of 64 MB of addresses, aligned to that. */
void memory_keep_of_thread(void)
{
    enum { HEAP = 64 << 20 };
    uint8_t *first = malloc(1);
    if (first)
        memory_prefer_large_pages(first, HEAP - ((uintptr_t)first & (HEAP - 1)));
    free(first);
}

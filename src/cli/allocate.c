/* Allocation that succeeds or ends the process with one line, for this program and for every
 * library in it.
 *
 * libdw, libelf, fts and others go on after a failed allocation: some crash, some answer as if the
 * file had no debug information, and the report is silently less. As a program's own definitions
 * come before libc's, theirs end here as ours do. Refuses nothing that libc grants; under a
 * sanitizer, which has its own, and with another libc it is not there.
 *
 * The functions of libc that these replace are called by their internal names (__libc_malloc),
 * which glibc exports. free() is libc's own. An allocation is checked by one branch; nothing is
 * counted and no lock is taken. */
#include "base/arena.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* A request for 0 bytes may be answered with NULL by other libcs, by glibc never. */
static void *checked(void *at, size_t bytes)
{
    if (!at)
        memory_exhausted(bytes);
    return at;
}

void *malloc(size_t bytes)
{
    return checked(__libc_malloc(bytes), bytes);
}

/* A product that does not fit becomes SIZE_MAX bytes, which libc refuses. */
void *calloc(size_t count, size_t bytes)
{
    size_t all;
    return checked(__libc_calloc(count, bytes),
                   __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all);
}

/* realloc(at, 0) frees and returns NULL, which is no failure. */
void *realloc(void *at, size_t bytes)
{
    void *moved = __libc_realloc(at, bytes);
    return bytes || !at ? checked(moved, bytes) : moved;
}

/* A product that does not fit can never be had. */
void *reallocarray(void *at, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        memory_exhausted(SIZE_MAX);
    return realloc(at, all);
}

/* Old, and still called by libraries. */
void *memalign(size_t alignment, size_t bytes)
{
    return checked(__libc_memalign(alignment, bytes), bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

/* POSIX has errors as results, and asks for a power of two that is a multiple of a pointer's
 * size. */
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1))
        return EINVAL;
    *out = memalign(alignment, bytes);
    return 0;
}

#endif

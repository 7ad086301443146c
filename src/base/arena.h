/* Bump allocation with one lifetime: everything in an arena is freed at once.
 *
 * Returned memory is zeroed and aligned for any type. Requests of CHUNK size and more get pages of
 * their own, untouched until used. Exhausted memory does not return: see memory_exhausted(). */
#ifndef MONARC_BASE_ARENA_H
#define MONARC_BASE_ARENA_H

#include "base/memory.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    uint8_t *at, *end;
};

#define ARENA_NEW(a, T, n) ((T *)arena_array((a), (n), sizeof(T)))

void *arena_alloc(struct arena *a, size_t bytes);
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_alloc_text(struct arena *a, size_t bytes); /* unaligned, close together, not zeroed */
char *arena_copy(struct arena *a, const char *text, size_t len); /* adds a NUL */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_deinit(struct arena *a);

/* What is in `from` lives as long as `a` from now on; `from` is empty then. */
void arena_join(struct arena *a, struct arena *from);

#endif

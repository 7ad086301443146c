/* Memory: the allocator of all rooms, and arenas over it.
 *
 * An arena is bump allocation with one lifetime: everything in it is freed at once.
 *
 * Returned memory is zeroed and aligned for any type. Requests of CHUNK size and more get pages of
 * their own, untouched until used. Exhausted memory does not return: see memory_exhausted(). */
#ifndef MONARC_BASE_ARENA_H
#define MONARC_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Where all memory of these rooms comes from. The program takes the C library's (memory.c);
 * libmonarc, which links its own functions instead, its caller's, within limits.
 *
 * Exhausted memory does not return: see memory_exhausted(). */

void *memory_zeroed(size_t count, size_t size);

/* As realloc(); what is new is not zeroed. */
void *memory_resized(void *at, size_t bytes);

void memory_free(void *at);

/* Asks for large pages under a large allocation that will be filled: fewer page faults. */
void memory_prefer_large_pages(void *at, size_t bytes);

/* For commands that read one file after the other: the process keeps what is freed for the next
 * one, instead of having the system take the pages and hand out others. */
void memory_keep(void);

/* For a thread of such a command, at its start: large pages for what it will allocate. */
void memory_keep_of_thread(void);

/* Called when there is no memory left. In the program the default aborts; cli replaces it with one
 * line and an exit status (a weak symbol, so that nothing here has to hold a mutable hook). In
 * libmonarc it ends the call with an error. */
_Noreturn void memory_exhausted(size_t bytes);

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    uint8_t *at, *end;
    size_t room; /* bytes of the chunk that requests are cut from */
};

#define ARENA_NEW(a, T, n) ((T *)arena_array((a), (n), sizeof(T)))

void *arena_alloc(struct arena *a, size_t bytes);
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_alloc_text(struct arena *a, size_t bytes); /* unaligned, close together, not zeroed */
char *arena_copy(struct arena *a, const char *text, size_t len); /* adds a NUL */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_deinit(struct arena *a);

/* Frees everything but a chunk, for those who fill an arena once for each of many small files. */
void arena_clear(struct arena *a);

/* What is in `from` lives as long as `a` from now on; `from` is empty then. */
void arena_join(struct arena *a, struct arena *from);

#endif

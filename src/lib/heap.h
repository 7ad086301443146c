/* A handle's memory, and calls that can end in the middle when there is no more.
 *
 * The rooms below take it for granted that memory does not run out. In the library, all that a call
 * allocates is kept in a list of the handle's heap; where there is no more, memory_exhausted()
 * leaves the call by longjmp(), and what was half done is given back as a whole. So nothing inside
 * a call may hold anything else that has to be given back: descriptors are opened outside.
 *
 * This replaces base/memory.c, which ends the process: the library is linked with these
 * functions instead. A handle has one heap; a call that only looks at handles makes one for
 * itself and throws it away. Heaps are not shared by threads, and no lock is needed. */
#ifndef MONARC_LIB_HEAP_H
#define MONARC_LIB_HEAP_H

#include "base/arena.h"

#include "monarc/error.h"

/* The head of each block, in front of what its user sees. */
struct heap_block {
    struct heap_block *next, *before;
    struct heap *heap;
    size_t bytes; /* without this head */
};

/* `used` is in bytes, heads included; memory.limit_bytes is what it may grow to, 0: any. */
struct heap {
    struct heap_block blocks; /* a ring */
    size_t used;
    struct monarc_memory memory;
};

/* `memory` may be NULL. A heap stays where it is. */
void heap_init(struct heap *h, const struct monarc_memory *memory);

/* Frees all of it; it can be used again. */
void heap_release(struct heap *h);

/* NULL: there is no more. For use outside of calls, and for what outlives a heap: `h` NULL. */
void *heap_take(struct heap *h, size_t bytes);
void heap_give(void *at);

/* Memory that belongs to no list, for handles themselves and for callers. */
void *handle_alloc(const struct monarc_memory *memory, size_t bytes);
void memory_loose_free(const struct monarc_memory *memory, void *at);

/* The outcome of a call: work() returned, or there was no memory and it was left. */
enum heap_outcome { HEAP_TRUE, HEAP_FALSE, HEAP_EXHAUSTED };

/* Runs work(context), whose memory comes from `h`. After HEAP_EXHAUSTED the heap still holds what
 * was allocated. Variables that `work` changed are those of `context`. */
enum heap_outcome heap_run(struct heap *h, bool (*work)(void *context), void *context);

/* The same in a heap that is thrown away, of the memory that `h` has: for work on handles that do
 * not change. */
enum heap_outcome heap_run_aside(const struct heap *h, bool (*work)(void *context), void *context);

#endif

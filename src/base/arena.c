/* Chunked bump allocator.
 *
 *   struct arena      at ──────────────┐      end ─┐
 *   chunk (to 64 KiB) [next│ in use ...│  free ....]
 *   chunk (alone)     [next│ one large request     ]
 *
 * Small requests are cut from the newest chunk; one of a quarter of the largest or more gets a
 * chunk alone, so that the rest of the current one is not wasted. The first chunk is small, as most
 * arenas hold little and zeroing is what they cost. Chunks come zeroed and are never used twice,
 * but for the one that arena_clear() keeps: large ones are fresh pages of the system, which cost
 * nothing until they are touched. Requests cost an addition; freeing costs the number of chunks.
 * Only texts are unaligned. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FIRST = 1024,
    CHUNK = 64 * 1024,
    ALIGNMENT = _Alignof(max_align_t),
    PAGE = 4096,
    LARGE = 2 << 20
};

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(max_align_t) uint8_t bytes[];
};

/* Rounded outwards: the advice splits a mapping at its ends, and realloc() could not move what is
 * in two of them. malloc() keeps its own words on the first page. */
void memory_prefer_large_pages(void *at, size_t bytes)
{
    uintptr_t start = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)at + bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (bytes >= LARGE)
        madvise((void *)start, end - start, MADV_HUGEPAGE); /* advice; failure changes nothing */
}

static struct arena_chunk *chunk_new(size_t bytes)
{
    struct arena_chunk *chunk = memory_zeroed(1, sizeof *chunk + bytes);
    memory_prefer_large_pages(chunk, bytes);
    return chunk;
}

/* No alignment here: the caller has rounded `at` and `bytes`, or does not care. */
static void *take(struct arena *a, size_t bytes)
{
    if (!a->at || bytes > (size_t)(a->end - a->at)) {
        /* The current chunk stays in use after it. */
        bool alone = bytes >= CHUNK / 4;
        size_t room = a->at ? 4 * a->room : FIRST;
        while (room < CHUNK && room < 4 * bytes)
            room *= 4;
        room = room < CHUNK ? room : CHUNK;
        struct arena_chunk *chunk = chunk_new(alone ? bytes : room);
        chunk->next = a->chunks;
        a->chunks = chunk;
        if (alone)
            return chunk->bytes;
        a->room = room;
        a->at = chunk->bytes;
        a->end = chunk->bytes + room;
    }
    void *here = a->at;
    a->at += bytes;
    return here;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        memory_exhausted(bytes);
    /* After a text, `at` may be anywhere. */
    size_t skip = -(uintptr_t)a->at & (ALIGNMENT - 1);
    if (skip && skip <= (size_t)(a->end - a->at))
        a->at += skip;
    return take(a, (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
}

char *arena_alloc_text(struct arena *a, size_t bytes)
{
    return take(a, bytes);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        memory_exhausted(SIZE_MAX);
    return arena_alloc(a, count * size);
}

char *arena_copy(struct arena *a, const char *text, size_t len)
{
    char *copy = arena_alloc_text(a, len + 1);
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* Formats twice: once for the length. Texts of messages are short and few. */
char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(a, (size_t)(len < 0 ? 0 : len) + 1);
    if (len > 0)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

void arena_join(struct arena *a, struct arena *from)
{
    /* Room left in the chunks of `from` is given up. */
    struct arena_chunk *last = from->chunks;
    while (last && last->next)
        last = last->next;
    if (last) {
        last->next = a->chunks;
        a->chunks = from->chunks;
    }
    *from = (struct arena){0};
}

/* The newest chunk that requests are cut from stays; only what was in use is zeroed. */
void arena_clear(struct arena *a)
{
    struct arena_chunk *kept = NULL;
    for (struct arena_chunk *next, *chunk = a->chunks; chunk; chunk = next) {
        next = chunk->next;
        if (a->at && chunk->bytes + a->room == a->end)
            kept = chunk;
        else
            memory_free(chunk);
    }
    if (kept) {
        memset(kept->bytes, 0, (size_t)(a->at - kept->bytes));
        kept->next = NULL;
        a->at = kept->bytes;
    }
    a->chunks = kept;
}

void arena_deinit(struct arena *a)
{
    for (struct arena_chunk *next, *chunk = a->chunks; chunk; chunk = next) {
        next = chunk->next;
        memory_free(chunk);
    }
    *a = (struct arena){0};
}

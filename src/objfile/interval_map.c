/* Which of several overlapping spans counts where: a sweep over them in the order of their starts,
 * with the open ones in a heap.
 *
 *     spans       a |-----------------|         rank 17
 *                 b     |-----|                 rank 5: counts before a
 *                 c        |------------|       rank 12
 *     segments      a   b     c         -
 *
 * At each place where a span begins or ends, the first of the heap is what counts from there on.
 * Spans that ended elsewhere in the heap are dropped when they come first. Sorting is most of the
 * work: n log n, whatever the spans are. Lookup is a binary search.
 *
 * What holds: segments ascend, neighbours differ in their span, and the last one has none. An
 * open span in the heap may have ended; what is first in it has not, after drop_first(). */
#include "objfile/debug_info.h"

#include "base/sort.h"

#include <string.h>

struct sweep {
    const struct span *spans;
    VEC(uint32_t) open; /* a heap: its first counts; ended spans are dropped when they come first */
};

/* The order of the heap: lower ranks first, of equal ones the span with the higher number. */
static bool counts_before(const struct sweep *s, uint32_t left, uint32_t right)
{
    const struct span *l = &s->spans[left], *r = &s->spans[right];
    return l->rank != r->rank ? l->rank < r->rank : l->id > r->id;
}

/* Of two places in the heap. */
static void swap(uint32_t *left, uint32_t *right)
{
    uint32_t kept = *left;
    *left = *right;
    *right = kept;
}

/* Sifts a span up that begins here. */
static void open_span(struct sweep *s, uint32_t span)
{
    vec_push(&s->open, span);
    uint32_t *heap = s->open.at;
    for (size_t at = s->open.len - 1; at; at = (at - 1) / 2) {
        size_t parent = (at - 1) / 2;
        if (!counts_before(s, heap[at], heap[parent]))
            break;
        swap(&heap[at], &heap[parent]);
    }
}

/* Takes away the span that counts, because it ended. */
static void drop_first(struct sweep *s)
{
    uint32_t *heap = s->open.at;
    size_t len = --s->open.len;
    heap[0] = heap[len];
    for (size_t at = 0;;) {
        size_t best = at, left = 2 * at + 1;
        if (left < len && counts_before(s, heap[left], heap[best]))
            best = left;
        if (left + 1 < len && counts_before(s, heap[left + 1], heap[best]))
            best = left + 1;
        if (best == at)
            return;
        swap(&heap[at], &heap[best]);
        at = best;
    }
}

/* `at` moves from one place where something begins or ends to the next. Spans without bytes never
 * count. */
void interval_map_init(struct interval_map *c, struct span *spans, size_t len)
{
    *c = (struct interval_map){0};
    if (!len || len >= UINT32_MAX)
        return;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct span *copy = ARENA_NEW(&scratch, struct span, len);
    memcpy(copy, spans, len * sizeof *spans);
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){spans[i].low, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        spans[i] = copy[order[i].item];
    arena_deinit(&scratch);
    struct sweep s = {.spans = spans};
    uint64_t at = spans[0].low;
    for (size_t next = 0; next < len || s.open.len;) {
        while (next < len && spans[next].low <= at)
            open_span(&s, (uint32_t)next++);
        while (s.open.len && spans[s.open.at[0]].high <= at)
            drop_first(&s);
        uint32_t id = s.open.len ? spans[s.open.at[0]].id : NO_SPAN;
        size_t done = c->segments.len;
        if (done ? c->segments.at[done - 1].id != id : id != NO_SPAN)
            vec_push(&c->segments, (struct segment){.start = at, .id = id});
        if (s.open.len)
            at = spans[s.open.at[0]].high;
        if (next < len && (!s.open.len || spans[next].low < at))
            at = spans[next].low;
    }
    vec_free(&s.open);
}

void interval_map_deinit(struct interval_map *c)
{
    vec_free(&c->segments);
}

/* SIZE_MAX, which is -1, before the first. */
size_t interval_map_find(const struct interval_map *c, uint64_t address)
{
    return PARTITION_POINT(c->segments.len, i, c->segments.at[i].start <= address) - 1;
}

/* NO_SPAN before the first segment, and where no span counts. */
uint32_t interval_map_at(const struct interval_map *c, uint64_t address)
{
    size_t found = interval_map_find(c, address);
    return found == SIZE_MAX ? NO_SPAN : c->segments.at[found].id;
}

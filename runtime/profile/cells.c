/* Cells of counting tables. See cells.h. */
#include "cells.h"

#include <stddef.h>

/* Writes both halves of the key of an empty cell at once. False if another thread was faster. */
#if defined(__x86_64__)
static bool cell_take(struct cell *c, uint64_t a, uint64_t b)
{
    uint64_t low = 0, high = 0;
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*(__uint128_t *)&c->a), "+a"(low), "+d"(high)
                     : "b"(a), "c"(b)
                     : "memory");
    return done;
}
#elif defined(__aarch64__)
static bool cell_take(struct cell *c, uint64_t a, uint64_t b)
{
    uint64_t x, y;
    uint32_t failed;
    __asm__ volatile("1: ldaxp %0, %1, %3\n"
                     "   orr %0, %0, %1\n"
                     "   cbnz %0, 2f\n"
                     "   stlxp %w2, %4, %5, %3\n"
                     "   cbnz %w2, 1b\n"
                     "   b 3f\n"
                     "2: clrex\n"
                     "3:\n"
                     : "=&r"(x), "=&r"(y), "=&r"(failed), "+Q"(*(__uint128_t *)&c->a)
                     : "r"(a), "r"(b)
                     : "memory");
    return x == 0;
}
#else
/* Without a double-width swap a bit of the last word is taken first and `a` published last. A taker
 * that never comes back leaves a cell that stays empty: slower, never wrong. */
static bool cell_take(struct cell *c, uint64_t a, uint64_t b)
{
    if (__atomic_fetch_or(&c->aside, CELL_TAKEN, __ATOMIC_ACQ_REL) & CELL_TAKEN)
        return false;
    __atomic_store_n(&c->b, b, __ATOMIC_RELAXED);
    __atomic_store_n(&c->a, a, __ATOMIC_RELEASE);
    return true;
}
#endif

static bool cell_is(struct cell *c, uint64_t a, uint64_t b)
{
    return __atomic_load_n(&c->a, __ATOMIC_ACQUIRE) == a &&
           __atomic_load_n(&c->b, __ATOMIC_RELAXED) == b;
}

/* Where a key is looked for: place 0 is that of the fast path. Others are for arcs that have no
 * room there although the segment is nearly empty: a larger one would not have any, as places
 * follow addresses. The fast path does not find those. */
static struct cell *place_of(struct segment *s, uint64_t a, uint64_t b, uint64_t number)
{
    bool is_first_of_arc = s->kind == MONARC_EXTENT_ARCS && !number;
    uint64_t place = is_first_of_arc ? arc_place(a, b) : cell_place(a + (number << 32), b);
    return (struct cell *)((char *)segment_cells(s) + (place & s->mask));
}

static struct cell *claim_at(struct segment *s, struct cell *c, uint64_t a, uint64_t b)
{
    for (int i = 0; i < PROBE_LIMIT; i++, c++) {
        if (__atomic_load_n(&c->a, __ATOMIC_ACQUIRE) == 0 && cell_take(c, a, b)) {
            __atomic_fetch_add(&s->used, 1, __ATOMIC_RELAXED);
            return c;
        }
        if (cell_is(c, a, b))
            return c;
    }
    return NULL;
}

static bool is_sparse(const struct segment *s)
{
    return __atomic_load_n(&s->used, __ATOMIC_RELAXED) < s->slots / SPARSE_PART;
}

struct cell *segment_claim(struct segment *s, uint64_t a, uint64_t b)
{
    struct cell *c = claim_at(s, place_of(s, a, b, 0), a, b);
    if (s->kind != MONARC_EXTENT_ARCS || (!is_sparse(s) && !s->has_more_places))
        return c;
    for (uint64_t i = 1; !c && i <= MORE_PLACES; i++) {
        s->has_more_places = true;
        c = claim_at(s, place_of(s, a, b, i), a, b);
    }
    return c;
}

struct cell *segment_find(struct segment *s, uint64_t a, uint64_t b)
{
    uint64_t places = s->has_more_places ? 1 + MORE_PLACES : 1;
    for (uint64_t i = 0; i < places; i++) {
        struct cell *c = place_of(s, a, b, i);
        for (int k = 0; k < PROBE_LIMIT; k++, c++)
            if (cell_is(c, a, b))
                return c;
    }
    return NULL;
}

/* Counting tables. See table.h. */
#include "cells.h"
#include "live.h"
#include "process.h"

#include <monarc/sidecar.h>

#define LARGEST_SEGMENT ((uint64_t)1 << 24)

/* Writes both halves of the key of an empty cell at once. False if somebody else was faster. */
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

static struct cell *place_of(struct segment *s, uint64_t a, uint64_t b)
{
    bool is_arcs = s->kind == MONARC_EXTENT_ARCS;
    uint64_t place = is_arcs ? arc_place(a, b) : cell_place(a, b);
    return (struct cell *)((char *)segment_cells(s) + (place & s->mask));
}

struct cell *segment_claim(struct segment *s, uint64_t a, uint64_t b)
{
    struct cell *c = place_of(s, a, b);
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

struct cell *segment_find(struct segment *s, uint64_t a, uint64_t b)
{
    struct cell *c = place_of(s, a, b);
    for (int i = 0; i < PROBE_LIMIT; i++, c++)
        if (cell_is(c, a, b))
            return c;
    return NULL;
}

struct segment *segment_new(struct process *p, uint32_t kind, uint64_t slots)
{
    struct segment *s = process_control(p, sizeof *s);
    if (!s)
        return NULL;
    void *cells = live_extent(p, kind, slots + PROBE_PAD, p->next_id);
    if (!cells)
        return NULL;
    s->kind = kind;
    s->slots = slots;
    s->offset = (char *)cells - (char *)s;
    s->first_id = p->next_id;
    p->next_id += slots + PROBE_PAD;
    s->next = p->segments;
    __atomic_store_n(&s->mask, (slots - 1) * sizeof(struct cell), __ATOMIC_RELEASE);
    __atomic_store_n(&p->segments, s, __ATOMIC_RELEASE);
    return s;
}

static bool segment_has_room(const struct segment *s)
{
    return __atomic_load_n(&s->used, __ATOMIC_RELAXED) < s->slots / 2;
}

/* Puts a segment in front of the chain. Lock held. */
static struct segment *put_in_front(struct process *p, struct table *t, uint32_t kind,
                                    uint64_t slots)
{
    struct segment *s = segment_new(p, kind, slots < LARGEST_SEGMENT ? slots : LARGEST_SEGMENT);
    if (s) {
        s->older = t->newest;
        __atomic_store_n(&t->newest, s, __ATOMIC_RELEASE);
    }
    return s;
}

/* A segment with room, unless there is no memory. */
static struct segment *table_grow(struct process *p, struct table *t, uint32_t kind, uint64_t slots)
{
    uint64_t mask;
    if (monarc_sealed)
        return NULL;
    process_lock(p, &mask);
    struct segment *s = t->newest; /* somebody may just have made it */
    if (!s || !segment_has_room(s) || s->spare)
        s = put_in_front(p, t, kind, s ? s->slots * 4 : slots);
    process_unlock(p, &mask);
    return s;
}

void table_reserve(struct process *p, struct table *t, uint32_t kind, uint64_t slots)
{
    uint64_t mask;
    process_lock(p, &mask);
    if (!t->newest || t->newest->slots < slots)
        put_in_front(p, t, kind, slots);
    process_unlock(p, &mask);
}

static struct cell *chain_find(struct segment *s, uint64_t a, uint64_t b)
{
    struct cell *c = NULL;
    for (; s && !c; s = s->older)
        c = segment_find(s, a, b);
    return c;
}

struct cell *table_claim(struct process *p, struct table *t, uint32_t kind, uint64_t slots,
                         uint64_t a, uint64_t b, bool whole_chain)
{
    struct segment *s = __atomic_load_n(&t->newest, __ATOMIC_ACQUIRE);
    struct cell *c = NULL;
    if (whole_chain && (c = chain_find(s, a, b)))
        return c;
    if (s && (c = segment_find(s, a, b)))
        return c;
    if (s && segment_has_room(s) && (c = segment_claim(s, a, b)))
        return c;
    if (s && segment_has_room(s))
        s->spare = 1; /* crowded around this place: grow although not half full */
    struct segment *grown = table_grow(p, t, kind, slots);
    if (grown && (c = segment_claim(grown, a, b)))
        return c;
    /* No memory: fill what there is to the brim. */
    return s ? segment_claim(s, a, b) : NULL;
}

struct cell *table_claim_locked(struct process *p, struct table *t, uint32_t kind, uint64_t slots,
                                uint64_t a, uint64_t b)
{
    struct segment *s = t->newest;
    struct cell *c = chain_find(s, a, b);
    if (!c && s && segment_has_room(s))
        c = segment_claim(s, a, b);
    if (!c && !monarc_sealed && (s = put_in_front(p, t, kind, s ? s->slots * 4 : slots)))
        c = segment_claim(s, a, b);
    return c;
}

uint64_t table_cell_id(struct table *t, const struct cell *c)
{
    struct segment *s = __atomic_load_n(&t->newest, __ATOMIC_ACQUIRE);
    for (; s; s = s->older) {
        struct cell *first = segment_cells(s);
        if (c >= first && c < first + segment_room(s))
            return s->first_id + (uint64_t)(c - first);
    }
    return 0;
}

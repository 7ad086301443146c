/* Counting tables. See table.h. */
#include "table.h"
#include "live.h"
#include "process.h"

#include <wire/sidecar.h>

#define LARGEST_SEGMENT ((uint64_t)1 << 24)

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
    struct segment *s = t->newest; /* another thread may just have made it */
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

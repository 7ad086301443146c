/* Counting calls: a table with open addressing, {caller, callee, count}, each slot filled once.
 *
 * An interrupt may come between any two instructions and count calls of its own. A slot is claimed
 * by swapping MONARC_CLAIMED into `from`; the arc's `from` follows last, so that no core counts
 * into an incomplete slot. An interrupt that needs the very arc meanwhile takes another slot: the
 * same arc twice is harmless, as readers sum. For the same reason a count that is full stays, and
 * the arc gets another slot. */
#include "control.h"

#define MONARC_CLAIMED ((uintptr_t)1)

/* Whether the call was counted in this slot. */
MONARC_INLINE bool count_in(struct monarc_arc *a, uintptr_t from, uintptr_t self)
{
    uintptr_t holds = *(volatile uintptr_t *)&a->from;
    if (!holds && monarc_swap(&a->from, 0, MONARC_CLAIMED)) {
        a->self = self;
        a->count = 1;
        MONARC_BARRIER();
        *(volatile uintptr_t *)&a->from = from;
        return true;
    }
    if (holds != from || a->self != self)
        return false;
    for (uintptr_t was = a->count; was != UINTPTR_MAX; was = *(volatile uintptr_t *)&a->count)
        if (monarc_swap(&a->count, was, was + 1))
            return true;
    return false;
}

static MONARC_QUIET void count_call(struct monarc_control *c, uintptr_t from, uintptr_t self)
{
    uint32_t slot = monarc_slot(from, self, c->slots);
    for (unsigned probes = MONARC_PROBES; probes; probes--) {
        if (count_in(&c->arcs[slot], from, self))
            return;
        if (++slot == c->slots)
            slot = 0;
    }
    monarc_bump(&c->head->word[MONARC_BLOB_LOST]);
}

/* With masks, who comes in between is an NMI. */
MONARC_INLINE void set_busy(struct monarc_control *c, uint32_t is_busy)
{
#if MONARC_MASKS
    MONARC_BARRIER();
    c->is_busy = is_busy;
    MONARC_BARRIER();
#else
    (void)c;
    (void)is_busy;
#endif
}

MONARC_QUIET __attribute__((used)) void monarc_embedded_call(uintptr_t from, uintptr_t self)
{
    struct monarc_control *c = &monarc_control[MONARC_CORE()];
    if (c->state != MONARC_ON || from <= MONARC_CLAIMED)
        return;
    uintptr_t before = monarc_mask();
#if MONARC_MASKS
    if (c->is_busy) {
        monarc_bump(&c->head->word[MONARC_BLOB_NESTED]);
        monarc_unmask(before);
        return;
    }
#endif
    set_busy(c, 1);
    count_call(c, from, self);
    set_busy(c, 0);
    monarc_unmask(before);
}

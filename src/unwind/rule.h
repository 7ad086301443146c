/* How one gets from a frame to its caller, in eight bytes, and a cache of that by address.
 *
 * Nine of ten places need no more than where the canonical frame address (CFA: the stack pointer
 * before the call) is, and where in the stack the return address and the frame pointer are. Private
 * to this room. */
#ifndef MONARC_UNWIND_RULE_H
#define MONARC_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
    RULE_NONE, /* not known yet */
    RULE_SP,   /* CFA = stack pointer + cfa_offset */
    RULE_FP,   /* CFA = frame pointer + cfa_offset */
    RULE_ROW,  /* more than fits here: from the FDE at `fde` */
    RULE_SIGNAL,
    RULE_OUTERMOST,
    RULE_NO_FDE,
    RULE_BROKEN,
};

struct rule {
    uint32_t kind : 8;
    int32_t cfa_offset : 24; /* RULE_ROW, RULE_SIGNAL: 1 if the FDE is in .debug_frame */
    union {
        struct {
            int16_t fp_slot; /* the frame pointer is at CFA + 8 * fp_slot; 0: it is kept */
            int16_t ra_slot; /* the return address likewise; 0: in its register */
        };
        uint32_t fde;
    };
};

_Static_assert(sizeof(struct rule) == 8, "a rule is one word");

/* Sets of four places, each a cache line; within a set the newest comes first. */
enum { RULE_WAYS = 4 };

struct rule_set {
    uint64_t address[RULE_WAYS];
    struct rule rule[RULE_WAYS];
};

struct rule_cache {
    struct rule_set *sets; /* 2^sets_log2 */
    void *memory;          /* to free */
    unsigned sets_log2;
};

bool rule_cache_init(struct rule_cache *c, unsigned sets_log2);
void rule_cache_deinit(struct rule_cache *c);

static inline struct rule_set *rule_set_of(const struct rule_cache *c, uint64_t address)
{
    return &c->sets[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - c->sets_log2)];
}

/* RULE_NONE: not in the cache. */
static inline struct rule rule_cached(const struct rule_cache *c, uint64_t address)
{
    const struct rule_set *set = rule_set_of(c, address);
    for (int i = 0; i < RULE_WAYS; i++)
        if (set->address[i] == address)
            return set->rule[i];
    return (struct rule){.kind = RULE_NONE};
}

/* The oldest of the set gives way. */
void rule_keep(struct rule_cache *c, uint64_t address, struct rule rule);

#endif

/* Rules out of unwind tables. Private to this room. */
#ifndef MONARC_UNWIND_RULE_MAKE_H
#define MONARC_UNWIND_RULE_MAKE_H

#include "unwind/tables.h"

/* The rule at a link address, from the tables; it is kept in their cache. */
struct rule rule_make(struct unwind_tables *t, uint64_t address);

/* The same, from the cache if it is there. */
static inline struct rule rule_at(struct unwind_tables *t, uint64_t address)
{
    struct rule rule = rule_cached(&t->cache, address);
    return rule.kind == RULE_NONE ? rule_make(t, address) : rule;
}

#endif

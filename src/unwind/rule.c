/* Keeping rules. */
#include "unwind/rule.h"

#include <stdlib.h>

bool rule_cache_init(struct rule_cache *c, unsigned sets_log2)
{
    /* Zeroed, untouched by us: large ones take memory only where rules are kept. */
    c->memory = calloc(((size_t)1 << sets_log2) + 1, sizeof *c->sets);
    if (!c->memory)
        return false;
    uintptr_t line = sizeof *c->sets;
    c->sets = (struct rule_set *)(((uintptr_t)c->memory + line - 1) & ~(line - 1));
    c->sets_log2 = sets_log2;
    return true;
}

void rule_cache_deinit(struct rule_cache *c)
{
    free(c->memory);
    c->memory = c->sets = NULL;
}

void rule_keep(struct rule_cache *c, uint64_t address, struct rule rule)
{
    struct rule_set *set = rule_set_of(c, address);
    for (int i = RULE_WAYS - 1; i > 0; i--) {
        set->address[i] = set->address[i - 1];
        set->rule[i] = set->rule[i - 1];
    }
    set->address[0] = address;
    set->rule[0] = rule;
}

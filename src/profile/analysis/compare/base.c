/* Looking a base up. */
#include "profile/analysis/compare/base.h"

void base_make(struct base *b)
{
    struct comparison_rules rules = {.confidence = 0.99, .shows_all = true, .noise = NOISE_OF_RUNS};
    comparison_make(&b->comparison, &b->old, &b->new, &rules, &b->arena);
    b->change_of = ARENA_NEW(&b->arena, const struct change *, b->new.ids.len);
    for (uint32_t i = 0; i < b->comparison.len; i++)
        if (b->comparison.rows[i].new != NO_FUNCTION)
            b->change_of[b->comparison.rows[i].new] = &b->comparison.rows[i];
}

void base_deinit(struct base *b)
{
    comparison_deinit(&b->comparison);
    side_deinit(&b->old);
    side_deinit(&b->new);
    arena_deinit(&b->arena);
}

const struct change *base_of(const struct base *b, uint32_t function)
{
    return function < b->new.ids.len ? b->change_of[function] : NULL;
}

double base_arc_calls(const struct base *b, uint32_t caller, uint32_t callee)
{
    if (caller >= b->new.ids.len || callee >= b->new.ids.len)
        return 0;
    const uint32_t *old = b->comparison.match.old_of;
    const uint32_t *arc = map_find(&b->old.arc_of, old[caller], old[callee]);
    return arc ? (double)b->old.arcs.at[*arc].calls / b->old.runs : 0;
}

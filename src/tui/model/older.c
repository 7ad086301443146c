/* Matching and judging, by the rules of `monarc diff`. */
#include "tui/model/older.h"

#include <string.h>

/* With this confidence for all functions together, or all lines of a source. */
#define CONFIDENCE 0.95

bool older_is_meant(double chance)
{
    return chance < 1 - CONFIDENCE;
}

struct measured_share older_share(const struct summary *s, double self)
{
    double samples = s->effective > 0 ? s->effective : s->samples;
    return (struct measured_share){summary_share(s, self), samples, 0, 1};
}

/* One test for each function that either side has samples of. */
static void judge(struct older *o, const struct measurement *now)
{
    const struct session *s = &now->session;
    const struct summary *then = &o->measured->session.summary;
    struct arena scratch = {0};
    double *chances = ARENA_NEW(&scratch, double, s->functions.len + o->flat.len);
    bool **verdicts = ARENA_NEW(&scratch, bool *, s->functions.len + o->flat.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct flat_row *row = older_row(o, i);
        double self = s->graph.nodes[i].self, before = row ? row->self : 0;
        if (self <= 0 && before <= 0)
            continue;
        struct measured_share a = older_share(then, before), b = older_share(&s->summary, self);
        chances[len] = share_difference_chance(&a, &b);
        verdicts[len++] = &o->is_meant_now[i];
    }
    for (uint32_t i = 0; i < o->flat.len; i++) {
        const struct flat_row *row = &o->flat.rows[i];
        if (row->self <= 0 || o->match.new_of[row->function] != NO_FUNCTION)
            continue;
        struct measured_share a = older_share(then, row->self), b = older_share(&s->summary, 0);
        chances[len] = share_difference_chance(&a, &b);
        verdicts[len++] = &o->is_meant_then[i];
    }
    chances_adjust(chances, len);
    for (uint32_t i = 0; i < len; i++)
        *verdicts[i] = older_is_meant(chances[i]);
    arena_deinit(&scratch);
}

void older_make(struct older *o, struct measurement *old, const struct measurement *now)
{
    static const struct filter ALL;
    struct view_rules rules = {.filter = &ALL};
    struct session *s = &old->session;
    struct identities before, after;
    *o = (struct older){.measured = old};
    flat_make(&o->flat, &s->summary, &s->graph, &s->names, &rules, &o->arena);
    identities_of(&before, &s->functions, NULL, &o->arena);
    identities_of(&after, &now->session.functions, NULL, &o->arena);
    match_identities(&o->match, &before, &after, &o->arena);
    o->row_of = ARENA_NEW(&o->arena, uint32_t, before.len);
    memset(o->row_of, -1, before.len * sizeof *o->row_of);
    for (uint32_t i = 0; i < o->flat.len; i++)
        o->row_of[o->flat.rows[i].function] = i;
    o->is_meant_now = ARENA_NEW(&o->arena, bool, after.len);
    o->is_meant_then = ARENA_NEW(&o->arena, bool, o->flat.len);
    judge(o, now);
}

void older_deinit(struct older *o)
{
    arena_deinit(&o->arena);
    *o = (struct older){0};
}

const struct flat_row *older_row(const struct older *o, uint32_t function)
{
    uint32_t old = o->match.old_of[function];
    uint32_t row = old == NO_FUNCTION ? UINT32_MAX : o->row_of[old];
    return row == UINT32_MAX ? NULL : &o->flat.rows[row];
}

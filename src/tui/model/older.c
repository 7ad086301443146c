/* Matching and judging, by the rules of `monarc diff`. */
#include "tui/model/older.h"

#include <string.h>

/* As `monarc diff` has it, with its confidence for all functions together, or all lines of a
 * source. */
#define CONFIDENCE 0.99

bool older_is_meant(double chance)
{
    return chance < 1 - CONFIDENCE;
}

/* Time as one run measured it, or where a sample's worth is not known, its share. */
static struct amount older_amount(const struct summary *s, double self, bool has_times)
{
    double samples = s->effective > 0 ? s->effective : s->samples;
    struct amount m = amount_of_share(summary_share(s, self), samples);
    if (!has_times)
        return m;
    double worth = s->samples / s->rate;
    m.mean = m.base = summary_time(s, self);
    m.sampling *= worth * worth;
    return m;
}

double older_chance(const struct summary *then, double before, const struct summary *now,
                    double after, const char *name)
{
    bool has_times = then->rate > 0 && now->rate > 0 && then->dimension && now->dimension &&
                     !strcmp(then->dimension, now->dimension);
    struct amount old = older_amount(then, before, has_times);
    struct amount new = older_amount(now, after, has_times);
    bool is_kernel = name && (!strncmp(name, "[kernel", 7) || !strncmp(name, "[waiting", 8));
    struct noise noise;
    struct difference d;
    noise_assume(&noise, NOISE_OF_RUNS, CONFIDENCE);
    difference_make(&d, &old, &new, &noise, is_kernel ? NOISE_KERNEL : NOISE_CODE);
    return difference_chance(&d);
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
        chances[len] = older_chance(then, before, &s->summary, self, s->functions.at[i].name);
        verdicts[len++] = &o->is_meant_now[i];
    }
    for (uint32_t i = 0; i < o->flat.len; i++) {
        const struct flat_row *row = &o->flat.rows[i];
        if (row->self <= 0 || o->match.new_of[row->function] != NO_FUNCTION)
            continue;
        chances[len] = older_chance(then, row->self, &s->summary, 0,
                                    o->measured->session.functions.at[row->function].name);
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

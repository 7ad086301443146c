/* Making the comparison. */
#include "profile/analysis/compare/comparison.h"

#include "base/sort.h"
#include "profile/analysis/compare/similar.h"

#include <math.h>
#include <string.h>

const char *const change_kind_names[] = {[CHANGE_KEPT] = "kept",
                                         [CHANGE_NEW] = "new",
                                         [CHANGE_GONE] = "gone",
                                         [CHANGE_MOVED] = "moved",
                                         [CHANGE_RENAMED] = "renamed"};

const struct identity *change_identity(const struct comparison *c, const struct change *row)
{
    return row->new != NO_FUNCTION ? &c->new->ids.at[row->new] : &c->old->ids.at[row->old];
}

const char *change_name(const struct comparison *c, const struct change *row)
{
    if (row->new != NO_FUNCTION && c->new->functions[row->new].shown)
        return c->new->functions[row->new].shown;
    if (row->old != NO_FUNCTION && c->old->functions[row->old].shown)
        return c->old->functions[row->old].shown;
    return change_identity(c, row)->name;
}

double change_calls_growth(const struct change *row)
{
    if (row->old_calls == row->new_calls)
        return 0;
    return row->old_calls > 0 ? row->new_calls / row->old_calls - 1 : INFINITY;
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool comparison_is_measured(const struct comparison *c, uint32_t old, uint32_t new)
{
    return (old != NO_FUNCTION && c->old->functions[old].shown) ||
           (new != NO_FUNCTION && c->new->functions[new].shown);
}

static struct share_change comparison_share(const struct measured_share *old,
                                            const struct measured_share *new, bool is_measured)
{
    return (struct share_change){.old = old->share,
                                 .new = new->share,
                                 .chance = is_measured ? share_difference_chance(old, new) : -1};
}

/* Rows that stand for what is no function have no builds to be new in. */
static bool comparison_has_builds(const struct identity *id)
{
    return !id->is_made || id->build;
}

static enum change_kind comparison_kind(const struct comparison *c, uint32_t old, uint32_t new)
{
    static const enum change_kind OF_MATCH[] = {
        [MATCH_SAME] = CHANGE_KEPT, [MATCH_MOVED] = CHANGE_MOVED, [MATCH_RENAMED] = CHANGE_RENAMED};
    if (old == NO_FUNCTION)
        return comparison_has_builds(&c->new->ids.at[new]) ? CHANGE_NEW : CHANGE_KEPT;
    if (new == NO_FUNCTION)
        return comparison_has_builds(&c->old->ids.at[old]) ? CHANGE_GONE : CHANGE_KEPT;
    return OF_MATCH[c->match.kind[new]];
}

static bool comparison_calls_differ(const struct comparison *c, const struct change *row)
{
    static const struct side_function NOTHING = {0};
    const struct side_function *o =
        row->old == NO_FUNCTION ? &NOTHING : &c->old->functions[row->old];
    const struct side_function *n =
        row->new == NO_FUNCTION ? &NOTHING : &c->new->functions[row->new];
    uint64_t least_old = o->runs < c->old->runs ? 0 : o->least_calls;
    uint64_t least_new = n->runs < c->new->runs ? 0 : n->least_calls;
    return n->most_calls < least_old || o->most_calls < least_new;
}

static struct change comparison_row(const struct comparison *c, uint32_t old, uint32_t new)
{
    struct measured_share old_self = side_self(c->old, old), new_self = side_self(c->new, new);
    struct measured_share old_total = side_total(c->old, old), new_total = side_total(c->new, new);
    bool has_totals = c->compares_samples && c->old->has_stacks && c->new->has_stacks;
    struct change row = {.old = old,
                         .new = new,
                         .kind = comparison_kind(c, old, new),
                         .self = comparison_share(&old_self, &new_self, c->compares_samples),
                         .total = comparison_share(&old_total, &new_total, has_totals),
                         .old_calls = side_calls(c->old, old),
                         .new_calls = side_calls(c->new, new)};
    row.calls_differ = c->compares_calls && comparison_calls_differ(c, &row);
    return row;
}

static uint32_t comparison_gather(const struct comparison *c, struct change *rows)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < c->new->ids.len; i++)
        if (comparison_is_measured(c, c->match.old_of[i], i))
            rows[len++] = comparison_row(c, c->match.old_of[i], i);
    for (uint32_t i = 0; i < c->old->ids.len; i++)
        if (c->match.new_of[i] == NO_FUNCTION && comparison_is_measured(c, i, NO_FUNCTION))
            rows[len++] = comparison_row(c, i, NO_FUNCTION);
    return len;
}

/* --- chances --------------------------------------------------------------------------------- */

/* Only what could be told apart at all is asked about: the rest has a chance of 1 and would make
 * the correction severer for nothing. */
static void comparison_adjust(struct comparison *c, struct change *rows, uint32_t len,
                              size_t member, struct arena *a)
{
    double *chances = ARENA_NEW(a, double, len);
    struct share_change **asked = ARENA_NEW(a, struct share_change *, len);
    uint32_t n = 0;
    for (uint32_t i = 0; i < len; i++) {
        struct share_change *s = (struct share_change *)((char *)&rows[i] + member);
        if (s->chance < 0 || s->chance >= 1)
            continue;
        chances[n] = s->chance;
        asked[n++] = s;
    }
    chances_adjust(chances, n);
    for (uint32_t i = 0; i < n; i++) {
        asked[i]->chance = chances[i];
        asked[i]->is_meant = chances[i] < 1 - c->rules.confidence &&
                             fabs(asked[i]->new - asked[i]->old) >= c->rules.least;
    }
}

/* --- order ----------------------------------------------------------------------------------- */

struct change_sort {
    const struct comparison *c;
    const struct change *rows;
};

static int comparison_larger_first(double left, double right)
{
    return (left < right) - (left > right);
}

/* Changes of time that are meant, then exact changes of calls, then the rest. */
static int comparison_change_class(const struct change *r)
{
    if (r->self.is_meant || r->total.is_meant)
        return 0;
    return r->calls_differ ? 1 : r->kind != CHANGE_KEPT ? 2 : 3;
}

static double comparison_change_size(const struct share_change *s)
{
    return fabs(s->new - s->old);
}

static int comparison_by_importance(const struct change *l, const struct change *r)
{
    int by = comparison_change_class(l) - comparison_change_class(r);
    if (!by && comparison_change_class(l) != 1)
        by = comparison_larger_first(comparison_change_size(&l->self),
                                     comparison_change_size(&r->self));
    if (!by)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by
              : comparison_larger_first(comparison_change_size(&l->total),
                                        comparison_change_size(&r->total));
}

static int comparison_compare_changes(uint32_t left, uint32_t right, const void *context)
{
    const struct change_sort *s = context;
    const struct change *l = &s->rows[left], *r = &s->rows[right];
    const struct comparison_rules *rules = &s->c->rules;
    int by = 0;
    if (!rules->has_sort)
        by = comparison_by_importance(l, r);
    else if (rules->sort == BY_SELF)
        by = comparison_larger_first(comparison_change_size(&l->self),
                                     comparison_change_size(&r->self));
    else if (rules->sort == BY_TOTAL)
        by = comparison_larger_first(comparison_change_size(&l->total),
                                     comparison_change_size(&r->total));
    else if (rules->sort == BY_CALLS)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by : strcmp(change_name(s->c, l), change_name(s->c, r));
}

static void comparison_count(struct comparison *c, const struct change *row)
{
    c->changed += change_is_any(row);
    c->by_kind[row->kind]++;
    c->calls_changed += row->calls_differ;
    c->self_changed += row->self.is_meant;
    c->total_changed += row->total.is_meant;
}

static void comparison_choose(struct comparison *c, const struct change *rows, uint32_t len,
                              struct arena *scratch, struct arena *a)
{
    uint32_t *order = ARENA_NEW(scratch, uint32_t, len);
    for (uint32_t i = 0; i < len; i++)
        order[i] = i;
    sort_u32(order, len, comparison_compare_changes, &(struct change_sort){c, rows});
    c->rows = ARENA_NEW(a, struct change, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct change *row = &rows[order[i]];
        comparison_count(c, row);
        if (!c->rules.shows_all && !change_is_any(row))
            c->unchanged++;
        else if (c->rules.limit && c->len >= c->rules.limit)
            c->limited++;
        else
            c->rows[c->len++] = *row;
    }
}

void comparison_make(struct comparison *c, const struct side *old, const struct side *new,
                     const struct comparison_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    *c = (struct comparison){.old = old,
                             .new = new,
                             .rules = *rules,
                             .compares_samples = old->samples > 0 && new->samples > 0,
                             .compares_calls = old->has_calls &&new->has_calls};
    match_identities(&c->match, &old->ids, &new->ids, a);
    c->has_renames = new->is_of_lines || match_similar(&c->match, old, new);
    struct change *rows = ARENA_NEW(&scratch, struct change, (size_t)old->ids.len + new->ids.len);
    uint32_t len = comparison_gather(c, rows);
    comparison_adjust(c, rows, len, offsetof(struct change, self), &scratch);
    comparison_adjust(c, rows, len, offsetof(struct change, total), &scratch);
    comparison_choose(c, rows, len, &scratch, a);
    arena_deinit(&scratch);
}

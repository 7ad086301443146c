/* Making the comparison: rows of both sides, then chances by what runs differ by, then order. */
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
    struct change row = {.old = old,
                         .new = new,
                         .kind = comparison_kind(c, old, new),
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

enum noise_kind comparison_noise_kind(const struct comparison *c, const struct change *row)
{
    const struct identity *id = change_identity(c, row);
    const char *object = id->object ? id->object : "";
    bool is_kernel =
        (id->is_made && (!strncmp(id->name, "[kernel", 7) || !strncmp(id->name, "[waiting", 8))) ||
        !strncmp(object, "[kernel", 7);
    return is_kernel ? NOISE_KERNEL : NOISE_CODE;
}

/* One of the four measured changes of rows. */
struct change_member {
    size_t offset;
    struct amount (*of)(const struct side *s, uint32_t function, enum side_measure m);
    enum side_measure measure;
    bool is_judged;
    double least;
};

static struct measured_change *comparison_change_member(struct change *row,
                                                        const struct change_member *m)
{
    return (struct measured_change *)((char *)row + m->offset);
}

/* Only what could be told apart at all is asked about: the rest has a chance of 1 and would make
 * the correction severer for nothing. */
static void comparison_adjust(struct comparison *c, struct change *rows, uint32_t len,
                              const struct change_member *m, struct arena *a)
{
    double *chances = ARENA_NEW(a, double, len);
    struct measured_change **asked = ARENA_NEW(a, struct measured_change *, len);
    uint32_t n = 0;
    for (uint32_t i = 0; i < len; i++) {
        struct measured_change *s = comparison_change_member(&rows[i], m);
        if (s->chance < 0 || s->chance >= 1)
            continue;
        chances[n] = s->chance;
        asked[n++] = s;
    }
    chances_adjust(chances, n);
    for (uint32_t i = 0; i < n; i++) {
        asked[i]->chance = chances[i];
        asked[i]->is_meant =
            chances[i] < 1 - c->rules.confidence && fabs(asked[i]->new - asked[i]->old) >= m->least;
    }
}

static void comparison_measure(struct comparison *c, struct change *rows, uint32_t len,
                               const struct change_member *m, struct noise *noise, struct arena *a)
{
    struct noise_pair *pairs = ARENA_NEW(a, struct noise_pair, len);
    bool has_waits = false;
    for (uint32_t i = 0; i < len; i++) {
        enum noise_kind kind = comparison_noise_kind(c, &rows[i]);
        pairs[i] = (struct noise_pair){m->of(c->old, rows[i].old, m->measure),
                                       m->of(c->new, rows[i].new, m->measure), kind};
        has_waits |= !strncmp(change_identity(c, &rows[i])->name, "[waiting", 8);
    }
    for (uint32_t i = 0; i < len && has_waits && m->measure == SIDE_TOTAL; i++)
        pairs[i].kind = NOISE_KERNEL; /* callees wait in it, for whatever others do */
    noise_assume(noise, c->rules.noise, c->rules.confidence);
    noise_learn(noise, pairs, len);
    for (uint32_t i = 0; i < len; i++) {
        struct measured_change *s = comparison_change_member(&rows[i], m);
        struct difference d;
        *s = (struct measured_change){pairs[i].old.mean, pairs[i].new.mean, -1, -1, false};
        if (!m->is_judged)
            continue;
        difference_make(&d, &pairs[i].old, &pairs[i].new, noise, pairs[i].kind);
        s->margin = d.margin;
        s->chance = difference_chance(&d);
    }
    comparison_adjust(c, rows, len, m, a);
}

static void comparison_judge(struct comparison *c, struct change *rows, uint32_t len,
                             struct arena *a)
{
    bool has_totals = c->compares_samples && c->old->has_stacks && c->new->has_stacks;
    bool has_time = c->compares_time, has_total_time = has_totals && has_time;
    double share = c->rules.least, time = c->old->runs ? share * c->old->time / c->old->runs : 0;
    const struct change_member members[] = {
        {offsetof(struct change, self_time), side_time_of, SIDE_SELF, has_time, time},
        {offsetof(struct change, total_time), side_time_of, SIDE_TOTAL, has_total_time, time},
        {offsetof(struct change, self), side_share_of, SIDE_SELF, c->compares_samples, share},
        {offsetof(struct change, total), side_share_of, SIDE_TOTAL, has_totals, share}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct noise noise;
        comparison_measure(c, rows, len, &members[i], &noise, a);
        if (!i)
            c->times = noise;
    }
}

/* That a function is on one side alone says something only of counted calls: samples fall into
 * small functions of a run or do not. */
static bool comparison_is_counted(const struct comparison *c, const struct change *r)
{
    return c->compares_calls && r->old_calls + r->new_calls > 0;
}

/* Times with callees speak where no time of its own does, but those of main() and whatever else
 * holds nearly everything: the runs' totals say the same. */
static bool comparison_total_speaks(const struct comparison *c, const struct change *r)
{
    const double WHOLE = 0.9;
    return change_total(c, r)->is_meant && (r->total.old < WHOLE || r->total.new < WHOLE);
}

static void comparison_find(struct comparison *c, struct change *rows, uint32_t len)
{
    bool has_self = false;
    for (uint32_t i = 0; i < len; i++)
        has_self |= change_self(c, &rows[i])->is_meant;
    bool asks_totals = !has_self || (c->rules.has_sort && c->rules.sort == BY_TOTAL);
    for (uint32_t i = 0; i < len; i++) {
        struct change *r = &rows[i];
        bool is_other = r->kind == CHANGE_NEW || r->kind == CHANGE_GONE;
        r->is_found = change_self(c, r)->is_meant || r->calls_differ ||
                      (asks_totals && comparison_total_speaks(c, r)) ||
                      (is_other && comparison_is_counted(c, r));
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
static int comparison_change_class(const struct comparison *c, const struct change *r)
{
    if (change_self(c, r)->is_meant)
        return 0;
    if (change_total(c, r)->is_meant && r->is_found)
        return 1;
    return r->calls_differ ? 2 : r->is_found ? 3 : 4;
}

static double comparison_change_size(const struct measured_change *s)
{
    return fabs(s->new - s->old);
}

static int comparison_by_importance(const struct comparison *c, const struct change *l,
                                    const struct change *r)
{
    int class = comparison_change_class(c, l), by = class - comparison_change_class(c, r);
    double self = comparison_change_size(change_self(c, l)),
           other_self = comparison_change_size(change_self(c, r));
    double total = comparison_change_size(change_total(c, l)),
           other_total = comparison_change_size(change_total(c, r));
    if (!by && class == 1)
        by = comparison_larger_first(total, other_total);
    if (!by && class != 2)
        by = comparison_larger_first(self, other_self);
    if (!by)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by : comparison_larger_first(total, other_total);
}

static int comparison_compare_changes(uint32_t left, uint32_t right, const void *context)
{
    const struct change_sort *s = context;
    const struct comparison *c = s->c;
    const struct change *l = &s->rows[left], *r = &s->rows[right];
    int by = 0;
    if (!c->rules.has_sort)
        by = comparison_by_importance(c, l, r);
    else if (c->rules.sort == BY_SELF)
        by = comparison_larger_first(comparison_change_size(change_self(c, l)),
                                     comparison_change_size(change_self(c, r)));
    else if (c->rules.sort == BY_TOTAL)
        by = comparison_larger_first(comparison_change_size(change_total(c, l)),
                                     comparison_change_size(change_total(c, r)));
    else if (c->rules.sort == BY_CALLS)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by : strcmp(change_name(c, l), change_name(c, r));
}

static void comparison_count(struct comparison *c, const struct change *row)
{
    c->changed += row->is_found;
    bool is_other = row->kind == CHANGE_NEW || row->kind == CHANGE_GONE;
    c->by_kind[row->kind] += !is_other || comparison_is_counted(c, row);
    c->calls_changed += row->calls_differ;
    c->self_changed += change_self(c, row)->is_meant;
    c->total_changed += change_total(c, row)->is_meant;
    c->found_time += row->self_time.is_meant ? row->self_time.new - row->self_time.old : 0;
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
        if (!c->rules.shows_all && !row->is_found)
            c->unchanged++;
        else if (c->rules.limit && c->len >= c->rules.limit)
            c->limited++;
        else
            c->rows[c->len++] = *row;
    }
}

/* Times of a run that somebody attached to are of the stretch that was recorded. */
static bool comparison_side_is_part(const struct side *s)
{
    for (size_t i = 0; i < s->facts.len; i++)
        if (s->facts.at[i].is_part)
            return true;
    return false;
}

void comparison_make(struct comparison *c, const struct side *old, const struct side *new,
                     const struct comparison_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    bool is_one_dimension =
        old->dimension && new->dimension && !strcmp(old->dimension, new->dimension);
    *c = (struct comparison){.old = old,
                             .new = new,
                             .rules = *rules,
                             .compares_samples = old->samples > 0 && new->samples > 0,
                             .compares_calls = old->has_calls &&new->has_calls,
                             .is_assumed = old->runs < 2 && new->runs < 2};
    c->compares_time = c->compares_samples && old->has_time && new->has_time &&is_one_dimension &&
                       !comparison_side_is_part(old) && !comparison_side_is_part(new);
    c->by_share = rules->by_share || !c->compares_time;
    match_identities(&c->match, &old->ids, &new->ids, a);
    c->has_renames = new->is_of_lines || match_similar(&c->match, old, new);
    struct change *rows = ARENA_NEW(&scratch, struct change, (size_t)old->ids.len + new->ids.len);
    uint32_t len = comparison_gather(c, rows);
    comparison_judge(c, rows, len, &scratch);
    comparison_find(c, rows, len);
    comparison_choose(c, rows, len, &scratch, a);
    comparison_judge_totals(c, a);
    arena_deinit(&scratch);
}

void comparison_deinit(struct comparison *c)
{
    vec_free(&c->totals);
}

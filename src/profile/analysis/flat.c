/* Making the flat profile. */
#include "profile/analysis/flat.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

struct flat_sort {
    const struct flat_row *rows;
    struct names *names;
};

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct flat_sort *o = context;
    return strcmp(names_get(o->names, o->rows[left].function),
                  names_get(o->names, o->rows[right].function));
}

static uint64_t key_of(const struct flat_row *r, enum view_sort by)
{
    switch (by) {
    case BY_TOTAL: return sort_descending(r->total);
    case BY_CALLS: return ~r->calls;
    default: return sort_descending(r->self);
    }
}

static void sort_rows_by(struct keyed *sorted, uint32_t len, const struct flat_row *rows,
                         enum view_sort by)
{
    for (uint32_t i = 0; i < len; i++)
        sorted[i].key = key_of(&rows[sorted[i].item], by);
    sort_keyed(sorted, len);
}

static bool is_tie(const struct flat_row *l, const struct flat_row *r, enum view_sort by)
{
    return key_of(l, by) == key_of(r, by) && l->self == r->self && l->calls == r->calls;
}

/* Ties go to self, calls, then name: names are compared last, and only where all else is equal. */
static void sort_rows(struct keyed *sorted, uint32_t len, const struct flat_sort *o,
                      enum view_sort by)
{
    uint64_t ties = 0;
    if (by != BY_NAME) {
        sort_rows_by(sorted, len, o->rows, BY_CALLS);
        sort_rows_by(sorted, len, o->rows, BY_SELF);
    }
    if (by == BY_TOTAL || by == BY_CALLS)
        sort_rows_by(sorted, len, o->rows, by);
    for (uint32_t i = 0; i < len; i++) {
        if (i && by != BY_NAME)
            ties += !is_tie(&o->rows[sorted[i - 1].item], &o->rows[sorted[i].item], by);
        sorted[i].key = ties;
    }
    sort_equals(sorted, len, by_name, o);
}

static struct flat_row row_of(const struct graph *g, const struct summary *s, uint32_t i)
{
    const struct graph_node *n = &g->nodes[i];
    bool is_inlined = g->functions->at[i].is_inlined; /* no call was counted: no model */
    double model = is_inlined ? -1 : n->self + n->children,
           self = s->measured ? s->measured->self[i] : n->self;
    return (struct flat_row){.function = i,
                             .is_profiler = function_is_profiler(g->functions, i),
                             .self = self,
                             .total = s->stacks    ? s->stacks->inclusive[i]
                                      : is_inlined ? self
                                                   : model,
                             .model = model,
                             .calls = n->calls + n->self_calls,
                             .recursive_calls = n->self_calls,
                             .interval = summary_self_interval(s, i, self)};
}

static bool is_in_others(const struct summary *s, uint32_t function)
{
    for (size_t i = 0; i < s->others.len; i++)
        if (s->others.at[i].self[function] > 0)
            return true;
    return false;
}

static void omit(struct flat *t, const struct flat_row *r)
{
    if (r->self == 0 && !r->calls && r->total == 0)
        return;
    t->omitted.functions++;
    t->omitted.self += r->self;
    t->omitted.calls += r->calls;
}

/* Rows in table order that pass everything but the limit. */
static uint32_t gather(struct flat *t, const struct graph *g, struct names *names,
                       const struct view_rules *rules, struct flat_row *rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->functions->len; i++) {
        struct flat_row r = row_of(g, t->summary, i);
        bool is_idle = r.self == 0 && !r.calls && r.total == 0 && !is_in_others(t->summary, i);
        if (is_idle && !rules->shows_all)
            continue;
        t->has_fractions |= !t->summary->run && r.self != floor(r.self);
        if (100 * summary_share(t->summary, r.self) < rules->min_percent ||
            !filter_admits(rules->filter, names, i))
            omit(t, &r);
        else
            rows[kept++] = r;
    }
    return kept;
}

void flat_make(struct flat *t, const struct summary *s, const struct graph *g, struct names *names,
               const struct view_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t n = g->functions->len;
    *t = (struct flat){.summary = s, .shows_model = rules->shows_model && s->stacks};
    struct flat_row *rows = ARENA_NEW(&scratch, struct flat_row, n);
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, n);
    uint32_t kept = gather(t, g, names, rules, rows);
    for (uint32_t i = 0; i < kept; i++)
        sorted[i].item = i;
    enum view_sort sort = rules->has_sort ? rules->sort : s->has_samples ? BY_SELF : BY_CALLS;
    sort_rows(sorted, kept, &(struct flat_sort){rows, names}, sort);

    t->rows = ARENA_NEW(a, struct flat_row, kept);
    double running = 0;
    for (uint32_t i = 0; i < kept; i++) {
        struct flat_row *r = &rows[sorted[i].item];
        if (rules->limit && t->len >= rules->limit) {
            omit(t, r);
            continue;
        }
        r->running = running += r->self;
        t->rows[t->len++] = *r;
    }
    arena_deinit(&scratch);
}

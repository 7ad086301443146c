/* Rows of the table of functions: made by the flat profile, which sorts and filters them, and put
 * together with coverage and an older profile. */
#include "tui/model/functions.h"

#include "base/path.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

/* --- what a row says ------------------------------------------------------------------------- */

const char *function_row_name(const struct functions_table *t, const struct function_row *r)
{
    if (r->flat)
        return names_text(&t->in.measured->session.names, r->flat->function);
    if (r->covered != UINT32_MAX)
        return t->in.coverage->functions.at[r->covered].name;
    return names_text(&t->in.base->measured->session.names, r->old->function);
}

const char *function_row_object(const struct functions_table *t, const struct function_row *r)
{
    return r->flat ? function_object_label(&t->in.measured->session.functions, r->flat->function)
                   : NULL;
}

double function_row_share(const struct functions_table *t, const struct function_row *r)
{
    return r->flat ? summary_share(&t->in.measured->session.summary, r->flat->self) : 0;
}

double function_row_old_share(const struct functions_table *t, const struct function_row *r)
{
    return r->old ? summary_share(&t->in.base->measured->session.summary, r->old->self) : 0;
}

bool function_row_is_meant(const struct functions_table *t, const struct function_row *r)
{
    const struct older *o = t->in.base;
    if (!o || (!r->flat && !r->old))
        return false;
    if (r->flat)
        return o->is_meant_now[r->flat->function];
    uint32_t now = o->match.new_of[r->old->function];
    return now == NO_FUNCTION ? o->is_meant_then[r->old - o->flat.rows] : o->is_meant_now[now];
}

const char *function_row_change(const struct functions_table *t, const struct function_row *r)
{
    const struct older *o = t->in.base;
    if (!o || (r->flat && r->old) || (!r->flat && !r->old))
        return NULL;
    if (r->flat)
        return "new";
    return o->match.new_of[r->old->function] == NO_FUNCTION ? "gone" : "idle";
}

bool functions_table_can_sort(const struct functions_input *in, enum function_sort sort)
{
    const struct summary *s = in->measured ? &in->measured->session.summary : NULL;
    switch (sort) {
    case SORT_FUNCTIONS_SELF:
    case SORT_FUNCTIONS_TOTAL: return s && s->has_samples;
    case SORT_FUNCTIONS_CALLS: return s && s->calls;
    case SORT_FUNCTIONS_CHANGE: return in->base != NULL;
    case SORT_FUNCTIONS_RUNS: return in->coverage != NULL;
    default: return true;
    }
}

/* --- sorting --------------------------------------------------------------------------------- */

static int functions_descending(double l, double r)
{
    return (l < r) - (l > r);
}

/* What never ran, what is not known, then by count. */
static double functions_runs(const struct functions_table *t, const struct function_row *r)
{
    if (r->covered == UINT32_MAX)
        return INFINITY;
    const struct result_function *f = &t->in.coverage->functions.at[r->covered];
    return f->state == RESULT_UNKNOWN ? 0.5 : (double)f->count;
}

static int functions_compare(uint32_t left, uint32_t right, const void *context)
{
    const struct functions_table *t = context;
    const struct function_row *l = &t->rows.at[left], *r = &t->rows.at[right];
    if (t->sort == SORT_FUNCTIONS_CHANGE)
        return functions_descending(fabs(function_row_share(t, l) - function_row_old_share(t, l)),
                                    fabs(function_row_share(t, r) - function_row_old_share(t, r)));
    if (t->sort == SORT_FUNCTIONS_RUNS)
        return functions_descending(functions_runs(t, r), functions_runs(t, l));
    return strcmp(function_row_name(t, l), function_row_name(t, r));
}

/* The flat profile has sorted its rows by the other columns. */
static void functions_order(struct functions_table *t)
{
    if (t->sort < SORT_FUNCTIONS_CHANGE)
        return;
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, t->rows.len);
    struct function_row *rows = ARENA_NEW(&scratch, struct function_row, t->rows.len);
    for (uint32_t i = 0; i < t->rows.len; i++)
        order[i] = i;
    sort_u32(order, t->rows.len, functions_compare, t);
    for (size_t i = 0; i < t->rows.len; i++)
        rows[i] = t->rows.at[order[i]];
    if (t->rows.len)
        memcpy(t->rows.at, rows, t->rows.len * sizeof *rows);
    arena_deinit(&scratch);
}

/* --- filling --------------------------------------------------------------------------------- */

static bool functions_has_word(const struct filter *f, const char *name, const char *linkage)
{
    for (size_t i = 0; i < f->ignore.len; i++)
        if (!regexec(&f->ignore.at[i], name, 0, NULL, 0) ||
            !regexec(&f->ignore.at[i], linkage, 0, NULL, 0))
            return false;
    for (size_t i = 0; i < f->focus.len; i++)
        if (!regexec(&f->focus.at[i], name, 0, NULL, 0) ||
            !regexec(&f->focus.at[i], linkage, 0, NULL, 0))
            return true;
    return !f->focus.len;
}

static bool functions_in_object(const struct functions_table *t, uint32_t function)
{
    const struct session *s = &t->in.measured->session;
    return !t->in.object ||
           !strcmp(t->in.object,
                   space_object_name(&s->recorded.space, s->functions.at[function].object));
}

static void functions_take_profile(struct functions_table *t, const struct filter *filter)
{
    static const enum view_sort SORTS[SORT_FUNCTIONS] = {
        [SORT_FUNCTIONS_TOTAL] = BY_TOTAL, [SORT_FUNCTIONS_CALLS] = BY_CALLS};
    struct session *s = &t->in.measured->session;
    struct view_rules rules = {.sort = SORTS[t->sort],
                               .has_sort = t->sort == SORT_FUNCTIONS_TOTAL ||
                                           t->sort == SORT_FUNCTIONS_CALLS,
                               .filter = filter};
    flat_make(&t->flat, &s->summary, &s->graph, &s->names, &rules, &t->arena);
    t->hidden = t->flat.omitted.functions;
    for (uint32_t i = 0; i < t->flat.len; i++) {
        const struct flat_row *row = &t->flat.rows[i];
        if (!functions_in_object(t, row->function)) {
            t->hidden++;
            continue;
        }
        const struct flat_row *old = t->in.base ? older_row(t->in.base, row->function) : NULL;
        vec_push(&t->rows, (struct function_row){row, old, UINT32_MAX});
    }
}

/* Whether the flat profile has a row of the function, whatever the filter is. */
static bool functions_is_met(const struct session *s, uint32_t function)
{
    const struct graph_node *n = &s->graph.nodes[function];
    const struct stacks *stacks = s->summary.stacks;
    return n->self > 0 || n->calls || n->self_calls ||
           (stacks ? stacks->inclusive[function] : n->children) > 0;
}

/* Functions of the base that the profile has no row of. */
static void functions_take_gone(struct functions_table *t, const struct filter *filter)
{
    const struct older *base = t->in.base;
    for (uint32_t i = 0; i < base->flat.len; i++) {
        const struct flat_row *old = &base->flat.rows[i];
        uint32_t now = base->match.new_of[old->function];
        if (now != NO_FUNCTION && functions_is_met(&t->in.measured->session, now))
            continue;
        if (filter_admits(filter, &base->measured->session.names, old->function))
            vec_push(&t->rows, (struct function_row){NULL, old, UINT32_MAX});
        else
            t->hidden++;
    }
}

/* Rows of the profile by linkage name; those of one name are linked. */
struct linkage_index {
    struct intern names;
    VEC(uint32_t) first; /* row of each name */
    uint32_t *next;      /* of each row, or UINT32_MAX */
};

static void functions_by_linkage(const struct functions_table *t, struct linkage_index *x)
{
    x->next = memory_zeroed(t->rows.len, sizeof *x->next);
    for (uint32_t i = 0; i < t->rows.len && t->in.measured; i++) {
        if (!t->rows.at[i].flat)
            continue;
        const struct functions *f = &t->in.measured->session.functions;
        const char *name = f->at[t->rows.at[i].flat->function].name;
        uint32_t number = intern_kept(&x->names, name, strlen(name));
        if (number == x->first.len)
            vec_push(&x->first, UINT32_MAX);
        x->next[i] = x->first.at[number];
        x->first.at[number] = i;
    }
}

static bool functions_begin_together(const struct functions_table *t, uint32_t row,
                                     const struct result_function *f)
{
    const char *file;
    uint32_t line;
    return measurement_place(t->in.measured, t->rows.at[row].flat->function, &file, &line) &&
           line == f->start_line &&
           !strcmp(path_base_name(file),
                   path_base_name(t->in.coverage->sources.at[f->source].path));
}

/* The row of a function of coverage, or UINT32_MAX. Static functions of several files that have one
 * name are told apart by where they begin. */
static uint32_t functions_row_of(const struct functions_table *t, const struct linkage_index *x,
                                 const struct result_function *f)
{
    uint32_t number = intern_find(&x->names, f->linkage, strlen(f->linkage));
    uint32_t row = number == INTERN_NONE ? UINT32_MAX : x->first.at[number];
    if (row == UINT32_MAX || x->next[row] == UINT32_MAX)
        return row;
    while (row != UINT32_MAX && !functions_begin_together(t, row, f))
        row = x->next[row];
    return row;
}

static void functions_take_coverage(struct functions_table *t, const struct filter *filter)
{
    const struct coverage_result *c = t->in.coverage;
    struct linkage_index x = {0};
    functions_by_linkage(t, &x);
    for (size_t s = 0; s < c->sources.len; s++) {
        const struct result_source *source = &c->sources.at[s];
        for (uint32_t i = 0; i < source->functions && !source->is_outside; i++) {
            uint32_t number = source->first_function + i;
            const struct result_function *f = &c->functions.at[number];
            uint32_t row = functions_row_of(t, &x, f);
            if (row != UINT32_MAX && t->rows.at[row].covered == UINT32_MAX)
                t->rows.at[row].covered = number;
            else if (!functions_has_word(filter, f->name, f->linkage) || t->in.object)
                t->hidden++;
            else
                vec_push(&t->rows, (struct function_row){NULL, NULL, number});
        }
    }
    memory_free(x.next);
    vec_free(&x.first);
    intern_deinit(&x.names);
}

/* --- the table ------------------------------------------------------------------------------- */

bool functions_table_make(struct functions_table *t, const struct functions_input *in,
                          enum function_sort sort, struct err *e)
{
    struct filter filter = {0};
    const char *word = in->filter ? in->filter : "";
    bool is_ignore = *word == '!';
    if (*word && !filter_add(&filter, word + is_ignore, is_ignore, e)) {
        filter_deinit(&filter);
        return false;
    }
    arena_deinit(&t->arena);
    t->arena = (struct arena){0};
    t->in = *in;
    t->sort = sort;
    t->rows.len = t->hidden = 0;
    if (in->measured)
        functions_take_profile(t, &filter);
    if (in->base && !in->object)
        functions_take_gone(t, &filter);
    if (in->coverage)
        functions_take_coverage(t, &filter);
    functions_order(t);
    filter_deinit(&filter);
    return true;
}

void functions_table_deinit(struct functions_table *t)
{
    vec_free(&t->rows);
    arena_deinit(&t->arena);
}

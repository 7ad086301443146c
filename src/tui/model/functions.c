/* Rows of the table of functions, and of the calls of one.
 *
 * The flat profile, coverage and an older profile are put together by function: the flat profile
 * sorts and filters its own rows (profile/analysis), coverage is joined by linkage name, the older
 * one as `monarc diff` matches, and what only one of them has is a row as well. So the figures are
 * those of the reports to the last digit; tests compare them with --json.
 *
 * Whether a change is more than chance is judged by the same test as in `monarc diff`, adjusted for
 * all functions together. */
#include "base/path.h"
#include "base/sort.h"
#include "tui/model/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- opening a profile ------------------------------------------------------------------------ */

/* Three choices that reports leave to options are always made here: times along calls are measured
 * where stacks are known, inlined functions have names, and samples keep their places, which source
 * lines need. */
struct measurement *measurement_open(const struct session_options *o,
                                     const struct recorded_filter *part, struct err *e)
{
    struct measurement *m = memory_zeroed(1, sizeof *m);
    m->options = *o;
    m->options.recorded = *part;
    m->options.measures_graph = true;
    m->options.names_inlined = true;
    m->options.places_samples = true;
    if (!session_open(&m->session, &m->options, e)) {
        measurement_close(m);
        return NULL;
    }
    if (!o->no_demangle) {
        /* Of the functions that a row can be of. Names are shortened as far as they stay different
         * among these: what no row shows cannot be mistaken for anything. */
        bool *is_shown = ARENA_NEW(&m->session.arena, bool, m->session.functions.len);
        for (uint32_t i = 0; i < m->session.functions.len; i++) {
            const struct graph_node *n = &m->session.graph.nodes[i];
            is_shown[i] = n->self > 0 || n->children > 0 || n->calls || n->self_calls;
        }
        names_shorten(&m->session.names, is_shown);
    }
    return m;
}

/* All entries, without a filter: the next key may request any function. */
const struct entries *measurement_entries(struct measurement *m)
{
    static const struct filter ALL;
    struct view_rules rules = {.filter = &ALL};
    struct session *s = &m->session;
    if (!m->entries.graph)
        entries_make(&m->entries, &s->summary, &s->graph, &s->names, &rules, &s->arena);
    return &m->entries;
}

void measurement_close(struct measurement *m)
{
    if (!m)
        return;
    source_lines_deinit(&m->lines);
    session_close(&m->session);
    memory_free(m);
}

/* A failure is remembered as well as a success: a program without line numbers has none at the
 * second key either. */
bool measurement_lines(struct measurement *m)
{
    struct session *s = &m->session;
    bool is_found;
    if (m->was_asked)
        return m->has_lines;
    m->was_asked = true;
    if (!session_has_debug_info(s))
        return false;
    struct source_input in = {.functions = &s->functions,
                              .profile = &s->profile,
                              .time = &s->time,
                              .graph = &s->graph,
                              .names = &s->names,
                              .objects = session_objects(s)};
    source_lines_make(&m->lines, &in, &is_found, &s->arena);
    return m->has_lines = true;
}

bool measurement_place(const struct measurement *m, uint32_t function, const char **file,
                       uint32_t *line)
{
    const struct session *s = &m->session;
    const struct function *f = &s->functions.at[function];
    struct object *object = session_object(s, f->object);
    return object && function_has_code(f) &&
           function_place(&s->functions, function, object, file, line);
}

/* --- an older profile ------------------------------------------------------------------------- */

/* As `monarc diff` has it, with its confidence for all functions together, or all lines of a
 * source. */
bool older_is_meant(double chance)
{
    return chance < 1 - CHANGE_CONFIDENCE;
}

/* Time as one run measured it, or where a sample's worth is not known, its share. A mean with the
 * variance that sampling gives it. The variance of a share becomes that of a time by the square of
 * the time of all samples. */
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

/* One run on either side says nothing of how runs differ, so that a usual amount is assumed
 * (NOISE_OF_RUNS); kernel code and waits have an amount of their own (NOISE_KERNEL). Times are
 * compared if both sides measure the same dimension, otherwise shares are. */
double older_chance(const struct summary *then, double before, const struct summary *now,
                    double after, const char *name)
{
    bool has_times = then->rate > 0 && now->rate > 0 && then->dimension && now->dimension &&
                     !strcmp(then->dimension, now->dimension);
    struct amount old = older_amount(then, before, has_times);
    struct amount new = older_amount(now, after, has_times);
    bool is_kernel = name && (!strncmp(name, "[kernel", 7) || function_name_is_wait(name));
    struct noise noise;
    struct difference d;
    noise_assume(&noise, NOISE_OF_RUNS, CHANGE_CONFIDENCE);
    difference_make(&d, &old, &new, &noise, is_kernel ? NOISE_KERNEL : NOISE_CODE);
    return difference_chance(&d);
}

/* One test for each function that either side has samples of. A thousand tests at 1 % would find
 * ten changes in two equal runs, so chances_adjust() corrects the probabilities for being the least
 * of many (Holm). */
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

/* Functions are matched by name, as in `monarc diff`; from `match` and `row_of` older_row() finds a
 * row in O(1). */
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

/* --- callers and callees ---------------------------------------------------------------------- */

/* The entry's lists are reused: walking from function to function allocates nothing. */
void calls_table_make(struct calls_table *t, struct measurement *m, uint32_t node)
{
    t->measured = m;
    t->entry.callers.all.len = t->entry.below.all.len = 0;
    entry_make(measurement_entries(m), node, &t->entry);
    t->middle = t->entry.callers.all.len;
    t->len = t->middle + 1 + t->entry.below.all.len;
}

/* The entry's lists are all that a table of calls owns. */
void calls_table_deinit(struct calls_table *t)
{
    entry_deinit(&t->entry);
}

/* Rows are callers, the function, then what is below it. */
const struct entry_line *calls_table_line(const struct calls_table *t, size_t row)
{
    if (row == t->middle)
        return NULL;
    return row < t->middle ? &t->entry.callers.all.at[row]
                           : &t->entry.below.all.at[row - t->middle - 1];
}

uint32_t calls_table_node(const struct calls_table *t, size_t row)
{
    const struct entry_line *line = calls_table_line(t, row);
    return line ? line->node : t->entry.node;
}

const char *calls_name(const struct measurement *m, uint32_t node, char *room, size_t size)
{
    const struct session *s = &m->session;
    if (node == NO_NODE)
        return "<unknown caller>";
    if (!graph_is_cycle(&s->graph, node))
        return names_text((struct names *)&s->names, node);
    snprintf(room, size, "<cycle %" PRIu32 " as a whole>", s->graph.nodes[node].cycle);
    return room;
}

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
    if (!r->flat)
        return NULL;
    const struct functions *f = &t->in.measured->session.functions;
    const struct function *of = &f->at[r->flat->function];
    const char *label = function_object_label(f, r->flat->function);
    /* A name that was made up, as "[no symbol] (libz.so.1)", may say it itself. */
    bool is_said = label && of->is_made && strstr(of->name, label);
    return is_said ? NULL : label;
}

double function_row_share(const struct functions_table *t, const struct function_row *r)
{
    return r->flat ? summary_share(&t->in.measured->session.summary, r->flat->self) : 0;
}

double function_row_old_share(const struct functions_table *t, const struct function_row *r)
{
    return r->old ? summary_share(&t->in.base->measured->session.summary, r->old->self) : 0;
}

/* A row without samples now may still be a function that exists: then its verdict is the newer
 * function's. */
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

/* An order by a column that has no figures would be the order of chance. */
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

/* Negative where `l` is the larger one: largest first. */
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

/* Only for the orders that the flat profile does not know: by change, by runs, by name. */
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

/* The flat profile has sorted its rows by the other columns. Rows are copied in the order of a
 * sorted list of their numbers, which the comparison needs. */
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

/* The filter's rule for names that are in no profile: a pattern may match the readable name or the
 * linkage name, and what is to be left out wins. */
static bool functions_has_word(const struct filter *f, const char *name, const char *linkage)
{
    for (size_t i = 0; i < f->ignore.len; i++)
        if (name_pattern_matches(&f->ignore.at[i], name, linkage))
            return false;
    for (size_t i = 0; i < f->focus.len; i++)
        if (name_pattern_matches(&f->focus.at[i], name, linkage))
            return true;
    return !f->focus.len;
}

/* By name: numbers of objects are those of one recording, and zooming opens another. */
static bool functions_in_object(const struct functions_table *t, uint32_t function)
{
    const struct session *s = &t->in.measured->session;
    return !t->in.object ||
           !strcmp(t->in.object,
                   space_object_name(&s->recorded.space, s->functions.at[function].object));
}

/* Rows of the flat profile, in the order it gives them for this sort; orders it does not know come
 * out by self time and are sorted afterwards. */
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

/* Rows of the profile by linkage name; those of one name are linked. */
struct linkage_index {
    struct intern names;
    VEC(uint32_t) first; /* row of each name */
    uint32_t *next;      /* of each row, or UINT32_MAX */
};

/* How much of their files' paths is equal, if both begin at one line; 0: they do not begin
 * together. Builds are made in different places. */
static size_t functions_begin_together(const struct functions_table *t, uint32_t row,
                                       const struct result_function *f)
{
    const char *file;
    uint32_t line;
    if (!measurement_place(t->in.measured, t->rows.at[row].flat->function, &file, &line) ||
        line != f->start_line)
        return 0;
    return path_alike(file, t->in.coverage->sources.at[f->source].path);
}

/* The row of a function of coverage, or UINT32_MAX. Static functions of several files that have one
 * name are distinguished by where they begin. */
static uint32_t functions_row_of(const struct functions_table *t, const struct linkage_index *x,
                                 const struct result_function *f)
{
    uint32_t number = intern_find(&x->names, f->linkage, strlen(f->linkage));
    uint32_t row = number == INTERN_NONE ? UINT32_MAX : x->first.at[number];
    if (row == UINT32_MAX || x->next[row] == UINT32_MAX)
        return row;
    uint32_t best = UINT32_MAX;
    for (size_t most = 0; row != UINT32_MAX; row = x->next[row]) {
        size_t alike = functions_begin_together(t, row, f);
        if (alike > most) {
            most = alike;
            best = row;
        }
    }
    return best;
}

/* A function of coverage goes to the row of the same linkage name that has none yet; without such a
 * row it becomes one. With only one object shown it does not, since coverage does not say which
 * object a function is in. */
static void functions_take_coverage(struct functions_table *t, const struct filter *filter)
{
    const struct coverage_result *c = t->in.coverage;
    struct linkage_index x = {0};
    /* Chains are in reverse order of rows: each row is put in front of its name's. */
    x.next = memory_zeroed(t->rows.len, sizeof *x.next);
    for (uint32_t i = 0; i < t->rows.len && t->in.measured; i++) {
        if (!t->rows.at[i].flat)
            continue;
        const struct functions *f = &t->in.measured->session.functions;
        const char *name = f->at[t->rows.at[i].flat->function].name;
        uint32_t number = intern_kept(&x.names, name, strlen(name));
        if (number == x.first.len)
            vec_push(&x.first, UINT32_MAX);
        x.next[i] = x.first.at[number];
        x.first.at[number] = i;
    }
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

/* The pattern is compiled before anything is thrown away: a mistyped one leaves the table as it
 * was. */
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
    if (in->base && !in->object) {
        /* Functions of the base that the profile has no row of. */
        const struct older *base = t->in.base;
        for (uint32_t i = 0; i < base->flat.len; i++) {
            const struct flat_row *old = &base->flat.rows[i];
            uint32_t now = base->match.new_of[old->function];
            if (now != NO_FUNCTION && functions_is_met(&t->in.measured->session, now))
                continue;
            if (filter_admits(&filter, &base->measured->session.names, old->function))
                vec_push(&t->rows, (struct function_row){NULL, old, UINT32_MAX});
            else
                t->hidden++;
        }
    }
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

/* Rows of the table of functions, and of the calls of one.
 *
 * The flat profile, coverage and a base are put together by function: the flat profile sorts and
 * filters its own rows (profile/analysis), coverage is joined by linkage name, the base is what
 * `monarc diff` makes of both (profile/analysis/compare), and what only one of them has is a row as
 * well. So the figures are those of the reports to the last digit; tests compare them with --json.
 */
#include "base/path.h"
#include "base/sort.h"
#include "session/report_inputs.h"
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
static const struct entries *measurement_entries(struct measurement *m)
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
                              .objects = session_objects(s),
                              .keeps_extents = true};
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

/* --- a base ---------------------------------------------------------------------------------- */

/* One side, as `monarc diff` reads it: of several runs each by itself, which says how much runs
 * differ. What was opened is their sum, so that they are read again; a single run, or a part of a
 * recording, is at hand. */
static bool base_side(struct run_set *side, struct measurement *m, struct err *e)
{
    struct session *s = &m->session;
    const struct session_options *o = &m->options;
    bool is_part = s->summary.run && s->summary.run->chosen;
    bool is_sum = o->profiles_len > 1 || (s->folder && recording_count(&s->recorded.recording) > 1);
    if (is_sum && !is_part)
        return side_open(side, o,
                         &(struct side_names){o->is_recording ? NULL : o->program, o->profiles,
                                              o->profiles_len, false},
                         e);
    run_set_add(side, &(struct analysed_run){.summary = &s->summary,
                                             .graph = &s->graph,
                                             .names = &s->names,
                                             .objects = session_objects(s)});
    return true;
}

bool base_make(struct baseline *b, struct measurement *old, struct measurement *now, struct err *e)
{
    struct identities shown;
    if (!base_side(&b->old, old, e) || !base_side(&b->new, now, e))
        return false;
    identities_of(&shown, &now->session.functions, session_objects(&now->session), &b->arena);
    baseline_make(b, &shown);
    return true;
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
    snprintf(room, size, GRAPH_CYCLE_NAME, s->graph.nodes[node].cycle);
    return room;
}

/* --- what a row says ------------------------------------------------------------------------- */

const char *function_row_name(const struct functions_table *t, const struct function_row *r)
{
    if (r->flat)
        return names_text(&t->in.measured->session.names, r->flat->function);
    if (r->covered != UINT32_MAX)
        return t->in.coverage->functions.at[r->covered].name;
    return change_name(&t->in.base->comparison, r->change);
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

double function_row_change(const struct function_row *r)
{
    return r->change ? r->change->self.new - r->change->self.old : 0;
}

bool function_row_is_meant(const struct functions_table *t, const struct function_row *r)
{
    return r->change && change_self(&t->in.base->comparison, r->change)->is_meant;
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
        return functions_descending(fabs(function_row_change(l)), fabs(function_row_change(r)));
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
        const struct change *change =
            t->in.base ? baseline_change(t->in.base, row->function) : NULL;
        vec_push(&t->rows, (struct function_row){row, change, UINT32_MAX});
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

/* Rows of the comparison with functions that the profile has no row of. */
static void functions_take_base(struct functions_table *t, const struct filter *filter)
{
    const struct session *s = &t->in.measured->session;
    const struct comparison *c = &t->in.base->comparison;
    bool *is_met = ARENA_NEW(&t->arena, bool, c->len);
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct change *change = baseline_change(t->in.base, i);
        if (change && functions_is_met(s, i))
            is_met[change - c->rows] = true;
    }
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *change = &c->rows[i];
        if (is_met[i] || change->old == NO_FUNCTION)
            continue;
        if (functions_has_word(filter, change_name(c, change), change_identity(c, change)->name))
            vec_push(&t->rows, (struct function_row){NULL, change, UINT32_MAX});
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
    if (in->base && !in->object)
        functions_take_base(t, &filter);
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

/* From notes and counters to what ran: lines, branches and functions of a pair of files.
 *
 * The compiler counts only the arcs off a spanning tree; analysis/flow solves the others, and
 * analysis/line_coverage makes counts of lines of them, by GNU gcov's definition. Here the result
 * is laid out as a tracefile is: a section for each source, in the order of the notes, functions
 * and lines ascending. Calls are not among the branches, nor are branches of code that the compiler
 * made, such as cleaning up after an exception; those that exceptions take are marked.
 *
 * What cannot be solved has no rows, for a count that is not known is not 0: *out says how many
 * functions that were. The work is done in a heap of its own and then added, so that the tracefile
 * stays as it was if it fails. Time is linear in the notes, apart from sorting. */
#include "lib/handles.h"

#include "base/sort.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/analysis/flow.h"
#include "coverage/analysis/line_coverage.h"

#include <string.h>

/* A pair that is being solved, and where the rows go. */
struct pair_solving {
    const struct notes *notes;
    const struct counters *counters; /* NULL: the program never ran */
    struct tracefile *trace;
    struct monarc_solved found;
};

/* The branches of a line: decisions are numbered over all functions that have code on it. */
static void add_branches(const struct coverage_table *t, const struct table_line *line,
                         struct tracefile *to)
{
    uint32_t blocks = 0;
    for (uint32_t g = line->group; g != (uint32_t)NO_INDEX; g = t->groups.at[g].next) {
        const struct table_group *group = &t->groups.at[g];
        uint32_t last = 0, branch = 0;
        for (uint32_t i = 0; i < group->len; i++) {
            const struct table_outcome *o = &t->outcomes.at[group->first + i];
            if (o->flags & (OUTCOME_CALL | OUTCOME_HIDDEN))
                continue;
            branch = o->block == last ? branch : 0;
            last = o->block;
            vec_push(&to->branches, ((struct trace_branch){line->line, blocks + o->block, branch++,
                                                           o->count, o->flags & OUTCOME_THROW}));
        }
        blocks += last + 1;
    }
}

/* Rows of a table by source and line: item is the row. */
static struct keyed *sorted_lines(const struct coverage_table *t, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, t->lines.len + 1);
    for (uint32_t i = 0; i < t->lines.len; i++)
        order[i] = (struct keyed){(uint64_t)t->lines.at[i].source << 32 | t->lines.at[i].line, i};
    sort_keyed(order, t->lines.len);
    return order;
}

/* Functions of a table by source and first line; in the order of the notes where these are
 * equal. */
static struct keyed *sorted_functions(const struct coverage_table *t, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, t->functions.len + 1);
    for (uint32_t i = 0; i < t->functions.len; i++) {
        const struct table_function *f = &t->functions.at[i];
        order[i] = (struct keyed){(uint64_t)f->source << 32 | f->start_line, i};
    }
    sort_keyed(order, t->functions.len);
    return order;
}

/* One pass over lines and functions, both in the order of sources. What is not known is left
 * out. */
static void add_sections(const struct coverage_table *t, struct tracefile *to)
{
    struct arena scratch = {0};
    const struct keyed *lines = sorted_lines(t, &scratch);
    const struct keyed *functions = sorted_functions(t, &scratch);
    size_t line = 0, function = 0;
    for (uint32_t source = 0; source < t->sizes.len; source++) {
        const char *path = intern_text(&t->paths, source);
        tracefile_begin(to, arena_copy(&to->arena, path, strlen(path)), "");
        for (; function < t->functions.len && functions[function].key >> 32 == source; function++) {
            const struct table_function *f = &t->functions.at[functions[function].item];
            const char *name = intern_text(&t->names, f->name);
            if (f->is_known)
                vec_push(&to->functions,
                         ((struct trace_function){arena_copy(&to->arena, name, strlen(name)),
                                                  f->start_line, f->end_line, f->count}));
        }
        for (; line < t->lines.len && lines[line].key >> 32 == source; line++) {
            const struct table_line *l = &t->lines.at[lines[line].item];
            if (!l->is_known || (l->is_unknown && !l->count))
                continue;
            vec_push(&to->lines, ((struct trace_line){l->line, l->count}));
            add_branches(t, l, to);
        }
        tracefile_end(to);
    }
    arena_deinit(&scratch);
}

/* From arcs to lines, in the order of the analyses: sources, flow, table, sections. */
static bool solve_pair(void *context)
{
    struct pair_solving *s = context;
    struct arena scratch = {0};
    struct flow flow = {0};
    struct coverage_table table = {0};
    struct pair_scratch pair = {0};
    uint32_t *sources = ARENA_NEW(&scratch, uint32_t, s->notes->files.len + 1);
    for (size_t i = 0; i < s->notes->files.len; i++)
        sources[i] = coverage_table_source(&table, s->notes->files.at[i]);
    flow_solve(s->notes, s->counters, &flow);
    flow_forget_damaged(s->notes, &flow, false);
    coverage_table_add_pair(&pair, s->notes, s->counters, &flow, sources, &table);
    add_sections(&table, s->trace);
    s->found =
        (struct monarc_solved){.functions = s->notes->functions.len,
                               .solved = flow.states[FLOW_SOLVED],
                               .absent = flow.states[FLOW_ABSENT],
                               .unknown = flow.states[FLOW_DAMAGED] + flow.states[FLOW_UNKNOWN]};
    pair_scratch_deinit(&pair);
    coverage_table_deinit(&table);
    flow_deinit(&flow);
    arena_deinit(&scratch);
    return true;
}

/* Without counters the program never ran, and everything that is known is 0. */
bool monarc_counters_solve(const struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_trace *into, struct monarc_solved *out,
                           struct monarc_error *e)
{
    struct monarc_trace made = {0};
    struct pair_solving s = {
        .notes = &notes->notes, .counters = c ? &c->counters : NULL, .trace = &made.file};
    if (c && !pair_is_possible(&notes->notes.origin, &c->counters.origin))
        return call_fail(e, MONARC_UNFIT,
                         "these notes and counters are from different compilations");
    const struct err none = {0};
    heap_init(&made.heap, &into->heap.memory);
    bool ok = call_result(heap_run(&made.heap, solve_pair, &s), MONARC_UNFIT, &none, e) &&
              monarc_trace_merge(into, &made, e);
    heap_release(&made.heap);
    if (ok && out)
        *out = s.found;
    return ok;
}

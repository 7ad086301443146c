/* One pair of notes and counters, solved, into the table of all.
 *
 * Lines, branches and calls of the solved arcs are given to the table under their function, which
 * distinguishes branches of a line. Only functions that have a line in a wanted source are
 * processed: in C++ most of an object is headers of the system. Instances come before the sources,
 * whose lines do not contain theirs (has_no_sums), so that every block is given once. Lines are
 * counted as the gcov of the version that wrote the notes counts them. Linear in the pair.
 *
 *     notes, counters -> flow -> lines of this pair -> table of this thread -> result of all */
#include "coverage/analysis/line_coverage.h"

#include "coverage/analysis/coverage_table.h"
#include "coverage/model/coverage.h"

#define NONE ((uint32_t)NO_INDEX)

/* Lists of functions are this struct's own; all else of the wanted notes and flow is shared with
 * the caller's and must not be freed here. */
void pair_scratch_deinit(struct pair_scratch *g)
{
    coverage_units_deinit(&g->unit, 1);
    line_coverage_deinit(&g->lines);
    vec_free(&g->local);
    vec_free(&g->globals);
    vec_free(&g->functions);
    vec_free(&g->wanted_notes.functions); /* the rest is the caller's */
    vec_free(&g->wanted_flow.functions);
    vec_free(&g->group);
    vec_free(&g->line_of);
    map_deinit(&g->numbers);
    map_deinit(&g->conditions);
}

/* By its own source, or that of code that was inlined into it. */
static bool pair_is_wanted(const struct notes *n, const struct notes_function *f,
                           const uint32_t *sources)
{
    bool wants = f->file != NONE && sources[f->file] != NONE;
    for (uint32_t i = f->first_run; i < f->first_run + f->runs && !wants; i++)
        wants = n->runs.at[i].file != NONE && sources[n->runs.at[i].file] != NONE;
    return wants;
}

/* Counts below 0 are those of calls that returned more often than they were made. */
static uint64_t pair_positive(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

/* The ways out of a block, appended to the group. Ways that are the only ones are no outcomes. A
 * block's number is its place among the line's, so that branches of one decision share it. */
static void add_block(struct pair_scratch *g, const struct instance_block *block, uint32_t ordinal)
{
    const struct coverage_unit *u = &g->unit;
    const struct function_instance *at = &g->lines.instances.at[block->instance];
    const struct notes_function *f = &u->notes->functions.at[at->function];
    const uint32_t *first = block_graph_out(&u->graph, u->notes, at->function);
    uint8_t kinds = u->graph.block_kinds.at[f->first_block + block->block];
    uint64_t count = pair_positive(instance_block_count(u, at, block->block));
    for (uint32_t i = first[block->block]; i < first[block->block + 1]; i++) {
        uint32_t arc = u->graph.out.at[i];
        uint8_t kind = u->graph.arc_kinds.at[arc];
        if (kind & ARC_UNCONDITIONAL)
            continue;
        struct table_outcome o = {count, ordinal, OUTCOME_CALL};
        if (!(kind & ARC_CALL)) {
            uint32_t fall = u->notes->arcs.at[arc].flags & NOTES_ARC_FALLTHROUGH;
            o.count = pair_positive(u->flow->arcs.at[arc]);
            o.flags = (kind & ARC_THROW ? OUTCOME_THROW : 0) | (fall ? OUTCOME_FALLTHROUGH : 0) |
                      (kinds & BLOCK_EXCEPTIONAL ? OUTCOME_HIDDEN : 0);
        }
        vec_push(&g->group, o);
    }
}

/* The two masks that the program kept for a condition. More than 64 terms do not fit a mask; GCC
 * gives up on these too. Masks lie in the counters two by two, in the order of the conditions:
 * first of outcomes that were true, then of those that were false. */
static void add_condition(struct pair_scratch *g, const struct instance_block *block, uint32_t line,
                          uint32_t ordinal, struct coverage_table *t)
{
    const struct notes *n = g->unit.notes;
    const struct counters *c = g->unit.counters;
    uint32_t function = g->lines.instances.at[block->instance].function;
    const struct notes_function *f = &n->functions.at[function];
    const uint32_t *found = map_find(&g->conditions, function, block->block);
    if (!found || n->conditions.at[*found].terms > 64)
        return;
    struct table_mask mask = {.function = g->functions.at[block->instance],
                              .ordinal = ordinal,
                              .terms = n->conditions.at[*found].terms};
    uint32_t counted = g->unit.flow->functions.at[function].counted, i = *found;
    const struct counted_record *values =
        c && counted != NONE ? counters_find(c, &c->functions.at[counted], KIND_CONDITIONS) : NULL;
    i = 2 * (i - f->first_condition);
    if (values && i + 1 < values->len) {
        uint64_t all = mask.terms == 64 ? UINT64_MAX : (UINT64_C(1) << mask.terms) - 1;
        mask.on = counters_value(c, values, i) & all;
        mask.off = counters_value(c, values, i + 1) & all;
    }
    coverage_table_mask(t, line, &mask);
}

/* Whether two functions of the notes are one group of a line: parts of one function of the table,
 * but not copies of one part, as instances of a generic in Ada are, whose branches add up. */
static bool pair_is_one_group(const struct pair_scratch *g, uint32_t left, uint32_t right)
{
    if (left == right)
        return true;
    const struct notes *n = g->unit.notes;
    const struct notes_function *a = &n->functions.at[g->lines.instances.at[left].function];
    const struct notes_function *b = &n->functions.at[g->lines.instances.at[right].function];
    return g->functions.at[left] == g->functions.at[right] &&
           (a->start_line != b->start_line || a->start_column != b->start_column);
}

/* Blocks of one line, function by function: one group for each function, as the table numbers them.
 * What the compiler made a function of its own is a part of the one around it. */
static void add_blocks(struct pair_scratch *g, const struct covered_line *from, uint32_t line,
                       struct coverage_table *t)
{
    if (!from->blocks)
        return;
    const struct instance_block *blocks = g->lines.blocks.at + from->first_block;
    for (uint32_t i = 0, end; i < from->blocks; i = end) {
        uint32_t instance = blocks[i].instance, conditions = 0;
        g->group.len = 0;
        for (end = i; end < from->blocks && pair_is_one_group(g, instance, blocks[end].instance);
             end++) {
            if (!blocks[end].is_elsewhere)
                add_block(g, &blocks[end], end - i);
            if (g->conditions.len)
                add_condition(g, &blocks[end], line, conditions++, t);
        }
        if (g->group.len)
            coverage_table_outcomes(t, line, g->functions.at[instance], g->group.at,
                                    (uint32_t)g->group.len);
    }
}

/* Lines of one source, or of an instance. */
static void add_lines(struct pair_scratch *g, uint32_t source, uint32_t first, uint32_t len,
                      struct coverage_table *t)
{
    for (uint32_t i = first; i < first + len; i++) {
        const struct covered_line *from = &g->lines.lines.at[i];
        uint32_t line = coverage_table_line(t, source, from->number);
        if (t->keeps_shares)
            g->line_of.at[i] = line;
        if (from->flags & LINE_EXISTS && t->keeps_shares)
            coverage_table_ran(t, line, pair_positive(from->count));
        else if (from->flags & LINE_EXISTS)
            coverage_table_count(t, line, pair_positive(from->count));
        if (from->flags & LINE_UNKNOWN)
            coverage_table_unknown(t, line);
        add_blocks(g, from, line, t);
    }
}

/* Whether the first to the last line of a function, which are known, hold all that another one has
 * in its own file. */
static bool pair_is_around(const struct notes *n, const struct notes_function *f,
                           const struct notes_function *of)
{
    bool is_around = !f->is_artificial && f->file == of->file && f->start_line <= of->start_line &&
                     of->start_line <= f->end_line;
    for (uint32_t i = of->first_run; i < of->first_run + of->runs && is_around; i++) {
        const struct notes_run *r = &n->runs.at[i];
        for (uint32_t k = 0; k < r->lines && r->file == of->file && is_around; k++) {
            uint32_t line = n->lines.at[r->first + k];
            is_around = f->start_line <= line && line <= f->end_line;
        }
    }
    return is_around;
}

/* The innermost function around one that the compiler made up: its number in the table; NO_INDEX:
 * none, as around the initialiser of a variable. Such functions are few. */
static uint32_t pair_function_around(const struct pair_scratch *g, const struct notes_function *of)
{
    const struct notes *n = g->unit.notes;
    uint32_t number = NONE, start = 0;
    for (size_t i = 0; i < g->lines.instances.len; i++) {
        const struct notes_function *f = &n->functions.at[g->lines.instances.at[i].function];
        if (f->start_line < start || !pair_is_around(n, f, of))
            continue;
        start = f->start_line;
        number = g->functions.at[i];
    }
    return number;
}

/* Functions of the pair into the table. Those that the compiler made up are no functions of the
 * program: they are a part of the one around them. */
static void pair_add_functions(struct pair_scratch *g, struct coverage_table *t)
{
    for (size_t i = 0; i < g->lines.instances.len; i++) {
        const struct function_instance *at = &g->lines.instances.at[i];
        const struct notes_function *f = &g->unit.notes->functions.at[at->function];
        const struct flow_function *how = &g->unit.flow->functions.at[at->function];
        uint32_t number = NONE;
        if (at->source != NONE && f->name && !f->is_artificial) {
            struct table_function row = {.name = coverage_table_name(t, f->name),
                                         .source = g->globals.at[at->source],
                                         .start_line = f->start_line,
                                         .start_column = f->start_column,
                                         .end_line = f->end_line,
                                         .count = pair_positive(at->called),
                                         .is_known = at->is_counted,
                                         .is_unknown = !at->is_counted,
                                         .reason = how->reason,
                                         .defect = how->defect,
                                         .is_repaired = how->reason == FLOW_REPAIRED};
            number = coverage_table_function(t, &row);
        }
        vec_push(&g->functions, number);
    }
    /* Once all functions have their numbers: the one around may come later in the notes. */
    for (size_t i = 0; i < g->lines.instances.len; i++) {
        const struct function_instance *at = &g->lines.instances.at[i];
        const struct notes_function *f = &g->unit.notes->functions.at[at->function];
        if (f->is_artificial)
            g->functions.at[i] = pair_function_around(g, f);
    }
}

/* Sources, wanted functions, counting, functions, then lines. */
void coverage_table_add_pair(struct pair_scratch *g, const struct notes *n,
                             const struct counters *c, const struct flow *flow,
                             const uint32_t *sources, struct coverage_table *t)
{
    /* As each version's own gcov counts. */
    bool is_old = !n->origin.is_llvm && !dialect_of(&n->origin)->has_all_lines;
    struct line_coverage_rules rules = {.absent_is_zero = true,
                                        .has_no_sums = true,
                                        .has_no_totals = true,
                                        .keeps_bodies = true,
                                        .has_gnu_exit = !n->origin.is_llvm,
                                        .lists_shares = t->keeps_shares,
                                        .shares_blocks = n->origin.is_llvm,
                                        .carries_lines = is_old,
                                        .sums_blocks = is_old};
    /* Numbers the sources of this pair from 0: two files of the notes may be one source. */
    map_deinit(&g->numbers);
    g->local.len = g->globals.len = 0;
    for (size_t i = 0; i < n->files.len; i++) {
        bool is_new = false;
        uint32_t local = sources[i];
        if (local != NONE)
            local = map_index(&g->numbers, sources[i], 0, g->globals.len, &is_new);
        if (is_new)
            vec_push(&g->globals, sources[i]);
        vec_push(&g->local, local);
    }

    /* Most functions of an object may be of sources that are not wanted, such as the system's
     * headers: what follows sees only the others. */
    struct notes notes = *n;
    struct flow wanted = *flow;
    notes.functions = g->wanted_notes.functions;
    wanted.functions = g->wanted_flow.functions;
    notes.functions.len = wanted.functions.len = 0;
    for (size_t i = 0; i < n->functions.len; i++) {
        if (!pair_is_wanted(n, &n->functions.at[i], sources))
            continue;
        vec_push(&notes.functions, n->functions.at[i]);
        vec_push(&wanted.functions, flow->functions.at[i]);
    }
    g->wanted_notes = notes;
    g->wanted_flow = wanted;

    /* Conditions are few; the map is from function and block to the condition. */
    map_deinit(&g->conditions);
    for (uint32_t i = 0; i < g->wanted_notes.functions.len; i++) {
        const struct notes_function *f = &g->wanted_notes.functions.at[i];
        for (uint32_t k = f->first_condition; k < f->first_condition + f->conditions; k++)
            map_at(&g->conditions, i, g->wanted_notes.conditions.at[k].block, k, NULL);
    }
    g->unit.notes = &g->wanted_notes;
    g->unit.counters = c;
    g->unit.flow = &g->wanted_flow;
    g->unit.sources = g->local.at;
    g->lines.instances.len = g->lines.lines.len = g->lines.blocks.len = g->functions.len = 0;
    g->lines.shares.len = 0;
    line_coverage_build(&g->unit, 1, g->globals.len, &rules, &g->lines);
    pair_add_functions(g, t);

    g->line_of.len = 0;
    for (size_t i = 0; i < g->lines.lines.len && t->keeps_shares; i++)
        vec_push(&g->line_of, NONE);
    for (size_t i = 0; i < g->lines.instances.len; i++) {
        const struct function_instance *at = &g->lines.instances.at[i];
        if (at->lines && at->source != NONE)
            add_lines(g, g->globals.at[at->source], at->first_line, at->lines, t);
    }
    for (uint32_t i = 0; i < g->globals.len; i++)
        add_lines(g, g->globals.at[i], g->lines.sources.at[i].first_line,
                  g->lines.sources.at[i].lines, t);
    for (size_t i = 0; i < g->lines.shares.len; i++) {
        const struct line_share *share = &g->lines.shares.at[i];
        uint32_t line = g->line_of.at[share->line];
        if (line != NONE)
            coverage_table_share(t, line, g->functions.at[share->instance],
                                 pair_positive(share->count));
    }
}

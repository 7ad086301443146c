/* Tracefiles join the table. They do not say which function a branch belongs to: all branches that
 * a section has of a line are one group. */
#include "coverage/analysis/coverage_table.h"
#include "base/sort.h"
#include "coverage/model/coverage.h"

#define NONE ((uint32_t)NO_INDEX)

static int by_place(uint32_t left, uint32_t right, const void *context)
{
    const struct trace_branch *at = context, *a = at + left, *b = at + right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->branch < b->branch ? -1 : a->branch > b->branch;
}

static uint32_t *in_order(size_t len, sort_compare *compare, const void *items)
{
    uint32_t *order = calloc(len + 1, sizeof *order);
    if (!order)
        memory_exhausted(len);
    for (size_t i = 0; i < len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, len, compare, items);
    return order;
}

/* Blocks are numbered anew from 0: what matters is which branches share one. A branch that is
 * listed twice is added up. */
static void add_branches(struct coverage_table *t, const struct tracefile *trace,
                         const struct trace_section *s, uint32_t source)
{
    if (!s->branches)
        return;
    const struct trace_branch *branches = trace->branches.at + s->first_branch;
    uint32_t *order = in_order(s->branches, by_place, branches);
    VEC(struct table_outcome) group = {0};
    for (uint32_t i = 0, end; i < s->branches; i = end) {
        uint32_t line = branches[order[i]].line;
        group.len = 0;
        for (end = i; end < s->branches && branches[order[end]].line == line; end++) {
            const struct trace_branch *b = &branches[order[end]];
            const struct trace_branch *before = end > i ? &branches[order[end - 1]] : NULL;
            struct table_outcome o = {b->count, 0, b->is_exception ? OUTCOME_THROW : 0};
            if (before && before->block == b->block && before->branch == b->branch) {
                uint64_t *sum = &group.at[group.len - 1].count;
                *sum = add_saturating(*sum, b->count);
                continue;
            }
            if (before)
                o.block = group.at[group.len - 1].block + (before->block != b->block);
            vec_push(&group, o);
        }
        coverage_table_outcomes(t, coverage_table_line(t, source, line), NONE, group.at,
                                (uint32_t)group.len);
    }
    vec_free(&group);
    free(order);
}

static void add_conditions(struct coverage_table *t, const struct tracefile *trace,
                           const struct trace_section *s, uint32_t source)
{
    for (uint32_t i = 0; i < s->conditions; i++) {
        const struct trace_condition *c = &trace->conditions.at[s->first_condition + i];
        struct table_mask mask = {.function = NONE, .terms = c->terms};
        uint64_t bit = c->count ? UINT64_C(1) << c->term : 0;
        *(c->sense ? &mask.on : &mask.off) = bit;
        coverage_table_mask(t, coverage_table_line(t, source, c->line), &mask);
    }
}

static void add_section(struct coverage_table *t, const struct tracefile *trace,
                        const struct trace_section *s, uint32_t source, const char *test)
{
    if (test)
        coverage_table_begin_test(t, *s->test ? s->test : test);
    for (uint32_t i = 0; i < s->functions; i++) {
        const struct trace_function *f = &trace->functions.at[s->first_function + i];
        coverage_table_function(t, &(struct table_function){.name = coverage_table_name(t, f->name),
                                                            .source = source,
                                                            .start_line = f->start_line,
                                                            .end_line = f->end_line,
                                                            .count = f->count,
                                                            .is_known = true});
    }
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct trace_line *l = &trace->lines.at[s->first_line + i];
        coverage_table_count(t, coverage_table_line(t, source, l->line), l->count);
    }
    add_branches(t, trace, s, source);
    add_conditions(t, trace, s, source);
    coverage_table_test(t, s->test);
    coverage_table_begin_test(t, NULL);
}

void coverage_table_add_trace(struct coverage_table *t, const struct tracefile *trace,
                              const uint32_t *sources, const char *test)
{
    for (size_t i = 0; i < trace->sections.len; i++)
        if (sources[i] != NONE)
            add_section(t, trace, &trace->sections.at[i], sources[i], test);
}

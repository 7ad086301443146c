/* A result while it is made: each source by one thread, into slices of the result's arrays that are
 * as large as all tables' contents; what is left over at their ends stays untouched. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_PRIVATE_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_PRIVATE_H

#include "coverage/analysis/source_marks.h"
#include "coverage/analysis/source_parts.h"
#include "coverage/analysis/coverage_result.h"

struct built_source {
    struct source_marks marks;
    struct result_left_out left_out;
    uint32_t first_branch, first_condition; /* where its slices begin */
};

struct result_building {
    const struct result_rules *rules;
    struct source_parts order;
    struct coverage_result *r;
    struct built_source *sources; /* by rank */
    uint32_t *shown;              /* by place of a function: in r->functions, or NO_INDEX */
};

/* What one table says of a function, of a line's branches, of a condition. */
struct function_ref {
    const struct source_part *part;
    uint32_t function;
};

struct group_ref {
    const struct table_group *group;
    const struct table_outcome *outcomes;
    uint32_t place; /* of its function, or NO_INDEX */
};

struct mask_ref {
    const struct table_mask *mask;
    uint32_t place;
};

/* One thread's; zeroed but for the first member. */
struct result_builder {
    struct result_building *b;
    struct arena texts; /* joins the result's */
    struct line_walk walk;
    VEC(struct keyed) items;
    VEC(uint32_t) same;
    VEC(struct function_ref) refs;
    VEC(struct table_function) functions;
    VEC(struct marked_line) marked_lines;
    VEC(struct marked_function) marked_functions;
    VEC(struct group_ref) groups;
    VEC(struct mask_ref) masks;
    VEC(struct table_outcome) sum;
    uint32_t branches, conditions; /* where the next goes */
};

/* Functions come first, of all sources: lines mention those of other sources, too. */
void result_put_functions(struct result_builder *w, uint32_t rank);
void result_put_lines(struct result_builder *w, uint32_t rank);

static inline void ratio_count(struct coverage_ratio *ratio, uint8_t state)
{
    ratio->all++;
    ratio->hit += state == RESULT_HIT;
    ratio->unknown += state == RESULT_UNKNOWN;
}

static inline uint8_t hit_state(uint64_t hits, bool is_unknown)
{
    return hits ? RESULT_HIT : is_unknown ? RESULT_UNKNOWN : RESULT_MISSED;
}

#endif

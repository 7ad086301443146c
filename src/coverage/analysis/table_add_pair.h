/* From one pair of notes and counters, solved, into the table of all. */
#ifndef MONARC_COVERAGE_ANALYSIS_TABLE_ADD_PAIR_H
#define MONARC_COVERAGE_ANALYSIS_TABLE_ADD_PAIR_H

#include "coverage/analysis/line_coverage.h"
#include "coverage/analysis/coverage_table.h"

/* Memory that is used again for the next pair; zeroed at first. */
struct pair_scratch {
    struct coverage_unit unit;
    struct line_coverage lines;
    VEC(uint32_t) local;   /* by file of the notes: among `globals`, or NO_INDEX */
    VEC(uint32_t) globals; /* sources of the table */
    VEC(uint32_t) functions;
    struct notes wanted_notes; /* those of `unit` with fewer functions */
    struct flow wanted_flow;
    VEC(struct table_outcome) group;
    struct map numbers;
    struct map conditions; /* function and block -> condition of the notes */
};

/* Counts that contradict each other are none: damaged functions become unknown, unless they are
 * repaired. Those whose only oddity is a setjmp that longjmp came back to are sound as they are. */
void flow_forget_damaged(const struct notes *n, struct flow *flow, bool repairs);

/* Adds to `t`; `sources` has the number there of each file of the notes, or NO_INDEX to leave it
 * out. What the flow could not solve becomes unknown. Functions that the program lacks count 0: if
 * another object has them, its counts are added. `c` may be NULL. */
void coverage_table_add_pair(struct pair_scratch *g, const struct notes *n,
                             const struct counters *c, const struct flow *flow,
                             const uint32_t *sources, struct coverage_table *t);
void pair_scratch_deinit(struct pair_scratch *g);

#endif

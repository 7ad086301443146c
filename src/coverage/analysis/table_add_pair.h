/* From one pair of notes and counters, solved, into the table of all. */
#ifndef MONARC_ANALYSIS_COVER_GATHER_H
#define MONARC_ANALYSIS_COVER_GATHER_H

#include "coverage/analysis/line_coverage.h"
#include "coverage/analysis/coverage_table.h"

/* Memory that is used again for the next pair; zeroed at first. */
struct cover_gather {
    struct cover_unit unit;
    struct cover_lines lines;
    VEC(uint32_t) local;   /* by file of the notes: among `globals`, or COVER_NONE */
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
void cover_distrust(const struct notes *n, struct flow *flow, bool repairs);

/* Adds to `t`; `sources` has the number there of each file of the notes, or COVER_NONE to leave it
 * out. What the flow could not solve becomes unknown. Functions that the program lacks count 0: if
 * another object has them, its counts are added. `c` may be NULL. */
void cover_gather(struct cover_gather *g, const struct notes *n, const struct counters *c,
                  const struct flow *flow, const uint32_t *sources, struct cover_table *t);
void cover_gather_deinit(struct cover_gather *g);

#endif

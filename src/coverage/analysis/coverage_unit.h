/* What lines are counted from: units, the functions in them, and the blocks of these. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_UNIT_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_UNIT_H

#include "coverage/analysis/block_graph.h"
#include "coverage/analysis/flow.h"

/* One notes file with its counters. `sources` says which source each of notes->files is; the caller
 * numbers the sources, over all units, as names and folders make them equal; NO_INDEX: lines of
 * that source are left out. */
struct coverage_unit {
    const struct notes *notes;
    const struct counters *counters; /* or NULL */
    const struct flow *flow;
    const uint32_t *sources;
    struct block_graph graph; /* filled by line_coverage_build() */
};

/* A function of a unit. */
struct function_instance {
    uint32_t unit, function; /* index in units, in notes->functions */
    uint32_t source;         /* where it begins; NO_INDEX if the notes do not say */
    uint8_t state;           /* enum flow_state; why, is in the unit's flow */
    bool is_counted;         /* not left out by the rules */
    bool is_instance;        /* others begin at the same line: it has lines of its own */
    int64_t called, returned;
    uint32_t blocks, blocks_executed; /* without entry and exit */
    uint32_t first_line, lines;       /* its own lines, if is_instance */
    uint64_t gnu_lines, gnu_executed; /* without those that functions before it have: gcov -f */
};

/* A block of a function. */
struct instance_block {
    uint32_t instance;
    uint32_t block : 31;
    uint32_t is_elsewhere : 1; /* its branches and calls belong to another of its lines */
};

/* A count of the flow as gcov takes it: 0 for what is not known. */
static inline int64_t flow_known_count(int64_t count)
{
    return count == FLOW_NO_COUNT ? 0 : count;
}

static inline int64_t instance_block_count(const struct coverage_unit *units,
                                           const struct function_instance *at, uint32_t block)
{
    const struct coverage_unit *u = &units[at->unit];
    return flow_known_count(
        u->flow->blocks.at[u->notes->functions.at[at->function].first_block + block]);
}

/* enum block_kind */
static inline uint8_t instance_block_kind(const struct coverage_unit *units,
                                          const struct function_instance *at, uint32_t block)
{
    const struct coverage_unit *u = &units[at->unit];
    return u->graph.block_kinds.at[u->notes->functions.at[at->function].first_block + block];
}

#endif

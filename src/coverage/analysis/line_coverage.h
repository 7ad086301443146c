/* Lines: from solved arcs and blocks of one or several units to counts per line of each source.
 *
 * A line's count is how often it was entered from elsewhere plus how often loops within it went
 * round. A block belongs to the highest line of each of its runs; a line that only shares blocks
 * with others has their plain sum. That is GNU gcov's definition, kept to the last digit.
 *
 * Functions that begin at the same line of the same source (instances of a template, a header's
 * function in several units) keep lines of their own, so that each can be shown; the source's line
 * is their sum.
 *
 * Everything is a flat array; slices are (first, how many). Nothing here prints. */
#ifndef MONARC_ANALYSIS_COVER_LINES_H
#define MONARC_ANALYSIS_COVER_LINES_H

#include "coverage/analysis/block_graph.h"
#include "coverage/analysis/flow.h"

/* One notes file with its counters. `sources` says which source each of notes->files is; the caller
 * numbers the sources, over all units, as names and folders make them equal; COVER_NONE: lines of
 * that source are left out. */
struct cover_unit {
    const struct notes *notes;
    const struct counters *counters; /* or NULL */
    const struct flow *flow;
    const uint32_t *sources;
    struct cover_graph graph; /* filled by cover_lines_build() */
};

struct cover_rules {
    bool absent_is_zero;   /* functions that this program lacks count 0; else they are left out */
    bool unknown_is_zero;  /* functions without usable counts too */
    bool keeps_artificial; /* functions that the compiler made up */
    bool has_no_sums;      /* instances are not added into the source's lines */
    bool has_no_totals;    /* nor branches and calls into the source's totals */
    bool has_gnu_exit;     /* takes the last block for the exit, as gcov does for all versions */
    bool carries_lines;    /* a block without lines belongs to the line of the one before: before
                              gcc 8 only changes of the line were written down */
    bool sums_blocks;      /* a line's count is the plain sum: gcov before gcc 8, without -a */
    bool adds_instances;   /* lines of instances count in their source's totals as well */
};

enum cover_line_flags {
    LINE_EXISTS = 1,     /* has code */
    LINE_UNEXECUTED = 2, /* some block of it, not exceptional, did not run */
    LINE_PLAIN = 4,      /* some block of it is not exceptional */
    LINE_UNKNOWN = 8,    /* a function without usable counts has code here */
};

struct cover_line {
    uint32_t number;
    uint8_t flags;
    int64_t count;
    uint32_t first_block, blocks; /* in cover_lines.blocks: those that belong to it, in order */
};

/* A block of a function. */
struct cover_block {
    uint32_t instance, block;
};

struct cover_totals {
    uint64_t lines, lines_executed;
    uint64_t branches, branches_executed, branches_taken;
    uint64_t calls, calls_executed;
};

/* A function of a unit. */
struct cover_instance {
    uint32_t unit, function; /* index in units, in notes->functions */
    uint32_t source;         /* where it begins; COVER_NONE if the notes do not say */
    uint8_t state;           /* enum flow_state; why, is in the unit's flow */
    bool is_counted;         /* not left out by the rules */
    bool is_instance;        /* others begin at the same line: it has lines of its own */
    int64_t called, returned;
    uint32_t blocks, blocks_executed; /* without entry and exit */
    uint32_t first_line, lines;       /* its own lines, if is_instance */
    uint64_t gnu_lines, gnu_executed; /* without those that functions before it have: gcov -f */
};

struct cover_source {
    uint32_t first_line, lines; /* ascending, each with LINE_EXISTS or LINE_UNKNOWN */
    uint32_t last_number;       /* highest line number that any function mentions, or 0 */
    int64_t highest;            /* count of a line */
    struct cover_totals totals;
};

struct cover_lines {
    VEC(struct cover_source) sources;     /* as the caller numbered them */
    VEC(struct cover_instance) instances; /* in the order of units and their notes */
    VEC(struct cover_line) lines;
    VEC(struct cover_block) blocks;
};

/* Builds the table of `sources` sources; zeroed *out. Time and memory are linear in the notes, but
 * for lines that hold loops in loops. */
void cover_lines_build(struct cover_unit *units, size_t units_len, size_t sources,
                       const struct cover_rules *rules, struct cover_lines *out);
void cover_lines_deinit(struct cover_lines *t);

/* Releases units[i].graph of all. */
void cover_units_deinit(struct cover_unit *units, size_t units_len);

/* A count of the flow as gcov takes it: 0 for what is not known. */
static inline int64_t cover_count(int64_t count)
{
    return count == FLOW_NO_COUNT ? 0 : count;
}

static inline int64_t cover_block_count(const struct cover_unit *units,
                                        const struct cover_instance *at, uint32_t block)
{
    const struct cover_unit *u = &units[at->unit];
    return cover_count(
        u->flow->blocks.at[u->notes->functions.at[at->function].first_block + block]);
}

/* enum cover_block_kind */
static inline uint8_t cover_block_kind(const struct cover_unit *units,
                                       const struct cover_instance *at, uint32_t block)
{
    const struct cover_unit *u = &units[at->unit];
    return u->graph.block_kinds.at[u->notes->functions.at[at->function].first_block + block];
}

/* ---- loops within a line: coverage/analysis/line_loops.c */

struct cover_loops; /* scratch */

struct cover_loops *cover_loops_new(void);
void cover_loops_free(struct cover_loops *l);

/* How often elementary cycles among these blocks went round: each cycle found takes the least count
 * of its arcs away from them. */
int64_t cover_loops_count(struct cover_loops *l, const struct cover_unit *units,
                          const struct cover_instance *instances, const struct cover_block *blocks,
                          uint32_t len);

#endif

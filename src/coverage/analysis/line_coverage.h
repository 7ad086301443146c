/* From solved arcs and blocks to counts per line of each source.
 *
 * First what the arcs mean (struct block_graph): the compiler marks only fake arcs and
 * fall-throughs, the rest follows. A block with a fake arc out of it is a call, the fake arc "did
 * not return", and its other arcs that do not fall through are throws. A single arc that is not
 * fake is no branch. What only throws lead to is exceptional. It needs no counters.
 *
 * Then the lines (struct line_coverage): a line's count is how often it was entered from elsewhere
 * plus how often loops within it went round. A block belongs to the highest line of each of its
 * runs; a line that only shares blocks with others has their plain sum. That is GNU gcov's
 * definition, kept to the last digit. clang's blocks belong to each of their lines instead, as
 * llvm-cov counts.
 *
 * Functions that begin at the same line of the same source (instances of a template, a header's
 * function in several units) keep lines of their own, so that each can be shown; the source's line
 * is their sum. Everything is a flat array; slices are (first, how many). Nothing here prints. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_H
#define MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_H

#include "base/map.h"
#include "coverage/analysis/flow.h"

enum arc_kind {
    ARC_CALL = 1,          /* fake: a call that did not return */
    ARC_THROW = 2,         /* to a handler or clean-up */
    ARC_UNCONDITIONAL = 4, /* the only way on */
    ARC_NONLOCAL = 8,      /* fake, from the entry: where setjmp returns again */
};

enum block_kind {
    BLOCK_CALL = 1,        /* ends in a call */
    BLOCK_RETURN = 2,      /* only the rest of a call's block */
    BLOCK_EXCEPTIONAL = 4, /* reached by throws alone */
    BLOCK_NONLOCAL = 8,    /* where setjmp returns again */
    BLOCK_REPEATS = 16,    /* has an arc to itself */
    BLOCK_DECIDES = 32,    /* has arcs that are calls or branches */
};

struct block_graph {
    VEC(uint32_t) first_out; /* see block_graph_out(): one more per function than it has blocks */
    VEC(uint32_t)
    out;                    /* in notes->arcs: by source, then (but for clang's, whose order means
                               true and false) target, then place in the file */
    VEC(uint8_t) arc_kinds; /* beside notes->arcs */
    VEC(uint8_t) block_kinds;
    VEC(uint32_t) in_degree, queue; /* scratch */
};

/* Reuses the memory of *g. */
void block_graph_build(const struct notes *n, struct block_graph *g);
void block_graph_deinit(struct block_graph *g);

/* Where the arcs out of the blocks of a function (its index) begin in g->out: those of block `b`
 * are out[first[b]] to out[first[b + 1]]. */
static inline const uint32_t *block_graph_out(const struct block_graph *g, const struct notes *n,
                                              size_t function)
{
    return g->first_out.at + n->functions.at[function].first_block + function;
}

/* Whether an arc is a branch: neither a call nor the only way on. */
static inline bool block_graph_is_branch(const struct block_graph *g, uint32_t arc)
{
    return !(g->arc_kinds.at[arc] & (ARC_CALL | ARC_UNCONDITIONAL));
}

/* ---- units and functions */

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

/* ---- lines */

struct line_coverage_rules {
    bool absent_is_zero;   /* functions that this program lacks count 0; else they are left out */
    bool unknown_is_zero;  /* functions without usable counts too */
    bool keeps_artificial; /* functions that the compiler made up */
    bool keeps_bodies;     /* of these, what the programmer wrote: see line_holds_body() */
    bool has_no_sums;      /* instances are not added into the source's lines */
    bool has_no_totals;    /* nor branches and calls into the source's totals */
    bool has_gnu_exit;     /* takes the last block for the exit, as gcov does for all versions */
    bool carries_lines;    /* a block without lines belongs to the line of the one before: before
                              gcc 8 only changes of the line were written down */
    bool shares_blocks; /* clang: a block belongs to each of its lines, its branches to the last */
    bool has_no_instances; /* functions that begin at one line have no lines of their own */
    bool repeats_blocks;   /* and is counted as often as it names the line: llvm-cov gcov */
    bool sums_blocks;      /* a line's count is the plain sum: gcov before gcc 8, without -a */
    bool has_last_lines;   /* a source reaches to the end of its functions, code or none */
    bool lists_shares;     /* what each function counted on a line is listed */
    bool adds_instances; /* lines of instances count in their source's totals and gnu_lines, too */
};

enum covered_line_flags {
    LINE_EXISTS = 1,     /* has code */
    LINE_UNEXECUTED = 2, /* some block of it, not exceptional, did not run */
    LINE_PLAIN = 4,      /* some block of it is not exceptional */
    LINE_UNKNOWN = 8,    /* a function without usable counts has code here */
};

/* A line of a source, or of an instance that has lines of its own. */
struct covered_line {
    uint32_t number;
    uint8_t flags;
    int64_t count;
    uint32_t first_block, blocks; /* in line_coverage.blocks: those that belong to it, in order */
};

/* As gcov prints them: of all, those that ran, and of branches those that were taken. */
struct source_totals {
    uint64_t lines, lines_executed;
    uint64_t branches, branches_executed, branches_taken;
    uint64_t calls, calls_executed;
};

/* Its lines; those of instances are added in, unless the rules say not to. */
struct covered_source {
    uint32_t first_line, lines; /* ascending, each with LINE_EXISTS or LINE_UNKNOWN */
    uint32_t last_number;       /* highest line number that any function mentions, or 0 */
    int64_t highest;            /* count of a line */
    struct source_totals totals;
};

/* What a function counted on a line, as if it had the line alone. A line may have several of one
 * function, which add up. */
struct line_share {
    uint32_t line, instance; /* in lines, in instances */
    int64_t count;
};

struct line_coverage {
    VEC(struct covered_source) sources;      /* as the caller numbered them */
    VEC(struct function_instance) instances; /* in the order of units and their notes */
    VEC(struct covered_line) lines;
    VEC(struct instance_block) blocks;
    VEC(struct line_share) shares; /* if the rules want them */
};

/* Adds what the arcs of a block say about branches and calls. */
void line_add_branches(const struct coverage_unit *units, const struct function_instance *at,
                       uint32_t block, struct source_totals *totals);

/* Builds the table of `sources` sources; zeroed *out. Time and memory are linear in the notes, but
 * for lines that hold loops in loops. */
void line_coverage_build(struct coverage_unit *units, size_t units_len, size_t sources,
                         const struct line_coverage_rules *rules, struct line_coverage *out);
void line_coverage_deinit(struct line_coverage *t);

/* Releases units[i].graph of all. */
void coverage_units_deinit(struct coverage_unit *units, size_t units_len);

/* ---- one pair of notes and counters, solved, into the table of all (table_add_pair.c) */

struct coverage_table;
struct table_outcome;

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
    VEC(uint32_t) line_of; /* by line of this pair: the table's, where shares are kept */
    struct map numbers;
    struct map conditions; /* function and block -> condition of the notes */
};

/* Adds to `t`; `sources` has the number there of each file of the notes, or NO_INDEX to leave it
 * out. What the flow could not solve becomes unknown. Functions that the program lacks count 0: if
 * another object has them, its counts are added. `c` may be NULL. */
void coverage_table_add_pair(struct pair_scratch *g, const struct notes *n,
                             const struct counters *c, const struct flow *flow,
                             const uint32_t *sources, struct coverage_table *t);
void pair_scratch_deinit(struct pair_scratch *g);

#endif

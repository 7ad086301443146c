/* From the counters of some arcs to the count of every arc and block.
 *
 * A compiler counts only the arcs off a spanning tree of a function's graph; the others follow,
 * because what flows into a block flows out of it. A function that cannot be solved is unknown,
 * with the reason; none is ever taken as 0.
 *
 * Functions of the notes are matched with those of the counters by identity (ident, or name and
 * checksum in the proposal's files), the n-th of one identity with the n-th, never by position: a
 * program may hold only some of the functions of its notes. */
#ifndef MONARC_COVERAGE_ANALYSIS_FLOW_H
#define MONARC_COVERAGE_ANALYSIS_FLOW_H

#include "coverage/model/coverage.h"

/* Which function of the counters each function of the notes has. */
struct pairing {
    VEC(uint32_t) counted; /* by function of the notes: in counters->functions, or NO_INDEX */
    uint32_t unmatched;    /* functions of the counters that the notes lack */
    bool is_other_version, is_other_stamp;
};

/* Whether such files can belong together at all: the proposal's must be of one version, and neither
 * of its files fits one of a compiler's. */
bool pair_is_possible(const struct arcs_origin *notes, const struct arcs_origin *counters);

/* The count of what is not known: never added up or printed. */
#define FLOW_NO_COUNT INT64_MIN

enum flow_state {
    FLOW_SOLVED,  /* every arc and block has its count, flow is conserved, nothing is negative */
    FLOW_ABSENT,  /* not in this program: another object's copy was taken */
    FLOW_DAMAGED, /* counts exist but contradict each other, as updates by threads were lost */
    FLOW_UNKNOWN, /* no counts */
};

enum flow_reason {
    FLOW_FINE,
    FLOW_BAD_NOTES,     /* the defect of the notes */
    FLOW_BAD_COUNTERS,  /* the defect of the counters */
    FLOW_COUNTERS_CUT,  /* the counters end before this function */
    FLOW_OTHER_CODE,    /* checksums differ: notes and counters are of different builds */
    FLOW_OTHER_VERSION, /* the proposal's files name two compilers: nothing says what fits */
    FLOW_COUNTER_COUNT, /* more or fewer counters than arcs that should have one */
    FLOW_NO_BLOCKS,
    FLOW_TREE_CYCLE,    /* the arcs without counters are not a tree */
    FLOW_NEGATIVE,      /* damaged: a count would be below 0 */
    FLOW_NOT_CONSERVED, /* damaged: more flows into a block than out, or less */
    FLOW_REPAIRED,      /* was damaged; solved with the least change */
    FLOW_REASONS
};

/* How solving one function went. */
struct flow_function {
    uint8_t state, reason;
    uint8_t defect;   /* enum arcs_defect, of FLOW_BAD_NOTES and FLOW_BAD_COUNTERS */
    uint32_t counted; /* index in counters->functions, or NO_INDEX */
    uint32_t place;   /* block or arc of the function that shows the damage; counters found */
    uint64_t change;  /* FLOW_REPAIRED: what was added to counters and taken from them, in all */
    bool has_late_splits; /* counts are those of entering a block; flow need not be conserved */
};

struct flow_node;

/* Counts beside the notes, in the order of their arcs and blocks. Used again for the next file. */
struct flow {
    VEC(int64_t) arcs;   /* beside notes->arcs */
    VEC(int64_t) blocks; /* by first_block + block */
    VEC(struct flow_function) functions;
    uint64_t states[4]; /* functions in each */
    struct pairing pairing;
    bool has_counters;
    VEC(struct flow_node) nodes; /* scratch */
    VEC(uint32_t) work;
};

/* A count as gcov takes it: 0 for what is not known. */
static inline int64_t flow_known_count(int64_t count)
{
    return count == FLOW_NO_COUNT ? 0 : count;
}

/* Solves all functions of `n`, reusing the memory of *out. Without counters (`c` NULL: the program
 * never ran) all counts are 0. Time is linear in the notes. */
void flow_solve(const struct notes *n, const struct counters *c, struct flow *out);
void flow_deinit(struct flow *out);

/* Gives back what only solving and repairing need. */
void flow_trim(struct flow *out);

/* "the counters end before this function"; for FLOW_BAD_* followed by the defect. */
const char *flow_reason_text(enum flow_reason reason);

/* The law: in a solved function what flows into a block flows out of it, and is the block's count;
 * nothing is negative. `index` of the function. */
bool flow_is_conserved(const struct notes *n, const struct flow *flow, size_t index);

/* Gives every damaged function counts that are not negative and conserve flow, with the least sum
 * of changes to the counters that achieves it, and calls it solved, FLOW_REPAIRED. One that would
 * take too long, or whose counts are beyond reason, stays damaged. Returns how many it repaired. */
size_t flow_repair(const struct notes *n, struct flow *flow);

/* Contradictory counts are worth nothing: damaged functions become unknown, unless `repairs` says
 * to repair them. Those whose only oddity is a setjmp that longjmp came back to are sound. */
void flow_forget_damaged(const struct notes *n, struct flow *flow, bool repairs);

/* Puts the counts of repaired functions back into the counters that were solved. */
void flow_store(const struct notes *n, const struct flow *flow, struct counters *c);

#endif

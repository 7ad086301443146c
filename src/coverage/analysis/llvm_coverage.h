/* From the regions of LLVM's coverage mapping and the counters of a profile to lines, branches,
 * conditions and functions of a coverage table.
 *
 *     add     each function: its counters are evaluated, its regions are put beside those of others
 *     finish  each source: regions of all functions --> lines; branches and decisions by place
 *
 * What one object knows of a source is laid over what others know, so that all programs of a build,
 * and all instances of a template, generic or inline function are one source. Instances are
 * functions of different names whose bodies begin at one place. A rule says what a region, branch
 * or decision of theirs is:
 *
 *     union    what any of them ran: counts add up
 *     each     lines likewise; branches and decisions of every instance are separate
 *     worst    what all of them ran: of each region and branch the smallest count of an instance,
 *              of a decision what every instance has shown */
#ifndef MONARC_COVERAGE_ANALYSIS_LLVM_COVERAGE_H
#define MONARC_COVERAGE_ANALYSIS_LLVM_COVERAGE_H

#include "coverage/analysis/coverage_table.h"
#include "coverage/model/llvm.h"

/* A place in a source. */
struct llvm_place {
    uint32_t line, column, end_line, end_column;
};

/* Builds that compiled different parts of a function, by #ifdef, are swept one by one: what one of
 * them skipped must not hide what another one ran. */

/* Whose a region, branch or decision is, as far as the rule wants to know; else zeros. */
struct instance {
    uint32_t apart;  /* 1 + the function's number in the table: stands by itself */
    uint32_t group;  /* functions whose bodies begin at one place */
    uint32_t number; /* of the function's name: the same in all programs */
    bool is_unused;  /* the compiler made no code of it, but says so: no instance */
};

/* A region that is counted; the kind as in llvm_region. */
struct counted_region {
    uint64_t count;
    struct llvm_place at;
    struct instance of;
    uint32_t source, program;
    uint8_t kind;
    bool is_single_byte;
    bool is_unknown; /* its function's counters cannot be used, or contradict each other */
};

/* A region of code at its place, and where the macro is used that it stands in (else zeros): what
 * counts as a region. Sources of the two may differ; it is the use's. */
struct counted_code {
    uint64_t count;
    struct llvm_place at, use;
    struct instance of;
    uint32_t source;
    uint32_t function; /* as many as were added before */
    uint32_t ordinal;  /* of those of its function at this place: a macro's argument has several */
    bool is_unknown;
};

/* A branch at its place, and where the macro is used that it stands in (else zeros). */
struct counted_branch {
    uint64_t if_true, if_false;
    struct llvm_place at, use;
    struct instance of;
    uint32_t source;
    bool has_true, has_false; /* false: the compiler knows that it does not happen */
    bool is_true_unknown, is_false_unknown;
};

/* MC/DC of one decision: bit n is set if condition n was shown to decide. */
struct counted_decision {
    uint64_t shown;
    struct llvm_place at, use;
    struct instance of;
    uint32_t source, terms;
    uint32_t ways;   /* in llvm_coverage.ways, or NO_INDEX */
    bool is_unknown; /* of counters of another build */
};

/* One way through a decision: the values of the conditions that it evaluates, and the outcome. */
struct mcdc_vector {
    uint64_t values, evaluated;
    bool outcome;
};

/* All ways through a decision: those that were run, and the others. */
struct mcdc_ways {
    VEC(struct mcdc_vector) seen, missing;
    const struct llvm_place *terms;
    uint32_t len;
    uint64_t folded;
};

/* What a condition still needs: `len` runs, of these vectors. */
struct mcdc_need {
    struct mcdc_vector runs[2];
    uint32_t len; /* 1: with a vector that was seen; 2: no vector of it helps; 0: it cannot be
                     shown, or there are too many ways to look at */
};

/* A decision, explained. Bit n and terms[n] are its nth condition in the order of the source. */
struct explained_decision {
    const char *path; /* of the table */
    uint32_t line, len;
    struct llvm_place at;
    const struct llvm_place *terms; /* line 0: it stands in another source, as a macro's may */
    uint64_t folded;                /* the compiler knows their outcome */
    uint64_t shown;                 /* to decide, by unique cause, as counted */
    uint64_t masking;               /* to decide, by masking */
    const struct mcdc_vector *seen;
    size_t seen_len;
    const struct mcdc_need *needs; /* of each condition that is not shown */
};

/* A function that no code was made of: it is one if nothing else begins at its place. */
struct unused_function {
    struct table_function row;
    uint32_t column;
};

/* Zeroed at first, but for the rule. */
struct llvm_coverage {
    enum instance_rule rule;
    uint32_t program;  /* the caller's number of that whose functions are added */
    struct map groups; /* source and line, column -> groups of instances */
    uint32_t groups_len;
    struct intern instances; /* names, without the part that distinguishes crates of one name */
    VEC(uint32_t) names;     /* the same, as the table first had them */
    struct map real;         /* source and line, column where functions with code begin */
    VEC(struct unused_function) unused;
    struct map skipped;  /* source and line, column of a function -> a hash of what it skips */
    struct map variants; /* sources of functions of which two programs skip different parts */
    VEC(struct counted_region) regions;
    VEC(struct counted_code) codes;
    uint32_t functions; /* that were added */
    VEC(struct counted_branch) branches;
    VEC(struct counted_decision) decisions;
    VEC(int64_t) values; /* of the function's expressions */
    VEC(uint8_t) states; /* whether they are known yet */
    VEC(uint32_t) stack;
    VEC(struct mcdc_ways) ways; /* of decisions, whose conditions are in the order of the source */
    uint64_t listed;            /* ways, over all decisions */
    VEC(struct explained_decision) explained; /* in `arena`: of all that were finished */
    struct arena arena;
    uint64_t room;             /* lines that may still be made, by the bytes that were read */
    uint64_t contradictory;    /* regions whose counts are below 0 */
    uint64_t large_decisions;  /* of too many conditions or vectors, left out */
    uint64_t broken_decisions; /* whose bits are not there, or whose terms do not fit together */
    uint64_t lines_without_room;
};

/* The counters of a function. */
struct llvm_counters {
    const uint64_t *counts; /* NULL: it never ran */
    uint32_t counts_len;
    const uint8_t *bits;
    uint32_t bits_len;
    bool is_unknown; /* counters there are, but of another build */
    bool is_single_byte;
    bool has_old_bitmap; /* LLVM 18 numbers test vectors by the conditions that are true */
};

/* Adds a function. `sources` has the number in `t` of each of the mapping's files, or NO_INDEX.
 * false: malformed, *why says how, and nothing was added. */
MUST_CHECK bool llvm_coverage_add(struct llvm_coverage *c, const struct llvm_regions *r,
                                  const char *name, const struct llvm_counters *counters,
                                  const uint32_t *sources, struct coverage_table *t,
                                  const char **why);

/* Adds what was gathered to the table, and forgets it, but for what is explained. */
void llvm_coverage_finish(struct llvm_coverage *c, struct coverage_table *t);
void llvm_coverage_deinit(struct llvm_coverage *c);

/* ---- MC/DC (llvm_mcdc.c) */

enum { MCDC_TERMS = 64 }; /* as many as a mask has bits */

/* One condition: where evaluation goes on, by number; -1: the decision is made. */
struct mcdc_term {
    int16_t next[2]; /* if false, if true */
    bool is_folded;  /* the compiler knows its outcome */
};

enum mcdc_result { MCDC_FINE, MCDC_LARGE, MCDC_BROKEN };

/* Which conditions were shown to decide by themselves: two vectors that were run differ in it alone
 * and in the outcome. `bitmap` is the decision's index. */
enum mcdc_result mcdc_shown(const struct mcdc_term *terms, uint32_t len, uint32_t bitmap,
                            const struct llvm_counters *counters, uint64_t *shown);

/* The ways through a decision that mcdc_shown() took for fine, into a zeroed *out, with bits by
 * number of the term. False: there are too many to be listed, and *out is empty. */
bool mcdc_ways_list(const struct mcdc_term *terms, uint32_t len, uint32_t bitmap,
                    const struct llvm_counters *counters, struct mcdc_ways *out);
void mcdc_ways_deinit(struct mcdc_ways *w);

/* Adds what another instance of the decision has seen. */
void mcdc_ways_unite(struct mcdc_ways *into, const struct mcdc_ways *from);

/* Conditions of which a vector was seen that decided by being true, and one by being false: whose
 * change alone could have changed the outcome. */
uint64_t mcdc_masking(const struct mcdc_ways *w);

/* What would show condition `k`: a run beside one that was seen, else two. */
struct mcdc_need mcdc_need_of(const struct mcdc_ways *w, uint32_t k);

#endif

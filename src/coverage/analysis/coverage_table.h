/* The sum of what many files say about covered code: sources, functions, lines, branches, calls,
 * conditions, regions, each with counts.
 *
 * Everything has an identity by which the same thing of two objects, runs or tracefiles becomes
 * one: a source its path; a function its linkage name, source and first line; a line its source and
 * number; the branches of a line belong to a function, so that a template's instances stay apart
 * while an inline function that many objects hold is one. Branches are added up place by place if
 * both sides have the same shape, and stand side by side if not, as after a macro changed them.
 *
 * Where a line's count is that of the instance which ran it least, what each function counted there
 * is kept apart (keeps_shares).
 *
 * Adding is commutative and associative, counts stop at the largest number. Each thread fills a
 * table of its own; coverage_result adds them up and makes something to print of them.
 *
 *     line --group--> group --next--> group           what each function has of the line
 *                      |  ^next_of_function
 *                      +--first, len--> outcomes      ways out of blocks, block by block
 *     line --mask---> mask --next--> mask             conditions
 *     line ---------> region --next--> region         regions of code, by their places */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_TABLE_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_TABLE_H

#include "base/map.h"
#include "base/bytes.h"
#include "coverage/model/coverage.h"

/* How instances of a function count: of a template, generic or inline function. A rule of reports,
 * by which those of clang and rustc are put together when they come into a table, those of gcc when
 * the result is made. */
enum instance_rule { INSTANCES_UNION, INSTANCES_EACH, INSTANCES_WORST };

enum outcome_flags {
    OUTCOME_CALL = 1,        /* a call, not a branch; its count: how often it was made */
    OUTCOME_THROW = 2,       /* taken by exceptions */
    OUTCOME_FALLTHROUGH = 4, /* the way straight on */
    OUTCOME_HIDDEN = 8,      /* in code that the compiler made, such as cleaning up after a throw */
};

/* One way out of a block. */
struct table_outcome {
    uint64_t count;
    uint32_t block; /* number of the block in its group: 0, 1, ... */
    uint16_t flags;
    bool is_unknown; /* some object did not know it */
};

/* What one function has of one line. */
struct table_group {
    uint32_t function;   /* NO_INDEX: of a tracefile, which does not say */
    uint32_t first, len; /* slice of outcomes */
    uint32_t line;
    uint32_t next;             /* group of the line, or NO_INDEX */
    uint32_t next_of_function; /* the same of its function */
};

/* A condition: bit n of `on` and `off` is set if term n decided it being true and being false. */
struct table_mask {
    uint32_t function, ordinal; /* number on its line in the function */
    uint32_t terms, next;
    uint64_t on, off;
};

/* A region of code, at its place: clang's and rustc's alone. */
struct table_region {
    uint64_t count;
    uint32_t next; /* of the line, or NO_INDEX */
    bool is_unknown;
};

struct table_line {
    uint64_t count;
    uint32_t source, line;
    uint32_t group, mask; /* first of each, or NO_INDEX */
    uint32_t groups;      /* how many */
    bool is_known;        /* counted by some object */
    bool is_unknown;      /* some object did not know it */
};

struct table_function {
    uint32_t name, source; /* name: in names */
    uint32_t start_line, end_line;
    uint32_t start_column; /* 0: not said */
    uint64_t count;
    bool is_known, is_unknown;
    uint8_t reason, defect; /* of is_unknown, as in struct flow_function */
    bool is_repaired;

    /* The table's: */
    bool is_mapped;         /* its groups are in by_group */
    uint32_t group, groups; /* the last one of its groups, and how many */
};

/* That a test ran a line. */
struct table_hit {
    uint64_t count;
    uint32_t test; /* in tests */
    uint32_t next; /* of the line, or NO_INDEX */
};

/* A function's part of a line's count, which does not contain it. */
struct table_share {
    uint64_t count;
    uint32_t function; /* or NO_INDEX */
    uint32_t next;     /* of the line, or NO_INDEX */
};

/* How much a table has of a source. */
struct table_size {
    uint32_t functions, lines, outcomes, masks;
};

/* One thread's sum. Numbers of sources, names, functions and lines are indices that never change,
 * so that callers may keep them; pointers into lists are good until the next call. */
struct coverage_table {
    struct intern paths; /* sources are numbers in it */
    struct intern names; /* linkage names */
    struct intern tests;
    VEC(struct table_size) sizes; /* by source */
    VEC(int64_t) dates;           /* by source: of the oldest file that speaks of it, or 0 */
    VEC(struct table_function) functions;
    VEC(struct table_line) lines;
    VEC(struct table_group) groups;
    VEC(struct table_outcome) outcomes;
    VEC(struct table_mask) masks;

    VEC(struct table_region) regions;
    VEC(uint32_t) regions_of; /* by line: the first, or NO_INDEX */

    /* Only where counts are kept apart by test: a line and a test may have several hits. */
    uint32_t test; /* what is added now: 1 + its number in tests; 0: of no test */
    VEC(struct table_hit) hits;
    VEC(uint32_t) hits_of; /* by line: the first, or NO_INDEX */
    size_t most_hits;      /* when hits of one line and test are next put together */

    bool keeps_shares; /* the owner's, before anything is added */
    VEC(struct table_share) shares;
    VEC(uint32_t) shares_of; /* by line: the first, or NO_INDEX */

    VEC(uint32_t) first_of_name; /* by name: index in functions + 1 */
    struct map by_function;      /* name and source, start line -> functions, of those not first */
    struct map by_line;          /* page's key -> page_keys */
    VEC(uint64_t) page_keys;     /* source, line / PAGE_LINES */
    VEC(uint32_t) page_lines;    /* PAGE_LINES of each page: index in lines + 1, or 0 */
    struct map by_group;         /* line and function, shape -> groups, where many could be meant */
    struct map by_share;         /* line and function -> shares */
    struct map by_mask;          /* line and function, ordinal and terms -> masks */
    struct map by_region;        /* line, the caller's key -> regions */

    /* Objects mention the same headers in the same order: the next look-up is for the successor of
     * the last one. */
    uint32_t next_name, next_group;
    uint32_t last_page; /* in page_keys */
};

/* Lines that share a page: code is dense, so that most pages are nearly full. */
enum { PAGE_LINES = 16 };

void coverage_table_deinit(struct coverage_table *t);

uint32_t coverage_table_source(struct coverage_table *t, const char *path);
/* A file of that time speaks of the source. Neither need be: NO_INDEX, 0. */
void coverage_table_date(struct coverage_table *t, uint32_t source, int64_t time);
uint32_t coverage_table_name(struct coverage_table *t, const char *name);
void coverage_table_test(struct coverage_table *t, const char *name);

/* What is counted from now on, until the name is NULL, is kept apart as this test's, too. */
void coverage_table_begin_test(struct coverage_table *t, const char *name);

/* Adds a function, of a name and a source of this table; its number. */
uint32_t coverage_table_function(struct coverage_table *t, const struct table_function *row);

/* Adds another table's, or another object's, entry for the same function. */
void table_function_add(struct table_function *sum, const struct table_function *more);

/* The line's number; made if it is new. */
uint32_t coverage_table_line(struct coverage_table *t, uint32_t source, uint32_t line);

/* Adds to the line's count, and to the test's if one has begun. */
void coverage_table_count(struct coverage_table *t, uint32_t line, uint64_t count);
/* Of tables that keep shares: the line is known, and the test ran it; `count` is in no share yet.
 */
void coverage_table_ran(struct coverage_table *t, uint32_t line, uint64_t count);
/* Adds a function's part, which is in no other count of the line. */
void coverage_table_share(struct coverage_table *t, uint32_t line, uint32_t function,
                          uint64_t count);
void coverage_table_unknown(struct coverage_table *t, uint32_t line);

/* Adds what a function has of a line. */
void coverage_table_outcomes(struct coverage_table *t, uint32_t line, uint32_t function,
                             const struct table_outcome *outcomes, uint32_t len);
/* Adds what a function has seen of a condition's outcomes. */
void coverage_table_mask(struct coverage_table *t, uint32_t line, const struct table_mask *mask);

/* Adds to a region that begins on the line, or stands in a macro that is used there. `key` is the
 * same for the same place. */
void coverage_table_region(struct coverage_table *t, uint32_t line, uint64_t key, uint64_t count,
                           bool is_unknown);

/* Adds a tracefile; with `test` its sections' counts are kept apart by their tests, which are
 * called `test` if they have no name. `sources` has the number in this table of each of its
 * sections' sources, or NO_INDEX: leave it out. */
void coverage_table_add_trace(struct coverage_table *t, const struct tracefile *trace,
                              const uint32_t *sources, const char *test);

#endif

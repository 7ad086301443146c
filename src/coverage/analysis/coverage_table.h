/* The sum of what many files say about covered code: sources, functions, lines, branches, calls,
 * conditions, each with counts.
 *
 * Everything has an identity by which the same thing of two objects, runs or tracefiles becomes
 * one: a source its path; a function its linkage name, source and first line; a line its source and
 * number; the branches of a line belong to a function, so that a template's instances stay apart
 * while an inline function that many objects hold is one. Branches are added up place by place if
 * both sides have the same shape, and stand side by side if not, as after a macro changed them.
 *
 * Adding is commutative and associative, counts stop at the largest number. Each thread fills a
 * table of its own; cover_result adds them up and makes something to print of them. */
#ifndef MONARC_ANALYSIS_COVER_TABLE_H
#define MONARC_ANALYSIS_COVER_TABLE_H

#include "base/intern.h"
#include "coverage/model/tracefile.h"

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
    uint32_t flags;
};

/* What one function has of one line. */
struct table_group {
    uint32_t function;   /* COVER_NONE: of a tracefile, which does not say */
    uint32_t first, len; /* slice of outcomes */
    uint32_t line;
    uint32_t next;             /* group of the line, or COVER_NONE */
    uint32_t next_of_function; /* the same of its function */
};

/* A condition: bit n of `on` and `off` is set if term n decided it being true and being false. */
struct table_mask {
    uint32_t function, ordinal; /* number on its line in the function */
    uint32_t terms, next;
    uint64_t on, off;
};

struct table_line {
    uint64_t count;
    uint32_t source, line;
    uint32_t group, mask; /* first of each, or COVER_NONE */
    uint32_t groups;      /* how many */
    bool is_known;        /* somebody counted it */
    bool is_unknown;      /* somebody could not tell */
};

struct table_function {
    uint32_t name, source; /* name: in names */
    uint32_t start_line, end_line;
    uint64_t count;
    bool is_known, is_unknown;
    uint8_t reason, doubt; /* of is_unknown, as in struct flow_function */
    bool is_repaired;

    /* The table's: */
    bool is_mapped;         /* its groups are in by_group */
    uint32_t group, groups; /* the last one of its groups, and how many */
};

/* How much a table has of a source. */
struct table_size {
    uint32_t functions, lines, outcomes, masks;
};

struct cover_table {
    struct intern paths; /* sources are numbers in it */
    struct intern names; /* linkage names */
    struct intern tests;
    VEC(struct table_size) sizes; /* by source */
    VEC(struct table_function) functions;
    VEC(struct table_line) lines;
    VEC(struct table_group) groups;
    VEC(struct table_outcome) outcomes;
    VEC(struct table_mask) masks;
    VEC(uint32_t) first_of_name; /* by name: index in functions + 1 */
    struct map by_function;      /* name and source, start line -> functions, of those not first */
    struct map by_line;          /* page's key -> page_keys */
    VEC(uint64_t) page_keys;     /* source, line / COVER_PAGE */
    VEC(uint32_t) page_lines;    /* COVER_PAGE of each page: index in lines + 1, or 0 */
    struct map by_group;         /* line and function, shape -> groups, where many could be meant */
    struct map by_mask;          /* line and function, ordinal and terms -> masks */

    /* Objects mention the same headers in the same order: what is asked for next is what came after
     * what was asked for last. */
    uint32_t next_name, next_group;
    uint32_t last_page; /* in page_keys */
};

enum { COVER_PAGE = 16 };

void cover_table_deinit(struct cover_table *t);

uint32_t cover_table_source(struct cover_table *t, const char *path);
uint32_t cover_table_name(struct cover_table *t, const char *name);
void cover_table_test(struct cover_table *t, const char *name);

/* Adds a function, of a name and a source of this table; its number. */
uint32_t cover_table_function(struct cover_table *t, const struct table_function *row);

/* Adds what another table, or another object, says of the same function. */
void table_function_add(struct table_function *sum, const struct table_function *more);

/* The line's number; made if it is new. */
uint32_t cover_table_line(struct cover_table *t, uint32_t source, uint32_t line);

void cover_table_count(struct cover_table *t, uint32_t line, uint64_t count);
void cover_table_unknown(struct cover_table *t, uint32_t line);

/* Adds what a function has of a line. */
void cover_table_outcomes(struct cover_table *t, uint32_t line, uint32_t function,
                          const struct table_outcome *outcomes, uint32_t len);
void cover_table_mask(struct cover_table *t, uint32_t line, const struct table_mask *mask);

/* Adds a tracefile; `sources` has the number in this table of each of its sections' sources, or
 * COVER_NONE: leave it out. */
void cover_table_add_trace(struct cover_table *t, const struct tracefile *trace,
                           const uint32_t *sources);

/* a + b, or the largest number. */
static inline uint64_t cover_sum(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

#endif

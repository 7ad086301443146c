/* What an lcov tracefile says, or another tool's file of that kind: sections, each of one source
 * under one test, with functions, lines, branches and conditions. Flat arrays; sections own
 * consecutive slices of them. */
#ifndef MONARC_COVERAGE_MODEL_TRACEFILE_H
#define MONARC_COVERAGE_MODEL_TRACEFILE_H

#include "base/vec.h"

/* Known by its name within a section; several of one name add up. */
struct trace_function {
    const char *name;
    uint32_t start_line, end_line; /* 0: not said */
    uint64_t count;
};

/* A line may occur again in one section; counts are added up then. */
struct trace_line {
    uint32_t line;
    uint64_t count;
};

/* Branches of one line and block are the ways out of one decision. */
struct trace_branch {
    uint32_t line, block, branch;
    uint64_t count;    /* 0, too, if its block was never run */
    bool is_exception; /* `e` */
};

/* One outcome of one term of a condition. */
struct trace_condition {
    uint32_t line, terms, term;
    bool sense;
    uint64_t count;
};

/* The same source may have several, of other tests or of one: they are added up when they are used.
 */
struct trace_section {
    const char *source, *test; /* test: "" if it has no name */
    uint32_t first_function, functions;
    uint32_t first_line, lines;
    uint32_t first_branch, branches;
    uint32_t first_condition, conditions;
};

/* What a file said and there is no room for here. */
struct trace_loss {
    const char *what; /* in the plural */
    uint64_t number;
};

/* Texts live in `arena`; zeroed it is empty. */
struct tracefile {
    struct arena arena; /* texts */
    VEC(struct trace_section) sections;
    VEC(struct trace_function) functions;
    VEC(struct trace_line) lines;
    VEC(struct trace_branch) branches;
    VEC(struct trace_condition) conditions;
    uint64_t negative;        /* counts below 0, read as 0 */
    uint64_t unknown_records; /* of kinds that are not read */
    VEC(struct trace_loss) losses;
};

/* A section is begun, gets its records at the ends of the arrays, and is ended, or dropped with all
 * of them. The texts must live as long as the tracefile. */
void tracefile_begin(struct tracefile *t, const char *source, const char *test);
void tracefile_end(struct tracefile *t);
void tracefile_drop(struct tracefile *t);

/* Adds to what is left out. `what` is a text that stays. */
void tracefile_lose(struct tracefile *t, const char *what, uint64_t number);

void tracefile_deinit(struct tracefile *t);

#endif

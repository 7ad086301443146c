/* The lines of source on recorded stacks, and how much time was spent below each.
 *
 * A node is an address: a line, and where that is inlined code the lines that it was inlined at.
 * stack_lines_find() lists the lines; who asks gives each a row of a table, and
 * stack_lines_measure() measures rows as stacks_measure() does functions: a row's inclusive time is
 * that of the samples that have it anywhere on their stacks, each once. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_STACK_LINES_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_STACK_LINES_H

#include "base/vec.h"
#include "profile/analysis/recording/stacks.h"

struct stack_lines_input {
    const struct space *space;
    const struct functions *functions;
    struct object *const *objects; /* by number in the recording; NULL elements: not to be had */
    const struct recording_choice *choice;
    const double *weights; /* per node, in samples; nodes that nothing was measured below have no
                              lines */
};

struct stack_line {
    uint64_t address;  /* one with that line, as in the functions' table */
    uint32_t function; /* in which that is */
    uint32_t line;
    const char *name; /* linkage name of the function that the line is in, inlined or not */
    const char *file; /* as debug information has it; NULL: code without a line */
};

/* Per node a place; per place, its lines from the outermost to what runs there. */
struct stack_lines {
    const struct stack_lines_input *in;
    VEC(struct stack_line) all;
    uint32_t *place, *start, *frame;
    uint32_t places;
};

/* Asks each object once for each address. Lists live in `a`, but for `all`: stack_lines_deinit().
 */
void stack_lines_find(struct stack_lines *l, const struct stack_lines_input *in, struct arena *a);
void stack_lines_deinit(struct stack_lines *l);

/* `row_of`: per line its row, below `rows`, or NO_FUNCTION: in none. Errors are measured as those
 * of functions are, if they are wanted. */
void stack_lines_measure(struct stacks *t, const struct stack_lines *l, const uint32_t *row_of,
                         uint32_t rows, bool has_errors, struct arena *a);

#endif

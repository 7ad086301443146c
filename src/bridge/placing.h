/* Counts of lines given addresses in a program: block records for gmon.out.
 *
 * Only functions and lines say where a count belongs, so the program need not be the one that was
 * counted: another build of the same sources has the same lines. A function's line is placed on
 *
 *   1. the first code of the line in the function, out of line or inlined; clones (.part.0, .cold)
 *      are the function;
 *   2. the function's first address, if it is the line of the declaration, which has no code where
 *      the brace is on a line of its own, and if that first code has no count of its own;
 *   3. the first code of the line in any function: copies that an optimiser left no code of count
 * on the line, too, which so has gcov's count.
 *
 * The entries of a line go to the rows that the line table has there, one after the other, and what
 * is left to the last of them. Where other functions with counts have code of the line as well, as
 * copies of inlined functions, they get a record of 0, so that nobody takes the count of the code
 * before for theirs. The sum of a line's records is its count. */
#ifndef MONARC_BRIDGE_PLACING_H
#define MONARC_BRIDGE_PLACING_H

#include "profile/analysis/functions.h"
#include "bridge/line_counts.h"
#include "profile/model/profile.h"
#include "source/source.h"

struct placing {
    const struct line_counts *counts; /* settled */
    struct object *object;
    const struct functions *functions;
    const struct source_search *maps; /* for the program's paths; those of the counts are mapped */
    bool adds_calls;                  /* an arc from nowhere to each function that was called */
};

/* What was not placed, with the first of each kind. Texts live as long as the input. */
struct placed {
    uint64_t lines;             /* of functions that the program has */
    uint64_t no_code, executed; /* of these without code; of these with a count that is not 0 */
    const char *line_file, *line_function;
    uint32_t line;
    uint64_t missing_functions; /* that the program lacks */
    const char *function;
    uint64_t missing_files;     /* that it does not mention */
    const char *file, *similar; /* a file of the program with the same last component, or NULL */
};

/* Appends blocks and arcs to *out, unsorted, and fills *report. */
void place_counts(const struct placing *in, struct profile *out, struct placed *report,
                  struct arena *a);

#endif

/* How often each line of each function was entered, of many pairs of notes and counters.
 *
 * A line's count is GNU gcov's, and here it is taken apart: every block at which the line is
 * entered from elsewhere has how often that was, so that the entries of a line add up to its count.
 * Blocks of the line that only others of it lead to are none; blocks that never ran are one entry
 * of 0. What loops within the line add goes to the block that they lead back to.
 *
 * The exit belongs to no line in gcov. Here it is an entry of the function's last line if nothing
 * else is there. */
#ifndef MONARC_BRIDGE_LINE_COUNTS_H
#define MONARC_BRIDGE_LINE_COUNTS_H

#include "base/map.h"
#include "coverage/analysis/flow.h"
#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

/* One entry of a line. Numbers of names and files are those of struct line_counts. */
struct line_count {
    uint32_t file, line;
    uint32_t function; /* in names */
    uint32_t ordinal;  /* of the entry, in the order of blocks */
    bool is_start;     /* the line on which the function is declared */
    bool is_end;       /* the exit: counts only where the line has nothing else */
    uint64_t count;
};

/* How often a function was entered, for the calls of counted_calls_put(). */
struct called_function {
    uint32_t name, file;
    uint64_t count;
};

/* Zeroed at first; grows with each unit that is added, and may be asked once it is settled. */
struct line_counts {
    struct intern names; /* of functions: linkage names */
    struct intern files; /* the caller's */
    VEC(struct line_count) at;
    VEC(struct called_function) functions;
};

/* Adds the functions of one unit that are solved and in the program. `files` has the number in
 * c->files of each of the notes'. */
void line_counts_add(struct line_counts *c, const struct notes *n, const struct flow *flow,
                     const uint32_t *files);

/* Sorts by file, line, function and ordinal, and sums what agrees in these. */
void line_counts_settle(struct line_counts *c);
void line_counts_deinit(struct line_counts *c);

/* Counters of arcs as calls of a program's functions: how often each was entered is counted; who
 * called it is not, but the program's code has the direct calls.
 *
 * The calls of a function are split among those that call it directly and ran themselves, as they
 * ran: an estimate, as gprof's model is one of times. A function without such callers was called
 * from nowhere. The calls of a function add up to what was counted. */

/* Appends arcs to *out. Returns how many functions with counts the program does not have; it may be
 * another build of the same sources. Functions of one name are taken for the first of them. */
uint64_t counted_calls_put(const struct line_counts *counts, const struct functions *f,
                           struct object *o, struct profile *out);

#endif

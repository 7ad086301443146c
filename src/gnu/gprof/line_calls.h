/* Calls for a flat profile by line: the graph has nodes for functions alone.
 *
 * In GNU gprof's line graph calls go from lines to functions, never to lines. So a line has no
 * callers, no part in a cycle and no time to pass on; all that calls from lines do to a flat
 * profile is to be counted, and to decide in which order functions are met. */
#ifndef MONARC_GNU_GPROF_LINE_CALLS_H
#define MONARC_GNU_GPROF_LINE_CALLS_H

#include "gnu/gprof/functions_gnu.h"

struct line_calls {
    uint32_t *node_of;        /* of an entry of the table with lines: its function, or NO_NODE */
    struct attribution time;  /* of the functions */
    struct graph_root *roots; /* calls from lines, for `struct graph_rules` */
    size_t roots_len;
};

/* `functions`: the table before lines were added, `all`: with them and with the lines of all call
 * sites. Calls from lines lose their call site in the profile. */
void line_calls_make(struct line_calls *c, const struct functions *functions,
                     const struct gnu_functions *all, const struct attribution *time,
                     struct profile *p, struct arena *a);

#endif

/* The line profile: one row a (function, file, line) in which something was measured.
 *
 * The function is the one whose source the line is in: for inlined code the inlined one. Samples of
 * a bin are split among the code in it by bytes, exactly as among functions, so that the law is the
 * flat profile's: self of all rows + omitted.self + unattributed == samples of the summary. Code
 * without a line has a row for its function, without file. Amounts of time are in samples. */
#ifndef MONARC_PROFILE_ANALYSIS_LINES_H
#define MONARC_PROFILE_ANALYSIS_LINES_H

#include "profile/analysis/flat.h"

/* A way in which the code of a row came to be where it is: frames[0] is the place it was inlined
 * into, and so on outwards. None: it stands in its own function. */
struct line_chain {
    const struct object_frame *frames;
    uint32_t len;
    double self;
};

struct lines_row {
    uint32_t function; /* index into `functions` of the table, which has file and line, too */
    bool is_profiler;
    double self;
    double running;   /* self of this row and all above it */
    double total;     /* self, and that of code inlined here; each sample once */
    uint64_t calls;   /* made from here */
    uint64_t entered; /* calls of functions that begin here */
    struct interval interval;
    const struct line_chain *chains; /* most samples first; only with inlines */
    uint32_t chains_len;
};

struct lines_table {
    const struct summary *summary;
    struct sharing sharing;     /* of a profile's bins among lines, by entry of `functions` */
    struct functions functions; /* one entry a row, before any were left out */
    struct names names;         /* of these */
    struct lines_row *rows;
    uint32_t len;
    struct {
        uint32_t lines;
        double self;
    } omitted;
    double without_line;         /* samples in functions, but on no line; part of rows */
    const char *const *lineless; /* names of objects in which that is all there is */
    size_t lineless_len;
    bool has_fractions, has_inlines;
};

struct lines_input {
    const struct functions *functions; /* native */
    struct object *const *objects;     /* by function.object; NULL elements: not to be had */
    const char *const *object_names;
    uint32_t objects_len;
    const struct profile *profile;
    const struct summary *summary;
    const char *demangle; /* style, or NULL */
    bool has_inlines;     /* chains, and totals that differ from self */
};

/* Everything lives in the arena; strings also in the objects. `rules.min_percent` is of self, or
 * with inlines of total. */
void lines_make(struct lines_table *t, const struct lines_input *in, const struct view_rules *rules,
                struct arena *a);

#endif

/* A profile as the screen shows it: opened, analysed, and its source lines when they are asked
 * for. */
#ifndef MONARC_TUI_MODEL_MEASUREMENT_H
#define MONARC_TUI_MODEL_MEASUREMENT_H

#include "profile/analysis/tables.h"
#include "profile/analysis/source_lines.h"
#include "session/session.h"

struct measurement {
    struct session_options options;
    struct session session;
    struct entries entries; /* made when they are asked for */
    struct source_lines lines;
    bool has_lines; /* `lines` are made: the program has line numbers */
    bool was_asked; /* for lines */
};

/* Opens what the options name; of a recording the part that the filter says. The options' texts
 * must outlive it. NULL with `e` set. */
struct measurement *measurement_open(const struct session_options *o,
                                     const struct recorded_filter *part, struct err *e);
void measurement_close(struct measurement *m); /* NULL is fine */

/* The entries of the call graph. */
const struct entries *measurement_entries(struct measurement *m);

/* Makes `lines`, once; false if the program has no line numbers. */
bool measurement_lines(struct measurement *m);

/* Where a function begins. */
bool measurement_place(const struct measurement *m, uint32_t function, const char **file,
                       uint32_t *line);

#endif

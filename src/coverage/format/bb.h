/* The files of gcc before 3.4: bbg (the graph) and bb (names and lines), which together are notes,
 * and da (counters). docs/formats/bb.md draws the bytes.
 *
 * bbg_read() and da_read() take them too; these are for what one file alone does not say: the
 * lines of the graph, and up to gcc 3.2 the names of functions. */
#ifndef MONARC_COVERAGE_FORMAT_BB_H
#define MONARC_COVERAGE_FORMAT_BB_H

#include "coverage/model/coverage.h"

/* Whether the bytes, of which there may be more than are given, begin as such a file does. There is
 * no magic: up to gcc 3.2 this is that numbers agree with each other. */
bool bb_graph_probe(struct bytes in);
bool bb_counters_probe(struct bytes in);
bool bb_lines_probe(struct bytes in);

/* As bbg_read() and da_read(). */
MUST_CHECK bool bb_graph_read(struct bytes in, const char *name, struct notes *out, struct err *e);
MUST_CHECK bool bb_counters_read(struct bytes in, const char *name, struct counters *out,
                                 struct err *e);

/* Gives the functions of a graph the names, files and lines of its bb file, whose bytes must
 * outlive them. Fails, with the notes as they were, if the files are not of one compilation. */
MUST_CHECK bool bb_lines_read(struct bytes in, const char *name, struct notes *n, struct err *e);

/* Up to gcc 3.2 counters are one row for the whole object: true until they are shared out. */
bool bb_counters_lack_names(const struct counters *c);

/* Shares such a row out to the functions of the notes. Fails if there are more or fewer counters
 * than the notes have arcs for. */
MUST_CHECK bool bb_counters_share(struct counters *c, const struct notes *n, struct err *e);

#endif

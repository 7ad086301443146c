/* Notes and counters from one family or version to another.
 *
 * The exit block changes its number where the layouts disagree; checksums and identities that the
 * target needs are made from what the source has, in the same way for notes and counters, so that
 * the two fit together again. */
#ifndef MONARC_FORMAT_ARCS_CONVERT_H
#define MONARC_FORMAT_ARCS_CONVERT_H

#include "coverage/model/coverage.h"

/* The version word of gcc `major`.`minor`, or 0 if there is none: "408*", "B22*". */
uint32_t arcs_version_word(unsigned major, unsigned minor);

/* To the proposal's form. The counters take names and checksums from the notes that they belong to,
 * as these were before; those must be gcc's or clang's. */
MUST_CHECK bool arcs_notes_to_rfc(struct notes *n, struct err *e);
MUST_CHECK bool arcs_counters_to_rfc(struct counters *c, const struct notes *n, struct err *e);

/* To the layout of a version. Kinds of counters that it lacks, or has in another form, are an
 * error. */
MUST_CHECK bool arcs_notes_to_gcov(struct notes *n, uint32_t version, struct err *e);
MUST_CHECK bool arcs_counters_to_gcov(struct counters *c, uint32_t version, struct err *e);

/* Leaves out what is not counts of arcs. */
void arcs_counters_reduce(struct counters *c);

#endif

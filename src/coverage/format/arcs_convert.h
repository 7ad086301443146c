/* Notes and counters from one family or version to another.
 *
 * The exit block changes its number where the layouts disagree; checksums and identities that the
 * target needs are made from what the source has, in the same way for notes and counters, so that
 * the two fit together again. */
#ifndef MONARC_COVERAGE_FORMAT_ARCS_CONVERT_H
#define MONARC_COVERAGE_FORMAT_ARCS_CONVERT_H

#include "coverage/model/coverage.h"

/* The version word of gcc `major`.`minor`, or 0 if there is none: "408*", "B22*". */
uint32_t arcs_version_word(unsigned major, unsigned minor);

/* The release of a major version that most of its files are of, which its gcov takes without
 * complaint: "B22*" for 12. */
uint32_t arcs_version_word_of_major(unsigned major);

/* What files of these become if nothing else is asked for: the compiler that they name, if it is a
 * release that gcov's layouts have; 12.2 for the proposal's own "304e". */
uint32_t arcs_version_word_for(const struct arcs_origin *origin);

/* To the proposal's form. The counters take names and checksums from the notes that they belong to,
 * as these were before; those must be gcc's or clang's. */
MUST_CHECK bool arcs_notes_to_rfc(struct notes *n, struct err *e);
MUST_CHECK bool arcs_counters_to_rfc(struct counters *c, const struct notes *n, struct err *e);

/* Gives the proposal's counters the identities, checksums and stamp that their functions have in
 * the notes of a compiler, which they are then counters of, to be solved or written. Fails if a
 * function is not there, by name and the checksum that arcs_notes_to_rfc() would give it. */
MUST_CHECK bool arcs_counters_adopt(struct counters *c, const struct notes *n, struct err *e);

/* To the layout of a version. Kinds of counters that it lacks, or has in another form, are an
 * error. */
MUST_CHECK bool arcs_notes_to_gcov(struct notes *n, uint32_t version, struct err *e);
MUST_CHECK bool arcs_counters_to_gcov(struct counters *c, uint32_t version, struct err *e);

/* Leaves out what is not counts of arcs. */
void arcs_counters_reduce(struct counters *c);

#endif

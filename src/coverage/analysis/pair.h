/* Which counters belong to which function of the notes.
 *
 * Functions are matched by identity (ident, or name and checksum in the proposal's files), the
 * n-th of one identity with the n-th, never by position: a program holds a part of the functions.
 */
#ifndef MONARC_COVERAGE_ANALYSIS_PAIR_H
#define MONARC_COVERAGE_ANALYSIS_PAIR_H

#include "coverage/model/coverage.h"

struct pairing {
    VEC(uint32_t) counted; /* by function of the notes: in counters->functions, or NO_INDEX */
    uint32_t unmatched;    /* functions of the counters that the notes lack */
    bool is_other_version, is_other_stamp;
};

/* Fills *p, reusing its memory. */
void pair_functions(const struct notes *n, const struct counters *c, struct pairing *p);
void pairing_deinit(struct pairing *p);

/* Whether such files can belong together at all: the proposal's must be of one version, and neither
 * of its files goes with one of a compiler's. */
bool pair_is_possible(const struct arcs_origin *notes, const struct arcs_origin *counters);

/* Whether the two were made from the same lines and the same control flow. */
bool pair_is_same_code(const struct notes_function *f, const struct counted_function *counted);

#endif

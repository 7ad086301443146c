/* lcov tracefiles (.info), of lcov 1 and 2 and of all who write them: docs/formats/lcov.md. */
#ifndef MONARC_COVERAGE_FORMAT_LCOV_H
#define MONARC_COVERAGE_FORMAT_LCOV_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/tracefile.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the bytes begin as a tracefile does: comments and empty lines, then a known record. */
bool lcov_probe(struct bytes in);

/* Reads into a zeroed *out. On failure *out holds the sections that were whole. A file without any
 * section is no failure: lcov writes that when nothing matches. */
MUST_CHECK bool lcov_read(struct bytes in, const char *name, struct tracefile *out, struct err *e);

/* What lcov_read() gives back as it was; branches' texts that are no numbers have become such.
 * Fails for names that a tracefile cannot hold. */
MUST_CHECK bool lcov_write(struct writer *w, const struct tracefile *t, struct err *e);

/* --- how often something ran, as text of any tool -------------------------------------------- */

/* Reads the number between `at` and `end`. Decimals and exponents are cut to a whole number, what
 * is too large is the largest there is, what is below 0 is 0 and adds to *negative. false: it is no
 * number. */
bool count_read(const char *at, const char *end, uint64_t *out, uint64_t *negative);

#endif

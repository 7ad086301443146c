/* gcda: the counters that a program leaves behind. */
#ifndef MONARC_COVERAGE_FORMAT_GCDA_H
#define MONARC_COVERAGE_FORMAT_GCDA_H

#include "base/bytes.h"
#include "base/writer.h"
#include "coverage/model/coverage.h"

bool gcda_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out; out->bytes is `in`. On failure *out holds what was whole,
 * with out->failure set. A file without its end mark is cut: what it holds is read, and it fails.
 */
MUST_CHECK bool gcda_read(struct bytes in, const char *name, struct counters *out, struct err *e);

/* Writes in the layout and byte order of c->origin, record by record: a file that was read and not
 * changed comes out as it was, but for what stood behind its end mark. Fails if a record does not
 * fit its 32-bit length. */
MUST_CHECK bool gcda_write(struct writer *w, const struct counters *c, struct err *e);

#endif

/* gcda: the counters that a program leaves behind. */
#ifndef MONARC_FORMAT_GCDA_H
#define MONARC_FORMAT_GCDA_H

#include "base/bytes.h"
#include "model/coverage.h"

bool gcda_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out; out->bytes is `in`. On failure *out holds what was whole,
 * with out->failure set. A file without its end mark is cut: what it holds is read, and it fails.
 */
MUST_CHECK bool gcda_read(struct bytes in, const char *name, struct counters *out, struct err *e);

#endif

/* gcovr's JSON: what its --json writes and its --add-tracefile reads. The versions 0.1 to 0.14 of
 * the format (gcovr 4.2 to 8) differ in members that are there or not. */
#ifndef MONARC_COVERAGE_IMPORT_GCOVR_H
#define MONARC_COVERAGE_IMPORT_GCOVR_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/tracefile.h"

bool gcovr_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool gcovr_read(struct bytes in, const char *name, struct tracefile *out, struct err *e);

#endif

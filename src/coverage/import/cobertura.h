/* Cobertura's XML, of gcovr, coverage.py, grcov, kcov and others (coverage-04.dtd). */
#ifndef MONARC_COVERAGE_IMPORT_COBERTURA_H
#define MONARC_COVERAGE_IMPORT_COBERTURA_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/tracefile.h"

bool cobertura_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool cobertura_read(struct bytes in, const char *name, struct tracefile *out,
                               struct err *e);

#endif

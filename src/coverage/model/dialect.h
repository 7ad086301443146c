/* Which version of GCC wrote it, as a row of the table in monarc/gcov_dialects.h. */
#ifndef MONARC_COVERAGE_MODEL_DIALECT_H
#define MONARC_COVERAGE_MODEL_DIALECT_H

#include "coverage/model/coverage.h"

/* The row for a version word; NULL if the word is no compiler's that is known. */
const struct gcov_dialect *dialect_of_word(uint32_t version);

/* The row that holds for notes or counters; the oldest where the version is not known. */
const struct gcov_dialect *dialect_of(const struct arcs_origin *origin);

#endif

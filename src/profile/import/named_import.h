/* Profiles that tell functions by name: each is two functions of the table of imports (import.h).
 */
#ifndef MONARC_PROFILE_IMPORT_NAMED_IMPORT_H
#define MONARC_PROFILE_IMPORT_NAMED_IMPORT_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"

#define NO_TEXT "is not text: there is a NUL byte in it"
#define NO_SUM  "the numbers are too large to be added up"

bool folded_probe(struct bytes first);
MUST_CHECK bool folded_read(struct bytes in, const char *name, struct recording *out,
                            struct err *e);

bool perf_script_probe(struct bytes first);
MUST_CHECK bool perf_script_read(struct bytes in, const char *name, struct recording *out,
                                 struct err *e);

bool callgrind_probe(struct bytes first);
MUST_CHECK bool callgrind_read(struct bytes in, const char *name, struct recording *out,
                               struct err *e);

bool pprof_probe(struct bytes first);
MUST_CHECK bool pprof_read(struct bytes in, const char *name, struct recording *out, struct err *e);

#endif

/* Streams of freestanding targets: a gcfn record with a file name, then the bytes of that gcda
 * file, and so on. __gcov_filename_to_gcfn() of gcc 13 and later writes the former. */
#ifndef MONARC_COVERAGE_FORMAT_GCFN_H
#define MONARC_COVERAGE_FORMAT_GCFN_H

#include "base/cursor.h"
#include "base/writer.h"
#include "coverage/model/coverage.h"

bool gcfn_probe(struct bytes in);

/* Reads the next pair into a zeroed (or cleared) *out, and the name, which points into the bytes.
 * Fails where the stream breaks off. At the end of `in` there is no next. */
MUST_CHECK bool gcfn_next(struct cursor *in, const char **name, struct counters *out,
                          struct err *e);

/* Appends a pair: the name, and the counters as gcda_write() does. */
MUST_CHECK bool gcfn_write(struct writer *w, const char *name, const struct counters *c,
                           struct err *e);

#endif

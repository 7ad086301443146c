/* The files of gcov: notes, counters, and streams of counters.
 *
 * A probe looks at the first word and no further. Readers take bytes which must outlive what they
 * fill, as names and unknown records stay there; writers append to `w`, in memory, and fail before
 * or within the file: what stands in `w` then is no file. Dialects: monarc/gcov_dialects.h. */
#ifndef MONARC_COVERAGE_FORMAT_GCOV_H
#define MONARC_COVERAGE_FORMAT_GCOV_H

#include "base/bytes.h"
#include "coverage/model/coverage.h"

/* --- gcno: the notes that gcc (3.4 to 16) and clang leave beside an object file -------------- */

/* Whether the bytes begin as a gcno file of either byte order does. */
bool gcno_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out, whose texts point into `in`. On failure *out holds what
 * was whole, with out->failure set: the function that the file breaks off in has a defect. A file
 * of which nothing can be used leaves out->origin.version 0. */
MUST_CHECK bool gcno_read(struct bytes in, const char *name, struct notes *out, struct err *e);

/* Writes in the layout and byte order of n->origin. What a compiler wrote, and was not changed,
 * comes out as it was. Fails if a function of the notes has a defect. */
MUST_CHECK bool gcno_write(struct writer *w, const struct notes *n, struct err *e);

/* --- gcda: the counters that a program leaves behind ----------------------------------------- */

bool gcda_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out; out->bytes is `in`. On failure *out holds what was whole,
 * with out->failure set. A file without its end mark is cut: what it holds is read, and it fails.
 */
MUST_CHECK bool gcda_read(struct bytes in, const char *name, struct counters *out, struct err *e);

/* Writes in the layout and byte order of c->origin, record by record: a file that was read and not
 * changed comes out as it was, but for what stood behind its end mark. Fails if a record does not
 * fit its 32-bit length. */
MUST_CHECK bool gcda_write(struct writer *w, const struct counters *c, struct err *e);

/* --- gcfn: a stream of names and gcda files, of freestanding targets ------------------------- */

bool gcfn_probe(struct bytes in);

/* Reads the next pair into a zeroed (or cleared) *out, and the name, which points into the bytes.
 * Fails where the stream breaks off. At the end of `in` there is no next. */
MUST_CHECK bool gcfn_next(struct cursor *in, const char **name, struct counters *out,
                          struct err *e);

/* Appends a pair: the name, and the counters as gcda_write() does. */
MUST_CHECK bool gcfn_write(struct writer *w, const char *name, const struct counters *c,
                           struct err *e);

#endif

/* gcno: the notes that gcc (3.4 to 16) and clang leave beside an object file. */
#ifndef MONARC_COVERAGE_FORMAT_GCNO_H
#define MONARC_COVERAGE_FORMAT_GCNO_H

#include "base/bytes.h"
#include "base/writer.h"
#include "coverage/model/coverage.h"

/* Whether the bytes begin as a gcno file of either byte order does. */
bool gcno_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out, whose texts point into `in`. On failure *out holds what
 * was whole, with out->failure set: the function that the file breaks off in has a defect. A file
 * of which nothing can be used leaves out->origin.version 0. */
MUST_CHECK bool gcno_read(struct bytes in, const char *name, struct notes *out, struct err *e);

/* Writes in the layout and byte order of n->origin. What a compiler wrote, and was not changed,
 * comes out as it was. Fails if a function of the notes has a defect. */
MUST_CHECK bool gcno_write(struct writer *w, const struct notes *n, struct err *e);

#endif

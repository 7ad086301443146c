/* The table of files that say which lines ran, as a tracefile of lcov does: bytes to a tracefile.
 *
 * What a file says and a tracefile has no room for is among its losses, by name. */
#ifndef MONARC_COVERAGE_IMPORT_IMPORT_H
#define MONARC_COVERAGE_IMPORT_IMPORT_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/coverage.h"

struct trace_importer {
    const char *name;  /* of tests/corpus/NAME, and in docs/coverage.md */
    const char *title; /* for people */

    /* Whether the first bytes of a file (at least 64 KiB, or all there are) can be of this format.
     */
    bool (*probe)(struct bytes first);

    /* Reads a whole file into a zeroed *out. On failure *out holds the sections that were whole. */
    bool (*read)(struct bytes in, const char *name, struct tracefile *out, struct err *e);
};

extern const struct trace_importer *const trace_importers;
extern const size_t trace_importers_len;

/* The format of the bytes, or NULL. */
const struct trace_importer *trace_importer_of(struct bytes first);

/* Whether it has one. */
bool trace_is_known(struct bytes first);

#endif

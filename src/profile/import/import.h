/* The table of what other profilers write: bytes to a run, as a recording of ours is one.
 *
 * What an import has no room for in a run is among the run's losses, by name.
 *
 * An importer is one row: how it recognises the bytes' first part, and what reads them. It gets
 * bytes and no path, opens nothing (but perf.data, which needs the unwind tables of what was
 * mapped), and hands over a recording that recording_check() has passed. A new one is a file
 * here, a row in import.c, a paragraph of docs/import.md and a seed in
 * tests/corpus/NAME. */
#ifndef MONARC_PROFILE_IMPORT_IMPORT_H
#define MONARC_PROFILE_IMPORT_IMPORT_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"

/* One row of the table. */
struct importer {
    const char *name;  /* of tests/corpus/NAME; docs/import.md describes it */
    const char *title; /* for people */

    /* Whether the first bytes of a file (at least 64 KiB, or all there are) can be of this format.
     */
    bool (*probe)(struct bytes first);

    /* Reads a whole file into a zeroed *out, which is to be freed after failure, too. `name` is
     * the file's, for messages, and of formats that name no program also the object's. */
    bool (*read)(struct bytes in, const char *name, struct recording *out, struct err *e);
};

extern const struct importer *const importers;
extern const size_t importers_len;

/* The format of the bytes, or NULL. The first row that says yes. */
const struct importer *importer_of(struct bytes first);

#endif

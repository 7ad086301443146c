/* The table of what other profilers write: bytes to a run, as a recording of ours is one.
 *
 * What an import has no room for in a run is among the run's losses, by name. */
#ifndef MONARC_PROFILE_IMPORT_IMPORT_H
#define MONARC_PROFILE_IMPORT_IMPORT_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"

struct importer {
    const char *name;  /* of docs/formats/NAME.md and tests/corpus/NAME */
    const char *title; /* for people */

    /* Whether the first bytes of a file (at least 64 KiB, or all there are) can be of this format.
     */
    bool (*probe)(struct bytes first);

    /* Reads a whole file into a zeroed *out, which is to be freed after failure, too. */
    bool (*read)(struct bytes in, const char *name, struct recording *out, struct err *e);
};

extern const struct importer *const importers;
extern const size_t importers_len;

/* The format of the bytes, or NULL. */
const struct importer *importer_of(struct bytes first);

#endif

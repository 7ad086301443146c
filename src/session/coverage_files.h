/* Which notes, counters and tracefiles there are below what was named, and which belong together.
 */
#ifndef MONARC_CLI_COVER_FIND_H
#define MONARC_CLI_COVER_FIND_H

#include "base/err.h"
#include "base/intern.h"

/* An object: its notes, and the counters of its runs. */
struct cover_object {
    const char *notes;
    uint64_t size;           /* of the notes, in bytes */
    uint32_t first_counters; /* in counters, linked by `next`; COVER_NONE: never ran */
};

struct cover_counters_file {
    const char *path;
    uint32_t next; /* of the same object, or COVER_NONE */
    bool is_paired;
};

struct cover_found {
    struct arena arena;
    VEC(struct cover_object) objects;
    VEC(struct cover_counters_file) counters;
    VEC(const char *) traces;
    VEC(const char *) unreadable; /* sentences about folders and files that cannot be looked at */
    struct map stems;             /* number of a path without suffix -> objects */
    struct intern names;
    struct map files; /* device and inode: seen */
};

struct find_rules {
    bool follows_links; /* symbolic links to folders, inside those that were named */
    const char *prefix; /* as GCOV_PREFIX when the program ran, or NULL */
    unsigned strip;     /* GCOV_PREFIX_STRIP */
};

/* Looks at a folder or file that was named. */
MUST_CHECK bool cover_look(struct cover_found *f, const char *path, const struct find_rules *rules,
                           struct err *e);

/* After all were found: gives counters to objects. First by name; then where GCOV_PREFIX put them;
 * what is left goes to an object with the same file name and stamp; among several, to the one whose
 * path has the longest end in common with it. */
void cover_pair_files(struct cover_found *f, const struct find_rules *rules);
void cover_found_deinit(struct cover_found *f);

#endif

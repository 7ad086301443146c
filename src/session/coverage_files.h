/* Which notes, counters and tracefiles there are below what was named, and which belong together.
 */
#ifndef MONARC_SESSION_COVERAGE_FILES_H
#define MONARC_SESSION_COVERAGE_FILES_H

#include "base/err.h"
#include "base/intern.h"

/* An object: its notes, and the counters of its runs. */
struct coverage_object {
    const char *notes;
    uint64_t size;           /* of the notes, in bytes */
    uint32_t first_counters; /* in counters, linked by `next`; NO_INDEX: never ran */
    bool is_rfc;             /* bbg, not gcno */
    bool is_known;           /* counters went to other notes of this object: it did run */
};

struct counters_file {
    const char *path;
    uint32_t next; /* of the same object, or NO_INDEX */
    bool is_paired;
    bool is_rfc;   /* da, not gcda */
    uint32_t test; /* in tests */
};

struct coverage_files {
    struct arena arena;
    VEC(struct coverage_object) objects;
    VEC(struct counters_file) counters;
    VEC(const char *) traces;
    VEC(uint32_t) trace_tests;    /* parallel: in tests */
    VEC(const char *) tests;      /* what was looked at, one after the other */
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

/* Looks at a folder or file that was named. Counters in it are of a test of that name. */
MUST_CHECK bool coverage_files_look(struct coverage_files *f, const char *path,
                                    const struct find_rules *rules, struct err *e);

/* The same of every folder in a folder, in the order of their names: each is a test. */
MUST_CHECK bool coverage_files_look_at_runs(struct coverage_files *f, const char *path,
                                            const struct find_rules *rules, struct err *e);

/* After all were found: gives counters to objects, gcda to gcno and da to bbg, or to gcno where
 * there is no bbg. First by name; then where GCOV_PREFIX put them; what is left goes to an object
 * with the same file name and stamp; among several, to the one whose path has the longest end in
 * common with it. */
void coverage_files_pair(struct coverage_files *f, const struct find_rules *rules);
void coverage_files_deinit(struct coverage_files *f);

#endif

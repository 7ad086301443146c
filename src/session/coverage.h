/* What `monarc cover` works with: notes, counters and tracefiles, found, read and added up, and a
 * patch beside them. */
#ifndef MONARC_SESSION_COVERAGE_H
#define MONARC_SESSION_COVERAGE_H

#include "coverage/analysis/coverage_change.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/format/patch.h"
#include "session/coverage_read.h"

struct coverage_options {
    struct find_rules find;
    struct source_filter filter; /* with a root */
    struct read_rules read;
    struct result_rules result; /* its root is the session's */
    bool has_root;              /* the filter's root was named; else a better one may be found */
    const char *patch;          /* "-": standard input; NULL: none */
    const char *runs;           /* a folder of folders of counters, each a test's; NULL: none */
    char **paths;               /* none: the current folder */
    size_t paths_len;
};

struct coverage_session {
    struct arena arena;
    struct coverage_files files;
    struct coverage_reading reading;
    struct coverage_result result;
    struct patch patch;
    struct patch_coverage diff; /* of the patch, if there is one */
    const char *root;           /* sources below it are shown without it */
};

/* Into a zeroed *s. What cannot be used is among reading.problems; false if nothing is there, or
 * the patch cannot be read. coverage_session_close() after failure, too. */
MUST_CHECK bool coverage_session_open(struct coverage_session *s, const struct coverage_options *o,
                                      struct err *e);
void coverage_session_close(struct coverage_session *s);

#endif

/* Which sources are the user's project, so that a report on coverage is about these and not about
 * the libraries that were built along with them. */
#ifndef MONARC_SESSION_PROJECT_H
#define MONARC_SESSION_PROJECT_H

#include "coverage/analysis/coverage_table.h"

struct project_tables {
    const struct coverage_table *at; /* their paths are all sources */
    size_t len;
};

struct project {
    const char *root;  /* names below it are shown without it */
    const char *scope; /* sources elsewhere are left out; NULL: none are */
};

/* The working copy that the current folder or `named` (NULL: none) is in, if it has any of the
 * sources; otherwise the current folder, if it has; otherwise, as in a build folder beside the
 * sources, the folder that all sources are in. Texts are in `a`, which also owns *out's. */
void project_find(const struct project_tables *tables, const char *here, const char *named,
                  struct arena *a, struct project *out);

/* Whether a whole path is of the project. CMake fetches other projects' sources into a folder
 * `_deps` of the build folder, which may be below the root: those are not. */
bool project_has(const char *scope, const char *path);

#endif

/* What a source is called: from the name in the notes to one path for all objects, and whether the
 * user wants it. */
#ifndef MONARC_CLI_COVER_NAMES_H
#define MONARC_CLI_COVER_NAMES_H

#include "coverage/analysis/coverage_table.h"
#include "source/search.h"

struct cover_wishes {
    const char *root;                   /* whole path; patterns may be relative to it */
    struct source_search *maps;         /* FROM=TO of --path-map */
    VEC(const char *) include, exclude; /* glob patterns */
    bool wants_system;                  /* sources of the system, such as its headers */
};

/* One thread's; zeroed but for the first members. */
struct cover_names {
    const struct cover_wishes *wishes;
    struct cover_table *table;
    struct arena arena;
    struct intern raw;       /* names as they are in the notes, with their folders */
    VEC(uint32_t) sources;   /* of raw names: in the table, or COVER_NONE */
    VEC(char) text;          /* scratch */
    uint64_t system_sources; /* left out */
    uint64_t unwanted_sources;
};

/* The table's number of a source, or COVER_NONE if it is not wanted. `directory` is where the
 * compiler ran, or NULL; `beside` the file that names it. */
uint32_t cover_names_source(struct cover_names *n, const char *name, const char *directory,
                            const char *beside);
void cover_names_deinit(struct cover_names *n);

/* The whole path of something relative to the current folder. */
char *cover_whole_path(const char *path, struct arena *a);

#endif

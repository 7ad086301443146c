/* What a source is called: from the name in the notes to one path for all objects, and whether the
 * user wants it. */
#ifndef MONARC_SESSION_SOURCE_NAMES_H
#define MONARC_SESSION_SOURCE_NAMES_H

#include "coverage/analysis/coverage_table.h"
#include "source/search.h"

struct source_filter {
    const char *root;                   /* whole path; patterns may be relative to it */
    struct source_search *maps;         /* FROM=TO of --path-map */
    VEC(const char *) include, exclude; /* glob patterns */
    bool keeps_system;                  /* sources of the system, such as its headers */
};

/* One thread's; zeroed but for the first members. */
struct source_names {
    const struct source_filter *filter;
    struct coverage_table *table;
    struct arena arena;
    struct intern raw;       /* names as they are in the notes, with their folders */
    VEC(uint32_t) sources;   /* of raw names: in the table, or NO_INDEX */
    VEC(char) text;          /* scratch */
    uint64_t system_sources; /* left out */
    uint64_t unwanted_sources;
};

/* The table's number of a source, or NO_INDEX if it is not wanted. `directory` is where the
 * compiler ran, or NULL; `beside` the file that names it. */
uint32_t source_names_number(struct source_names *n, const char *name, const char *directory,
                             const char *beside);
void source_names_deinit(struct source_names *n);

/* The whole path of something relative to the current folder. */
char *path_absolute(const char *path, struct arena *a);

#endif

/* Finding source files by the names that debug information records for them.
 *
 * The recorded name is where the compiler saw the file, often on another machine: absolute, or
 * relative to wherever the program was built. Here are the ways from there to a file that can be
 * read. */
#ifndef MONARC_SOURCE_SEARCH_H
#define MONARC_SOURCE_SEARCH_H

#include "base/err.h"
#include "base/path.h"
#include "base/vec.h"

struct source_search {
    struct arena *arena; /* what the texts below and found paths live in */
    VEC(const char *) dirs;
    VEC(struct path_map) maps; /* the last that fits holds */
};

void source_search_deinit(struct source_search *s);

/* Appends directories separated by colons; empty ones are kept, as GNU gprof keeps them. */
void source_search_add(struct source_search *s, const char *directories);

/* FROM=TO: files recorded below FROM are below TO. */
MUST_CHECK bool source_search_map(struct source_search *s, const char *rule, struct err *e);

/* The first name that can be opened, or NULL: as recorded; then, for names that are not absolute,
 * below each directory; then the last component alone in each directory. GNU gprof's order, with an
 * empty directory meaning `/`. */
const char *source_find_gnu(const struct source_search *s, const char *recorded);

/* The first regular file, or NULL. Tried: what the last map that fits makes of the name; the name
 * as recorded; then in each directory the name itself and what is left of it when leading
 * components are taken away one by one, the longest first. So `-I /src` finds /build/a/b.c as
 * /src/a/b.c before /src/b.c. */
const char *source_find(const struct source_search *s, const char *recorded);

/* What the last map that fits makes of a name, whether there is such a file or not; tidy. */
const char *source_mapped(const struct source_search *s, const char *recorded, struct arena *a);

#endif

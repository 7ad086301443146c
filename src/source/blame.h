/* Who wrote the lines of a file and when: what `git blame --porcelain` prints. Nothing is run here.
 */
#ifndef MONARC_SOURCE_BLAME_H
#define MONARC_SOURCE_BLAME_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"

/* What lines have in common that one commit left. */
struct blame_commit {
    uint32_t author; /* in authors, or INTERN_NONE: not said */
    int64_t time;    /* seconds since 1970; 0: not said */
};

struct blame {
    struct intern authors, names; /* names: of commits */
    VEC(struct blame_commit) commits;
    VEC(uint32_t) lines; /* line 1 first: its commit */
};

/* Reads into a zeroed *out. On failure *out holds the lines that were complete. */
MUST_CHECK bool blame_read(struct bytes in, const char *name, struct blame *out, struct err *e);
void blame_deinit(struct blame *b);

#endif

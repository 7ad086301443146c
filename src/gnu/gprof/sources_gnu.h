/* What GNU gprof knows of each source file: how often the functions (with -l: the lines) on its
 * lines were entered, and the basic blocks counted there. The table behind -A and -C. */
#ifndef MONARC_GNU_GPROF_SOURCES_GNU_H
#define MONARC_GNU_GPROF_SOURCES_GNU_H

#include "profile/analysis/graph/graph.h"
#include "gnu/gprof/symspec.h"

/* Block counts by function (or line) of a table. */
struct gnu_blocks {
    struct block *at;
    uint32_t *start; /* of function i: at[start[i]] to before at[start[i + 1]]; NULL: none at all */
};

/* One line of a file with at least one function that the selection admits. */
struct gnu_line {
    uint32_t line;
    uint32_t function; /* the first by address: its blocks and its kind stand for all */
    bool is_shared;    /* there are more */
    uint64_t calls;    /* of all of them */
};

struct gnu_source {
    const char *path;
    struct gnu_line *lines; /* ascending */
    uint32_t len;
    uint64_t calls; /* of all lines */
};

struct gnu_sources {
    struct gnu_source *files; /* in the order in which GNU gprof prints them */
    uint32_t len;
};

/* Sums blocks by address and gives each to the function around it; those in none are dropped. Of
 * one function they stand in the order of the profile. */
void gnu_blocks_make(struct gnu_blocks *b, const struct profile *p, const struct functions *f,
                     struct arena *a);

/* The functions must be located. `g` may be NULL: there were no calls. */
void gnu_sources_make(struct gnu_sources *s, const struct functions *f,
                      const struct gnu_symbol *symbols, const struct graph *g,
                      const struct selection *selection, struct arena *a);

/* The functions that the selection admits to the execution counts, by file, line and address. */
uint32_t *gnu_counts_order(const struct functions *f, const struct selection *selection,
                           uint32_t *len, struct arena *a);

#endif

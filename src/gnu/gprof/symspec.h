/* Symspecs: GNU gprof's way of naming functions and arcs on the command line.
 *
 *     symspec = spec [ "/" spec ]            function or arc
 *     spec    = name | LINE | file.c | [file.c] ":" [ name | LINE ]
 *
 * A spec without a colon is a file if it has a dot, a line if it begins with a digit, and else a
 * linkage name. Each spec goes into one of twelve tables: for six questions (is it in the graph? in
 * the flat profile? ...) what is included and what is excluded. GNU's semantics, kept here:
 * includes beat excludes; a table that matches nothing counts as empty, that is, as "everything";
 * of two arc specs with the same caller only the last one counts. */
#ifndef MONARC_GNU_GPROF_SYMSPEC_H
#define MONARC_GNU_GPROF_SYMSPEC_H

#include "gnu/gprof/functions_gnu.h"

enum question { ASK_GRAPH, ASK_ARCS, ASK_FLAT, ASK_TIME, ASK_ANNOTATE, ASK_COUNTS, QUESTIONS };

struct symspec; /* one, parsed */

/* GNU gprof keeps what each side of an arc spec matched as functions beside the program's, and
 * calls among them that were made 0 times. Its orderings (-r, -R) print them; elsewhere they don't
 * show. */
#define NO_RANGE UINT32_MAX

/* What one side of a spec matched without a gap: GNU prints its first function's name. */
struct spec_range {
    const char *name; /* of its first function */
    uint32_t next;    /* what the same side matched before, or NO_RANGE */
    bool is_mapped;   /* as in struct function */
};

struct spec_arc {
    uint32_t caller, callee; /* ranges */
};

/* Specs are added while options are read, and resolved once the functions are known; only then may
 * it be asked. The arena owns all of it. */
struct selection {
    struct arena *arena;
    const struct functions *functions; /* once resolved */
    struct symspec *newest;
    size_t specs;

    /* Per function, once resolved: bit (2 * question) included, bit (2 * question + 1) excluded. */
    uint16_t *member;
    bool is_empty[QUESTIONS][2];               /* the table matched nothing */
    struct functions table[QUESTIONS][2];      /* merged ranges; `symbol` indexes `callees` */
    struct arc_targets *callees[QUESTIONS][2]; /* of arc specs: what each range may call */

    struct spec_range *ranges;
    struct spec_arc *spec_arcs; /* in the order in which GNU makes them */
    uint32_t ranges_len, spec_arcs_len;
};

/* Adds one spec to the include or exclude table of a question. The text must outlive `s`. */
void selection_add(struct selection *s, const char *text, enum question q, bool exclude);

/* Whether a spec names a file, a line or an arc: what it matches then depends on lines that nothing
 * was measured in. */
bool selection_needs_lines(const struct selection *s);

/* Matches all specs against the functions. Asks the object for files and lines only if a spec names
 * any. */
void selection_resolve(struct selection *s, struct gnu_functions *f, struct object *o);

static inline bool selection_includes(const struct selection *s, enum question q, uint32_t function)
{
    return s->member[function] >> (2 * q) & 1;
}

static inline bool selection_excludes(const struct selection *s, enum question q, uint32_t function)
{
    return s->member[function] >> (2 * q + 1) & 1;
}

/* Included, or nothing is included in particular and it is not excluded. */
static inline bool selection_admits(const struct selection *s, enum question q, uint32_t function)
{
    return selection_includes(s, q, function) ||
           (s->is_empty[q][0] && !selection_excludes(s, q, function));
}

/* The same for an arc, by the ASK_ARCS tables. */
bool selection_admits_arc(const struct selection *s, uint32_t caller, uint32_t callee);

/* What a graph of these functions leaves out by a resolved selection, which must outlive it. */
struct graph_filter selection_graph_filter(const struct selection *s);

#endif

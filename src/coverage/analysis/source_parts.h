/* What several tables have of each source, in order: sources by path, lines and functions
 * ascending. Tables stay as they are; what they say of one thing is met when walking over them side
 * by side. */
#ifndef MONARC_COVERAGE_ANALYSIS_SOURCE_PARTS_H
#define MONARC_COVERAGE_ANALYSIS_SOURCE_PARTS_H

#include "coverage/analysis/coverage_table.h"
#include "base/sort.h"

/* What one table has of one source. */
struct source_part {
    const struct coverage_table *t;
    uint32_t table, source; /* numbers of the table, of the source in it */
    uint32_t pages_len, functions_len;
    const struct keyed *pages;     /* low half of the key: line / PAGE_LINES; item: the page */
    const struct keyed *functions; /* low half of the key: first line; item: in t->functions */
    uint32_t *places;              /* of all the table's functions; for the caller's numbers */
};

struct source_parts {
    struct source_part *parts; /* by path, then by table */
    uint32_t *first_part;      /* by rank of the source, and one more */
    uint32_t ranks;
    struct arena *arenas; /* of each table's order */
    size_t tables;
    struct arena arena;
};

/* Fills a zeroed *out; the tables must outlive it. */
void source_parts_build(const struct coverage_table *tables, size_t len, unsigned threads,
                        struct source_parts *out);
void source_parts_deinit(struct source_parts *o);

/* The source's path. */
static inline const char *part_path(const struct source_part *p)
{
    return intern_text(&p->t->paths, p->source);
}

/* ---- lines of a source, one after the other */

struct line_ref {
    const struct source_part *part;
    const struct table_line *line;
};

/* Zeroed at first; keeps its memory from source to source. */
struct line_walk {
    uint32_t number;            /* of the line */
    VEC(struct line_ref) lines; /* what each table that has it says */

    const struct source_part *parts;
    uint32_t page, slot;
    VEC(uint32_t) next_page;      /* by part */
    VEC(const uint32_t *) places; /* by part: the page's lines, or NULL */
};

void line_walk_start(struct line_walk *w, const struct source_part *parts, uint32_t len);
bool line_walk_next(struct line_walk *w);
void line_walk_deinit(struct line_walk *w);

#endif

/* A result while it is made: each source by one thread, into slices of the result's arrays that are
 * as large as all tables' contents; what is left over at their ends stays untouched. */
#ifndef MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_PRIVATE_H
#define MONARC_COVERAGE_ANALYSIS_COVERAGE_RESULT_PRIVATE_H

#include "base/sort.h"
#include "coverage/analysis/coverage_result.h"
#include "source/source.h"

/* ---- what several tables have of each source (coverage_result.c)
 *
 * Sources are in the order of their paths, lines and functions ascending. Tables stay as they are;
 * entries for one thing meet in a walk over them side by side. */

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

/* The source's path. */
static inline const char *part_path(const struct source_part *p)
{
    return intern_text(&p->t->paths, p->source);
}

/* Lines of a source, one after the other:
 *
 *     for (line_walk_start(&w, parts, len); line_walk_next(&w);)
 *         w.number is the line, w.lines each table's entry for it */

/* One table's entry for the line that the walk is at. */
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

/* Begins with the first line of the source whose parts these are. */
void line_walk_start(struct line_walk *w, const struct source_part *parts, uint32_t len);
bool line_walk_next(struct line_walk *w);

/* ---- what the text of a source says about its lines: which are left out of coverage, and which
 * hold no code that a person wrote
 *
 * Marks come from comments in the source (LCOV_EXCL_START and the like) and from its braces; the
 * reading of markers itself is src/source. */

enum { MARK_BARE = 128 }; /* besides enum marker_what: nothing but braces and the like */

/* Only lines with branches are checked for being bare. */
struct marked_line {
    uint32_t number;
    bool has_branches;
};

struct marked_function {
    uint32_t start_line, end_line;
};

struct marks_request {
    const char *file;
    const struct marked_line *lines; /* of the source, ascending */
    uint32_t lines_len;
    const struct marked_function *functions; /* of the source, ascending */
    uint32_t functions_len;
    bool ignores_markers, finds_bare_lines;
};

struct source_marks {
    VEC(uint8_t) lines;       /* beside those of the request; none if the file cannot be read */
    VEC(struct marker) code;  /* ranges in which functions are left out */
    uint32_t unclosed, stray; /* as in struct markers */
    uint32_t last_line;       /* of the text; UINT32_MAX: not known */
    int64_t changed;          /* when the text was; 0: not known */
    char *trouble;            /* why the file could not be read, if it may well be there; or NULL */
};

/* ---- the result while it is made */

/* What a source has only while the result is made. */
struct built_source {
    struct source_marks marks;
    struct result_left_out left_out;
    struct coverage_ratios unseen;          /* of lines past the end of the text */
    uint32_t functions;                     /* with those that markers leave out */
    uint32_t first_branch, first_condition; /* where its slices begin */
};

/* Where a function is, by its place. Instances of one function have one body. */
struct function_body {
    uint32_t rank, first, last;
    uint32_t body; /* place of the first of them */
};

/* What all threads read; each writes into the slices of its own source. */
struct result_building {
    const struct result_rules *rules;
    struct source_parts order;
    struct coverage_result *r;
    struct built_source *sources; /* by rank */
    struct function_body *bodies; /* by place of a function */
    uint32_t *shown;              /* by place of a function: in r->functions, or NO_INDEX */
};

/* One table's entry for a function, of a line's branches, of a condition. */
struct function_ref {
    const struct source_part *part;
    uint32_t function;
};

struct group_ref {
    const struct table_group *group;
    const struct table_outcome *outcomes;
    uint32_t place; /* of its function, or NO_INDEX */
};

struct mask_ref {
    const struct table_mask *mask;
    uint32_t place, key; /* key: of what is one condition */
};

/* Branches of a function on a line, among the result's. */
struct put_group {
    uint32_t place, key;
    uint32_t first, len;
};

/* One thread's; zeroed but for the first member. */
struct result_builder {
    struct result_building *b;
    struct arena texts; /* joins the result's */
    struct line_walk walk;
    VEC(struct keyed) items;
    VEC(uint32_t) same;
    VEC(struct function_ref) refs;
    VEC(struct table_function) functions;
    VEC(struct marked_line) marked_lines;
    VEC(struct marked_function) marked_functions;
    VEC(struct group_ref) groups;
    VEC(struct mask_ref) masks;
    VEC(struct table_outcome) sum;
    VEC(uint64_t) shares;
    VEC(struct put_group) put;
    struct map bodies;  /* first line, column or name -> the body's number */
    struct map shapes;  /* of groups in `put` */
    VEC(uint32_t) open; /* functions around the line that the walk is at, the innermost last */
    uint32_t next_body;
    uint32_t branches, conditions; /* where the next goes */
};

/* ---- one line (result_branches.c) */

/* A line on its way into the result; `block` numbers the blocks that were put. */
struct result_putting {
    struct result_builder *w;
    struct result_left_out *left_out;
    struct result_line *line;
    uint32_t rank, number; /* of its source, of the line */
    uint32_t body;         /* of the innermost function around it, or NO_INDEX */
    uint32_t block;
    uint8_t marks;
};

uint64_t result_shared_count(const struct result_putting *p);
void result_put_branches(struct result_putting *p);
void result_part_unknown(struct result_putting *p);
void result_put_conditions(struct result_putting *p);

static inline void ratio_count(struct coverage_ratio *ratio, uint8_t state)
{
    ratio->all++;
    ratio->hit += state == RESULT_HIT;
    ratio->unknown += state == RESULT_UNKNOWN;
}

static inline uint8_t hit_state(uint64_t hits, bool is_unknown)
{
    return hits ? RESULT_HIT : is_unknown ? RESULT_UNKNOWN : RESULT_MISSED;
}

#endif

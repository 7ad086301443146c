/* One row a function of the result, by source, then line. */
#include "page/covered_functions.h"

#include "base/search.h"
#include "page/columns.h"

struct covered_function {
    uint32_t file; /* of the page */
    const struct result_function *function;
    struct coverage_ratio lines; /* from its first to its last line, where that is known: all that
                                    ran in any of the functions there, if this one did */
};

/* In the order of the sources on the page. */
struct covered_functions {
    struct arena arena;
    struct covered_function *at;
    size_t len;
};

static struct coverage_ratio covered_lines(const struct coverage_result *r,
                                           const struct result_source *s,
                                           const struct result_function *f)
{
    struct coverage_ratio sum = {0};
    const struct result_line *lines = vec_from(&r->lines, s->first_line);
    uint32_t first = PARTITION_POINT(s->lines, i, lines[i].line < f->start_line);
    for (uint32_t i = first; i < s->lines && lines[i].line <= f->end_line; i++) {
        sum.all++;
        sum.hit += lines[i].state == RESULT_HIT && f->state != RESULT_MISSED;
        sum.unknown += lines[i].state == RESULT_UNKNOWN;
    }
    return sum;
}

static void covered_gather(struct covered_functions *all, const struct coverage_result *r,
                           const struct measured_sources *files)
{
    all->at = ARENA_NEW(&all->arena, struct covered_function, r->functions.len + 1);
    for (uint32_t i = 0; i < files->all.len; i++) {
        if (files->all.at[i].coverage == UINT32_MAX)
            continue;
        const struct result_source *s = &r->sources.at[files->all.at[i].coverage];
        for (uint32_t k = 0; k < s->functions; k++) {
            const struct result_function *f = &r->functions.at[s->first_function + k];
            all->at[all->len++] = (struct covered_function){i, f, covered_lines(r, s, f)};
        }
    }
}

#define COVERED_COLUMN(j, all, key, write)                     \
    do {                                                       \
        column_begin(j, key);                                  \
        for (size_t i = 0; i < (all).len; i++) {               \
            const struct covered_function *row = &(all).at[i]; \
            write;                                             \
        }                                                      \
        json_end(j);                                           \
    } while (0)

void covered_functions_data(struct json *j, const struct coverage_result *r,
                            const struct measured_sources *files)
{
    struct covered_functions all = {0};
    covered_gather(&all, r, files);
    json_begin(j, '{');
    COVERED_COLUMN(j, all, "name", json_str(j, row->function->name));
    COVERED_COLUMN(j, all, "file", json_u64(j, row->file));
    COVERED_COLUMN(j, all, "line", json_u64(j, row->function->start_line));
    COVERED_COLUMN(j, all, "state", json_u64(j, row->function->state));
    COVERED_COLUMN(j, all, "count", column_count(j, row->function->count));
    COVERED_COLUMN(j, all, "all", json_u64(j, row->lines.all));
    COVERED_COLUMN(j, all, "hit", json_u64(j, row->lines.hit));
    COVERED_COLUMN(j, all, "unknown", json_u64(j, row->lines.unknown));
    json_end(j);
    arena_deinit(&all.arena);
}

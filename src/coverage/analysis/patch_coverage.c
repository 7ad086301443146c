/* Ranges of a patch looked up among the lines of a source. */
#include "coverage/analysis/patch_coverage.h"

#include "base/path.h"
#include "base/search.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

void patch_coverage_deinit(struct patch_coverage *d)
{
    vec_free(&d->files);
    vec_free(&d->lines);
}

/* Shown names are unique; ends may fit several sources, and then the shortest is meant: that which
 * has the fewest folders above the patch's. */
static uint32_t source_named(const struct coverage_result *r, const char *path)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const struct result_source *s = &r->sources.at[i];
        if (!strcmp(s->path, path) || !strcmp(s->whole, path))
            return i;
        if (path_ends_in(s->whole, path) &&
            (best == NONE || strlen(s->whole) < strlen(r->sources.at[best].whole)))
            best = i;
    }
    return best;
}

/* A patch made inside a project that is a part of what was covered: the source's shown name is the
 * end of the patch's. */
static uint32_t source_below(const struct coverage_result *r, const char *path)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const char *shown = r->sources.at[i].path;
        if (path_ends_in(path, shown) && (strchr(shown, '/') || !strchr(path, '/')) &&
            (best == NONE || strlen(shown) > strlen(r->sources.at[best].path)))
            best = i;
    }
    return best;
}

static void take_line(struct patch_coverage *d, struct diff_file *f,
                      const struct coverage_result *r, uint32_t index)
{
    const struct result_line *l = &r->lines.at[index];
    f->lines.all++;
    f->lines.hit += l->state == RESULT_HIT;
    f->lines.unknown += l->state == RESULT_UNKNOWN;
    for (uint32_t i = 0; i < l->branches; i++) {
        f->branches.all++;
        f->branches.hit += r->branches.at[l->first_branch + i].count > 0;
    }
    vec_push(&d->lines, index);
    f->len++;
}

static void take_range(struct patch_coverage *d, struct diff_file *f,
                       const struct coverage_result *r, const struct patch_range *range)
{
    const struct result_source *s = &r->sources.at[f->source];
    uint32_t first = s->first_line, end = first + s->lines;
    first += PARTITION_POINT(s->lines, i, r->lines.at[first + i].line < range->first);
    for (uint32_t i = first; i < end && r->lines.at[i].line - range->first < range->lines; i++)
        take_line(d, f, r, i);
}

static void add(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

uint32_t patch_source(const struct coverage_result *r, const char *path, const char *whole_path)
{
    uint32_t source = source_named(r, path);
    if (source == NONE)
        source = source_named(r, whole_path);
    return source == NONE ? source_below(r, path) : source;
}

void patch_coverage_build(const struct coverage_result *r, const struct patch *p,
                          struct patch_coverage *out)
{
    for (size_t i = 0; i < p->files.len; i++) {
        const struct patch_file *from = &p->files.at[i];
        struct diff_file f = {.path = from->path,
                              .source = patch_source(r, from->path, from->whole_path),
                              .added = from->added,
                              .first_line = (uint32_t)out->lines.len};
        if (f.source != NONE)
            f.path = r->sources.at[f.source].path;
        else
            out->unknown_files++;
        for (uint32_t k = 0; f.source != NONE && k < from->ranges; k++)
            take_range(out, &f, r, &p->ranges.at[from->first_range + k]);
        add(&out->sum, &f.lines);
        add(&out->branches, &f.branches);
        vec_push(&out->files, f);
    }
}

/* Ranges of a patch looked up among the lines of a source. */
#include "coverage/analysis/patch_coverage.h"

#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)COVER_NONE)

void cover_diff_deinit(struct cover_diff *d)
{
    vec_free(&d->files);
    vec_free(&d->lines);
}

/* Whether `path` is `end` or ends in it after a slash. */
static bool ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), part = strlen(end);
    return part && part <= len && !strcmp(path + len - part, end) &&
           (part == len || path[len - part - 1] == '/');
}

/* Shown names are unique; ends may fit several sources, and then the shortest is meant: that which
 * has the fewest folders above the patch's. */
static uint32_t source_named(const struct cover_result *r, const char *path)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const struct result_source *s = &r->sources.at[i];
        if (!strcmp(s->path, path) || !strcmp(s->whole, path))
            return i;
        if (ends_in(s->whole, path) &&
            (best == NONE || strlen(s->whole) < strlen(r->sources.at[best].whole)))
            best = i;
    }
    return best;
}

/* A patch made inside a project that is a part of what was covered: the source's shown name is the
 * end of the patch's. */
static uint32_t source_below(const struct cover_result *r, const char *path)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const char *shown = r->sources.at[i].path;
        if (ends_in(path, shown) && (strchr(shown, '/') || !strchr(path, '/')) &&
            (best == NONE || strlen(shown) > strlen(r->sources.at[best].path)))
            best = i;
    }
    return best;
}

static void take_line(struct cover_diff *d, struct diff_file *f, const struct cover_result *r,
                      uint32_t index)
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

static void take_range(struct cover_diff *d, struct diff_file *f, const struct cover_result *r,
                       const struct patch_range *range)
{
    const struct result_source *s = &r->sources.at[f->source];
    uint32_t low = s->first_line, high = s->first_line + s->lines;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->lines.at[middle].line < range->first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->first_line + s->lines; low++) {
        if (r->lines.at[low].line - range->first >= range->lines)
            break;
        take_line(d, f, r, low);
    }
}

static void add(struct cover_ratio *sum, const struct cover_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

void cover_diff_build(const struct cover_result *r, const struct patch *p, struct cover_diff *out)
{
    for (size_t i = 0; i < p->files.len; i++) {
        const struct patch_file *from = &p->files.at[i];
        struct diff_file f = {.path = from->path,
                              .source = source_named(r, from->path),
                              .added = from->added,
                              .first_line = (uint32_t)out->lines.len};
        if (f.source == NONE)
            f.source = source_named(r, from->whole_path);
        if (f.source == NONE)
            f.source = source_below(r, from->path);
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

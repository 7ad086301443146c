/* Functions of both sides meet by source and linkage name; lines follow their functions. */
#include "page/base_lines.h"

#include "base/path.h"
#include "base/sort.h"
#include "coverage/analysis/coverage_change.h"
#include "page/columns.h"

#include <string.h>

struct extent {
    uint32_t source, first, last;
    uint32_t old_first, old_last; /* 0: the base has no such function */
};

struct placing {
    const struct page_input *in;
    struct measured_sources *files;
    const struct sources_before *before;
    struct base_lines *out;
    struct intern scopes;
    struct map extent_of; /* source, scope -> extents */
    VEC(struct extent) extents;
    bool *has_moved; /* by source: one of its functions begins elsewhere */
    struct intern names;
    VEC(uint32_t) of_name; /* by last component of a name: the source, or AMBIGUOUS */
};

enum { AMBIGUOUS = UINT32_MAX };

/* --- sources --------------------------------------------------------------------------------- */

static void base_index_names(struct placing *p)
{
    for (uint32_t i = 0; i < p->files->all.len; i++) {
        const char *name = path_base_name(p->files->all.at[i].shown);
        uint32_t number = intern_kept(&p->names, name, strlen(name));
        if (number == p->of_name.len)
            vec_push(&p->of_name, i);
        else
            p->of_name.at[number] = AMBIGUOUS;
    }
}

/* Of a name in the base's debug information; UINT32_MAX: it is not on the page. */
static uint32_t base_source(struct placing *p, const char *recorded)
{
    uint32_t source = measured_source_of(p->files, recorded);
    if (source != UINT32_MAX)
        return source;
    const char *name = path_base_name(recorded);
    uint32_t number = intern_find(&p->names, name, strlen(name));
    return number == INTERN_NONE ? UINT32_MAX : p->of_name.at[number];
}

/* --- functions ------------------------------------------------------------------------------- */

static struct extent *base_extent(struct placing *p, uint32_t source, const char *scope,
                                  bool *is_new)
{
    uint32_t name = intern_kept(&p->scopes, scope, strlen(scope));
    uint32_t at = map_index(&p->extent_of, source, name, p->extents.len, is_new);
    if (*is_new)
        vec_push(&p->extents, ((struct extent){.source = source}));
    return &p->extents.at[at];
}

static void base_widen(uint32_t *first, uint32_t *last, const struct source_extent *by)
{
    *first = !*first || by->first < *first ? by->first : *first;
    *last = by->last > *last ? by->last : *last;
}

static void base_take_extents(struct placing *p, const struct source_lines *lines, bool is_old)
{
    bool is_new;
    for (size_t i = 0; i < lines->extents.len; i++) {
        const struct source_extent *found = &lines->extents.at[i];
        uint32_t source = base_source(p, found->file);
        if (source == UINT32_MAX)
            continue;
        struct extent *e = base_extent(p, source, found->scope, &is_new);
        if (is_old)
            base_widen(&e->old_first, &e->old_last, found);
        else
            base_widen(&e->first, &e->last, found);
    }
}

static void base_find_moved(struct placing *p)
{
    for (size_t i = 0; i < p->extents.len; i++) {
        const struct extent *e = &p->extents.at[i];
        if (e->first && e->old_first && (e->first != e->old_first || e->last != e->old_last))
            p->has_moved[e->source] = true;
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Today's number of a line of the base; 0: it cannot be told. */
static uint32_t base_line_by_function(struct placing *p, uint32_t source,
                                      const struct source_row *row)
{
    bool is_new;
    static const struct extent NONE;
    const struct extent *e = row->scope ? base_extent(p, source, row->scope, &is_new) : &NONE;
    if (!e->first || !e->old_first)
        return p->has_moved[source] ? 0 : row->line;
    if (e->last - e->first != e->old_last - e->old_first || row->line < e->old_first)
        return 0;
    return row->line - e->old_first + e->first;
}

static uint32_t base_line(struct placing *p, uint32_t source, const struct source_row *row)
{
    const struct page_coverage *c = p->in->coverage;
    const struct source_before *f = &p->before->of[source];
    struct patched_source patched = {0};
    if (!c || !c->patch_lines || f->patched == UINT32_MAX)
        return base_line_by_function(p, source, row);
    patched.patch = c->patch_lines;
    patched.now = &c->patch_lines->files.at[f->patched];
    if (f->patched_old != UINT32_MAX)
        patched.old = &c->patch_lines->old_files.at[f->patched_old];
    return patch_new_line(&patched, row->line);
}

static void base_take_row(struct placing *p, uint32_t source, const struct source_row *row)
{
    struct base_source *to = &p->out->of[source];
    uint32_t line = row->self > 0 || row->calls ? base_line(p, source, row) : 0;
    if (line)
        vec_push(&to->lines, ((struct base_line){line, row->self, row->calls}));
    else
        to->elsewhere += row->self;
}

static void base_take_file(struct placing *p, const struct source_lines *lines,
                           const struct source_listed_file *file)
{
    uint32_t source = base_source(p, file->recorded);
    if (source == UINT32_MAX)
        return;
    for (uint32_t i = 0; i < file->rows; i++)
        base_take_row(p, source, &lines->rows.at[file->first + i]);
}

static int base_by_line(const void *left, const void *right)
{
    const struct base_line *l = left, *r = right;
    return (l->line > r->line) - (l->line < r->line);
}

/* Ascending, each line once. */
static void base_source_order(struct base_source *s)
{
    size_t kept = 0;
    if (s->lines.len)
        qsort(s->lines.at, s->lines.len, sizeof *s->lines.at, base_by_line);
    for (size_t i = 0; i < s->lines.len; i++) {
        struct base_line *line = &s->lines.at[i], *last = kept ? &s->lines.at[kept - 1] : NULL;
        if (!last || last->line != line->line) {
            s->lines.at[kept++] = *line;
            continue;
        }
        last->self += line->self;
        last->calls = add_saturating(last->calls, line->calls);
    }
    s->lines.len = kept;
}

void base_lines_make(struct base_lines *b, const struct page_input *in,
                     struct measured_sources *files, const struct sources_before *before)
{
    const struct page_profile *now = in->profile, *then = now ? now->base : NULL;
    struct placing p = {.in = in, .files = files, .before = before, .out = b};
    *b = (struct base_lines){0};
    if (!then || !then->lines || !now->lines)
        return;
    b->len = files->all.len;
    b->of = ARENA_NEW(&b->arena, struct base_source, b->len + 1);
    p.has_moved = ARENA_NEW(&b->arena, bool, b->len + 1);
    base_index_names(&p);
    base_take_extents(&p, now->lines, false);
    base_take_extents(&p, then->lines, true);
    base_find_moved(&p);
    for (size_t i = 0; i < then->lines->files.len; i++)
        base_take_file(&p, then->lines, &then->lines->files.at[i]);
    for (size_t i = 0; i < b->len; i++)
        base_source_order(&b->of[i]);
    intern_deinit(&p.scopes);
    intern_deinit(&p.names);
    map_deinit(&p.extent_of);
    vec_free(&p.extents);
    vec_free(&p.of_name);
}

void base_lines_deinit(struct base_lines *b)
{
    for (size_t i = 0; i < b->len; i++)
        vec_free(&b->of[i].lines);
    arena_deinit(&b->arena);
}

void base_lines_data(struct json *j, const struct base_lines *b, uint32_t number)
{
    json_key(j, "before");
    if (!b->of) {
        json_none(j);
        return;
    }
    const struct base_source *s = &b->of[number];
    json_begin(j, '{');
    column_begin(j, "line");
    for (size_t i = 0; i < s->lines.len; i++)
        json_u64(j, s->lines.at[i].line);
    json_end(j);
    column_begin(j, "self");
    for (size_t i = 0; i < s->lines.len; i++)
        column_samples(j, s->lines.at[i].self);
    json_end(j);
    column_begin(j, "calls");
    for (size_t i = 0; i < s->lines.len; i++)
        column_count(j, s->lines.at[i].calls);
    json_end(j);
    json_key(j, "elsewhere"), column_samples(j, s->elsewhere);
    json_end(j);
}

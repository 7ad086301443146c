/* The lines of an older measurement beside those of this one, for the page and the terminal.
 *
 * Lines are shown by today's numbers. A line of the base is today's where the patch says so.
 * Without a patch it follows its function: where that extends over as many lines as it did, the
 * line keeps its distance from the function's first line. Code of functions that are not there, or
 * were not measured, stays where it is if no other function of the source has moved. What cannot be
 * placed so is summed up as "elsewhere": a time that is shown on the wrong line is worse than one
 * that is shown on none.
 *
 * Changes are judged as `monarc diff` judges single runs, for all lines of a source together. */
#include "bridge/base_lines.h"

#include "base/path.h"
#include "profile/analysis/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a function, now and in the base. */
struct function_extent {
    uint32_t source, first, last;
    uint32_t old_first, old_last; /* 0: the base has no such function */
};

/* From lines of the base to those of today. */
struct line_mapper {
    const struct base_lines_input *in;
    struct intern scopes;
    struct map extent_of; /* source, scope -> extents */
    VEC(struct function_extent) extents;
    bool *has_moved; /* by source: one of its functions begins elsewhere */
    struct intern names;
    VEC(uint32_t) of_name; /* by last component of a name: the last such source */
    uint32_t *next;        /* by source: the one before of that name, or UINT32_MAX */
};

/* Of a name in debug information; UINT32_MAX: it is none of the sources. Builds are made in
 * different places: of several with that last component it is the one whose path ends most alike.
 */
static uint32_t base_source(struct line_mapper *p, const char *recorded)
{
    uint32_t source = measured_source_of(p->in->files, recorded);
    if (source != UINT32_MAX)
        return source;
    const char *name = path_base_name(recorded);
    uint32_t number = intern_find(&p->names, name, strlen(name));
    size_t most = 0;
    for (uint32_t i = number == INTERN_NONE ? UINT32_MAX : p->of_name.at[number]; i != UINT32_MAX;
         i = p->next[i]) {
        size_t alike = path_alike(recorded, p->in->files->all.at[i].shown);
        source = alike > most ? i : alike == most ? UINT32_MAX : source;
        most = alike > most ? alike : most;
    }
    return source;
}

/* The extent of a function in a source, by the name of its scope; a new one is all zero. The
 * pointer holds until the next call. */
static struct function_extent *base_extent(struct line_mapper *p, uint32_t source,
                                           const char *scope, bool *is_new)
{
    uint32_t name = intern_kept(&p->scopes, scope, strlen(scope));
    uint32_t at = map_index(&p->extent_of, source, name, p->extents.len, is_new);
    if (*is_new)
        vec_push(&p->extents, ((struct function_extent){.source = source}));
    return &p->extents.at[at];
}

/* A scope may have several extents, one for each file name that it is recorded under: together they
 * reach from the first line of any to the last. */
static void base_widen(uint32_t *first, uint32_t *last, const struct source_extent *by)
{
    *first = !*first || by->first < *first ? by->first : *first;
    *last = by->last > *last ? by->last : *last;
}

/* Enters the functions of one measurement, by source and scope: the same pair in the other
 * measurement finds the same extent. */
static void base_take_extents(struct line_mapper *p, const struct source_lines *lines, bool is_old)
{
    bool is_new;
    for (size_t i = 0; i < lines->extents.len; i++) {
        const struct source_extent *found = &lines->extents.at[i];
        uint32_t source = base_source(p, found->file);
        if (source == UINT32_MAX)
            continue;
        struct function_extent *e = base_extent(p, source, found->scope, &is_new);
        if (is_old)
            base_widen(&e->old_first, &e->old_last, found);
        else
            base_widen(&e->first, &e->last, found);
    }
}

/* Whether it is sure which lines of a scope were which; then *by is how far they have moved.
 *
 *      base            today
 *      10 f() {        14 f() {       the function is as long as it was:
 *      12   hot();     16   hot();    line 12 is 12 - 10 + 14 = 16
 *      20 }            24 } */
static bool base_distance(struct line_mapper *p, uint32_t source, const char *scope, int64_t *by)
{
    bool is_new;
    static const struct function_extent NONE;
    const struct function_extent *e = scope ? base_extent(p, source, scope, &is_new) : &NONE;
    *by = 0;
    if (p->in->is_unchanged && p->in->is_unchanged[source])
        return true;
    if (!e->first || !e->old_first)
        return !p->has_moved[source];
    *by = (int64_t)e->first - e->old_first;
    return e->last - e->first == e->old_last - e->old_first;
}

/* Today's number of a line of the base; 0: unknown. The patch decides where there is one that
 * touches the source; else the functions do. */
static uint32_t base_line(struct line_mapper *p, uint32_t source, const struct source_row *row)
{
    const struct patched_source *patched = p->in->patched ? &p->in->patched[source] : NULL;
    int64_t by;
    if (patched && patched->now)
        return patch_new_line(patched, row->line);
    bool is_known = base_distance(p, source, row->scope, &by) && (int64_t)row->line + by > 0;
    return is_known ? (uint32_t)((int64_t)row->line + by) : 0;
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
        last->now += line->now;
        last->calls = add_saturating(last->calls, line->calls);
    }
    s->lines.len = kept;
}

/* All rows of one side, each at its line of today, or summed up if that is not known. */
static void base_take_rows(struct line_mapper *p, struct base_lines *b,
                           const struct source_lines *lines, bool is_old)
{
    for (size_t i = 0; i < lines->files.len; i++) {
        const struct source_listed_file *file = &lines->files.at[i];
        uint32_t source = base_source(p, file->recorded);
        for (uint32_t k = 0; source != UINT32_MAX && k < file->rows; k++) {
            const struct source_row *row = &lines->rows.at[file->first + k];
            struct base_line to = {.line = row->line};
            int64_t by;
            if (is_old) {
                to.line = row->self > 0 || row->calls ? base_line(p, source, row) : 0;
                to.self = row->self;
                to.calls = row->calls;
                b->of[source].elsewhere += to.line ? 0 : row->self;
            } else {
                bool is_patched = p->in->patched && p->in->patched[source].now;
                bool is_known = is_patched || base_distance(p, source, row->scope, &by);
                to.line = is_known && row->self > 0 ? row->line : 0;
                to.now = row->self;
            }
            if (to.line)
                vec_push(&b->of[source].lines, to);
        }
    }
}

/* One test for each line of a source that either side has samples of. */
static void base_judge(struct base_source *s, const struct base_lines_input *in)
{
    struct arena scratch = {0};
    struct sample_change *changes = ARENA_NEW(&scratch, struct sample_change, s->lines.len + 1);
    for (size_t i = 0; i < s->lines.len; i++)
        changes[i] = (struct sample_change){s->lines.at[i].self, s->lines.at[i].now, false};
    sample_changes_judge(changes, s->lines.len, in->old_summary, in->summary);
    for (size_t i = 0; i < s->lines.len; i++)
        s->lines.at[i].is_meant = changes[i].is_meant;
    arena_deinit(&scratch);
}

/* Extents of all functions of both measurements come first, since one function that moved casts
 * doubt on all lines of its source that belong to no known function. O(rows log rows) for the order
 * of lines. */
void base_lines_make(struct base_lines *b, const struct base_lines_input *in)
{
    struct line_mapper p = {.in = in};
    *b = (struct base_lines){.len = in->files->all.len};
    b->of = ARENA_NEW(&b->arena, struct base_source, b->len + 1);
    p.has_moved = ARENA_NEW(&b->arena, bool, b->len + 1);
    p.next = ARENA_NEW(&b->arena, uint32_t, b->len + 1);
    for (uint32_t i = 0; i < b->len; i++) {
        const char *name = path_base_name(in->files->all.at[i].shown);
        uint32_t number = intern_kept(&p.names, name, strlen(name));
        if (number == p.of_name.len)
            vec_push(&p.of_name, UINT32_MAX);
        p.next[i] = p.of_name.at[number];
        p.of_name.at[number] = i;
    }
    base_take_extents(&p, in->now, false);
    base_take_extents(&p, in->then, true);
    for (size_t i = 0; i < p.extents.len; i++) {
        const struct function_extent *e = &p.extents.at[i];
        if (e->first && e->old_first && (e->first != e->old_first || e->last != e->old_last))
            p.has_moved[e->source] = true;
    }
    base_take_rows(&p, b, in->then, true);
    base_take_rows(&p, b, in->now, false);
    for (size_t i = 0; i < b->len; i++) {
        base_source_order(&b->of[i]);
        base_judge(&b->of[i], in);
    }
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

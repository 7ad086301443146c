/* Finding the lines of an older measurement in the source as it is now. */
#include "tui/model/source_older.h"

#include "base/path.h"
#include "base/sort.h"

#include <string.h>

/* --- functions that look as they did --------------------------------------------------------- */

/* The lines that a function has in a file, whether it was inlined or not. */
struct scope_lines {
    const char *scope; /* linkage name */
    const char *file;  /* last name of its path: builds are made in different places */
    VEC(uint32_t) at;  /* ascending, each once */
};

static void older_take_line(const struct object_place *p, void *context)
{
    struct scope_lines *l = context;
    if (p->line && p->function && !strcmp(p->function, l->scope) &&
        !strcmp(path_base_name(p->file), l->file))
        vec_push(&l->at, p->line);
}

static int older_by_line(uint32_t left, uint32_t right, const void *context)
{
    (void)context;
    return (left > right) - (left < right);
}

/* Those that stand in the code of `function`. */
static void older_find_lines(struct scope_lines *l, const struct measurement *m, uint32_t function)
{
    const struct functions *all = &m->session.functions;
    const struct function *f = &all->at[function];
    struct object *object = session_object(&m->session, f->object);
    uint64_t start = function_link_address(all, function);
    size_t kept = 0;
    if (!object || !function_has_code(f))
        return;
    object_each_place(object, start, start + (f->last - f->start) + 1, older_take_line, l);
    sort_u32(l->at.at, l->at.len, older_by_line, NULL);
    for (size_t i = 0; i < l->at.len; i++)
        if (!i || l->at.at[i] != l->at.at[kept - 1])
            l->at.at[kept++] = l->at.at[i];
    l->at.len = kept;
}

static bool older_lie_alike(const struct scope_lines *then, const struct scope_lines *now)
{
    bool is_alike = now->at.len && then->at.len == now->at.len;
    for (size_t i = 0; i < now->at.len && is_alike; i++)
        is_alike = then->at.at[i] - then->at.at[0] == now->at.at[i] - now->at.at[0];
    return is_alike;
}

/* --- time ------------------------------------------------------------------------------------ */

static struct source_figures *older_figures(struct source_table *t, uint64_t line)
{
    return line && line <= t->lines.len ? &t->lines.at[line - 1] : NULL;
}

/* Adds what the base has on the lines of a function, which stand `by` further down by now. */
static void older_add_rows(struct source_table *t, const struct measurement *then,
                           const struct scope_lines *l, int64_t by)
{
    const struct source_lines *s = &then->lines;
    for (uint32_t k = 0; k < s->files.len; k++) {
        const struct source_listed_file *f = &s->files.at[k];
        if (strcmp(path_base_name(f->recorded), l->file))
            continue;
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &s->rows.at[i];
            struct source_figures *to = older_figures(t, (uint64_t)((int64_t)row->line + by));
            if (to && row->scope && !strcmp(row->scope, l->scope))
                to->base += summary_share(&then->session.summary, row->self);
        }
    }
}

static void older_mark(struct source_table *t, uint32_t first, uint32_t last)
{
    for (uint32_t line = first; line <= last && line <= t->lines.len; line++)
        t->lines.at[line - 1].has_base = true;
}

/* A function whose code is found in `now`, and in what that was. */
static void older_add_scope(struct source_table *t, const struct source_older_input *in,
                            const char *scope, uint32_t now)
{
    uint32_t old = now == NO_FUNCTION ? NO_FUNCTION : in->older->match.old_of[now];
    const char *file = path_base_name(t->source->shown);
    struct scope_lines before = {.scope = scope, .file = file}, after = before;
    if (old == NO_FUNCTION || !scope)
        return;
    older_find_lines(&before, in->older->measured, old);
    older_find_lines(&after, in->now, now);
    if (older_lie_alike(&before, &after) && after.at.at[0] <= t->lines.len &&
        !t->lines.at[after.at.at[0] - 1].has_base) {
        older_mark(t, after.at.at[0], after.at.at[after.at.len - 1]);
        older_add_rows(t, in->older->measured, &before, (int64_t)after.at.at[0] - before.at.at[0]);
    }
    vec_free(&before.at);
    vec_free(&after.at);
}

/* Functions that have lines here now. */
static void older_add_present(struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *s = &in->now->lines;
    const char *before = NULL;
    uint32_t file = t->source->first_listed;
    for (; file != UINT32_MAX; file = in->sources->next_listed[file]) {
        const struct source_listed_file *f = &s->files.at[file];
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &s->rows.at[i];
            if (row->scope != before)
                older_add_scope(t, in, row->scope, row->function);
            before = row->scope;
        }
    }
}

/* Functions that had: they may have no samples by now. */
static void older_add_former(struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *s = &in->older->measured->lines;
    const char *file = path_base_name(t->source->shown), *before = NULL;
    for (uint32_t k = 0; k < s->files.len; k++) {
        const struct source_listed_file *f = &s->files.at[k];
        if (strcmp(path_base_name(f->recorded), file))
            continue;
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &s->rows.at[i];
            if (row->scope != before && row->function != NO_FUNCTION)
                older_add_scope(t, in, row->scope, in->older->match.new_of[row->function]);
            before = row->scope;
        }
    }
}

/* Whether the base was measured in the file as it is now. */
static bool older_is_untouched(const struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *then = &in->older->measured->lines;
    if (!t->text.changed || t->text.changed > in->older_at)
        return false;
    for (uint32_t k = 0; k < then->files.len; k++)
        if (measured_source_of(in->sources, then->files.at[k].recorded) == t->number)
            return true;
    return false;
}

/* The file is as it was: every line is itself. */
static void older_add_all(struct source_table *t, const struct source_older_input *in)
{
    const struct measurement *then = in->older->measured;
    older_mark(t, 1, (uint32_t)t->lines.len);
    for (uint32_t k = 0; k < then->lines.files.len; k++) {
        const struct source_listed_file *f = &then->lines.files.at[k];
        if (measured_source_of(in->sources, f->recorded) != t->number)
            continue;
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &then->lines.rows.at[i];
            struct source_figures *to = older_figures(t, row->line);
            if (to)
                to->base += summary_share(&then->session.summary, row->self);
        }
    }
}

/* One test for each line that either side has samples of; adjusted for being many. */
static void older_judge(struct source_table *t, const struct source_older_input *in)
{
    const struct summary *now = &in->now->session.summary;
    const struct summary *then = &in->older->measured->session.summary;
    struct arena scratch = {0};
    double *chances = ARENA_NEW(&scratch, double, t->lines.len + 1);
    uint32_t *line = ARENA_NEW(&scratch, uint32_t, t->lines.len + 1), len = 0;
    for (uint32_t i = 0; i < t->lines.len; i++) {
        const struct source_figures *f = &t->lines.at[i];
        if (!f->has_base || (f->self <= 0 && f->base <= 0))
            continue;
        chances[len] = older_chance(then, f->base * then->samples, now, f->self, NULL);
        line[len++] = i;
    }
    chances_adjust(chances, len);
    for (uint32_t i = 0; i < len; i++)
        t->lines.at[line[i]].is_meant = older_is_meant(chances[i]);
    arena_deinit(&scratch);
}

static void older_compare_time(struct source_table *t, const struct source_older_input *in)
{
    t->has_base = true;
    if (older_is_untouched(t, in)) {
        older_add_all(t, in);
    } else {
        older_add_present(t, in);
        older_add_former(t, in);
    }
    older_judge(t, in);
}

/* --- coverage -------------------------------------------------------------------------------- */

static void older_mark_since(struct source_table *t, const struct changed_line *lines, uint32_t len,
                             enum since since)
{
    for (uint32_t i = 0; i < len; i++) {
        struct source_figures *f = older_figures(t, lines[i].line);
        if (f)
            f->since = since;
    }
}

static void older_compare_coverage(struct source_table *t, const struct coverage_change *change)
{
    for (size_t i = 0; i < change->sources.len; i++) {
        const struct source_change *s = &change->sources.at[i];
        if (s->new != t->source->coverage || s->old == NO_SOURCE)
            continue;
        t->has_since = true;
        older_mark_since(t, source_lost(change, s), s->lost, SINCE_LOST);
        older_mark_since(t, source_gained(change, s), s->gained, SINCE_GAINED);
    }
}

void source_table_compare(struct source_table *t, const struct source_older_input *in)
{
    if (in->older && t->source->first_listed != UINT32_MAX)
        older_compare_time(t, in);
    if (in->change && t->source->coverage != UINT32_MAX)
        older_compare_coverage(t, in->change);
}

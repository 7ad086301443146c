/* The classes of coverage/analysis/line_changes.h as columns. */
#include "page/changes_data.h"

#include "coverage/analysis/coverage_change.h"
#include "page/columns.h"

/* As the page knows them; compare.js has the words. */
static const char *const CHANGE_KEYS[CHANGES] = {
    "none",           "still_runs",  "still_missed",  "gained",         "lost",
    "new_runs",       "new_missed",  "counted_runs",  "counted_missed", "dropped_ran",
    "dropped_missed", "deleted_ran", "deleted_missed"};

/* Per source of a result, its number on the page. */
static uint32_t *changes_numbers(const struct measured_sources *files,
                                 const struct coverage_result *r, struct arena *a)
{
    uint32_t *number = ARENA_NEW(a, uint32_t, r->sources.len + 1);
    for (uint32_t i = 0; i < files->all.len; i++)
        if (files->all.at[i].coverage != UINT32_MAX)
            number[files->all.at[i].coverage] = i;
    return number;
}

static void changes_find_patched(struct sources_before *b, const struct page_coverage *c,
                                 const uint32_t *number, const uint32_t *old)
{
    for (uint32_t i = 0; c->diff && i < c->diff->files.len; i++)
        if (c->diff->files.at[i].source < c->result->sources.len)
            b->of[number[c->diff->files.at[i].source]].patched = i;
    for (uint32_t i = 0; c->base && c->patch_lines && i < c->patch_lines->old_files.len; i++) {
        const struct patch_old_file *o = &c->patch_lines->old_files.at[i];
        uint32_t source = patch_source(c->base, o->path, o->whole_path);
        if (source < c->base->sources.len && old[source])
            b->of[old[source] - 1].patched_old = i;
    }
}

void sources_before_make(struct sources_before *b, const struct page_coverage *c,
                         const struct measured_sources *files)
{
    *b = (struct sources_before){0};
    b->of = ARENA_NEW(&b->arena, struct source_before, files->all.len + 1);
    for (size_t i = 0; i < files->all.len; i++)
        b->of[i] = (struct source_before){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (!c)
        return;
    const uint32_t *number = changes_numbers(files, c->result, &b->arena);
    uint32_t *old = ARENA_NEW(&b->arena, uint32_t, c->base ? c->base->sources.len + 1 : 1);
    for (uint32_t i = 0; c->change && i < c->change->sources.len; i++) {
        const struct source_change *s = &c->change->sources.at[i];
        if (s->new == NO_SOURCE || s->old == NO_SOURCE)
            continue;
        b->of[number[s->new]].base = s->old;
        b->of[number[s->new]].change = i;
        old[s->old] = number[s->new] + 1;
    }
    changes_find_patched(b, c, number, old);
}

void sources_before_deinit(struct sources_before *b)
{
    arena_deinit(&b->arena);
}

/* Without a patch, and where the source's lines with code are others by now: what is sure. */
static void changes_sure(const struct coverage_change *c, const struct source_change *s,
                         line_change_taker *take, void *context)
{
    for (uint32_t i = 0; i < s->lost; i++)
        take(c->lost.at[s->first_lost + i].line, CHANGE_LOST, context);
    for (uint32_t i = 0; i < s->gained; i++)
        take(c->gained.at[s->first_gained + i].line, CHANGE_GAINED, context);
}

static void changes_walk(const struct page_coverage *c, uint32_t coverage,
                         const struct source_before *f, line_change_taker *take, void *context)
{
    const struct result_source *now =
        coverage == UINT32_MAX ? NULL : &c->result->sources.at[coverage];
    const struct result_source *then = f->base == UINT32_MAX ? NULL : &c->base->sources.at[f->base];
    const struct source_change *s =
        f->change == UINT32_MAX ? NULL : &c->change->sources.at[f->change];
    struct patched_source patched = {.patch = c->patch_lines};
    if (f->patched != UINT32_MAX)
        patched.now = &c->patch_lines->files.at[f->patched];
    if (f->patched_old != UINT32_MAX)
        patched.old = &c->patch_lines->old_files.at[f->patched_old];
    if (!c->patch_lines && s && now && s->compared != now->lines)
        changes_sure(c->change, s, take, context);
    else
        line_changes_each(c->result, now, c->base, then, &patched, take, context);
}

static void changes_count(uint32_t line, enum line_change change, void *context)
{
    uint64_t *counts = context;
    (void)line;
    counts[change]++;
}

void change_counts_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before)
{
    struct arena scratch = {0};
    uint64_t *counts = ARENA_NEW(&scratch, uint64_t, files->all.len * CHANGES + 1);
    for (size_t i = 0; i < files->all.len; i++)
        changes_walk(c, files->all.at[i].coverage, &before->of[i], changes_count,
                     &counts[i * CHANGES]);
    json_key(j, "changes"), json_begin(j, '{');
    for (int change = 1; change < CHANGES; change++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < files->all.len; i++)
            sum += counts[i * CHANGES + (size_t)change];
        if (!sum)
            continue;
        column_begin(j, CHANGE_KEYS[change]);
        for (size_t i = 0; i < files->all.len; i++)
            json_u64(j, counts[i * CHANGES + (size_t)change]);
        json_end(j);
    }
    json_end(j);
    arena_deinit(&scratch);
}

struct changed_lines {
    VEC(uint32_t) lines;
    VEC(uint8_t) changes;
};

static void changes_keep(uint32_t line, enum line_change change, void *context)
{
    struct changed_lines *all = context;
    if (change < CHANGE_GAINED || change >= CHANGE_DELETED_RAN)
        return;
    vec_push(&all->lines, line);
    vec_push(&all->changes, (uint8_t)change);
}

void changed_lines_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before,
                        uint32_t number)
{
    struct changed_lines all = {0};
    json_key(j, "base");
    if (!c->base) {
        json_none(j);
        return;
    }
    changes_walk(c, files->all.at[number].coverage, &before->of[number], changes_keep, &all);
    json_begin(j, '{');
    column_begin(j, "line");
    for (size_t i = 0; i < all.lines.len; i++)
        json_u64(j, all.lines.at[i]);
    json_end(j);
    column_begin(j, "change");
    for (size_t i = 0; i < all.changes.len; i++)
        json_str(j, CHANGE_KEYS[all.changes.at[i]]);
    json_end(j);
    json_end(j);
    vec_free(&all.lines);
    vec_free(&all.changes);
}

/* An older measurement beside this one: functions, lines, and changes of covered lines.
 *
 * Functions are compared by `monarc diff` itself (profile/analysis/compare): its rows, verdicts and
 * words are the page's.
 *
 * Lines are found and judged by bridge/base_lines.c.
 *
 * Covered lines have the classes of coverage/analysis/coverage_change.h (gained, lost, ...), by the
 * patch where there is one. */
#include "page/page_private.h"

#include "base/sort.h"
#include "coverage/analysis/coverage_change.h"
#include "profile/analysis/compare/comparison.h"

#include <math.h>
#include <string.h>

/* --- functions ------------------------------------------------------------------------------- */

/* By function of the comparison's new side: the row of the page that it is; UINT32_MAX: none. A
 * series is compared run by run, and shown as the mean of its runs, so that its functions are found
 * by what they are known by. */
static const uint32_t *base_page_rows(const struct page_rows *r, const struct comparison *c,
                                      struct arena *a)
{
    struct identities shown;
    struct match match;
    identities_of(&shown, r->names.functions, r->profile->objects, a);
    match_identities(&match, &c->new->ids, &shown, a);
    uint32_t *row_of = ARENA_NEW(a, uint32_t, c->new->ids.len + 1);
    memset(row_of, -1, (c->new->ids.len + 1) * sizeof *row_of);
    for (uint32_t i = 0; i < r->all.len; i++) {
        uint32_t function = match.old_of[r->all.at[i].function];
        if (function != NO_FUNCTION && row_of[function] == UINT32_MAX)
            row_of[function] = i;
    }
    return row_of;
}

/* A column of amounts in the unit of the comparison; null: it is not known. */
static void base_amount(struct json *j, double amount, bool is_known)
{
    if (is_known)
        json_double(j, amount);
    else
        json_none(j);
}

/* Totals of whole runs, in words, as the table above the rows of `monarc diff` has them. */
static void base_totals_data(struct json *j, const struct comparison *c)
{
    JSON_ROWS(j, "totals", i, c->totals.len) {
        const struct total_change *t = &c->totals.at[i];
        char old[32], new[32], size[32];
        comparison_total_text(old, sizeof old, t, t->old);
        comparison_total_text(new, sizeof new, t, t->new);
        comparison_total_text(size, sizeof size, t, fabs(t->new - t->old));
        json_pair_str(j, "name", t->label);
        json_pair_str(j, "old", old);
        json_pair_str(j, "new", new);
        json_pair_str(j, "size", size);
        json_pair_double(j, "change", t->new - t->old);
        json_pair_double(j, "growth", t->old > 0 ? t->new / t->old - 1 : 0);
        json_pair_bool(j, "found", t->is_found);
        json_pair_str(j, "verdict", t->text);
    }
}

/* The rows of the comparison as columns. Amounts are times of an average run or, where `by_share`,
 * parts of the whole; "row" is the row of the page, -1 of what it has none for. */
static void base_rows_data(struct json *j, const struct page_rows *r, const struct comparison *c,
                           struct arena *a)
{
    const uint32_t *row_of = base_page_rows(r, c, a);
    const struct change *rows = c->rows;
    bool has_time = c->compares_samples, has_calls = c->compares_calls;
    json_key(j, "rows"), json_begin(j, '{');
    COLUMN(j, "row", c->len,
           column_index(j, rows[i].new == NO_FUNCTION ? UINT32_MAX : row_of[rows[i].new]));
    COLUMN(j, "name", c->len, json_str(j, change_name(c, &rows[i])));
    COLUMN(j, "file", c->len, json_str(j, rows[i].file));
    COLUMN(j, "remark", c->len, json_str(j, comparison_remark(c, &rows[i], a)));
    COLUMN(j, "self", c->len, base_amount(j, change_self(c, &rows[i])->new, has_time));
    COLUMN(j, "self_old", c->len, base_amount(j, change_self(c, &rows[i])->old, has_time));
    COLUMN(j, "self_meant", c->len, json_u64(j, change_self(c, &rows[i])->is_meant));
    COLUMN(j, "self_margin", c->len,
           base_amount(j, change_self(c, &rows[i])->margin,
                       has_time && change_self(c, &rows[i])->margin >= 0));
    COLUMN(j, "total", c->len, base_amount(j, change_total(c, &rows[i])->new, has_time));
    COLUMN(j, "total_old", c->len, base_amount(j, change_total(c, &rows[i])->old, has_time));
    COLUMN(j, "total_meant", c->len, json_u64(j, change_total(c, &rows[i])->is_meant));
    COLUMN(j, "total_margin", c->len,
           base_amount(j, change_total(c, &rows[i])->margin,
                       has_time && change_total(c, &rows[i])->margin >= 0));
    COLUMN(j, "calls", c->len, base_amount(j, rows[i].new_calls, has_calls));
    COLUMN(j, "calls_old", c->len, base_amount(j, rows[i].old_calls, has_calls));
    COLUMN(j, "found", c->len, json_u64(j, rows[i].is_found));
    json_end(j);
}

/* What the base is, as a whole, and the comparison with it. `samples` are the base's own, to be
 * divided by its own rate. */
void base_data(struct json *j, const struct page_rows *r)
{
    const struct page_profile *base = r->profile->base;
    const struct page_comparison *compared = r->profile->comparison;
    json_key(j, "base");
    if (!base || !compared) {
        json_none(j);
        return;
    }
    const struct comparison *c = compared->made;
    struct amount_scale scale = comparison_scale(c);
    struct arena a = {0};
    json_begin(j, '{');
    json_pair_str(j, "profile", base->summary->profiles[0]);
    json_pair_double(j, "samples", base->summary->samples);
    json_pair_double(j, "effective", base->summary->effective);
    json_pair_double(j, "rate", base->summary->rate);
    json_pair_str(j, "dimension", base->summary->dimension);
    json_pair_str(j, "answer", comparison_answer(c, &a));
    JSON_ITEMS(j, "notes", i, compared->notes.len)
        json_str(j, compared->notes.at[i]);
    json_pair_bool(j, "by_share", c->by_share);
    json_pair_double(j, "factor", c->by_share ? 100 : scale.factor);
    json_pair_str(j, "unit", c->by_share ? "%" : scale.unit);
    json_pair_u64(j, "digits", c->by_share ? 2 : (uint64_t)scale.digits);
    base_totals_data(j, c);
    base_rows_data(j, r, c, &a);
    json_end(j);
    arena_deinit(&a);
}

/* --- covered lines --------------------------------------------------------------------------- */

/* As the page knows them; compare.js has the words. */
static const char *const CHANGE_KEYS[CHANGES] = {
    "none",           "still_runs",  "still_missed",  "gained",         "lost",
    "new_runs",       "new_missed",  "counted_runs",  "counted_missed", "dropped_ran",
    "dropped_missed", "deleted_ran", "deleted_missed"};

/* Joins three lists by source in one pass over each: results' sources by the change between them,
 * files of the patch by the number that patch_coverage found, and the patch's old side by the path
 * in the base. `old` holds numbers plus one, as 0 stands for a source that did not survive. */
void sources_before_make(struct sources_before *b, const struct page_coverage *c,
                         const struct measured_sources *files)
{
    *b = (struct sources_before){0};
    b->of = ARENA_NEW(&b->arena, struct source_before, files->all.len + 1);
    for (size_t i = 0; i < files->all.len; i++)
        b->of[i] = (struct source_before){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (!c)
        return;
    /* From sources of either result to their number on the page. */
    uint32_t *number = ARENA_NEW(&b->arena, uint32_t, c->result->sources.len + 1);
    for (uint32_t i = 0; i < files->all.len; i++)
        if (files->all.at[i].coverage != UINT32_MAX)
            number[files->all.at[i].coverage] = i;
    uint32_t *old = ARENA_NEW(&b->arena, uint32_t, c->base ? c->base->sources.len + 1 : 1);
    for (uint32_t i = 0; c->change && i < c->change->sources.len; i++) {
        const struct source_change *s = &c->change->sources.at[i];
        if (s->new == NO_SOURCE || s->old == NO_SOURCE)
            continue;
        b->of[number[s->new]].base = s->old;
        b->of[number[s->new]].change = i;
        old[s->old] = number[s->new] + 1;
    }
    for (uint32_t i = 0; c->diff && i < c->diff->files.len; i++)
        if (c->diff->files.at[i].source < c->result->sources.len)
            b->of[number[c->diff->files.at[i].source]].patched = i;
    bool is_whole = c->base && c->patch_lines && patch_has_whole_names(c->base, c->patch_lines);
    for (uint32_t i = 0; c->base && c->patch_lines && i < c->patch_lines->old_files.len; i++) {
        const struct patch_old_file *o = &c->patch_lines->old_files.at[i];
        uint32_t source = patch_source(c->base, o->path, o->whole_path, is_whole);
        if (source < c->base->sources.len && old[source])
            b->of[old[source] - 1].patched_old = i;
    }
}

void sources_before_deinit(struct sources_before *b)
{
    arena_deinit(&b->arena);
}

/* Calls `take` for each line of a source that the base or the patch knows, with its class. */
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
    if (c->patch_lines || !s || !now || s->compared == now->lines) {
        line_changes_each(c->result, now, c->base, then, &patched, take, context);
        return;
    }
    /* No patch, and the source has other lines with code by now: what is sure. */
    for (uint32_t i = 0; i < s->lost; i++)
        take(c->change->lost.at[s->first_lost + i].line, CHANGE_LOST, context);
    for (uint32_t i = 0; i < s->gained; i++)
        take(c->change->gained.at[s->first_gained + i].line, CHANGE_GAINED, context);
}

/* A line_change_taker: how many lines each class has; `context` has room for CHANGES counts. */
static void changes_count(uint32_t line, enum line_change change, void *context)
{
    uint64_t *counts = context;
    (void)line;
    counts[change]++;
}

/* One pass over all lines fills a matrix of sources by classes; columns that would hold nothing but
 * zeros are not written. */
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
        JSON_ITEMS(j, CHANGE_KEYS[change], i, files->all.len)
            json_u64(j, counts[i * CHANGES + (size_t)change]);
    }
    json_end(j);
    arena_deinit(&scratch);
}

/* Two columns that grow together: a line and its enum line_change. */
struct changed_lines {
    VEC(uint32_t) lines;
    VEC(uint8_t) changes;
};

/* A line_change_taker that keeps what the page marks: lines that are still in the source and have
 * another state than in the base. Deleted lines have no number of today. */
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
    COLUMN(j, "line", all.lines.len, json_u64(j, all.lines.at[i]));
    COLUMN(j, "change", all.changes.len, json_str(j, CHANGE_KEYS[all.changes.at[i]]));
    json_end(j);
    vec_free(&all.lines);
    vec_free(&all.changes);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Sources that the patch touches have its numbers. */
void page_base_lines_make(struct base_lines *b, const struct page_input *in,
                          struct measured_sources *files, const struct sources_before *before)
{
    const struct page_profile *now = in->profile, *then = now ? now->base : NULL;
    const struct page_coverage *c = in->coverage;
    *b = (struct base_lines){0};
    if (!then || !then->lines || !now->lines)
        return;
    struct arena scratch = {0};
    struct patched_source *patched = ARENA_NEW(&scratch, struct patched_source, files->all.len + 1);
    for (uint32_t i = 0; c && c->patch_lines && i < files->all.len; i++) {
        const struct source_before *f = &before->of[i];
        if (f->patched == UINT32_MAX)
            continue;
        patched[i].patch = c->patch_lines;
        patched[i].now = &c->patch_lines->files.at[f->patched];
        if (f->patched_old != UINT32_MAX)
            patched[i].old = &c->patch_lines->old_files.at[f->patched_old];
    }
    base_lines_make(b, &(struct base_lines_input){.now = now->lines,
                                                  .then = then->lines,
                                                  .summary = now->summary,
                                                  .old_summary = then->summary,
                                                  .files = files,
                                                  .patched = patched});
    arena_deinit(&scratch);
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
    COLUMN(j, "line", s->lines.len, json_u64(j, s->lines.at[i].line));
    COLUMN(j, "self", s->lines.len, column_samples(j, s->lines.at[i].self));
    COLUMN(j, "calls", s->lines.len, column_count(j, s->lines.at[i].calls));
    COLUMN(j, "meant", s->lines.len, json_u64(j, s->lines.at[i].is_meant));
    json_key(j, "elsewhere"), column_samples(j, s->elsewhere);
    json_end(j);
}

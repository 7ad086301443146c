/* Laying the figures of a source over its lines. */
#include "tui/model/source.h"

#include <stdio.h>
#include <string.h>

/* Lines that figures may name beyond the text: of a file that was shortened since. */
enum { MOST_LINES = 10 << 20 };

static struct source_figures *source_line_at(struct source_table *t, uint32_t line)
{
    if (!line || line > MOST_LINES)
        return NULL;
    while (t->lines.len < line)
        vec_push(&t->lines, (struct source_figures){.function = UINT32_MAX});
    return &t->lines.at[line - 1];
}

static void source_take_time(struct source_table *t, const struct source_table_input *in)
{
    uint32_t file = t->source->first_listed;
    for (; file != UINT32_MAX; file = in->sources->next_listed[file]) {
        const struct source_listed_file *listed = &in->lines->files.at[file];
        for (uint32_t i = 0; i < listed->rows; i++) {
            const struct source_row *row = &in->lines->rows.at[listed->first + i];
            struct source_figures *f = source_line_at(t, row->line);
            if (!f)
                continue;
            f->self += row->self;
            f->calls += row->calls;
            f->executions += row->has_count ? row->executions : 0;
            f->has_count |= row->has_count;
            f->has_entry |= row->has_entry;
            f->function = f->function < row->function ? f->function : row->function;
            t->hot = f->self > t->hot ? f->self : t->hot;
            t->most_calls = f->calls > t->most_calls ? f->calls : t->most_calls;
            t->most_executions =
                f->executions > t->most_executions ? f->executions : t->most_executions;
        }
    }
}

static void source_take_coverage(struct source_table *t, const struct source_table_input *in)
{
    const struct coverage_result *c = in->coverage;
    if (!c || t->source->coverage == UINT32_MAX)
        return;
    const struct result_source *s = &c->sources.at[t->source->coverage];
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct result_line *line = &c->lines.at[s->first_line + i];
        struct source_figures *f = source_line_at(t, line->line);
        if (!f)
            continue;
        f->covered = line;
        t->most_covered = line->count > t->most_covered ? line->count : t->most_covered;
        t->has_branches |= line->branches > 0;
        t->has_conditions |= line->conditions > 0;
    }
    for (uint32_t i = 0; i < s->functions; i++) {
        struct source_figures *f =
            source_line_at(t, c->functions.at[s->first_function + i].start_line);
        if (f)
            f->has_entry = true;
    }
}

static void source_read(struct source_table *t, int64_t measured_at)
{
    struct err e = {0};
    if (!t->source->path) {
        snprintf(t->missing, sizeof t->missing,
                 "The file is not where it was when the program was compiled (see --path-map).");
    } else if (!source_text_read(&t->text, t->source->path, &e)) {
        snprintf(t->missing, sizeof t->missing, "%s", e.line);
    } else {
        source_text_index(&t->text);
        t->was_changed = measured_at && t->text.changed > measured_at;
        while (t->lines.len < t->text.lines)
            vec_push(&t->lines, (struct source_figures){.function = UINT32_MAX});
    }
}

void source_table_open(struct source_table *t, const struct source_table_input *in, uint32_t number)
{
    source_table_deinit(t);
    t->source = &in->sources->all.at[number];
    t->number = number;
    t->coverage = in->coverage;
    source_read(t, in->measured_at);
    if (in->lines)
        source_take_time(t, in);
    source_take_coverage(t, in);
}

void source_table_deinit(struct source_table *t)
{
    source_text_deinit(&t->text);
    vec_free(&t->lines);
    *t = (struct source_table){0};
}

/* --- jumping --------------------------------------------------------------------------------- */

void source_branches(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                     uint32_t *taken)
{
    *all = *taken = 0;
    if (!f->covered)
        return;
    *all = f->covered->branches;
    for (uint32_t i = 0; i < f->covered->branches; i++)
        *taken += t->coverage->branches.at[f->covered->first_branch + i].count > 0;
}

void source_conditions(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                       uint32_t *seen)
{
    *all = *seen = 0;
    for (uint32_t i = 0; f->covered && i < f->covered->conditions; i++) {
        const struct result_condition *c =
            &t->coverage->conditions.at[f->covered->first_condition + i];
        *all += 2 * c->terms;
        *seen += condition_hit(c);
    }
}

static bool source_is_jump(const struct source_table *t, const struct source_figures *f,
                           enum source_jump jump)
{
    uint32_t all, taken, outcomes, seen;
    switch (jump) {
    case JUMP_HOT: return f->self > 0 && f->self >= t->hot / 10;
    case JUMP_MISSED: return f->covered && f->covered->state == RESULT_MISSED;
    case JUMP_FUNCTION: return f->has_entry;
    case JUMP_CHANGED: return f->is_meant || f->since;
    default: break;
    }
    source_branches(t, f, &all, &taken);
    source_conditions(t, f, &outcomes, &seen);
    return f->covered && f->covered->state == RESULT_HIT && (taken < all || seen < outcomes);
}

size_t source_find_jump(const struct source_table *t, enum source_jump jump, size_t row,
                        bool is_back)
{
    size_t len = t->lines.len;
    for (size_t i = 1; i <= len; i++) {
        size_t at = is_back ? (row + len - i) % len : (row + i) % len;
        if (source_is_jump(t, &t->lines.at[at], jump))
            return at;
    }
    return len;
}

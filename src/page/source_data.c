/* Lines as columns. Two sources of figures stay apart, each with lines of its own: time from the
 * program's line tables, counts from notes and counters. The page joins them by line number.
 *
 * A source that cannot be read, or that was changed since, is shown for what it is. */
#include "page/source_data.h"

#include "base/utf8.h"
#include "page/blame_data.h"
#include "page/changes_data.h"
#include "page/columns.h"
#include "source/markers.h"
#include "source/text.h"

/* Of a line, in bytes: what is longer is cut, and said to be. */
enum { LONGEST_LINE = 2000 };

/* --- the list -------------------------------------------------------------------------------- */

static const struct coverage_ratios *source_sums_of(const struct source_data *s,
                                                    const struct measured_source *f)
{
    static const struct coverage_ratios NONE;
    return f->coverage == UINT32_MAX ? &NONE
                                     : &s->in->coverage->result->sources.at[f->coverage].sums;
}

typedef const struct coverage_ratio *ratio_getter(const struct coverage_ratios *r);

static const struct coverage_ratio *source_lines_of(const struct coverage_ratios *r)
{
    return &r->lines;
}

static const struct coverage_ratio *source_functions_of(const struct coverage_ratios *r)
{
    return &r->functions;
}

static const struct coverage_ratio *source_branches_of(const struct coverage_ratios *r)
{
    return &r->branches;
}

static const struct coverage_ratio *source_conditions_of(const struct coverage_ratios *r)
{
    return &r->conditions;
}

static void source_ratio_columns(struct json *j, const struct source_data *s, const char *key,
                                 ratio_getter *get)
{
    json_key(j, key), json_begin(j, '{');
    column_begin(j, "all");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_u64(j, get(source_sums_of(s, &s->files->all.at[i]))->all);
    json_end(j);
    column_begin(j, "hit");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_u64(j, get(source_sums_of(s, &s->files->all.at[i]))->hit);
    json_end(j);
    column_begin(j, "unknown");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_u64(j, get(source_sums_of(s, &s->files->all.at[i]))->unknown);
    json_end(j);
    json_end(j);
}

/* Lines of the same sources in the base: -1 where it has none. */
static void source_base_columns(struct json *j, const struct source_data *s)
{
    const struct coverage_result *base = s->in->coverage->base;
    json_key(j, "base"), json_begin(j, '{');
    static const char *const KEYS[] = {"all", "hit", "unknown"};
    for (int which = 0; which < 3; which++) {
        column_begin(j, KEYS[which]);
        for (size_t i = 0; i < s->files->all.len; i++) {
            uint32_t old = s->before->of[i].base;
            const struct coverage_ratio *l =
                old == UINT32_MAX ? NULL : &base->sources.at[old].sums.lines;
            if (l)
                json_u64(j, which == 0 ? l->all : which == 1 ? l->hit : l->unknown);
            else
                json_i64(j, -1);
        }
        json_end(j);
    }
    json_end(j);
}

void source_list_data(struct json *j, const struct source_data *s)
{
    json_key(j, "files"), json_begin(j, '{');
    column_begin(j, "name");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_str(j, s->files->all.at[i].shown);
    json_end(j);
    column_begin(j, "self");
    for (size_t i = 0; i < s->files->all.len; i++)
        column_samples(j, s->files->all.at[i].self);
    json_end(j);
    column_begin(j, "here");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_u64(j, s->files->all.at[i].path != NULL);
    json_end(j);
    column_begin(j, "covered");
    for (size_t i = 0; i < s->files->all.len; i++)
        json_u64(j, s->files->all.at[i].coverage != UINT32_MAX);
    json_end(j);
    if (s->in->coverage && s->in->coverage->base) {
        source_base_columns(j, s);
        change_counts_data(j, s->in->coverage, s->files, s->before);
    }
    if (s->in->coverage) {
        source_ratio_columns(j, s, "lines", source_lines_of);
        source_ratio_columns(j, s, "functions", source_functions_of);
        source_ratio_columns(j, s, "branches", source_branches_of);
        source_ratio_columns(j, s, "conditions", source_conditions_of);
    }
    json_end(j);
}

/* --- the text -------------------------------------------------------------------------------- */

/* All lines with \n between them, long ones cut; their numbers are a column. */
static void source_text_data(struct json *j, const struct source_text *t)
{
    struct out text;
    VEC(uint32_t) cut = {0};
    out_init(&text, -1);
    for (size_t i = 1; i <= t->lines; i++) {
        struct bytes line = source_line(t, i);
        size_t len = utf8_cut(line.at, line.len, LONGEST_LINE);
        if (len < line.len)
            vec_push(&cut, (uint32_t)i);
        out_bytes(&text, (const char *)line.at, len);
        if (i < t->lines)
            out_char(&text, '\n');
    }
    json_key(j, "text"), json_str_n(j, text.at ? text.at : "", text.len);
    column_begin(j, "cut");
    for (size_t i = 0; i < cut.len; i++)
        json_u64(j, cut.at[i]);
    json_end(j);
    vec_free(&cut);
    out_deinit(&text);
}

/* Lines that comments leave out of coverage: first, last and what (enum marker_what) in threes. */
static void source_markers_data(struct json *j, const struct source_text *t)
{
    struct markers found = {0};
    markers_find(t->bytes, &found);
    column_begin(j, "left_out");
    for (size_t i = 0; i < found.ranges.len; i++) {
        const struct marker *m = &found.ranges.at[i];
        json_u64(j, m->first);
        json_u64(j, m->last < t->lines ? m->last : t->lines);
        json_u64(j, m->what);
    }
    json_end(j);
    markers_deinit(&found);
}

static void source_read_text(struct json *j, const struct source_data *s,
                             const struct measured_source *f)
{
    struct source_text text = {0};
    struct err why = {0};
    int64_t measured = s->in->profile ? s->in->profile->measured_at : s->in->coverage->measured_at;
    json_pair_str(j, "path", f->path);
    if (!f->path) {
        json_pair_str(j, "missing", "the file is not where it was when the program was compiled");
    } else if (!source_text_read(&text, f->path, &why)) {
        json_pair_str(j, "missing", why.line);
    } else {
        source_text_index(&text);
        json_key(j, "changed"), json_bool(j, measured && text.changed > measured);
        source_text_data(j, &text);
        if (f->coverage != UINT32_MAX && !s->in->coverage->ignores_markers)
            source_markers_data(j, &text);
    }
    source_text_deinit(&text);
}

/* --- time ------------------------------------------------------------------------------------ */

#define TIME_COLUMN(j, s, f, key, write)                                                      \
    do {                                                                                      \
        const struct source_lines *all = (s)->in->profile->lines;                             \
        column_begin(j, key);                                                                 \
        for (uint32_t n = (f)->first_listed; n != UINT32_MAX; n = (s)->files->next_listed[n]) \
            for (uint32_t i = 0; i < all->files.at[n].rows; i++) {                            \
                const struct source_row *row = &all->rows.at[all->files.at[n].first + i];     \
                write;                                                                        \
            }                                                                                 \
        json_end(j);                                                                          \
    } while (0)

static void source_count_or_none(struct json *j, bool is_known, uint64_t count)
{
    if (is_known)
        column_count(j, count);
    else
        json_none(j);
}

static void source_time_data(struct json *j, const struct source_data *s,
                             const struct measured_source *f)
{
    json_key(j, "time");
    if (f->first_listed == UINT32_MAX) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    TIME_COLUMN(j, s, f, "line", json_u64(j, row->line));
    TIME_COLUMN(j, s, f, "self", column_samples(j, row->self));
    TIME_COLUMN(j, s, f, "calls", column_count(j, row->calls));
    TIME_COLUMN(j, s, f, "count", source_count_or_none(j, row->has_count, row->executions));
    TIME_COLUMN(
        j, s, f, "function",
        column_index(j, row->function == NO_FUNCTION ? UINT32_MAX : s->rows->of[row->function]));
    TIME_COLUMN(j, s, f, "entry", json_u64(j, row->has_entry));
    json_end(j);
}

/* --- coverage -------------------------------------------------------------------------------- */

/* Of each: block, count, enum outcome_flags, whether it was reached, function of the source. */
static void source_branches_data(struct json *j, const struct coverage_result *r,
                                 const struct result_source *source, const struct result_line *l)
{
    if (!l->branches) {
        json_u64(j, 0);
        return;
    }
    json_begin(j, '[');
    for (uint32_t i = 0; i < l->branches; i++) {
        const struct result_branch *b = &r->branches.at[l->first_branch + i];
        json_u64(j, b->block);
        column_count(j, b->count);
        json_u64(j, b->flags);
        json_u64(j, b->was_reached);
        column_index(j,
                     b->function == UINT32_MAX ? UINT32_MAX : b->function - source->first_function);
    }
    json_end(j);
}

/* Terms, then bits of the outcomes seen being true and false, in twos of 32 bits: exact in doubles.
 */
static void source_conditions_data(struct json *j, const struct coverage_result *r,
                                   const struct result_line *l)
{
    if (!l->conditions) {
        json_u64(j, 0);
        return;
    }
    json_begin(j, '[');
    for (uint32_t i = 0; i < l->conditions; i++) {
        const struct result_condition *c = &r->conditions.at[l->first_condition + i];
        json_begin(j, '[');
        for (uint32_t t = 0; t < c->terms && t < 64; t++)
            json_u64(j, (c->on >> t & 1) | (c->off >> t & 1) << 1);
        json_end(j);
    }
    json_end(j);
}

#define LINE_COLUMN(j, r, source, key, write)                                          \
    do {                                                                               \
        column_begin(j, key);                                                          \
        for (uint32_t i = 0; i < (source)->lines; i++) {                               \
            const struct result_line *line = &(r)->lines.at[(source)->first_line + i]; \
            write;                                                                     \
        }                                                                              \
        json_end(j);                                                                   \
    } while (0)

#define FUNCTION_COLUMN(j, r, source, key, write)                                                 \
    do {                                                                                          \
        column_begin(j, key);                                                                     \
        for (uint32_t i = 0; i < (source)->functions; i++) {                                      \
            const struct result_function *row = &(r)->functions.at[(source)->first_function + i]; \
            write;                                                                                \
        }                                                                                         \
        json_end(j);                                                                              \
    } while (0)

static void source_coverage_lines_data(struct json *j, const struct source_data *s,
                                       const struct measured_source *f)
{
    json_key(j, "coverage");
    if (f->coverage == UINT32_MAX) {
        json_none(j);
        return;
    }
    const struct coverage_result *r = s->in->coverage->result;
    const struct result_source *source = &r->sources.at[f->coverage];
    json_begin(j, '{');
    LINE_COLUMN(j, r, source, "line", json_u64(j, line->line));
    LINE_COLUMN(j, r, source, "state", json_u64(j, line->state));
    LINE_COLUMN(j, r, source, "count",
                source_count_or_none(j, line->state != RESULT_UNKNOWN, line->count));
    LINE_COLUMN(j, r, source, "branches", source_branches_data(j, r, source, line));
    LINE_COLUMN(j, r, source, "conditions", source_conditions_data(j, r, line));
    changed_lines_data(j, s->in->coverage, s->files, s->before, (uint32_t)(f - s->files->all.at));
    blame_lines_data(j, s->in->coverage, f);
    json_key(j, "functions"), json_begin(j, '{');
    FUNCTION_COLUMN(j, r, source, "name", json_str(j, row->name));
    FUNCTION_COLUMN(j, r, source, "linkage", json_str(j, row->linkage));
    FUNCTION_COLUMN(j, r, source, "start", json_u64(j, row->start_line));
    FUNCTION_COLUMN(j, r, source, "end", json_u64(j, row->end_line));
    FUNCTION_COLUMN(j, r, source, "state", json_u64(j, row->state));
    FUNCTION_COLUMN(j, r, source, "count",
                    source_count_or_none(j, row->state != RESULT_UNKNOWN, row->count));
    json_end(j);
    json_end(j);
}

/* --- a block --------------------------------------------------------------------------------- */

void source_block(struct out *out, const struct source_data *s, uint32_t number)
{
    const struct measured_source *f = &s->files->all.at[number];
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    source_read_text(&j, s, f);
    source_time_data(&j, s, f);
    base_lines_data(&j, s->base_lines, number);
    source_coverage_lines_data(&j, s, f);
    line_details_data(&j, s->details, s->files, number);
    json_end(&j);
}

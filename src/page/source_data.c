/* Sources: the list of them, and of each a block with its text and all that is known of its lines.
 *
 * Two measurements of a line stay apart, each with lines of its own: time and calls from the
 * program's line tables, counts from notes and counters of coverage. The page joins them by line
 * number. So a line table that is wrong about a line cannot spoil its count, and the other way
 * round. What a line has beyond figures is there for whoever asks: instructions, and the chains of
 * inlined calls that its code came by.
 *
 * A source that cannot be read, or that was changed since, is shown for what it is: the page says
 * so, and has the figures without the text. Lines of more than LONGEST_LINE bytes are cut, and
 * their numbers listed; generated code has lines of megabytes. */
#include "page/page_private.h"

#include "base/path.h"
#include "base/sort.h"
#include "base/bytes.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- machine code and inlined code ------------------------------------------------------------ */

/* Prepares both look-ups, by file: code_of leads from a file of the profile to its machine code,
 * and `inlined` is sorted by source of the page so that all rows of one stand together. */
void line_details_make(struct line_details *d, const struct page_input *in,
                       const struct page_rows *rows, struct measured_sources *files)
{
    const struct page_profile *p = in->profile;
    *d = (struct line_details){.in = in, .rows = rows};
    if (p && p->lines && p->code) {
        d->code_of = ARENA_NEW(&d->arena, uint32_t, p->lines->files.len);
        for (uint32_t i = 0; i < p->code->files.len; i++)
            d->code_of[p->code->files.at[i].file] = i + 1;
    }
    if (!p || !p->lines || !p->inlines)
        return;
    const struct lines_table *t = p->inlines;
    d->inlined = ARENA_NEW(&d->arena, struct keyed, t->len + 1);
    for (uint32_t i = 0; i < t->len; i++) {
        const char *path = t->functions.at[t->rows[i].function].file;
        uint32_t file =
            path && t->rows[i].chains_len ? measured_source_of(files, path) : UINT32_MAX;
        if (file != UINT32_MAX)
            d->inlined[d->inlined_len++] = (struct keyed){file, i};
    }
    sort_keyed(d->inlined, d->inlined_len);
}

void line_details_deinit(struct line_details *d)
{
    arena_deinit(&d->arena);
}

/* Where a jump or call goes: "function+0x12", or "" where the instruction goes nowhere. */
static void details_target(struct json *j, const struct annotated_instruction *i)
{
    struct arena scratch = {0};
    if (!i->target)
        json_str(j, "");
    else if (!i->target_offset)
        json_str(j, i->target);
    else
        json_str(j, arena_printf(&scratch, "%s+0x%" PRIx64, i->target, i->target_offset));
    arena_deinit(&scratch);
}

/* `write` for each instruction `i` of each `line` of a file. */
#define CODE_COLUMN(j, d, files, f, key, write)                                              \
    do {                                                                                     \
        const struct annotated *code = (d)->in->profile->code;                               \
        column_begin(j, key);                                                                \
        for (uint32_t n = (f)->first_listed; n != UINT32_MAX; n = (files)->next_listed[n]) { \
            const struct annotated_file *file =                                              \
                (d)->code_of[n] ? &code->files.at[(d)->code_of[n] - 1] : NULL;               \
            for (uint32_t l = 0; file && l < file->lines; l++) {                             \
                const struct annotated_line *line = &code->lines.at[file->first + l];        \
                for (uint32_t k = 0; k < line->instructions; k++) {                          \
                    const struct annotated_instruction *i =                                  \
                        &code->instructions.at[line->first + k];                             \
                    (void)i;                                                                 \
                    write;                                                                   \
                }                                                                            \
            }                                                                                \
        }                                                                                    \
        json_end(j);                                                                         \
    } while (0)

/* One row an instruction. "gap" is 1 where instructions of other lines stand between it and the one
 * before, so that the page draws a break. */
static void details_code_data(struct json *j, const struct line_details *d,
                              const struct measured_sources *files, const struct measured_source *f)
{
    json_key(j, "code");
    if (!d->code_of || f->first_listed == UINT32_MAX) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    CODE_COLUMN(j, d, files, f, "line", json_u64(j, line->line));
    CODE_COLUMN(j, d, files, f, "address", column_address(j, i->address));
    CODE_COLUMN(j, d, files, f, "text", json_str(j, i->text));
    CODE_COLUMN(j, d, files, f, "target", details_target(j, i));
    CODE_COLUMN(j, d, files, f, "self", column_part(j, i->self));
    CODE_COLUMN(j, d, files, f, "function", column_index(j, d->rows->of[i->function]));
    CODE_COLUMN(j, d, files, f, "gap", json_u64(j, i->is_after_gap));
    json_end(j);
}

/* A row a chain: its line, its samples, and the frames from the inside to the outside in threes. */
static void details_inlined_data(struct json *j, const struct line_details *d, uint32_t number)
{
    const struct lines_table *t = d->in->profile ? d->in->profile->inlines : NULL;
    uint32_t first = PARTITION_POINT(d->inlined_len, i, d->inlined[i].key < number);
    column_begin(j, "inlined");
    for (uint32_t i = first; i < d->inlined_len && d->inlined[i].key == number; i++) {
        const struct lines_row *row = &t->rows[d->inlined[i].item];
        for (uint32_t c = 0; c < row->chains_len; c++) {
            if (!row->chains[c].len)
                continue;
            json_begin(j, '[');
            json_u64(j, t->functions.at[row->function].line);
            column_samples(j, row->chains[c].self);
            for (uint32_t k = 0; k < row->chains[c].len; k++) {
                /* A frame as three cells: readable name, file without its folders, line. */
                const struct object_frame *frame = &row->chains[c].frames[k];
                const char *style = d->in->profile->demangle;
                char *readable = frame->function && style ? demangle(frame->function, style) : NULL;
                json_str(j, readable ? readable : frame->function ? frame->function : "?");
                json_str(j, frame->file ? path_base_name(frame->file) : "?");
                json_u64(j, frame->line);
                free(readable);
            }
            json_end(j);
        }
    }
    json_end(j);
}

/* --- the list -------------------------------------------------------------------------------- */

/* The ratio at `offset` within struct coverage_ratios; nothing of nothing without coverage. */
static const struct coverage_ratio *source_ratio(const struct source_data *s, size_t number,
                                                 size_t offset)
{
    static const struct coverage_ratio NONE;
    uint32_t source = s->files->all.at[number].coverage;
    if (source == UINT32_MAX)
        return &NONE;
    const struct coverage_ratios *sums = &s->in->coverage->result->sources.at[source].sums;
    return (const void *)((const char *)sums + offset);
}

/* One row a source of the page. "here" says whether its text can be had. Four kinds of ratios share
 * one loop: each is known by its place in struct coverage_ratios. */
void source_list_data(struct json *j, const struct source_data *s)
{
    json_key(j, "files"), json_begin(j, '{');
    COLUMN(j, "name", s->files->all.len, json_str(j, s->files->all.at[i].shown));
    COLUMN(j, "self", s->files->all.len, column_samples(j, s->files->all.at[i].self));
    COLUMN(j, "here", s->files->all.len, json_u64(j, s->files->all.at[i].path != NULL));
    COLUMN(j, "covered", s->files->all.len,
           json_u64(j, s->files->all.at[i].coverage != UINT32_MAX));
    if (s->in->coverage && s->in->coverage->base) {
        /* Lines of the same sources in the base: -1 where it has none. */
        static const char *const KEYS[] = {"all", "hit", "unknown"};
        json_key(j, "base"), json_begin(j, '{');
        for (int which = 0; which < 3; which++) {
            JSON_ITEMS(j, KEYS[which], i, s->files->all.len) {
                uint32_t old = s->before->of[i].base;
                const struct coverage_ratio *l =
                    old == UINT32_MAX ? NULL : &s->in->coverage->base->sources.at[old].sums.lines;
                if (l)
                    json_u64(j, which == 0 ? l->all : which == 1 ? l->hit : l->unknown);
                else
                    json_i64(j, -1);
            }
        }
        json_end(j);
        change_counts_data(j, s->in->coverage, s->files, s->before);
    }
    if (s->in->coverage) {
        static const struct {
            const char *key;
            size_t offset;
        } RATIOS[] = {{"lines", offsetof(struct coverage_ratios, lines)},
                      {"functions", offsetof(struct coverage_ratios, functions)},
                      {"branches", offsetof(struct coverage_ratios, branches)},
                      {"conditions", offsetof(struct coverage_ratios, conditions)},
                      {"regions", offsetof(struct coverage_ratios, regions)}};
        for (size_t k = 0; k < sizeof RATIOS / sizeof *RATIOS; k++) {
            json_key(j, RATIOS[k].key), json_begin(j, '{');
            COLUMN(j, "all", s->files->all.len,
                   json_u64(j, source_ratio(s, i, RATIOS[k].offset)->all));
            COLUMN(j, "hit", s->files->all.len,
                   json_u64(j, source_ratio(s, i, RATIOS[k].offset)->hit));
            COLUMN(j, "unknown", s->files->all.len,
                   json_u64(j, source_ratio(s, i, RATIOS[k].offset)->unknown));
            json_end(j);
        }
    }
    json_end(j);
}

/* --- the text -------------------------------------------------------------------------------- */

/* Of a line, in bytes: what is longer is cut, and said to be. */
enum { LONGEST_LINE = 2000 };

/* All lines with \n between them, long ones cut; their numbers are a column. A cut never splits a
 * character of UTF-8. */
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
    COLUMN(j, "cut", cut.len, json_u64(j, cut.at[i]));
    vec_free(&cut);
    out_deinit(&text);
}

/* The text, or a sentence that says why there is none. "changed" says that the file is newer than
 * the measurement: its lines may be others by now. */
static void source_read_text(struct json *j, const struct source_data *s,
                             const struct measured_source *f)
{
    struct source_text text = {0};
    struct err why = {0};
    int64_t measured = s->in->profile ? s->in->profile->measured_at : s->in->coverage->measured_at;
    json_pair_str(j, "path", f->path);
    if (f->is_outside) {
        json_pair_str(j, "missing",
                      "the file is outside the project, and its text not part of the page: "
                      "--source-dir with its folder, or --all-sources, adds it");
    } else if (!f->path) {
        json_pair_str(j, "missing", "the file is not where it was when the program was compiled");
    } else if (!source_text_read(&text, f->path, &why)) {
        json_pair_str(j, "missing", why.line);
        out_lacks(j->out, &why);
    } else {
        source_text_index(&text);
        json_pair_bool(j, "changed", measured && text.changed > measured);
        source_text_data(j, &text);
        if (f->coverage != UINT32_MAX && !s->in->coverage->ignores_markers) {
            /* Lines that comments leave out of coverage: first, last and what (enum marker_what) in
             * threes. */
            struct markers found = {0};
            markers_find(text.bytes, &found);
            JSON_ITEMS(j, "left_out", i, found.ranges.len) {
                const struct marker *m = &found.ranges.at[i];
                json_u64(j, m->first);
                json_u64(j, m->last < text.lines ? m->last : text.lines);
                json_u64(j, m->what);
            }
            markers_deinit(&found);
        }
    }
    source_text_deinit(&text);
}

/* --- time ------------------------------------------------------------------------------------ */

/* `write` for each `row` of a source. One source may be several files of the profile, under
 * different recorded names: next_listed chains them, so that a line may occur more than once. */
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

/* null where a count is not known: 0 would say that the line never ran. */
static void source_count_or_none(struct json *j, bool is_known, uint64_t count)
{
    if (is_known)
        column_count(j, count);
    else
        json_none(j);
}

/* What the profile knows of the lines; "total", of samples with the line on their stacks, is absent
 * where there are no stacks, "function" is a row of the page, "entry" 1 where a function
 * begins. */
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
    if (s->in->profile->lines->has_totals)
        TIME_COLUMN(j, s, f, "total", column_samples(j, row->total));
    TIME_COLUMN(j, s, f, "calls", column_count(j, row->calls));
    TIME_COLUMN(j, s, f, "count", source_count_or_none(j, row->has_count, row->executions));
    TIME_COLUMN(
        j, s, f, "function",
        column_index(j, row->function == NO_FUNCTION ? UINT32_MAX : s->rows->of[row->function]));
    TIME_COLUMN(j, s, f, "entry", json_u64(j, row->has_entry));
    json_end(j);
}

/* --- coverage -------------------------------------------------------------------------------- */

/* Of each: block, count, enum outcome_flags, whether it was reached, function of the source. Five
 * cells a branch, in one array a line; 0 instead of an empty array, which is shorter. */
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

/* `write` for each `line` with code of a source, in ascending order. */
#define LINE_COLUMN(j, r, source, key, write)                                      \
    JSON_ITEMS(j, key, i, (source)->lines) {                                       \
        const struct result_line *line = &(r)->lines.at[(source)->first_line + i]; \
        write;                                                                     \
    }

/* `write` for each function, `row`, of a source. */
#define FUNCTION_COLUMN(j, r, source, key, write)                                             \
    JSON_ITEMS(j, key, i, (source)->functions) {                                              \
        const struct result_function *row = &(r)->functions.at[(source)->first_function + i]; \
        write;                                                                                \
    }

/* What coverage knows of the lines: rows of lines, what changed since the base, who wrote them, and
 * the source's own functions, to which branches refer by their number in this list. */
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

/* Members that have nothing to say are null or empty, never missing, but for those of the text,
 * which need a file that can be read. */
void source_block(struct out *out, const struct source_data *s, uint32_t number)
{
    const struct measured_source *f = &s->files->all.at[number];
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    source_read_text(&j, s, f);
    source_time_data(&j, s, f);
    base_lines_data(&j, s->base_lines, number);
    source_coverage_lines_data(&j, s, f);
    details_code_data(&j, s->details, s->files, f);
    details_inlined_data(&j, s->details, number);
    json_end(&j);
}

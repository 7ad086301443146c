/* Instructions and inlined chains as columns, line by line. */
#include "page/line_details.h"

#include "base/path.h"
#include "base/search.h"
#include "base/sort.h"
#include "page/columns.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void details_find_code(struct line_details *d, const struct page_profile *p)
{
    d->code_of = ARENA_NEW(&d->arena, uint32_t, p->lines->files.len);
    for (uint32_t i = 0; i < p->code->files.len; i++)
        d->code_of[p->code->files.at[i].file] = i + 1;
}

static void details_find_inlined(struct line_details *d, const struct lines_table *t,
                                 struct measured_sources *files)
{
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

void line_details_make(struct line_details *d, const struct page_input *in,
                       const struct page_rows *rows, struct measured_sources *files)
{
    const struct page_profile *p = in->profile;
    *d = (struct line_details){.in = in, .rows = rows};
    if (p && p->lines && p->code)
        details_find_code(d, p);
    if (p && p->lines && p->inlines)
        details_find_inlined(d, p->inlines, files);
}

void line_details_deinit(struct line_details *d)
{
    arena_deinit(&d->arena);
}

/* --- machine code ---------------------------------------------------------------------------- */

typedef void write_instruction(struct json *j, const struct line_details *d,
                               const struct annotated_line *line,
                               const struct annotated_instruction *i);

static void details_line(struct json *j, const struct line_details *d,
                         const struct annotated_line *line, const struct annotated_instruction *i)
{
    (void)d, (void)i;
    json_u64(j, line->line);
}

static void details_address(struct json *j, const struct line_details *d,
                            const struct annotated_line *line,
                            const struct annotated_instruction *i)
{
    char digits[24];
    (void)d, (void)line;
    snprintf(digits, sizeof digits, "%" PRIx64, i->address);
    json_str(j, digits);
}

static void details_text(struct json *j, const struct line_details *d,
                         const struct annotated_line *line, const struct annotated_instruction *i)
{
    (void)d, (void)line;
    json_str(j, i->text);
}

/* "function+0x12", or "" where the instruction goes nowhere. */
static void details_target(struct json *j, const struct line_details *d,
                           const struct annotated_line *line, const struct annotated_instruction *i)
{
    struct arena scratch = {0};
    (void)d, (void)line;
    if (!i->target)
        json_str(j, "");
    else if (!i->target_offset)
        json_str(j, i->target);
    else
        json_str(j, arena_printf(&scratch, "%s+0x%" PRIx64, i->target, i->target_offset));
    arena_deinit(&scratch);
}

static void details_self(struct json *j, const struct line_details *d,
                         const struct annotated_line *line, const struct annotated_instruction *i)
{
    (void)d, (void)line;
    column_part(j, i->self);
}

static void details_function(struct json *j, const struct line_details *d,
                             const struct annotated_line *line,
                             const struct annotated_instruction *i)
{
    (void)line;
    column_index(j, d->rows->of[i->function]);
}

static void details_gap(struct json *j, const struct line_details *d,
                        const struct annotated_line *line, const struct annotated_instruction *i)
{
    (void)d, (void)line;
    json_u64(j, i->is_after_gap);
}

static void details_column(struct json *j, const struct line_details *d,
                           const struct measured_sources *files, const struct measured_source *f,
                           const char *key, write_instruction *write)
{
    const struct annotated *code = d->in->profile->code;
    column_begin(j, key);
    for (uint32_t n = f->first_listed; n != UINT32_MAX; n = files->next_listed[n]) {
        const struct annotated_file *file =
            d->code_of[n] ? &code->files.at[d->code_of[n] - 1] : NULL;
        for (uint32_t l = 0; file && l < file->lines; l++) {
            const struct annotated_line *line = &code->lines.at[file->first + l];
            for (uint32_t i = 0; i < line->instructions; i++)
                write(j, d, line, &code->instructions.at[line->first + i]);
        }
    }
    json_end(j);
}

static void details_code_data(struct json *j, const struct line_details *d,
                              const struct measured_sources *files, const struct measured_source *f)
{
    static const struct {
        const char *key;
        write_instruction *write;
    } COLUMNS[] = {{"line", details_line}, {"address", details_address},
                   {"text", details_text}, {"target", details_target},
                   {"self", details_self}, {"function", details_function},
                   {"gap", details_gap}};
    json_key(j, "code");
    if (!d->code_of || f->first_listed == UINT32_MAX) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++)
        details_column(j, d, files, f, COLUMNS[i].key, COLUMNS[i].write);
    json_end(j);
}

/* --- inlined code ---------------------------------------------------------------------------- */

static void details_frame(struct json *j, const struct line_details *d,
                          const struct object_frame *frame)
{
    const char *style = d->in->profile->demangle;
    char *readable = frame->function && style ? demangle(frame->function, style) : NULL;
    json_str(j, readable ? readable : frame->function ? frame->function : "?");
    json_str(j, frame->file ? path_base_name(frame->file) : "?");
    json_u64(j, frame->line);
    free(readable);
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
            for (uint32_t k = 0; k < row->chains[c].len; k++)
                details_frame(j, d, &row->chains[c].frames[k]);
            json_end(j);
        }
    }
    json_end(j);
}

void line_details_data(struct json *j, const struct line_details *d,
                       const struct measured_sources *files, uint32_t number)
{
    details_code_data(j, d, files, &files->all.at[number]);
    details_inlined_data(j, d, number);
}

/* Source with numbers to its left. The columns are a table: what has nothing to show is left out.
 */
#include "profile/report/annotate.h"

#include "base/path.h"
#include "base/utf8.h"
#include "profile/report/summary.h"

#include <inttypes.h>
#include <stdio.h>

enum { LONGEST_LINE = 400, TAB = 8, LINE_NUMBER = 6 };

void text_source(struct out *out, struct bytes line)
{
    size_t len = utf8_cut(line.at, line.len, LONGEST_LINE), column = 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = line.at[i];
        if (c == '\t') {
            size_t spaces = TAB - column % TAB;
            out_spaces(out, spaces);
            column += spaces;
            continue;
        }
        out_char(out, c < ' ' || c == 127 ? '?' : (char)c);
        column += (c & 0xc0) != 0x80;
    }
    if (len < line.len)
        out_printf(out, " [%zu more bytes]", line.len - len);
}

/* --- columns -------------------------------------------------------------------------------------
 */

/* What a line or an instruction has to show. */
struct cells {
    const struct summary *summary;
    const struct text_style *style;
    double self;
    uint64_t calls, executions;
    uint32_t blocks;
    bool has_calls, has_count, is_inferred;
};

struct column {
    const char *head;
    int width;
    bool (*is_there)(const struct annotated *t);
    void (*print)(struct out *out, const struct cells *c, int width);
};

static bool annotate_has_samples(const struct annotated *t)
{
    return t->summary->has_samples && t->summary->samples > 0;
}

static bool annotate_has_time(const struct annotated *t)
{
    return annotate_has_samples(t) && t->summary->rate > 0;
}

static bool annotate_has_no_time(const struct annotated *t)
{
    return annotate_has_samples(t) && !annotate_has_time(t);
}

static bool annotate_has_calls(const struct annotated *t)
{
    return t->summary->calls;
}

static bool annotate_has_counts(const struct annotated *t)
{
    return t->source->has_blocks;
}

static void annotate_print_share(struct out *out, const struct cells *c, int width)
{
    double share = summary_share(c->summary, c->self);
    if (c->self <= 0) {
        out_spaces(out, (size_t)width);
        return;
    }
    text_heat_on(out, c->style, share);
    out_fixed(out, 100 * share, width, 2);
    text_heat_off(out, c->style, share);
}

static void annotate_print_time(struct out *out, const struct cells *c, int width)
{
    if (c->self > 0)
        out_fixed(out, summary_time(c->summary, c->self), width, text_time_decimals(c->summary));
    else
        out_spaces(out, (size_t)width);
}

static void annotate_print_samples(struct out *out, const struct cells *c, int width)
{
    if (c->self > 0)
        out_fixed(out, c->self, width, 2);
    else
        out_spaces(out, (size_t)width);
}

static void annotate_print_calls(struct out *out, const struct cells *c, int width)
{
    if (c->has_calls)
        out_u64(out, c->calls, width);
    else
        out_spaces(out, (size_t)width);
}

/* `1500/2` is the sum of two blocks; `~100` comes from the block before. */
static void annotate_print_count(struct out *out, const struct cells *c, int width)
{
    char text[48] = "";
    if (c->has_count)
        snprintf(text, sizeof text, c->blocks > 1 ? "%s%" PRIu64 "/%" PRIu32 : "%s%" PRIu64,
                 c->is_inferred ? "~" : "", c->executions, c->blocks);
    bool is_never = c->has_count && !c->executions && c->style->has_colour;
    size_t len = strlen(text);
    out_spaces(out, len < (size_t)width ? (size_t)width - len : 0);
    if (is_never)
        out_str(out, "\033[31m");
    out_str(out, text);
    if (is_never)
        out_str(out, "\033[0m");
}

/* Coverage will be one more row. */
static const struct column COLUMNS[] = {
    {"self%", 6, annotate_has_samples, annotate_print_share},
    {"self", 9, annotate_has_time, annotate_print_time},
    {"samples", 9, annotate_has_no_time, annotate_print_samples},
    {"calls", 10, annotate_has_calls, annotate_print_calls},
    {"count", 12, annotate_has_counts, annotate_print_count},
};
enum { TIME_COLUMN = 1, COLUMNS_LEN = sizeof COLUMNS / sizeof *COLUMNS };

static void annotate_print_cells(struct out *out, const struct annotated *t, const struct cells *c)
{
    for (size_t i = 0; i < COLUMNS_LEN; i++)
        if (COLUMNS[i].is_there(t)) {
            COLUMNS[i].print(out, c, COLUMNS[i].width);
            out_char(out, ' ');
        }
}

static void annotate_print_head(struct out *out, const struct annotated *t)
{
    char self[] = "self ?", unit = t->summary->abbreviation;
    self[5] = unit > ' ' && unit <= '~' ? unit : '?';
    for (size_t i = 0; i < COLUMNS_LEN; i++)
        if (COLUMNS[i].is_there(t))
            out_printf(out, "%*s ", COLUMNS[i].width, i == TIME_COLUMN ? self : COLUMNS[i].head);
    out_printf(out, "%*s\n", LINE_NUMBER, "line");
}

static size_t annotate_cells_width(const struct annotated *t)
{
    size_t width = 0;
    for (size_t i = 0; i < COLUMNS_LEN; i++)
        width += COLUMNS[i].is_there(t) ? (size_t)COLUMNS[i].width + 1 : 0;
    return width;
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* Where a region begins in the middle of a function, its name. */
static void annotate_print_gap(struct out *out, const struct annotated *t,
                               const struct annotated_line *line, bool is_first)
{
    const struct annotated_line *end = t->lines.at + t->lines.len;
    if (is_first && line->line == 1)
        return;
    out_spaces(out, annotate_cells_width(t));
    out_printf(out, "%*s", LINE_NUMBER, "...");
    for (const struct annotated_line *l = line; l < end && (l == line || !l->begins_region); l++) {
        const struct source_row *r = l->row == NO_ROW ? NULL : &t->source->rows.at[l->row];
        if (!r)
            continue;
        char *shown = r->scope && !r->has_entry ? demangle(r->scope, NULL) : NULL;
        if (r->scope && !r->has_entry) {
            out_str(out, "  in ");
            text_name(out, shown ? shown : r->scope);
        }
        free(shown);
        break;
    }
    out_char(out, '\n');
}

/* Between instructions that do not follow each other; with the symbol they are in where that is not
 * the function that the line itself is in. */
static void annotate_print_code_gap(struct out *out, const struct annotated *t,
                                    const struct annotated_line *line, uint32_t function,
                                    uint32_t before, const struct text_style *style,
                                    struct names *names)
{
    const char *scope = t->source->rows.at[line->row].scope;
    bool is_own = scope && !strcmp(scope, names->functions->at[function].name);
    if (before == NO_FUNCTION && is_own)
        return;
    out_spaces(out, annotate_cells_width(t) + LINE_NUMBER + 4);
    out_str(out, "...");
    if (function != before) {
        out_str(out, "  in ");
        text_function(out, names, function, style);
    }
    out_char(out, '\n');
}

static void annotate_print_instructions(struct out *out, const struct annotated *t,
                                        const struct annotated_line *line,
                                        const struct text_style *style, struct names *names)
{
    uint32_t function = NO_FUNCTION;
    for (uint32_t i = line->first; i < line->first + line->instructions; i++) {
        const struct annotated_instruction *x = &t->instructions.at[i];
        struct cells c = {.summary = t->summary,
                          .style = style,
                          .self = x->self,
                          .has_count = x->has_block,
                          .executions = x->executions,
                          .blocks = 1};
        if (x->function != function || (x->is_after_gap && i > line->first))
            annotate_print_code_gap(out, t, line, x->function, function, style, names);
        function = x->function;
        annotate_print_cells(out, t, &c);
        out_spaces(out, LINE_NUMBER);
        out_printf(out, "    %8" PRIx64 ":  ", x->address);
        text_name(out, x->text);
        if (x->target) {
            out_str(out, " <");
            text_name(out, x->target);
            if (x->target_offset)
                out_printf(out, "+%#" PRIx64, x->target_offset);
            out_char(out, '>');
        }
        out_char(out, '\n');
    }
}

static void annotate_print_line(struct out *out, const struct annotated *t,
                                const struct annotated_file *f, const struct annotated_line *line,
                                const struct text_style *style)
{
    const struct source_row *r = line->row == NO_ROW ? NULL : &t->source->rows.at[line->row];
    struct cells c = {.summary = t->summary, .style = style};
    if (r)
        c = (struct cells){t->summary, style,        r->self,      r->calls,      r->executions,
                           r->blocks,  r->has_entry, r->has_count, r->is_inferred};
    annotate_print_cells(out, t, &c);
    out_u64(out, line->line, LINE_NUMBER);
    out_str(out, line->has_text && line->text.len ? "  " : "");
    double share = r ? summary_share(t->summary, r->self) : 0;
    text_heat_on(out, style, share);
    if (line->has_text) {
        text_source(out, line->text);
    } else if (r && r->scope) {
        out_str(out, f->why ? "  (in " : "  (behind the end of the file; in ");
        text_name(out, r->scope);
        out_char(out, ')');
    }
    text_heat_off(out, style, share);
    out_char(out, '\n');
}

/* --- files ---------------------------------------------------------------------------------------
 */

static void annotate_print_missing(struct out *out, const struct annotated_file *f,
                                   const char *recorded)
{
    out_str(out, "         no source: ");
    text_name(out, f->why);
    if (!f->path) {
        char *name = strndup(recorded, path_folder_length(recorded));
        out_str(out, "; name where it is with -I FOLDER");
        if (name && *name) {
            out_str(out, " or --path-map ");
            text_name(out, name);
            out_str(out, "=FOLDER");
        }
        free(name);
    }
    out_char(out, '\n');
}

static void annotate_print_file_head(struct out *out, const struct annotated *t,
                                     const struct annotated_file *f, const struct text_style *style)
{
    const struct source_listed_file *s = &t->source->files.at[f->file];
    out_char(out, '\n');
    out_str(out, style->has_colour ? "\033[1m" : "");
    text_name(out, f->path ? f->path : s->recorded);
    out_str(out, style->has_colour ? "\033[0m" : "");
    if (annotate_has_samples(t))
        out_printf(out, "  %.2f %% of all samples", 100 * summary_share(t->summary, s->self));
    out_char(out, '\n');
    if (f->path && strcmp(f->path, s->recorded)) {
        out_str(out, "         recorded as ");
        text_name(out, s->recorded);
        out_char(out, '\n');
    }
    if (f->why)
        annotate_print_missing(out, f, s->recorded);
    if (f->is_newer)
        out_str(out, "         newer than the program: lines may have moved\n");
    if (!f->why && f->asks_line > f->has_lines)
        out_printf(out,
                   "         has %" PRIu64 " lines, the program knows of line %" PRIu64
                   ": not the file it was compiled from\n",
                   f->has_lines, f->asks_line);
}

static void annotate_print_file(struct out *out, const struct annotated *t,
                                const struct annotated_file *f, const struct text_style *style,
                                struct names *names)
{
    annotate_print_file_head(out, t, f, style);
    annotate_print_head(out, t);
    for (uint32_t i = f->first; i < f->first + f->lines; i++) {
        const struct annotated_line *line = &t->lines.at[i];
        if (line->begins_region && !f->why)
            annotate_print_gap(out, t, line, i == f->first);
        annotate_print_line(out, t, f, line, style);
        annotate_print_instructions(out, t, line, style, names);
    }
}

static void annotate_print_rest(struct out *out, const struct annotated *t)
{
    const struct source_lines *s = t->source;
    double no_line = s->elsewhere.no_line, other = s->elsewhere.not_shown;
    out_char(out, '\n');
    if (t->omitted.lines) {
        out_printf(out, "%" PRIu32 " more line%s", t->omitted.lines,
                   t->omitted.lines == 1 ? "" : "s");
        if (t->omitted.files)
            out_printf(out, ", %" PRIu32 " whole file%s among them", t->omitted.files,
                       t->omitted.files == 1 ? "" : "s");
        if (annotate_has_samples(t))
            out_printf(out, ", with %.2f %% of all samples",
                       100 * summary_share(t->summary, t->omitted.self));
        out_str(out, " (--all shows them)\n");
    }
    if (no_line > 0)
        out_printf(out, "%.2f %% of all samples in code without line numbers (compile with -g)\n",
                   100 * summary_share(t->summary, no_line));
    if (other > 0)
        out_printf(out, "%.2f %% of all samples in other code\n",
                   100 * summary_share(t->summary, other));
    if (s->elsewhere.blocks_no_line)
        out_printf(out, "%" PRIu64 " blocks in code without line numbers\n",
                   s->elsewhere.blocks_no_line);
    if (t->is_machine_unknown)
        out_str(out, "Some code is not shown: this machine cannot be disassembled, or its file is "
                     "missing\n");
}

void annotate_text(struct out *out, const struct report_input *in)
{
    const struct annotated *t = in->annotated;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    text_summary_brief(out, t->summary);
    if (annotate_has_counts(t))
        out_printf(out, "Blocks   %zu in %" PRIu32 " function%s\n", t->source->blocks.len,
                   t->source->instrumented, t->source->instrumented == 1 ? "" : "s");
    for (size_t i = 0; i < t->files.len; i++)
        annotate_print_file(out, t, &t->files.at[i], style, names);
    if (!t->files.len)
        out_str(out, "\nNo line to show: no samples, calls or counts on lines of source.\n");
    annotate_print_rest(out, t);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static void annotate_json_self(struct json *j, const struct summary *s, double self)
{
    json_pair_double(j, "self_samples", self);
    json_key(j, "self_time");
    if (s->rate > 0)
        json_double(j, summary_time(s, self));
    else
        json_none(j);
    json_pair_double(j, "self_share", summary_share(s, self));
}

static void annotate_json_instruction(struct json *j, const struct annotated *t,
                                      const struct annotated_instruction *i, struct names *names)
{
    json_begin(j, '{');
    json_pair_address(j, "address", i->address);
    json_pair_str(j, "function", names->functions->at[i->function].name);
    json_pair_str(j, "text", i->text);
    if (i->target)
        json_pair_str(j, "target", i->target), json_pair_u64(j, "target_offset", i->target_offset);
    annotate_json_self(j, t->summary, i->self);
    if (i->has_block)
        json_pair_u64(j, "executions", i->executions);
    json_end(j);
}

static void annotate_json_row(struct json *j, const struct source_row *r)
{
    json_pair_str(j, "function", r->scope);
    json_key(j, "calls");
    if (r->has_entry)
        json_u64(j, r->calls);
    else
        json_none(j);
    json_key(j, "executions");
    if (r->has_count)
        json_u64(j, r->executions);
    else
        json_none(j);
    json_pair_u64(j, "blocks", r->blocks);
    json_key(j, "is_inferred"), json_bool(j, r->is_inferred);
}

static void annotate_json_line(struct json *j, const struct annotated *t,
                               const struct annotated_line *line, struct names *names)
{
    const struct source_row *r = line->row == NO_ROW ? NULL : &t->source->rows.at[line->row];
    json_begin(j, '{');
    json_pair_u64(j, "line", line->line);
    json_key(j, "text");
    if (line->has_text)
        json_str_n(j, (const char *)line->text.at, line->text.len);
    else
        json_none(j);
    json_key(j, "has_code"), json_bool(j, r);
    json_key(j, "is_hot"), json_bool(j, line->is_hot);
    if (r) {
        annotate_json_self(j, t->summary, r->self);
        annotate_json_row(j, r);
    }
    if (t->has_code && r) {
        json_key(j, "instructions"), json_begin(j, '[');
        for (uint32_t i = line->first; i < line->first + line->instructions; i++)
            annotate_json_instruction(j, t, &t->instructions.at[i], names);
        json_end(j);
    }
    json_end(j);
}

static void annotate_json_file(struct json *j, const struct annotated *t,
                               const struct annotated_file *f, struct names *names)
{
    const struct source_listed_file *s = &t->source->files.at[f->file];
    json_begin(j, '{');
    json_pair_str(j, "recorded", s->recorded);
    json_pair_str(j, "path", f->path);
    json_pair_str(j, "problem", f->why);
    json_key(j, "is_newer"), json_bool(j, f->is_newer);
    json_key(j, "is_short"), json_bool(j, !f->why && f->asks_line > f->has_lines);
    annotate_json_self(j, t->summary, s->self);
    json_pair_u64(j, "calls", s->calls);
    json_key(j, "lines"), json_begin(j, '[');
    for (uint32_t i = f->first; i < f->first + f->lines; i++)
        annotate_json_line(j, t, &t->lines.at[i], names);
    json_end(j);
    json_end(j);
}

void annotate_json(struct out *out, const struct report_input *in)
{
    const struct annotated *t = in->annotated;
    struct names *names = in->names;
    struct json j = {.out = out};
    json_report_begin(&j, "annotate", t->summary);
    json_key(&j, "files"), json_begin(&j, '[');
    for (size_t i = 0; i < t->files.len; i++)
        annotate_json_file(&j, t, &t->files.at[i], names);
    json_end(&j);
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "files", t->omitted.files);
    json_pair_u64(&j, "lines", t->omitted.lines);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_pair_double(&j, "no_line_samples", t->source->elsewhere.no_line);
    json_pair_double(&j, "other_samples", t->source->elsewhere.not_shown);
    json_pair_u64(&j, "no_line_blocks", t->source->elsewhere.blocks_no_line);
    json_end(&j);
    json_end(&j);
}

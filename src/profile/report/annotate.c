/* Source with numbers to its left: lines with what was measured on them, and the machine code of
 * each below it where that was requested.
 *
 * Numbers stand in columns, of which those are shown that have data. Lines come in regions: where
 * one begins in the middle of a function, a line of dots names it; of a source that is missing only
 * the lines with numbers are listed. A line of source is printed as a terminal may have it: tabs as
 * spaces, so that columns after them stand still, control characters by text_name(), cut where it
 * gets absurd (minified sources have lines of megabytes).
 *
 * JSON (docs/schema/annotate.schema.json) has the same lines with all numbers.
 *
 * One region of text, with the code of its lines (the columns depend on the data):
 *
 *     /src/a.c  62.50 % of all samples
 *              recorded as ../a.c
 *      self%     self s   calls        count blocks   line
 *                                                      ...  in parse
 *      12.50      0.125                  ~40            10  for (; *s; s++)
 *      12.50      0.125                   40                  401136:  call 401020 <hash+0x10>
 *
 * The table is walked once, in its order; memory is that of one line. */
#include "profile/report/writers.h"

#include "base/path.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>

enum { LONGEST_LINE = 400, TAB = 8, LINE_NUMBER = 6 };

/* --- columns ---------------------------------------------------------------------------------- */

/* Columns with a name are members of JSON; those with a head stand in text; a column may be both.
 * The share that is printed as heat and the share of JSON are one figure in two forms. */
enum {
    LINE_SELF_SAMPLES,
    LINE_SELF_TIME,
    LINE_SELF_SHARE,
    LINE_HEAT,
    LINE_TIME,
    LINE_SAMPLES,
    LINE_TOTAL_SAMPLES,
    LINE_TOTAL_TIME,
    LINE_TOTAL_SHARE,
    LINE_TOTAL_PERCENT,
    LINE_TOTAL,
    LINE_FUNCTION,
    LINE_CALLS,
    LINE_EXECUTIONS,
    LINE_COUNT,
    LINE_BLOCKS,
    LINE_INFERRED,
    ANNOTATE_COLUMNS
};
static const struct column columns[ANNOTATE_COLUMNS] = {
    [LINE_SELF_SAMPLES] = {"self_samples", "samples on the line or in the instruction"},
    [LINE_SELF_TIME] = {"self_time", MEANS_TIME},
    [LINE_SELF_SHARE] = {"self_share", "of all samples, 0 to 1"},
    [LINE_HEAT] = {NULL, "share of all samples that hit code of this line", "self%", FORM_HEAT,
                   true},
    [LINE_TIME] = {NULL, "the same as time", "self ?", FORM_NONZERO, true},
    [LINE_SAMPLES] = {NULL, MEANS_SAMPLES, "samples", FORM_NONZERO, true},
    [LINE_TOTAL_SAMPLES] = {"total_samples",
                            "only with stacks: samples on the line, in code inlined at it and in "
                            "what it called, each once"},
    [LINE_TOTAL_TIME] = {"total_time", "likewise, in the dimension's unit; null: unknown rate"},
    [LINE_TOTAL_SHARE] = {"total_share", "likewise, of all samples, 0 to 1"},
    [LINE_TOTAL_PERCENT] = {NULL,
                            "only with stacks: share of all samples on this line, in code inlined "
                            "at it and in what it called",
                            "total%", FORM_PERCENT, true},
    [LINE_TOTAL] = {NULL, "the same as time", "total ?", FORM_NONZERO, true},
    [LINE_FUNCTION] = {"function", MEANS_LINE_FUNCTION},
    [LINE_CALLS] = {"calls", "calls of the function that begins here; null: none does", "calls",
                    FORM_NUMBER, true},
    [LINE_EXECUTIONS] =
        {"executions",
         "executions of the basic blocks that begin on this line; null: none recorded"},
    [LINE_COUNT] = {NULL,
                    "executions of the basic blocks that begin on this line; ~100: none "
                    "begins here, and the block before runs on into it; 0: never executed",
                    "count", FORM_TEXT, true},
    [LINE_BLOCKS] = {"blocks", "how many blocks the count adds up; text shows several only",
                     "blocks", FORM_NUMBER, true},
    [LINE_INFERRED] = {"is_inferred", MEANS_INFERRED},
};
/* Lines and instructions share the columns, since both have self time and executions; members that
 * do not apply to one of them are absent from its JSON. */
const struct column_table annotate_columns = {"Columns", "annotate", "lines", columns,
                                              ANNOTATE_COLUMNS};

/* A profile of calls or blocks alone has no shares to show. */
static bool annotate_has_samples(const struct annotated *t)
{
    return t->summary->has_samples && t->summary->samples > 0;
}

/* Columns are as wide for every file, so that two files compare at a glance. */
static struct text_columns text_layout(const struct annotated *t, const struct text_style *style)
{
    const struct summary *s = t->summary;
    struct text_columns l = {.columns = columns,
                             .len = ANNOTATE_COLUMNS,
                             .style = style,
                             .unit = s->abbreviation ? s->abbreviation : '?'};
    int percent = text_share_decimals(s);
    if (annotate_has_samples(t)) {
        text_column(&l, LINE_HEAT, 4 + percent, percent);
        text_column(&l, s->rate > 0 ? LINE_TIME : LINE_SAMPLES, 9,
                    s->rate > 0 ? summary_decimals(s) : 2);
    }
    /* Beside self, as a reader goes down from totals to what the line itself took. */
    if (annotate_has_samples(t) && t->source->has_totals) {
        text_column(&l, LINE_TOTAL_PERCENT, 4 + percent, percent);
        text_column(&l, LINE_TOTAL, 9, s->rate > 0 ? summary_decimals(s) : 2);
    }
    if (s->calls)
        text_column(&l, LINE_CALLS, 10, 0);
    if (t->source->has_blocks) {
        text_column(&l, LINE_COUNT, 12, 0);
        text_column(&l, LINE_BLOCKS, 6, 0);
    }
    return l;
}

/* The columns and the space after them. */
static size_t text_width(const struct text_columns *l)
{
    size_t width = (size_t)l->width;
    return width ? width + 1 : 0;
}

/* What is on a line, or NULL, or of an instruction `self` and `count`. `count` NULL: no block is
 * known, so the columns of executions stay blank. A count of 0 is printed, and marked as bad: code
 * that never ran is what the reader of such a profile looks for. */
static void text_fields(struct out *out, const struct text_columns *l, const struct summary *s,
                        double self, const struct source_row *r, const uint64_t *count)
{
    struct field fields[ANNOTATE_COLUMNS] = {0};
    char inferred[32];
    if (self > 0) {
        double half = summary_error(s, self);
        fields[LINE_HEAT] = field_about(summary_share(s, self), half);
        fields[LINE_TIME] = field_about(summary_time(s, self), summary_time(s, half * s->samples));
        fields[LINE_SAMPLES] = field_double(self);
    }
    /* Without stacks totals are 0, and their columns are not there. Instructions have none: what
     * one of them called would be the whole of its line mostly. */
    if (r && r->total > 0) {
        double half = summary_error(s, r->total), unit = s->rate > 0 ? s->rate : 1;
        fields[LINE_TOTAL_PERCENT] = field_about(summary_share(s, r->total), half);
        fields[LINE_TOTAL] = field_about(r->total / unit, half * s->samples / unit);
    }
    if (r && r->has_entry)
        fields[LINE_CALLS] = field_u64(r->calls);
    if (count) {
        fields[LINE_COUNT] = field_u64(*count);
        if (r && r->is_inferred) {
            snprintf(inferred, sizeof inferred, "~%" PRIu64, *count);
            fields[LINE_COUNT] = field_text(inferred);
        }
        fields[LINE_COUNT].is_bad = !*count;
    }
    if (count && r && r->blocks > 1)
        fields[LINE_BLOCKS] = field_u64(r->blocks);
    text_columns_row(out, l, fields, true);
    out_spaces(out, text_width(l) - (size_t)l->width);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Where a region begins in the middle of a function, its name. The region's first line with a
 * function has it; a region that begins where a function does needs no name, since its line shows
 * it. Line 1 has nothing before it that dots could stand for. */
static void annotate_print_gap(struct out *out, const struct annotated *t,
                               const struct annotated_line *line, const struct text_columns *layout,
                               const struct names *names, bool is_first)
{
    const struct annotated_line *end = t->lines.at + t->lines.len;
    if (is_first && line->line == 1)
        return;
    out_spaces(out, text_width(layout));
    out_printf(out, "%*s", LINE_NUMBER, "...");
    for (const struct annotated_line *l = line; l < end && (l == line || !l->begins_region); l++) {
        const struct source_row *r = l->row == NO_ROW ? NULL : &t->source->rows.at[l->row];
        if (!r)
            continue;
        if (r->scope && !r->has_entry) {
            out_str(out, "  in ");
            text_linkage_name(out, names, r->scope);
        }
        break;
    }
    out_char(out, '\n');
}

/* Between instructions that do not follow each other; with the symbol they are in where that is not
 * the function that the line itself is in. `before` is the function of the instruction above, or
 * NO_FUNCTION for the first of the line. */
static void annotate_print_code_gap(struct out *out, const struct annotated *t,
                                    const struct annotated_line *line, uint32_t function,
                                    uint32_t before, const struct text_columns *layout,
                                    struct names *names)
{
    const char *scope = t->source->rows.at[line->row].scope;
    bool is_own = scope && !strcmp(scope, names->functions->at[function].name);
    if (before == NO_FUNCTION && is_own)
        return;
    out_spaces(out, text_width(layout) + LINE_NUMBER + 4);
    out_str(out, "...");
    if (function != before) {
        out_str(out, "  in ");
        text_function(out, names, function, layout->style);
    }
    out_char(out, '\n');
}

/* The code of a line, by address: each with its own share, count of its block, and where it goes.
 */
static void annotate_print_instructions(struct out *out, const struct annotated *t,
                                        const struct annotated_line *line,
                                        const struct text_columns *layout, struct names *names)
{
    uint32_t function = NO_FUNCTION;
    for (uint32_t i = line->first; i < line->first + line->instructions; i++) {
        const struct annotated_instruction *x = &t->instructions.at[i];
        if (x->function != function || (x->is_after_gap && i > line->first))
            annotate_print_code_gap(out, t, line, x->function, function, layout, names);
        function = x->function;
        text_fields(out, layout, t->summary, x->self, NULL, x->has_block ? &x->executions : NULL);
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

/* Numbers, line number and text; where the text is missing, the function that the line is in.
 * Columns are counted in characters (bytes that do not continue one in UTF-8), so that tabs reach
 * the stops that an editor shows them at. Wide and combining characters count as one. */
static void annotate_print_line(struct out *out, const struct annotated *t,
                                const struct annotated_file *f, const struct annotated_line *line,
                                const struct text_columns *layout, struct names *names)
{
    const struct source_row *r = line->row == NO_ROW ? NULL : &t->source->rows.at[line->row];
    const struct text_style *style = layout->style;
    text_fields(out, layout, t->summary, r ? r->self : 0, r,
                r && r->has_count ? &r->executions : NULL);
    out_u64(out, line->line, LINE_NUMBER);
    out_str(out, line->has_text && line->text.len ? "  " : "");
    double share = r ? summary_share(t->summary, r->self) : 0;
    text_heat_on(out, style, share);
    size_t shown = line->has_text ? utf8_cut(line->text.at, line->text.len, LONGEST_LINE) : 0;
    for (size_t i = 0, column = 0; i < shown;) {
        const char *at = (const char *)line->text.at + i;
        size_t tab = 0;
        while (i + tab < shown && at[tab] != '\t')
            column += ((uint8_t)at[tab++] & 0xc0) != 0x80;
        text_name_n(out, at, tab);
        i += tab;
        if (i < shown) { /* a tab */
            out_spaces(out, TAB - column % TAB);
            column += TAB - column % TAB;
            i++;
        }
    }
    if (line->has_text) {
        if (shown < line->text.len)
            out_printf(out, " [%zu more bytes]", line->text.len - shown);
    } else if (r && r->scope) {
        out_str(out, f->why ? "  (in " : "  (past the end of the file; in ");
        text_linkage_name(out, names, r->scope);
        out_char(out, ')');
    }
    text_heat_off(out, style, share);
    out_char(out, '\n');
}

/* --- files ------------------------------------------------------------------------------------ */

/* Why there is no source, and the option that would find it. `recorded` is the path in debug
 * information: its folder is what --path-map would have to map. A file that was found but could not
 * be read gets no such hint. */
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

/* Path, share, and reasons not to trust the lines below. These are: the file is newer than the
 * program, and debug information has lines past its end. */
static void annotate_print_file_head(struct out *out, const struct annotated *t,
                                     const struct annotated_file *f, const struct text_style *style)
{
    const struct source_listed_file *s = &t->source->files.at[f->file];
    out_char(out, '\n');
    out_str(out, style->has_colour ? "\033[1m" : "");
    text_name(out, f->path ? f->path : s->recorded);
    out_str(out, style->has_colour ? "\033[0m" : "");
    if (annotate_has_samples(t))
        out_str(out, "  "), text_share(out, t->summary, s->self), out_str(out, " of all samples");
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

/* Heads repeat for each file, since a screen shows one file at a time. Where the source is missing
 * there are no regions: the lines are those with numbers, far apart by nature. */
static void annotate_print_file(struct out *out, const struct annotated *t,
                                const struct annotated_file *f, const struct text_columns *layout,
                                struct names *names)
{
    annotate_print_file_head(out, t, f, layout->style);
    text_columns_head(out, layout);
    out_printf(out, "%s%*s\n", text_width(layout) ? " " : "", LINE_NUMBER, "line");
    for (uint32_t i = f->first; i < f->first + f->lines; i++) {
        const struct annotated_line *line = &t->lines.at[i];
        if (line->begins_region && !f->why)
            annotate_print_gap(out, t, line, layout, names, i == f->first);
        annotate_print_line(out, t, f, line, layout, names);
        annotate_print_instructions(out, t, line, layout, names);
    }
}

/* What no line above shows, so that shares add up to the whole. Samples of functions and files that
 * filters left out are in `not_shown`, those of code compiled without -g in `no_line`; neither can
 * be on any line above. */
static void annotate_print_rest(struct out *out, const struct annotated *t)
{
    const struct source_lines *s = t->source;
    double no_line = s->elsewhere.no_line, other = s->elsewhere.not_shown;
    out_char(out, '\n');
    text_more(out, t->omitted.lines, "line", "--all");
    text_more(out, t->omitted.files, "file", "--all");
    if (t->omitted.lines && annotate_has_samples(t)) {
        text_share(out, t->summary, t->omitted.self);
        out_str(out, " of all samples on lines not shown\n");
    }
    if (no_line > 0) {
        text_share(out, t->summary, no_line);
        out_str(out, " of all samples in code without line numbers (compile with -g)\n");
    }
    if (other > 0) {
        text_share(out, t->summary, other);
        out_str(out, " of all samples in other code\n");
    }
    if (s->elsewhere.blocks_no_line)
        out_printf(out, "%" PRIu64 " blocks in code without line numbers\n",
                   s->elsewhere.blocks_no_line);
    if (t->why_no_code)
        out_printf(out, "Some code is not shown: %s\n", t->why_no_code);
}

/* Head, a listing for each file, and at the end the time that is on none of the lines shown. */
void annotate_text(struct out *out, const struct report_input *in)
{
    const struct annotated *t = in->annotated;
    struct names *names = in->names;
    struct text_columns layout = text_layout(t, &in->style);
    text_summary_brief(out, t->summary);
    if (t->source->has_blocks)
        out_printf(out, "Blocks   %zu in %" PRIu32 " function%s\n", t->source->blocks.len,
                   t->source->instrumented, text_plural(t->source->instrumented));
    for (size_t i = 0; i < t->files.len; i++)
        annotate_print_file(out, t, &t->files.at[i], &layout, names);
    if (!t->files.len)
        out_str(out, "\nNo line to show: no samples, calls or counts on lines of source.\n");
    annotate_print_rest(out, t);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* A share of time as the three figures that programs get. */
static void self_fields(struct field *fields, const struct summary *s, double self)
{
    fields[LINE_SELF_SAMPLES] = field_double(self);
    fields[LINE_SELF_TIME] = field_known(s->rate > 0, field_double(summary_time(s, self)));
    fields[LINE_SELF_SHARE] = field_double(summary_share(s, self));
}

/* Instructions have no calls and no blocks of their own: those members are absent. */
static void annotate_json_instruction(struct json *j, const struct annotated *t,
                                      const struct annotated_instruction *i, struct names *names)
{
    struct field fields[ANNOTATE_COLUMNS] = {0};
    json_pair_address(j, "address", i->address);
    json_pair_str(j, "function", names->functions->at[i->function].name);
    json_pair_str(j, "text", i->text);
    if (i->target)
        json_pair_str(j, "target", i->target), json_pair_u64(j, "target_offset", i->target_offset);
    self_fields(fields, t->summary, i->self);
    if (i->has_block)
        fields[LINE_EXECUTIONS] = field_u64(i->executions);
    columns_json(j, columns, ANNOTATE_COLUMNS, fields);
}

/* `has_code` false: debug information has no code for the line (a comment, a declaration), so it
 * has none of the members of figures. `text` is null where the source is missing. */
static void annotate_json_line(struct json *j, const struct annotated *t,
                               const struct annotated_line *line, struct names *names)
{
    const struct source_row *r = line->row == NO_ROW ? NULL : &t->source->rows.at[line->row];
    json_pair_u64(j, "line", line->line);
    json_key(j, "text");
    if (line->has_text)
        json_str_n(j, (const char *)line->text.at, line->text.len);
    else
        json_none(j);
    json_pair_bool(j, "has_code", r);
    json_pair_bool(j, "is_hot", line->is_hot);
    if (r) {
        struct field fields[ANNOTATE_COLUMNS] = {
            [LINE_FUNCTION] = field_text(r->scope),
            [LINE_CALLS] = field_known(r->has_entry, field_u64(r->calls)),
            [LINE_EXECUTIONS] = field_known(r->has_count, field_u64(r->executions)),
            [LINE_BLOCKS] = field_u64(r->blocks),
            [LINE_INFERRED] = field_bool(r->is_inferred)};
        self_fields(fields, t->summary, r->self);
        /* Programs distinguish a total that is 0 from one that is not known: absent. */
        if (t->source->has_totals) {
            const struct summary *s = t->summary;
            fields[LINE_TOTAL_SAMPLES] = field_double(r->total);
            fields[LINE_TOTAL_TIME] =
                field_known(s->rate > 0, field_double(summary_time(s, r->total)));
            fields[LINE_TOTAL_SHARE] = field_double(summary_share(s, r->total));
        }
        columns_json(j, columns, ANNOTATE_COLUMNS, fields);
    }
    if (t->has_code && r)
        JSON_ROWS(j, "instructions", i, line->instructions)
            annotate_json_instruction(j, t, &t->instructions.at[line->first + i], names);
}

/* `path` is where the source was found, `recorded` what the compiler wrote down; `problem` says why
 * there is no text, null where there is. Missing and stale sources are facts of a file, not errors:
 * the figures hold without them. */
static void annotate_json_file(struct json *j, const struct annotated *t,
                               const struct annotated_file *f, struct names *names)
{
    const struct source_listed_file *s = &t->source->files.at[f->file];
    json_pair_str(j, "recorded", s->recorded);
    json_pair_str(j, "path", f->path);
    json_pair_str(j, "problem", f->why);
    json_pair_bool(j, "is_newer", f->is_newer);
    json_pair_bool(j, "is_short", !f->why && f->asks_line > f->has_lines);
    struct field fields[ANNOTATE_COLUMNS] = {0};
    self_fields(fields, t->summary, s->self);
    columns_json(j, columns, ANNOTATE_COLUMNS, fields);
    json_pair_u64(j, "calls", s->calls);
    JSON_ROWS(j, "lines", i, f->lines)
        annotate_json_line(j, t, &t->lines.at[f->first + i], names);
}

/* The file's lists nest as text does: files, lines, instructions. `omitted` has what no line shows:
 * lines that limits left out, code without lines, and other code. */
void annotate_json(struct out *out, const struct report_input *in)
{
    const struct annotated *t = in->annotated;
    struct names *names = in->names;
    struct json j = {.out = out};
    json_report_begin(&j, "annotate", t->summary);
    JSON_ROWS(&j, "files", i, t->files.len)
        annotate_json_file(&j, t, &t->files.at[i], names);
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

/* The line profile as text, JSON (docs/schema/lines.schema.json) and CSV.
 *
 * A row is a line of source with the function it is in; what was inlined there is part of it, and
 * below it, where requested, the chains of calls that brought it there. Debug information has paths
 * as the compiler was given them: --path-map maps them in all forms, and text shows the last part
 * alone where that names one file. Which paths share their last part is found by sorting the paths
 * of all rows by it, once: O(n log n) of the files, not of the rows.
 *
 * The columns are those of the flat profile; text leaves out what the width has no room for.
 *
 *      self%    +- samples  self s   line           function
 *      40.00  4.80     160   0.160  a.c:12          parse
 *      30.00          120   0.120    inlined into lex at a.c:40, into main at m.c:9 */
#include "profile/report/writers.h"

#include "base/map.h"
#include "base/path.h"
#include "output/formats.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- paths ----------------------------------------------------------------------------------- */

/* The last --path-map that fits holds, as with compilers' -fdebug-prefix-map. */
static const char *lines_mapped(const struct line_paths *paths, const char *path, struct arena *a)
{
    const char *found = NULL;
    for (size_t i = paths->maps_len; !found && i-- > 0;)
        found = path_map_apply(&paths->maps[i], path, a);
    return found ? found : path;
}

/* Paths as they are shown, by the pointer of what debug information has. `number` leads from a
 * path's pointer to its place in `shown`. `arena` has what mapping made. */
struct shown_paths {
    const struct line_paths *paths;
    struct arena *arena;
    struct map number; /* of a path, by pointer */
    VEC(const char *) shown;
};

/* A path that is the same text at two addresses gets two places; both are shown alike. */
static void lines_note_path(struct shown_paths *s, const char *path)
{
    bool is_new;
    if (!path)
        return;
    map_index(&s->number, map_pointer(path), 0, s->shown.len, &is_new);
    if (is_new)
        vec_push(&s->shown, lines_mapped(s->paths, path, s->arena));
}

/* Whole paths break ties, so that equal ones stand beside each other. */
static int lines_by_base_name(const void *left, const void *right)
{
    const char *l = **(const char *const *const *)left, *r = **(const char *const *const *)right;
    int by = strcmp(path_base_name(l), path_base_name(r));
    return by ? by : strcmp(l, r);
}

/* Paths become their last part, except where that would be said of several files. Sorted by last
 * part, then by path: neighbours with the same last part and different paths mark each other; a
 * second pass spreads the mark over the whole group, since the first of two equal paths has no
 * neighbour that differs. */
static void lines_shorten(struct shown_paths *s)
{
    size_t len = s->shown.len;
    const char ***order = ARENA_NEW(s->arena, const char **, len);
    bool *is_shared = ARENA_NEW(s->arena, bool, len);
    for (size_t i = 0; i < len; i++)
        order[i] = &s->shown.at[i];
    if (len)
        qsort(order, len, sizeof *order, lines_by_base_name);
    for (size_t i = 1; i < len; i++)
        if (strcmp(*order[i - 1], *order[i]) &&
            !strcmp(path_base_name(*order[i - 1]), path_base_name(*order[i])))
            is_shared[i - 1] = is_shared[i] = true;
    for (size_t start = 0, end; start < len; start = end) { /* all of one base name alike */
        bool is_any = false;
        for (end = start;
             end < len && !strcmp(path_base_name(*order[start]), path_base_name(*order[end]));)
            is_any |= is_shared[end++];
        is_shared[start] = is_any;
        for (size_t i = start + 1; i < end; i++)
            is_shared[i] = is_any;
    }
    for (size_t i = 0; i < len; i++)
        if (!is_shared[i])
            *order[i] = path_base_name(*order[i]);
}

/* Each path once, known by its pointer: debug information has one string for a file. */
static void lines_gather_paths(struct shown_paths *s, const struct lines_table *t)
{
    for (uint32_t i = 0; i < t->len; i++) {
        const struct lines_row *r = &t->rows[i];
        lines_note_path(s, t->functions.at[r->function].file);
        for (uint32_t c = 0; c < r->chains_len; c++)
            for (uint32_t k = 0; k < r->chains[c].len; k++)
                lines_note_path(s, r->chains[c].frames[k].file);
    }
    if (!s->paths->is_full)
        lines_shorten(s);
}

/* The path was noted by lines_gather_paths(): there is no other. */
static const char *lines_shown_path(const struct shown_paths *s, const char *path)
{
    return s->shown.at[*map_find(&s->number, map_pointer(path), 0)];
}

/* --- columns ---------------------------------------------------------------------------------- */

/* As in the flat profile, but for a place in front and what was entered on a line. */
enum {
    LINE_KIND = FUNCTION_FIELDS,
    LINE_FILE,
    LINE_LINE,
    LINE_SHARE,
    LINE_BETWEEN,
    LINE_SHARED,
    LINE_LOW,
    LINE_HIGH,
    LINE_SAMPLES,
    LINE_TIME,
    LINE_CUMULATIVE,
    LINE_TOTAL_SHARE,
    LINE_TOTAL,
    LINE_TOTAL_SAMPLES,
    LINE_TOTAL_TIME,
    LINE_CALLS,
    LINE_ENTERED,
    LINE_COLUMNS
};

/* The function's fields come first, since JSON and CSV name the function of each line; text has it
 * after the place. Totals come from stacks; without stacks they are of inlined code alone, and
 * exist with --inlines. */
static const struct column columns[LINE_COLUMNS] = {
    COLUMNS_OF_FUNCTION(0),
    [LINE_KIND] = {"kind", MEANS_KIND},
    [LINE_FILE] = {"file",
                   "path in the debug information, after --path-map; null: no line numbers"},
    [LINE_LINE] = {"line", "null: the code has no line number"},
    [LINE_SHARE] = {"self_share", MEANS_SHARE, "self%", FORM_HEAT},
    [LINE_BETWEEN] = {NULL, "half the width of the 95 % confidence interval of self%, in points",
                      "+-", FORM_PERCENT, true},
    [LINE_SHARED] = {"shared_samples",
                     "only of histograms: samples in bins shared with other lines; all or none of "
                     "them may belong to this one"},
    [LINE_LOW] = {"self_share_low", MEANS_WILSON},
    [LINE_HIGH] = {"self_share_high", MEANS_WILSON},
    [LINE_SAMPLES] = {"self_samples",
                      "hits of the profiling clock; a bin that lines share is split by bytes",
                      "samples", FORM_NUMBER},
    [LINE_TIME] = {"self_time", MEANS_TIME, "self ?", FORM_NUMBER},
    [LINE_CUMULATIVE] = {NULL, MEANS_CUMULATIVE, "cumulative", FORM_NUMBER},
    [LINE_TOTAL_SHARE] =
        {NULL,
         "share of the samples in this line, in code inlined at it and in what it called; without "
         "stacks only with --inlines, and without what was called",
         "total%", FORM_PERCENT},
    [LINE_TOTAL] = {NULL, "the same as time", "total ?", FORM_NUMBER},
    [LINE_TOTAL_SAMPLES] =
        {"total_samples",
         "samples in this line, in code inlined at it and in what it called, each once; absent "
         "without stacks, or with --inlines of inlined code alone"},
    [LINE_TOTAL_TIME] = {"total_time", MEANS_TIME},
    [LINE_CALLS] = {"calls", "calls made from this line", "calls", FORM_NONZERO},
    [LINE_ENTERED] = {"entered", "calls of the function that begins on this line", "entered",
                      FORM_NONZERO},
};
const struct column_table lines_columns = {"Columns", "lines", "lines", columns, LINE_COLUMNS};

/* What all forms print of an amount of self time. */
static void self_fields(struct field *fields, const struct summary *s, double self)
{
    double half = summary_error(s, self), error = summary_time(s, half * s->samples);
    fields[LINE_SHARE] = field_about(summary_share(s, self), half);
    fields[LINE_SAMPLES] = field_double(self);
    fields[LINE_TIME] = field_known(s->rate > 0, field_about(summary_time(s, self), error));
}

/* --- text ------------------------------------------------------------------------------------- */

/* In brackets, as it is in the place of a file. Widths are columns of the terminal. */
static const char NO_LINE[] = "(no line)";
enum { SHORTEST_PLACE = 12, WIDEST_PLACE = 40, NARROW_PLACE = 24 };

/* `place` is the width of the column of file and line; rows whose place is wider push their own
 * name to the right, where a file is written, or are cut, on a terminal. */
struct lines_layout {
    struct text_columns columns;
    const struct shown_paths *paths;
    struct names *names;
    int place;      /* columns of file and line */
    bool is_narrow; /* places are cut to that */
};

/* Columns of a place as put_place() prints it. */
static int place_width(const struct lines_layout *l, const char *file, uint32_t line)
{
    return file ? (int)strlen(lines_shown_path(l->paths, file)) + 1 + text_digits(line)
                : (int)strlen(NO_LINE);
}

/* Widths from the data; a long path does not push all names to the right. The column of places is
 * as wide as the widest place up to a limit: NARROW_PLACE on a terminal, WIDEST_PLACE in a file.
 * Places beyond it do not count. Samples, which say the same as times, and sums down the table are
 * there if all columns are wanted. */
static struct lines_layout lay_out(struct lines_table *t, const struct shown_paths *paths,
                                   const struct text_style *style)
{
    const struct summary *s = t->summary;
    bool has_time = s->has_samples && s->rate > 0;
    int decimals = summary_decimals(s), percent = text_share_decimals(s);
    int time = text_digits((uint64_t)summary_time(s, s->samples)) + decimals + 1;
    struct lines_layout l = {.columns = {.columns = columns,
                                         .len = LINE_COLUMNS,
                                         .style = style,
                                         .unit = !has_time         ? 0
                                                 : s->abbreviation ? s->abbreviation
                                                                   : '?'},
                             .paths = paths,
                             .names = &t->names,
                             .place = 5,
                             .is_narrow = style->width && !paths->paths->is_full};
    enum { NAMES = 32 }; /* with the library's */
    struct text_columns *c = &l.columns;
    time = time < 7 ? 7 : time;
    bool is_whole = !style->width, has_between = is_whole;
    for (uint32_t i = 0; i < t->len && !has_between; i++)
        has_between = interval_matters(t->rows[i].interval, summary_share(s, t->rows[i].self));
    if (s->has_samples) {
        int samples = text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0);
        text_column(c, LINE_SHARE, 4 + percent, percent);
        if (has_between)
            text_column(c, LINE_BETWEEN, 3 + percent, percent);
        if (is_whole || !has_time)
            text_column(c, LINE_SAMPLES, samples, t->has_fractions ? 2 : 0);
    }
    if (has_time) {
        text_column(c, LINE_TIME, time, decimals);
        if (is_whole)
            text_column(c, LINE_CUMULATIVE, time, decimals);
    }
    /* Rows with no self time of their own are there for their totals: lines that only call. */
    if (s->has_samples && t->has_totals) {
        text_column(c, LINE_TOTAL_SHARE, 4 + percent, percent);
        text_column(c, LINE_TOTAL, time, decimals);
    }
    if (s->calls) {
        int calls = text_digits(s->calls) < 7 ? 7 : text_digits(s->calls);
        text_column(c, LINE_CALLS, calls, 0);
        text_column(c, LINE_ENTERED, calls, 0);
    }
    for (uint32_t i = 0; i < t->len; i++) {
        const struct function *f = &t->functions.at[t->rows[i].function];
        int width = place_width(&l, f->file, f->line);
        int most = l.is_narrow ? NARROW_PLACE : WIDEST_PLACE;
        width = width > most && l.is_narrow ? most : width;
        l.place = width > l.place && width <= most ? width : l.place;
    }
    /* A total is a time and a share of all, whose times stand in the first line. */
    text_columns_fit(c, (const uint8_t[]){LINE_TOTAL}, 1, l.place + 4, NAMES);
    return l;
}

/* Columns in front of the place, with the gap. */
static int columns_used(const struct lines_layout *l)
{
    int width = l->columns.width;
    return width ? width + 2 : 0;
}

/* The columns of a row and the gap; a row without columns begins at the margin. */
static void put_fields(struct out *out, const struct lines_layout *l, const struct field *fields,
                       bool is_hot)
{
    text_columns_row(out, &l->columns, fields, is_hot);
    out_spaces(out, columns_used(l) ? 2 : 0);
}

/* file:line in `room` columns, or as near to that as its ends allow; returns how many it took.
 * `room` below SHORTEST_PLACE for the path is not obeyed: `...c:12` would name no file. */
static int put_place(struct out *out, const struct lines_layout *l, const char *file, uint32_t line,
                     int room)
{
    const char *path = file ? lines_shown_path(l->paths, file) : NO_LINE;
    int len = (int)strlen(path), behind = file ? 1 + text_digits(line) : 0;
    int most = room - behind < SHORTEST_PLACE ? SHORTEST_PLACE : room - behind;
    text_path_within(out, path, (size_t)len, most);
    if (file) {
        out_char(out, ':');
        out_u64(out, line, 0);
    }
    return (len < most ? len : most) + behind;
}

/* `  inlined into b at f.c:12, into main at f.c:40` under its row. Innermost first. A chain of no
 * frames is the part of the row's time that was not inlined anywhere. */
static void put_chain(struct out *out, const struct lines_layout *l, const struct summary *s,
                      const struct line_chain *chain)
{
    struct field fields[LINE_COLUMNS] = {0};
    self_fields(fields, s, chain->self);
    put_fields(out, l, fields, false);
    out_str(out, "  ");
    for (uint32_t i = 0; i < chain->len; i++) {
        const struct object_frame *f = &chain->frames[i];
        out_str(out, i ? ", into " : "inlined into ");
        text_linkage_name(out, l->names, f->function ? f->function : "?");
        out_str(out, " at ");
        const char *file = f->line ? f->file : NULL;
        put_place(out, l, file, f->line, place_width(l, file, f->line));
    }
    if (!chain->len)
        out_str(out, "not inlined");
    out_char(out, '\n');
}

/* Chains follow their row, and only with --inlines. */
static void put_row(struct out *out, const struct lines_layout *l, const struct summary *s,
                    const struct lines_row *r)
{
    const struct function *f = &l->names->functions->at[r->function];
    double unit = l->columns.unit ? s->rate : 1;
    struct field fields[LINE_COLUMNS] = {0};
    self_fields(fields, s, r->self);
    /* The row's interval knows more than self_fields(): which function its samples are of, and
     * where bins are shared, how many they are at least and at most. */
    double half = interval_half(r->interval), total_half = summary_error(s, r->total);
    bool matters =
        !l->columns.style->width || interval_matters(r->interval, summary_share(s, r->self));
    fields[LINE_SHARE].error = half;
    fields[LINE_TIME].error = summary_time(s, half * s->samples);
    if (s->samples > 0 && matters)
        fields[LINE_BETWEEN] = field_about(half, half);
    fields[LINE_CUMULATIVE] = field_double(summary_time(s, r->running));
    fields[LINE_TOTAL_SHARE] = field_about(summary_share(s, r->total), total_half);
    fields[LINE_TOTAL] = field_about(r->total / unit, total_half * s->samples / unit);
    fields[LINE_CALLS] = field_u64(r->calls);
    fields[LINE_ENTERED] = field_u64(r->entered);
    put_fields(out, l, fields, s->samples > 0);
    int width = l->is_narrow ? l->place : place_width(l, f->file, f->line);
    width = put_place(out, l, f->file, f->line, width);
    out_spaces(out, width < l->place ? (size_t)(l->place - width) + 2 : 2);
    text_function_behind(out, l->names, r->function, l->columns.style,
                         columns_used(l) + 2 + (width < l->place ? l->place : width));
    out_char(out, '\n');
    for (uint32_t i = 0; i < r->chains_len; i++)
        put_chain(out, l, s, &r->chains[i]);
}

/* A row that stands for what is in no row, up to its words. */
static void put_rest(struct out *out, const struct lines_layout *l, const struct summary *s,
                     double self, double running)
{
    struct field fields[LINE_COLUMNS] = {0};
    self_fields(fields, s, self);
    fields[LINE_CUMULATIVE] = field_double(summary_time(s, running));
    put_fields(out, l, fields, false);
}

/* One line, of what was compiled: [kernel], [vdso] and other profilers' ??? never have lines. On a
 * terminal only the first ones are named, as a build runs dozens. */
static void put_lineless(struct out *out, const struct lines_table *t, bool is_cut)
{
    static const char HEAD[] = "no line numbers: ", ADVICE[] = " (compile with -g, or --debug-dir)";
    enum { AND_MORE = 12 };
    size_t used = sizeof HEAD + sizeof ADVICE - 2, all = 0, shown = 0;
    for (size_t i = 0; i < t->lineless_len; i++)
        all += !strchr("[?", *t->lineless[i]);
    for (size_t i = 0; i < t->lineless_len && shown < all; i++) {
        const char *name = is_cut ? path_base_name(t->lineless[i]) : t->lineless[i];
        if (strchr("[?", *t->lineless[i]))
            continue;
        used += 2 + strlen(name);
        if (shown && out->columns && used + AND_MORE > (size_t)out->columns)
            break;
        out_str(out, shown ? ", " : "\n");
        out_str(out, shown++ ? "" : HEAD);
        text_name(out, name);
    }
    if (shown < all)
        out_printf(out, " and %zu more", all - shown);
    out_str(out, all ? ADVICE : "");
    out_str(out, all ? "\n" : "");
}

/* Objects without line numbers are named: their code is in rows without a line, and a reader would
 * look for lines in vain. Paths are shown shortened for the whole table or not at all. */
void lines_text(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    const struct summary *s = t->summary;
    struct arena scratch = {0};
    /* `running` goes on below the table with what is in no row, so that the last figure of the
     * column is the total. */
    struct shown_paths shown = {.paths = in->paths, .arena = &scratch};
    double running = t->len ? t->rows[t->len - 1].running : 0;
    lines_gather_paths(&shown, t);
    struct lines_layout l = lay_out(t, &shown, &in->style);
    text_summary_brief(out, s);
    out_char(out, '\n');
    text_columns_head(out, &l.columns);
    out_printf(out, "%s%-*s  function\n", columns_used(&l) ? "  " : "", l.place, "line");
    for (uint32_t i = 0; i < t->len; i++)
        put_row(out, &l, s, &t->rows[i]);
    if (!t->len && t->omitted.lines)
        text_none_passes(out, "line");
    if (t->omitted.lines) {
        running += t->omitted.self;
        put_rest(out, &l, s, t->omitted.self, running);
        text_more(out, t->omitted.lines, "line", t->omitted.are_with_all ? "--all" : NULL);
    }
    if (s->unattributed != 0) {
        running += s->unattributed;
        put_rest(out, &l, s, s->unattributed, running);
        out_str(out, TEXT_UNATTRIBUTED);
    }
    put_lineless(out, t, in->style.width > 0);
    if (s->samples > 0 && l.columns.shape[LINE_BETWEEN].width)
        text_interval_legend(out, s);
    vec_free(&shown.shown);
    map_deinit(&shown.number);
    arena_deinit(&scratch);
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

/* Paths are whole for programs. A file without a line is code that the compiler gave none: the line
 * is null. */
static void place_fields(struct field *fields, const struct line_paths *paths, const char *file,
                         uint32_t line, struct arena *a)
{
    fields[LINE_FILE] = field_text(file ? lines_mapped(paths, file, a) : NULL);
    fields[LINE_LINE] = field_known(file && line, field_u64(line));
}

/* What JSON and CSV have of a row. Mapped paths live in `a` until the document is written. */
static void row_fields(struct field *fields, struct lines_table *t, const struct lines_row *r,
                       const struct line_paths *paths, struct arena *a)
{
    const struct function *f = &t->functions.at[r->function];
    const struct summary *s = t->summary;
    function_fields(fields, &t->names, r->function);
    fields[LINE_KIND] = field_text(r->is_profiler ? "profiler" : "function");
    place_fields(fields, paths, f->file, f->line, a);
    self_fields(fields, s, r->self);
    fields[LINE_LOW] = field_double(r->interval.low);
    fields[LINE_HIGH] = field_double(r->interval.high);
    fields[LINE_TOTAL_SAMPLES] = field_double(r->total);
    fields[LINE_TOTAL_TIME] = field_known(s->rate > 0, field_double(summary_time(s, r->total)));
    fields[LINE_CALLS] = field_u64(r->calls);
    fields[LINE_ENTERED] = field_u64(r->entered);
}

/* A chain's share is not written: it follows from its samples, and is part of the row's. */
static void json_chain(struct json *j, const struct lines_table *t, const struct line_chain *chain,
                       const struct line_paths *paths, struct arena *a)
{
    struct field fields[LINE_COLUMNS] = {0};
    self_fields(fields, t->summary, chain->self);
    fields[LINE_SHARE].kind = FIELD_ABSENT;
    columns_json(j, columns, LINE_COLUMNS, fields);
    JSON_ROWS(j, "inlined_into", i, chain->len) {
        const struct object_frame *f = &chain->frames[i];
        struct field frame[LINE_COLUMNS] = {0};
        char *shown = f->function && t->names.style ? demangle(f->function, t->names.style) : NULL;
        frame[FUNCTION_NAME] = field_text(shown ? shown : f->function);
        frame[FUNCTION_LINKAGE] = field_text(f->function);
        place_fields(frame, paths, f->file, f->line, a);
        columns_json(j, columns, LINE_COLUMNS, frame);
        free(shown);
    }
}

/* `chains` are there with --inlines alone. `without_line` has the samples of code
 * without line numbers, and the objects which that code is in. */
void lines_json(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    struct arena scratch = {0};
    struct json j = {.out = out};
    json_report_begin(&j, "lines", t->summary);
    JSON_ROWS(&j, "lines", i, t->len) {
        const struct lines_row *r = &t->rows[i];
        struct field fields[LINE_COLUMNS] = {0};
        row_fields(fields, t, r, in->paths, &scratch);
        if (t->sharing.least)
            fields[LINE_SHARED] =
                field_double(t->sharing.most[r->function] - t->sharing.least[r->function]);
        if (!t->has_totals)
            fields[LINE_TOTAL_SAMPLES].kind = fields[LINE_TOTAL_TIME].kind = FIELD_ABSENT;
        columns_json(&j, columns, LINE_COLUMNS, fields);
        if (t->has_inlines) {
            JSON_ROWS(&j, "chains", k, r->chains_len)
                json_chain(&j, t, &r->chains[k], in->paths, &scratch);
        }
    }
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "lines", t->omitted.lines);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_end(&j);
    json_key(&j, "without_line"), json_begin(&j, '{');
    json_pair_double(&j, "self_samples", t->without_line);
    JSON_ITEMS(&j, "objects", i, t->lineless_len)
        json_str(&j, t->lineless[i]);
    json_end(&j);
    json_end(&j);
    arena_deinit(&scratch);
}

/* As in the flat profile two rows without a place close the sum. Chains are no rows of this table.
 */
void lines_csv(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    const char *const kinds[] = {"omitted", "unattributed"};
    const double rests[] = {t->omitted.self, t->summary->unattributed};
    struct arena scratch = {0};
    struct csv_columns c;
    csv_columns_begin(&c, out, columns, LINE_COLUMNS,
                      "kind,file,line,name,linkage_name,address,self_share,self_share_low,"
                      "self_share_high,self_samples,self_time,total_samples,total_time,calls,"
                      "entered,object");
    csv_end(&c.csv);
    for (uint32_t i = 0; i < t->len; i++) {
        const struct function *f = &t->functions.at[t->rows[i].function];
        struct field fields[LINE_COLUMNS] = {0};
        row_fields(fields, t, &t->rows[i], in->paths, &scratch);
        fields[LINE_LINE] = field_known(f->file, field_u64(f->line)); /* 0 in code without a line */
        csv_columns_row(&c, fields);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct field fields[LINE_COLUMNS] = {[LINE_KIND] = field_text(kinds[i])};
        self_fields(fields, t->summary, rests[i]);
        csv_columns_row(&c, fields);
    }
    arena_deinit(&scratch);
}

/* Three forms of one table of lines. */
#include "profile/report/lines.h"

#include "base/map.h"
#include "base/path.h"
#include "output/json.h"
#include "profile/report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- paths ----------------------------------------------------------------------------------- */

static const char *lines_mapped(const struct line_paths *paths, const char *path, struct arena *a)
{
    const char *found = NULL;
    for (size_t i = paths->maps_len; !found && i-- > 0;)
        found = path_map_apply(&paths->maps[i], path, a);
    return found ? found : path;
}

/* Paths as they are shown, by the pointer of what debug information has. */
struct shown_paths {
    const struct line_paths *paths;
    struct arena *arena;
    struct map number; /* of a path, by pointer */
    VEC(const char *) shown;
};

static void lines_note_path(struct shown_paths *s, const char *path)
{
    bool is_new;
    if (!path)
        return;
    map_index(&s->number, map_pointer(path), 0, s->shown.len, &is_new);
    if (is_new)
        vec_push(&s->shown, lines_mapped(s->paths, path, s->arena));
}

static int lines_by_base_name(const void *left, const void *right)
{
    const char *l = **(const char *const *const *)left, *r = **(const char *const *const *)right;
    int by = strcmp(path_base_name(l), path_base_name(r));
    return by ? by : strcmp(l, r);
}

/* Paths become their last part, except where that would be said of several files. */
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

static const char *lines_shown_path(const struct shown_paths *s, const char *path)
{
    return s->shown.at[*map_find(&s->number, map_pointer(path), 0)];
}

/* --- text ------------------------------------------------------------------------------------ */

struct layout {
    const struct summary *summary;
    const struct shown_paths *paths;
    struct names *names;
    const struct text_style *style;
    bool has_samples, has_time, has_total, has_calls, has_running, shows_samples;
    int samples, sample_decimals, time, time_decimals, running, calls, place;
};

static const char CUMULATIVE[] = "cumulative";

static int lines_at_least(int width, int least)
{
    return width > least ? width : least;
}

static const char NO_LINE[] = "(no line)";
enum { SHORTEST_PLACE = 12, WIDEST_PLACE = 40, NARROW_PLACE = 24 };

/* Columns of a place as lines_text_place() prints it. */
static int lines_place_width(const struct layout *l, const char *file, uint32_t line)
{
    return file ? (int)strlen(lines_shown_path(l->paths, file)) + 1 + text_digits(line)
                : (int)strlen(NO_LINE);
}

/* Columns in front of the place. */
static int lines_columns_used(const struct layout *l)
{
    return (l->has_samples ? 14 : 0) + (l->shows_samples ? 2 + l->samples : 0) +
           (l->has_time ? 2 + l->time : 0) + (l->has_time && l->has_running ? 2 + l->running : 0) +
           (l->has_total ? 10 + l->time : 0) + (l->has_calls ? 2 * (l->calls + 2) : 0);
}

/* Leaves out what the user can do without where all does not fit. */
static void lines_fit_columns(struct layout *l)
{
    int most = l->style->width - l->place - 2 - NAME_ROOM;
    if (!l->style->width)
        return;
    l->has_running &= lines_columns_used(l) <= most;
    l->shows_samples &= lines_columns_used(l) <= most || !l->has_time;
}

static struct layout lines_lay_out(struct lines_table *t, const struct shown_paths *paths,
                                   const struct text_style *style)
{
    const struct summary *s = t->summary;
    struct layout l = {.summary = s,
                       .paths = paths,
                       .names = &t->names,
                       .style = style,
                       .has_samples = s->has_samples,
                       .has_time = s->has_samples && s->rate > 0,
                       .has_total = s->has_samples && t->has_inlines,
                       .has_calls = s->calls > 0,
                       .has_running = s->has_samples && s->rate > 0,
                       .shows_samples = s->has_samples,
                       .sample_decimals = t->has_fractions ? 2 : 0,
                       .time_decimals = text_time_decimals(s)};
    l.samples = lines_at_least(text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0), 7);
    l.time =
        lines_at_least(text_digits((uint64_t)summary_time(s, s->samples)) + l.time_decimals + 1, 7);
    l.running = lines_at_least(l.time, (int)strlen(CUMULATIVE));
    l.calls = lines_at_least(text_digits(s->calls), 7);
    l.place = 5;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct function *f = &t->functions.at[t->rows[i].function];
        int width = lines_place_width(&l, f->file, f->line);
        int most = style->width && !paths->paths->is_full ? NARROW_PLACE : WIDEST_PLACE;
        width = width > most && most == NARROW_PLACE ? most : width;
        l.place = width > l.place && width <= most ? width : l.place;
    }
    lines_fit_columns(&l);
    return l;
}

static void lines_text_head(struct out *out, const struct layout *l)
{
    char self[8] = "self ?";
    char unit = l->summary->abbreviation;
    self[5] = unit > ' ' && unit <= '~' ? unit : '?';
    if (l->has_samples)
        out_printf(out, "%6s %5s", "self%", "+-");
    if (l->shows_samples)
        out_printf(out, "  %*s", l->samples, "samples");
    if (l->has_time)
        out_printf(out, "  %*s", l->time, self);
    if (l->has_time && l->has_running)
        out_printf(out, "  %*s", l->running, CUMULATIVE);
    if (l->has_total)
        out_printf(out, "  %6s  %*s", "total%", l->time, l->has_time ? "total s" : "total");
    out_spaces(out, l->has_samples ? 2 : 0);
    if (l->has_calls)
        out_printf(out, "%*s  %*s  ", l->calls, "calls", l->calls, "entered");
    out_printf(out, "%-*s  function\n", l->place, "line");
}

static void lines_text_time(struct out *out, const struct layout *l, double self,
                            const struct interval *interval, double running)
{
    double share = summary_share(l->summary, self);
    if (l->has_samples) {
        double heat = interval ? share : 0; /* a row for the rest is no hot spot */
        text_heat_on(out, l->style, heat);
        out_fixed(out, 100 * share, 6, 2);
        text_heat_off(out, l->style, heat);
        out_spaces(out, interval ? 1 : 6);
        if (interval)
            out_fixed(out, 50 * (interval->high - interval->low), 5, 2);
    }
    if (l->shows_samples) {
        out_spaces(out, 2);
        if (l->sample_decimals)
            out_fixed(out, self, l->samples, l->sample_decimals);
        else
            out_u64(out, (uint64_t)llrint(self), l->samples);
    }
    if (!l->has_time)
        return;
    out_spaces(out, 2);
    out_fixed(out, summary_time(l->summary, self), l->time, l->time_decimals);
    if (!l->has_running)
        return;
    out_spaces(out, running >= 0 ? 2 : 2 + (size_t)l->running);
    if (running >= 0)
        out_fixed(out, summary_time(l->summary, running), l->running, l->time_decimals);
}

static void lines_text_count(struct out *out, const struct layout *l, uint64_t count)
{
    if (count)
        out_u64(out, count, l->calls);
    else
        out_spaces(out, (size_t)l->calls);
    out_spaces(out, 2);
}

/* The columns between times and place, empty ones where there is no row. */
static void lines_text_middle(struct out *out, const struct layout *l, const struct lines_row *r)
{
    double unit = l->has_time ? l->summary->rate : 1;
    if (l->has_total && r) {
        out_spaces(out, 2);
        out_fixed(out, 100 * summary_share(l->summary, r->total), 6, 2);
        out_spaces(out, 2);
        out_fixed(out, r->total / unit, l->time, l->time_decimals);
    } else if (l->has_total) {
        out_spaces(out, (size_t)l->time + 10);
    }
    out_spaces(out, l->has_samples ? 2 : 0);
    if (l->has_calls) {
        lines_text_count(out, l, r ? r->calls : 0);
        lines_text_count(out, l, r ? r->entered : 0);
    }
}

/* file:line in `room` columns, or as near to that as its ends allow; returns how many it took. */
static int lines_text_place(struct out *out, const struct layout *l, const char *file,
                            uint32_t line, int room)
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

/* `  inlined into b at f.c:12, into main at f.c:40` under its row. */
static void lines_text_chain(struct out *out, const struct layout *l,
                             const struct line_chain *chain)
{
    lines_text_time(out, l, chain->self, NULL, -1);
    lines_text_middle(out, l, NULL);
    out_str(out, "  ");
    for (uint32_t i = 0; i < chain->len; i++) {
        const struct object_frame *f = &chain->frames[i];
        char *shown =
            f->function && l->names->style ? demangle(f->function, l->names->style) : NULL;
        out_str(out, i ? ", into " : "inlined into ");
        text_name(out, shown ? shown : f->function ? f->function : "?");
        free(shown);
        out_str(out, " at ");
        const char *file = f->line ? f->file : NULL;
        lines_text_place(out, l, file, f->line, lines_place_width(l, file, f->line));
    }
    if (!chain->len)
        out_str(out, "not inlined");
    out_char(out, '\n');
}

static void lines_text_row(struct out *out, const struct layout *l, const struct lines_row *r)
{
    const struct function *f = &l->names->functions->at[r->function];
    lines_text_time(out, l, r->self, l->summary->samples > 0 ? &r->interval : NULL, r->running);
    lines_text_middle(out, l, r);
    int width = lines_place_width(l, f->file, f->line);
    width = lines_text_place(out, l, f->file, f->line,
                             l->style->width && !l->paths->paths->is_full ? l->place : width);
    out_spaces(out, width < l->place ? (size_t)(l->place - width) + 2 : 2);
    text_function_behind(out, l->names, r->function, l->style,
                         lines_columns_used(l) + 2 + (width < l->place ? l->place : width));
    out_char(out, '\n');
    for (uint32_t i = 0; i < r->chains_len; i++)
        lines_text_chain(out, l, &r->chains[i]);
}

static void lines_text_rest(struct out *out, const struct lines_table *t, const struct layout *l)
{
    const struct summary *s = t->summary;
    double running = t->len ? t->rows[t->len - 1].running : 0;
    if (t->omitted.lines) {
        running += t->omitted.self;
        lines_text_time(out, l, t->omitted.self, NULL, running);
        lines_text_middle(out, l, NULL);
        out_printf(out, "[%" PRIu32 " more line%s, not shown]\n", t->omitted.lines,
                   t->omitted.lines == 1 ? "" : "s");
    }
    if (s->unattributed != 0) {
        running += s->unattributed;
        lines_text_time(out, l, s->unattributed, NULL, running);
        lines_text_middle(out, l, NULL);
        out_str(out, "[unattributed] in no function\n");
    }
}

static void lines_text_left_out(struct out *out, const struct summary *s, const struct layout *l)
{
    bool has_time = s->has_samples && s->rate > 0;
    if (s->has_samples && s->samples > 0)
        text_interval_legend(out, s);
    if (has_time && !l->has_running)
        out_printf(out, "Left out to fit the width: %scumulative (--wide shows all)\n",
                   l->shows_samples ? "" : "samples, ");
}

static void lines_text_lineless(struct out *out, const struct lines_table *t)
{
    for (size_t i = 0; i < t->lineless_len; i++) {
        out_str(out, "no line numbers: ");
        text_name(out, t->lineless[i]);
        out_str(out,
                strcmp(t->lineless[i], "[kernel]")
                    ? " (compile it with -g, or name the folder of its debug file: --debug-dir)\n"
                    : "\n");
    }
}

void lines_text(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    const struct line_paths *paths = in->paths;
    const struct text_style *style = &in->style;
    struct arena scratch = {0};
    struct shown_paths shown = {.paths = paths, .arena = &scratch};
    lines_gather_paths(&shown, t);
    struct layout l = lines_lay_out(t, &shown, style);
    text_summary_brief(out, t->summary);
    lines_text_lineless(out, t);
    out_char(out, '\n');
    lines_text_head(out, &l);
    for (uint32_t i = 0; i < t->len; i++)
        lines_text_row(out, &l, &t->rows[i]);
    if (!t->len && t->omitted.lines)
        out_str(out, "No line is left: none that was measured passes --focus, --ignore and "
                     "--min-percent.\n");
    lines_text_rest(out, t, &l);
    lines_text_left_out(out, t->summary, &l);
    vec_free(&shown.shown);
    map_deinit(&shown.number);
    arena_deinit(&scratch);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void lines_json_time(struct json *j, const struct summary *s, const char *samples_key,
                            const char *time_key, double samples)
{
    json_pair_double(j, samples_key, samples);
    json_key(j, time_key);
    if (s->rate > 0)
        json_double(j, summary_time(s, samples));
    else
        json_none(j);
}

static void lines_json_place(struct json *j, const struct line_paths *paths, const char *file,
                             uint32_t line, struct arena *a)
{
    json_pair_str(j, "file", file ? lines_mapped(paths, file, a) : NULL);
    json_key(j, "line");
    if (file && line)
        json_u64(j, line);
    else
        json_none(j);
}

static void lines_json_chain(struct json *j, const struct lines_table *t,
                             const struct line_chain *chain, const struct line_paths *paths,
                             struct arena *a)
{
    json_begin(j, '{');
    lines_json_time(j, t->summary, "self_samples", "self_time", chain->self);
    json_key(j, "inlined_into"), json_begin(j, '[');
    for (uint32_t i = 0; i < chain->len; i++) {
        const struct object_frame *f = &chain->frames[i];
        char *shown = f->function && t->names.style ? demangle(f->function, t->names.style) : NULL;
        json_begin(j, '{');
        json_pair_str(j, "name", shown ? shown : f->function);
        json_pair_str(j, "linkage_name", f->function);
        lines_json_place(j, paths, f->file, f->line, a);
        json_end(j);
        free(shown);
    }
    json_end(j);
    json_end(j);
}

static void lines_json_row(struct json *j, struct lines_table *t, const struct lines_row *r,
                           const struct line_paths *paths, struct arena *a)
{
    const struct function *f = &t->functions.at[r->function];
    const struct summary *s = t->summary;
    json_begin(j, '{');
    json_pair_function(j, &t->names, r->function);
    json_pair_str(j, "kind", r->is_profiler ? "profiler" : "function");
    lines_json_place(j, paths, f->file, f->line, a);
    json_pair_double(j, "self_share", summary_share(s, r->self));
    if (t->sharing.least)
        json_pair_double(j, "shared_samples",
                         t->sharing.most[r->function] - t->sharing.least[r->function]);
    json_pair_double(j, "self_share_low", r->interval.low);
    json_pair_double(j, "self_share_high", r->interval.high);
    lines_json_time(j, s, "self_samples", "self_time", r->self);
    if (t->has_inlines)
        lines_json_time(j, s, "total_samples", "total_time", r->total);
    json_pair_u64(j, "calls", r->calls);
    json_pair_u64(j, "entered", r->entered);
    if (t->has_inlines) {
        json_key(j, "chains"), json_begin(j, '[');
        for (uint32_t i = 0; i < r->chains_len; i++)
            lines_json_chain(j, t, &r->chains[i], paths, a);
        json_end(j);
    }
    json_end(j);
}

void lines_json(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    const struct line_paths *paths = in->paths;
    struct arena scratch = {0};
    struct json j = {.out = out};
    json_report_begin(&j, "lines", t->summary);
    json_key(&j, "lines"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        lines_json_row(&j, t, &t->rows[i], paths, &scratch);
    json_end(&j);
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "lines", t->omitted.lines);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_end(&j);
    json_key(&j, "without_line"), json_begin(&j, '{');
    json_pair_double(&j, "self_samples", t->without_line);
    json_key(&j, "objects"), json_begin(&j, '[');
    for (size_t i = 0; i < t->lineless_len; i++)
        json_str(&j, t->lineless[i]);
    json_end(&j);
    json_end(&j);
    json_end(&j);
    arena_deinit(&scratch);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void lines_csv_row(struct csv *c, struct lines_table *t, const struct lines_row *r,
                          const struct line_paths *paths, struct arena *a)
{
    const struct function *f = &t->functions.at[r->function];
    csv_str(c, r->is_profiler ? "profiler" : "function");
    csv_str(c, f->file ? lines_mapped(paths, f->file, a) : NULL);
    if (f->file)
        csv_u64(c, f->line);
    else
        csv_none(c);
    csv_str(c, names_get(&t->names, r->function));
    csv_str(c, f->name);
    csv_address(c, function_link_address(&t->functions, r->function));
    csv_double(c, summary_share(t->summary, r->self));
    csv_double(c, r->interval.low);
    csv_double(c, r->interval.high);
    csv_samples(c, t->summary, r->self);
    csv_samples(c, t->summary, r->total);
    csv_u64(c, r->calls);
    csv_u64(c, r->entered);
    csv_str(c, function_object_label(&t->functions, r->function));
    csv_end(c);
}

static void lines_csv_rest(struct csv *c, const struct summary *s, const char *kind, double self)
{
    csv_str(c, kind);
    csv_none(c), csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    csv_double(c, summary_share(s, self));
    csv_none(c), csv_none(c);
    csv_samples(c, s, self);
    csv_none(c), csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    csv_end(c);
}

void lines_csv(struct out *out, const struct report_input *in)
{
    struct lines_table *t = in->lines;
    const struct line_paths *paths = in->paths;
    struct arena scratch = {0};
    struct csv c = {.out = out};
    csv_header(&c, "kind,file,line,name,linkage_name,address,self_share,self_share_low,"
                   "self_share_high,self_samples,self_time,total_samples,total_time,calls,entered,"
                   "object");
    for (uint32_t i = 0; i < t->len; i++)
        lines_csv_row(&c, t, &t->rows[i], paths, &scratch);
    lines_csv_rest(&c, t->summary, "omitted", t->omitted.self);
    lines_csv_rest(&c, t->summary, "unattributed", t->summary->unattributed);
    arena_deinit(&scratch);
}

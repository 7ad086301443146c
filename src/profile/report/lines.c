/* Three forms of one table of lines. */
#include "profile/report/lines.h"

#include "base/map.h"
#include "output/csv.h"
#include "profile/report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- paths ----------------------------------------------------------------------------------- */

/* What is left of a path below a folder, from its slash on; NULL: it is not below it. */
static const char *below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    while (len && folder[len - 1] == '/')
        len--;
    return !strncmp(path, folder, len) && path[len] == '/' ? path + len : NULL;
}

static const char *mapped(const struct line_paths *paths, const char *path, struct arena *a)
{
    for (size_t i = paths->maps_len; path && i-- > 0;) {
        const char *rest = below(path, paths->maps[i].from), *to = paths->maps[i].to;
        size_t len = strlen(to);
        if (rest)
            return arena_printf(a, "%.*s%s", (int)(len && to[len - 1] == '/' ? len - 1 : len), to,
                                rest);
    }
    return path;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Paths as they are shown, by the pointer of what debug information has. */
struct shown_paths {
    const struct line_paths *paths;
    struct arena *arena;
    struct map number; /* of a path, by pointer */
    VEC(const char *) shown;
};

static void note_path(struct shown_paths *s, const char *path)
{
    bool is_new;
    if (!path)
        return;
    map_at(&s->number, (uint64_t)(uintptr_t)path, 0, (uint32_t)s->shown.len, &is_new);
    if (is_new)
        vec_push(&s->shown, mapped(s->paths, path, s->arena));
}

static int by_base_name(const void *left, const void *right)
{
    const char *l = **(const char *const *const *)left, *r = **(const char *const *const *)right;
    int by = strcmp(base_name(l), base_name(r));
    return by ? by : strcmp(l, r);
}

/* Paths become their last part, except where that would be said of several files. */
static void shorten(struct shown_paths *s)
{
    size_t len = s->shown.len;
    const char ***order = ARENA_NEW(s->arena, const char **, len);
    bool *is_shared = ARENA_NEW(s->arena, bool, len);
    for (size_t i = 0; i < len; i++)
        order[i] = &s->shown.at[i];
    if (len)
        qsort(order, len, sizeof *order, by_base_name);
    for (size_t i = 1; i < len; i++)
        if (strcmp(*order[i - 1], *order[i]) &&
            !strcmp(base_name(*order[i - 1]), base_name(*order[i])))
            is_shared[i - 1] = is_shared[i] = true;
    for (size_t start = 0, end; start < len; start = end) { /* all of one base name alike */
        bool is_any = false;
        for (end = start; end < len && !strcmp(base_name(*order[start]), base_name(*order[end]));)
            is_any |= is_shared[end++];
        is_shared[start] = is_any;
        for (size_t i = start + 1; i < end; i++)
            is_shared[i] = is_any;
    }
    for (size_t i = 0; i < len; i++)
        if (!is_shared[i])
            *order[i] = base_name(*order[i]);
}

static void gather_paths(struct shown_paths *s, const struct lines_table *t)
{
    for (uint32_t i = 0; i < t->len; i++) {
        const struct lines_row *r = &t->rows[i];
        note_path(s, t->functions.at[r->function].file);
        for (uint32_t c = 0; c < r->chains_len; c++)
            for (uint32_t k = 0; k < r->chains[c].len; k++)
                note_path(s, r->chains[c].frames[k].file);
    }
    if (!s->paths->is_full)
        shorten(s);
}

static const char *shown_path(const struct shown_paths *s, const char *path)
{
    return s->shown.at[*map_find(&s->number, (uint64_t)(uintptr_t)path, 0)];
}

/* --- text ------------------------------------------------------------------------------------ */

struct layout {
    const struct summary *summary;
    const struct shown_paths *paths;
    struct names *names;
    const struct text_style *style;
    bool has_samples, has_time, has_total, has_calls;
    int samples, sample_decimals, time, time_decimals, calls, place;
};

static int at_least(int width, int least)
{
    return width > least ? width : least;
}

static const char NO_LINE[] = "(no line)";

/* Columns of a place as text_place() prints it. */
static int place_width(const struct layout *l, const char *file, uint32_t line)
{
    return file ? (int)strlen(shown_path(l->paths, file)) + 1 + text_digits(line)
                : (int)strlen(NO_LINE);
}

static struct layout lay_out(struct lines_table *t, const struct shown_paths *paths,
                             const struct text_style *style)
{
    enum { WIDEST_PLACE = 40 };
    const struct summary *s = t->summary;
    struct layout l = {.summary = s,
                       .paths = paths,
                       .names = &t->names,
                       .style = style,
                       .has_samples = s->has_samples,
                       .has_time = s->has_samples && s->rate > 0,
                       .has_total = s->has_samples && t->has_inlines,
                       .has_calls = s->calls > 0,
                       .sample_decimals = t->has_fractions ? 2 : 0,
                       .time_decimals = text_time_decimals(s)};
    l.samples = at_least(text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0), 7);
    l.time = at_least(text_digits((uint64_t)summary_time(s, s->samples)) + l.time_decimals + 1, 9);
    l.calls = at_least(text_digits(s->calls), 7);
    l.place = 5;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct function *f = &t->functions.at[t->rows[i].function];
        int width = place_width(&l, f->file, f->line);
        l.place = width > l.place && width <= WIDEST_PLACE ? width : l.place;
    }
    return l;
}

static void text_head(struct out *out, const struct layout *l)
{
    char self[8] = "self ?";
    char unit = l->summary->abbreviation;
    self[5] = unit > ' ' && unit <= '~' ? unit : '?';
    if (l->has_samples)
        out_printf(out, "%6s %5s  %*s", "self%", "+-", l->samples, "samples");
    if (l->has_time)
        out_printf(out, "  %*s %*s", l->time, self, l->time, "running");
    if (l->has_total)
        out_printf(out, "  %6s %*s", "total%", l->time, "total");
    out_spaces(out, l->has_samples ? 2 : 0);
    if (l->has_calls)
        out_printf(out, "%*s  %*s  ", l->calls, "calls", l->calls, "entered");
    out_printf(out, "%-*s  function\n", l->place, "line");
}

static void text_time(struct out *out, const struct layout *l, double self,
                      const struct interval *interval, double running)
{
    double share = summary_share(l->summary, self);
    if (l->has_samples) {
        text_heat_on(out, l->style, share);
        out_fixed(out, 100 * share, 6, 2);
        text_heat_off(out, l->style, share);
        out_spaces(out, interval ? 1 : 6);
        if (interval)
            out_fixed(out, 50 * (interval->high - interval->low), 5, 2);
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
    out_spaces(out, running >= 0 ? 1 : 1 + (size_t)l->time);
    if (running >= 0)
        out_fixed(out, summary_time(l->summary, running), l->time, l->time_decimals);
}

static void text_count(struct out *out, const struct layout *l, uint64_t count)
{
    if (count)
        out_u64(out, count, l->calls);
    else
        out_spaces(out, (size_t)l->calls);
    out_spaces(out, 2);
}

/* The columns between times and place, empty ones where there is no row. */
static void text_middle(struct out *out, const struct layout *l, const struct lines_row *r)
{
    double unit = l->has_time ? l->summary->rate : 1;
    if (l->has_total && r) {
        out_spaces(out, 2);
        out_fixed(out, 100 * summary_share(l->summary, r->total), 6, 2);
        out_char(out, ' ');
        out_fixed(out, r->total / unit, l->time, l->time_decimals);
    } else if (l->has_total) {
        out_spaces(out, (size_t)l->time + 9);
    }
    out_spaces(out, l->has_samples ? 2 : 0);
    if (l->has_calls) {
        text_count(out, l, r ? r->calls : 0);
        text_count(out, l, r ? r->entered : 0);
    }
}

/* file:line */
static void text_place(struct out *out, const struct layout *l, const char *file, uint32_t line)
{
    text_name(out, file ? shown_path(l->paths, file) : NO_LINE);
    if (!file)
        return;
    out_char(out, ':');
    out_u64(out, line, 0);
}

/* `  inlined into b at f.c:12, into main at f.c:40` under its row. */
static void text_chain(struct out *out, const struct layout *l, const struct line_chain *chain)
{
    text_time(out, l, chain->self, NULL, -1);
    text_middle(out, l, NULL);
    out_str(out, "  ");
    for (uint32_t i = 0; i < chain->len; i++) {
        const struct object_frame *f = &chain->frames[i];
        char *shown =
            f->function && l->names->style ? demangle(f->function, l->names->style) : NULL;
        out_str(out, i ? ", into " : "inlined into ");
        text_name(out, shown ? shown : f->function ? f->function : "?");
        free(shown);
        out_str(out, " at ");
        text_place(out, l, f->line ? f->file : NULL, f->line);
    }
    if (!chain->len)
        out_str(out, "not inlined");
    out_char(out, '\n');
}

static void text_row(struct out *out, const struct layout *l, const struct lines_row *r)
{
    const struct function *f = &l->names->functions->at[r->function];
    text_time(out, l, r->self, l->summary->samples > 0 ? &r->interval : NULL, r->running);
    text_middle(out, l, r);
    int width = place_width(l, f->file, f->line);
    text_place(out, l, f->file, f->line);
    out_spaces(out, width < l->place ? (size_t)(l->place - width) + 2 : 2);
    text_function(out, l->names, r->function, l->style);
    out_char(out, '\n');
    for (uint32_t i = 0; i < r->chains_len; i++)
        text_chain(out, l, &r->chains[i]);
}

static void text_rest(struct out *out, const struct lines_table *t, const struct layout *l)
{
    const struct summary *s = t->summary;
    double running = t->len ? t->rows[t->len - 1].running : 0;
    if (t->omitted.lines) {
        running += t->omitted.self;
        text_time(out, l, t->omitted.self, NULL, running);
        text_middle(out, l, NULL);
        out_printf(out, "[%" PRIu32 " more line%s, not shown]\n", t->omitted.lines,
                   t->omitted.lines == 1 ? "" : "s");
    }
    if (s->unattributed != 0) {
        running += s->unattributed;
        text_time(out, l, s->unattributed, NULL, running);
        text_middle(out, l, NULL);
        out_str(out, "[unattributed] outside any function of ");
        text_name(out, s->program);
        out_char(out, '\n');
    }
}

static void text_lineless(struct out *out, const struct lines_table *t)
{
    for (size_t i = 0; i < t->lineless_len; i++) {
        out_str(out, "no line numbers: ");
        text_name(out, t->lineless[i]);
        out_str(out, " (compile it with -g, or name the folder of its debug file: --debug-dir)\n");
    }
}

void lines_text(struct out *out, struct lines_table *t, const struct line_paths *paths,
                const struct text_style *style)
{
    struct arena scratch = {0};
    struct shown_paths shown = {.paths = paths, .arena = &scratch};
    gather_paths(&shown, t);
    struct layout l = lay_out(t, &shown, style);
    text_summary(out, t->summary);
    text_notes(out, t->summary);
    text_lineless(out, t);
    out_char(out, '\n');
    text_head(out, &l);
    for (uint32_t i = 0; i < t->len; i++)
        text_row(out, &l, &t->rows[i]);
    text_rest(out, t, &l);
    vec_free(&shown.shown);
    map_deinit(&shown.number);
    arena_deinit(&scratch);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_time(struct json *j, const struct summary *s, const char *samples_key,
                      const char *time_key, double samples)
{
    json_pair_double(j, samples_key, samples);
    json_key(j, time_key);
    if (s->rate > 0)
        json_double(j, summary_time(s, samples));
    else
        json_none(j);
}

static void json_place(struct json *j, const struct line_paths *paths, const char *file,
                       uint32_t line, struct arena *a)
{
    json_pair_str(j, "file", file ? mapped(paths, file, a) : NULL);
    json_key(j, "line");
    if (file && line)
        json_u64(j, line);
    else
        json_none(j);
}

static void json_chain(struct json *j, const struct lines_table *t, const struct line_chain *chain,
                       const struct line_paths *paths, struct arena *a)
{
    json_begin(j, '{');
    json_time(j, t->summary, "self_samples", "self_time", chain->self);
    json_key(j, "inlined_into"), json_begin(j, '[');
    for (uint32_t i = 0; i < chain->len; i++) {
        const struct object_frame *f = &chain->frames[i];
        char *shown = f->function && t->names.style ? demangle(f->function, t->names.style) : NULL;
        json_begin(j, '{');
        json_pair_str(j, "name", shown ? shown : f->function);
        json_pair_str(j, "linkage_name", f->function);
        json_place(j, paths, f->file, f->line, a);
        json_end(j);
        free(shown);
    }
    json_end(j);
    json_end(j);
}

static void json_row(struct json *j, struct lines_table *t, const struct lines_row *r,
                     const struct line_paths *paths, struct arena *a)
{
    const struct function *f = &t->functions.at[r->function];
    const struct summary *s = t->summary;
    json_begin(j, '{');
    json_pair_function(j, &t->names, r->function);
    json_pair_str(j, "kind", r->is_profiler ? "profiler" : "function");
    json_place(j, paths, f->file, f->line, a);
    json_pair_double(j, "self_share", summary_share(s, r->self));
    json_pair_double(j, "self_share_low", r->interval.low);
    json_pair_double(j, "self_share_high", r->interval.high);
    json_time(j, s, "self_samples", "self_time", r->self);
    if (t->has_inlines)
        json_time(j, s, "total_samples", "total_time", r->total);
    json_pair_u64(j, "calls", r->calls);
    json_pair_u64(j, "entered", r->entered);
    if (t->has_inlines) {
        json_key(j, "chains"), json_begin(j, '[');
        for (uint32_t i = 0; i < r->chains_len; i++)
            json_chain(j, t, &r->chains[i], paths, a);
        json_end(j);
    }
    json_end(j);
}

void lines_json(struct out *out, struct lines_table *t, const struct line_paths *paths)
{
    struct arena scratch = {0};
    struct json j = {.out = out};
    json_report_begin(&j, "lines", t->summary);
    json_key(&j, "lines"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        json_row(&j, t, &t->rows[i], paths, &scratch);
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

static void csv_time(struct csv *c, const struct summary *s, double samples)
{
    csv_double(c, samples);
    if (s->rate > 0)
        csv_double(c, summary_time(s, samples));
    else
        csv_none(c);
}

static void csv_row(struct csv *c, struct lines_table *t, const struct lines_row *r,
                    const struct line_paths *paths, struct arena *a)
{
    const struct function *f = &t->functions.at[r->function];
    csv_str(c, r->is_profiler ? "profiler" : "function");
    csv_str(c, f->file ? mapped(paths, f->file, a) : NULL);
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
    csv_time(c, t->summary, r->self);
    csv_time(c, t->summary, r->total);
    csv_u64(c, r->calls);
    csv_u64(c, r->entered);
    csv_end(c);
}

static void csv_rest(struct csv *c, const struct summary *s, const char *kind, double self)
{
    csv_str(c, kind);
    csv_none(c), csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    csv_double(c, summary_share(s, self));
    csv_none(c), csv_none(c);
    csv_time(c, s, self);
    csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    csv_end(c);
}

void lines_csv(struct out *out, struct lines_table *t, const struct line_paths *paths)
{
    struct arena scratch = {0};
    struct csv c = {.out = out};
    csv_header(&c, "kind,file,line,name,linkage_name,address,self_share,self_share_low,"
                   "self_share_high,self_samples,self_time,total_samples,total_time,calls,entered");
    for (uint32_t i = 0; i < t->len; i++)
        csv_row(&c, t, &t->rows[i], paths, &scratch);
    csv_rest(&c, t->summary, "omitted", t->omitted.self);
    csv_rest(&c, t->summary, "unattributed", t->summary->unattributed);
    arena_deinit(&scratch);
}

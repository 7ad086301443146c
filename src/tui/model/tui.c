/* Opening measurements, and going from view to view.
 *
 * struct tui is everything the screen is about: sessions, tables, where one is in them and how one
 * came there. It knows neither keys (press.c) nor a terminal. A table is made when its view is
 * entered, and again when its order, its filter or the part that is shown has changed; selections
 * stay on what they were on, not on the row's number. Visits are kept in a list with a place in it,
 * as a browser keeps pages: going back, then elsewhere, forgets what was ahead.
 *
 * Zooming opens a recording again for the part, since measured times of a thread are not a share of
 * the whole's.
 *
 *    back:     functions, calls of f        what was left, the last one at the end
 *    here:     source of f, line 12
 *    forward:  notes                        what was gone back from; emptied by going elsewhere */
#include "tui/model/tui.h"

#include "base/file.h"
#include "profile/analysis/tables.h"
#include "tui/model/tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- columns that one can choose -------------------------------------------------------------- */

#define BASE_SHARE      "base%    the share in the base"
#define CHANGE_OF_SHARE "change   the difference of both, in points"

static const char *const FUNCTIONS[FUNCTION_COLUMNS] = {
    [FUNCTION_SELF_SHARE] = "self%    share of samples, of the function itself",
    [FUNCTION_MARGIN] = "+-       half its 95 % confidence interval, in points",
    [FUNCTION_OLD_SHARE] = BASE_SHARE,
    [FUNCTION_CHANGE] = CHANGE_OF_SHARE,
    [FUNCTION_SELF] = "self     time of the function itself",
    [FUNCTION_TOTAL_SHARE] = "total%   share of samples, with callees",
    [FUNCTION_TOTAL] = "total    time with callees",
    [FUNCTION_CALLS] = "calls    how often it was called, as the profile has it",
    [FUNCTION_RUNS] = "runs     how often it ran, as coverage has it",
};

static const char *const SOURCE[SOURCE_COLUMNS] = {
    [SOURCE_SHARE] = "self%    share of samples",
    [SOURCE_OLD_SHARE] = BASE_SHARE,
    [SOURCE_CHANGE] = CHANGE_OF_SHARE,
    [SOURCE_CALLS] = "calls    of functions that begin on the line",
    [SOURCE_COUNT] = "count    how often its blocks ran, as the profile has it",
    [SOURCE_COVERED] = "ran      how often it ran, as coverage has it",
    [SOURCE_SINCE] = "since    whether it ran in the base: lost, gained",
    [SOURCE_BRANCHES] = "branch   branches taken, of all",
    [SOURCE_CONDITIONS] = "cond     outcomes of conditions seen, of all",
    [SOURCE_LINE] = "line     its number",
};

static const char *const FILES[FILE_COLUMNS] = {
    [FILE_SELF_SHARE] = "self%    share of samples",
    [FILE_LINES] = "lines%   lines that ran, of all",
    [FILE_BASE] = "base%    the same in the base",
    [FILE_MISSED] = "missed   lines that never ran",
    [FILE_OF] = "of       lines with code",
    [FILE_BRANCHES] = "branch%  branches taken, of all",
    [FILE_FUNCTIONS] = "func%    functions that ran, of all",
};

const struct column_list function_columns = {FUNCTIONS, FUNCTION_COLUMNS};
const struct column_list source_columns = {SOURCE, SOURCE_COLUMNS};
const struct column_list file_columns = {FILES, FILE_COLUMNS};

/* --- selecting and scrolling ------------------------------------------------------------------ */

/* Scrolls as little as it takes for the selection to be in sight, and never leaves blank rows below
 * the last row of a list that fills the screen. */
static void show(struct list *l)
{
    size_t last_top = l->len > l->height ? l->len - l->height : 0;
    if (l->selected < l->top)
        l->top = l->selected;
    if (l->selected >= l->top + l->height)
        l->top = l->selected - l->height + 1;
    if (l->top > last_top)
        l->top = last_top;
}

void list_resize(struct list *l, size_t len, size_t height)
{
    l->len = len;
    l->height = height ? height : 1;
    list_select(l, l->selected);
}

void list_select(struct list *l, size_t row)
{
    l->selected = row < l->len ? row : l->len ? l->len - 1 : 0;
    show(l);
}

void list_move(struct list *l, ptrdiff_t by)
{
    if (by < 0)
        list_select(l, l->selected > (size_t)-by ? l->selected - (size_t)-by : 0);
    else
        list_select(l, l->selected + (size_t)by);
}

void list_centre(struct list *l, size_t row)
{
    list_select(l, row);
    l->top = l->selected > l->height / 2 ? l->selected - l->height / 2 : 0;
    show(l);
}

/* --- what there is to zoom into --------------------------------------------------------------- */

/* Processes are parts even without samples: add_up_same() may add them up with rows that have
 * some. */
static void take_shares(struct parts *p, const struct shares *t, enum part_kind kind)
{
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        if (r->samples > 0 || kind == PART_PROCESS)
            vec_push(&p->all, (struct part){kind, r->name, r->samples, r->pid, r->thread});
    }
}

/* From `first` on, parts that part_filter() chooses together are one: a process that executed
 * another program has several rows and one number, and merged recordings may share numbers. */
static void add_up_same(struct parts *p, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < p->all.len; i++) {
        const struct part *one = &p->all.at[i];
        size_t same = first;
        while (same < kept && (p->all.at[same].pid != one->pid || p->all.at[same].tid != one->tid))
            same++;
        if (same < kept)
            p->all.at[same].samples += one->samples;
        else
            p->all.at[kept++] = *one;
    }
    p->all.len = kept;
}

/* The tables are those of `monarc flat --by-process`, --by-thread and --by-object, so that the
 * figures agree. */
static void parts_make(struct parts *p, struct measurement *m)
{
    const struct session *s = &m->session;
    const struct recording_summary *run = s->summary.run;
    struct arena *a = &m->session.arena;
    struct shares t;
    if (!run)
        return;
    vec_push(&p->all, (struct part){PART_ALL, "everything", s->summary.samples, 0, 0});
    for (uint32_t i = 0; i < run->programs_len; i++)
        vec_push(&p->all, (struct part){PART_PROGRAM, run->programs[i].name,
                                        run->programs[i].samples, 0, 0});
    size_t first = p->all.len;
    shares_by_process(&t, &s->summary, &s->recorded.choice, a);
    take_shares(p, &t, PART_PROCESS);
    add_up_same(p, first);
    first = p->all.len;
    shares_by_thread(&t, &s->summary, &s->recorded.space, &s->functions,
                     recorded_frames(&s->recorded), &s->recorded.choice, a);
    take_shares(p, &t, PART_THREAD);
    add_up_same(p, first);
    shares_by_object(&t, &s->summary, &s->recorded.space, &s->graph, a);
    take_shares(p, &t, PART_OBJECT);
}

static void parts_deinit(struct parts *p)
{
    vec_free(&p->all);
}

/* What opening a part takes, in addition to the user's choices. An object is no such part: it is a
 * choice of rows. */
static void part_filter(const struct part *p, struct recorded_filter *f)
{
    if (p->kind == PART_PROGRAM)
        f->program = p->name;
    if (p->kind == PART_PROCESS || p->kind == PART_THREAD)
        f->pid = p->pid;
    if (p->kind == PART_THREAD) {
        f->has_thread = true;
        f->thread = p->tid;
    }
}

/* --- opening, views, visits ------------------------------------------------------------------- */

enum { HEAD_ROWS = 2, FOOT_ROWS = 1 };

void tui_say(struct tui *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t->message, sizeof t->message, format, args);
    va_end(args);
}

static void tui_announce(struct tui *t, const char *what)
{
    if (t->announce)
        t->announce(t->announce_context, what);
}

/* --- sources --------------------------------------------------------------------------------- */

static const struct coverage_result *tui_coverage(const struct tui *t)
{
    return t->has_coverage ? &t->covered.result : NULL;
}

/* The list of sources that profile and coverage have in common, made once without the profile's
 * lines and again when these are known. Numbers of sources change by that, so that the source that
 * is shown is closed. */
static void tui_list_sources(struct tui *t)
{
    bool has_lines = t->now && t->now->has_lines;
    measured_sources_deinit(&t->sources);
    measured_sources_make(&t->sources,
                          &(struct measured_sources_input){
                              .coverage = tui_coverage(t),
                              .lines = has_lines ? &t->now->lines : NULL,
                              .search = t->options->search,
                              .folder = t->has_coverage ? t->covered.root : t->options->folder});
    t->has_time_in_sources = has_lines;
    source_table_deinit(&t->source);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* The table from what is shown now: measurement or part, coverage, base, object and filter. */
static bool tui_remake_functions(struct tui *t, struct err *e)
{
    struct functions_input in = {.measured = t->now,
                                 .coverage = tui_coverage(t),
                                 .base = t->old ? &t->base : NULL,
                                 .object = t->object,
                                 .filter = t->filter[VIEW_FUNCTIONS]};
    return functions_table_make(&t->functions, &in, t->functions.sort, e);
}

/* An order that has lost its figures, as by zooming, is replaced by one that has some. */
static bool tui_remake_files(struct tui *t, struct err *e)
{
    struct files_input in = {.sources = &t->sources,
                             .coverage = tui_coverage(t),
                             .base = t->has_old_coverage ? &t->old_covered.result : NULL,
                             .has_time = t->has_time_in_sources,
                             .filter = t->filter[VIEW_FILES]};
    if (!files_table_can_sort(&in, t->files.sort))
        t->files.sort = in.coverage ? SORT_FILES_MISSED : SORT_FILES_NAME;
    return files_table_make(&t->files, &in, t->files.sort, e);
}

static size_t tui_rows_of(const struct tui *t, enum view view)
{
    switch (view) {
    case VIEW_FUNCTIONS: return t->functions.rows.len;
    case VIEW_CALLS: return t->calls.len;
    case VIEW_SOURCE: return t->source.lines.len;
    case VIEW_FILES: return t->files.rows.len;
    case VIEW_PARTS: return t->parts.all.len;
    case VIEW_LINE: return t->line.rows.len;
    case VIEW_COLUMNS: return tui_columns_of(t->columns_of)->len;
    case VIEW_NOTES: return t->notes.lines.len;
    default: return t->help.lines.len;
    }
}

/* Rows between the heads above and the line below. At least 1, however small the window is. */
static size_t tui_list_height(const struct tui *t)
{
    return t->rows > HEAD_ROWS + FOOT_ROWS ? t->rows - HEAD_ROWS - FOOT_ROWS : 1;
}

/* After a table has another length, or the screen another height. */
static void tui_fit(struct tui *t, enum view view)
{
    list_resize(&t->list[view], tui_rows_of(t, view), tui_list_height(t));
}

/* Of functions, or of files; other tables have no order and no filter. */
bool tui_remake(struct tui *t, enum view view)
{
    struct err e = {0};
    bool ok = view == VIEW_FILES ? tui_remake_files(t, &e) : tui_remake_functions(t, &e);
    if (!ok)
        tui_say(t, "%s", e.line);
    tui_fit(t, view);
    return ok;
}

/* Line tables are read at the first look at a source, not at the start: most of the time of opening
 * a large program would be theirs. */
void tui_need_sources(struct tui *t)
{
    struct err e = {0};
    if (!t->now || t->now->was_asked)
        return;
    tui_announce(t, "Reading line numbers ...");
    if (!measurement_lines(t->now))
        return;
    if (t->old)
        measurement_lines(t->old);
    tui_list_sources(t);
    t->files.sort = t->now->session.summary.has_samples ? SORT_FILES_SELF : t->files.sort;
    if (!tui_remake_files(t, &e))
        tui_say(t, "%s", e.line);
    tui_fit(t, VIEW_FILES);
}

/* Pages of text are wrapped again; of tables only the part in sight changes. */
void tui_resize(struct tui *t, size_t rows, size_t columns)
{
    t->rows = rows;
    t->columns = columns;
    page_text_deinit(&t->notes);
    page_text_deinit(&t->help);
    page_notes(&t->notes,
               &(struct notes_input){t->now, t->old ? &t->base.comparison : NULL,
                                     t->has_coverage ? &t->covered : NULL, t->options->coverage},
               columns - 1);
    page_help(&t->help, columns - 1);
    for (int view = 0; view < VIEWS; view++)
        tui_fit(t, (enum view)view);
}

/* --- opening --------------------------------------------------------------------------------- */

/* Compares like with like: what the base has and the screen has not is not opened. A base with
 * nothing in common is an error. */
static bool tui_open_base(struct tui *t, struct err *e)
{
    const struct tui_options *o = t->options->base;
    if (!o)
        return true;
    if (o->profile && t->now) {
        t->old = measurement_open(o->profile, &o->profile->recorded, e);
        if (!t->old)
            return false;
    }
    if (o->coverage && t->has_coverage) {
        t->has_old_coverage = true;
        if (!coverage_session_open(&t->old_covered, o->coverage, e))
            return false;
        coverage_change_make(&t->change, &t->old_covered.result, &t->covered.result);
        return true;
    }
    return t->old || err_set(e, "--base has nothing that can be compared with what is shown: name "
                                "a profile for a profile, coverage for coverage");
}

/* Compares `now` with the base; to be made again for each part. The sentence stands below until the
 * first key. */
static bool tui_compare(struct tui *t, struct err *e)
{
    baseline_deinit(&t->base);
    t->base = (struct baseline){0};
    if (!t->old)
        return true;
    if (!base_make(&t->base, t->old, t->now, e))
        return false;
    const char *answer = comparison_answer(&t->base.comparison, &t->base.arena);
    if (answer)
        tui_say(t, "%s", answer);
    return true;
}

/* Until the terminal reports its size, 24 rows of 80 columns. The first order is by what was
 * measured: self time, else calls, else what never ran. */
bool tui_open(struct tui *t, const struct tui_options *o, struct err *e)
{
    t->options = o;
    t->rows = 24;
    t->columns = 80;
    if (o->profile) {
        t->whole = t->now = measurement_open(o->profile, &o->profile->recorded, e);
        if (!t->whole)
            return false;
    }
    if (o->coverage) {
        t->has_coverage = true;
        if (!coverage_session_open(&t->covered, o->coverage, e))
            return false;
    }
    if (!tui_open_base(t, e) || !tui_compare(t, e))
        return false;
    tui_list_sources(t);
    const struct summary *s = t->now ? &t->now->session.summary : NULL;
    t->functions.sort = !s               ? SORT_FUNCTIONS_RUNS
                        : s->has_samples ? SORT_FUNCTIONS_SELF
                                         : SORT_FUNCTIONS_CALLS;
    t->files.sort = SORT_FILES_MISSED;
    if (!tui_remake_functions(t, e) || !tui_remake_files(t, e))
        return false;
    t->view = t->now ? VIEW_FUNCTIONS : VIEW_FILES;
    tui_resize(t, t->rows, t->columns);
    return true;
}

/* Tables first, then what they were made of. All parts may be zero, so this serves after a failure,
 * too. */
void tui_close(struct tui *t)
{
    functions_table_deinit(&t->functions);
    calls_table_deinit(&t->calls);
    source_table_deinit(&t->source);
    line_view_deinit(&t->line);
    files_table_deinit(&t->files);
    parts_deinit(&t->parts);
    page_text_deinit(&t->notes);
    page_text_deinit(&t->help);
    measured_sources_deinit(&t->sources);
    baseline_deinit(&t->base);
    if (t->now != t->whole)
        measurement_close(t->now);
    measurement_close(t->whole);
    measurement_close(t->old);
    coverage_session_close(&t->covered);
    coverage_change_deinit(&t->change);
    coverage_session_close(&t->old_covered);
    vec_free(&t->back);
    vec_free(&t->forward);
    vec_free(&t->typed);
    for (int i = 0; i < VIEWS; i++)
        memory_free(t->filter[i]);
    if (t->has_pattern)
        regfree(&t->pattern);
}

/* --- columns --------------------------------------------------------------------------------- */

const struct column_list *tui_columns_of(enum view view)
{
    static const struct column_list NONE;
    return view == VIEW_FUNCTIONS ? &function_columns
           : view == VIEW_SOURCE  ? &source_columns
           : view == VIEW_FILES   ? &file_columns
                                  : &NONE;
}

void tui_toggle_column(struct tui *t)
{
    t->hidden[t->columns_of] ^= UINT32_C(1) << t->list[VIEW_COLUMNS].selected;
}

/* --- going ----------------------------------------------------------------------------------- */

/* What it takes to come back: the view, what it is about, and the row. */
static struct visit tui_here(const struct tui *t)
{
    uint32_t about = t->view == VIEW_CALLS    ? t->calls.entry.node
                     : t->view == VIEW_SOURCE ? t->source.number
                     : t->view == VIEW_LINE   ? t->line.source
                                              : 0;
    return (struct visit){t->view, about, t->line.line, t->list[t->view].selected,
                          t->list[t->view].top};
}

/* Before every change of view. */
static void tui_leave(struct tui *t)
{
    vec_push(&t->back, tui_here(t));
    t->forward.len = 0;
    t->shift = 0;
}

/* The function itself is selected and in the middle, callers above it and callees below. */
static void tui_load_calls(struct tui *t, uint32_t node)
{
    calls_table_make(&t->calls, t->now, node);
    t->list[VIEW_CALLS] = (struct list){0};
    tui_fit(t, VIEW_CALLS);
    list_centre(&t->list[VIEW_CALLS], t->calls.middle);
}

/* Seconds since 1970: a recording knows when it was made; of other profiles the file's date has to
 * do. */
static int64_t tui_recorded_at(const struct measurement *m)
{
    return m->session.folder ? (int64_t)(m->session.recorded.recording.start_real_ns / 1000000000)
                             : file_changed(m->options.profiles[0]);
}

/* 0 where nothing is known: then no source counts as changed. */
static int64_t tui_measured_at(const struct tui *t)
{
    if (t->now)
        return tui_recorded_at(t->now);
    return t->covered.files.counters.len ? file_changed(t->covered.files.counters.at[0].path) : 0;
}

/* Reads the file, lays the figures over it, and compares it with the base if both sides have
 * lines. */
static void tui_load_source(struct tui *t, uint32_t number)
{
    source_table_open(
        &t->source,
        &(struct source_table_input){.sources = &t->sources,
                                     .measured = t->has_time_in_sources ? t->now : NULL,
                                     .coverage = tui_coverage(t),
                                     .measured_at = tui_measured_at(t)},
        number);
    bool is_compared = t->old && t->old->has_lines && t->now->has_lines;
    source_table_compare(
        &t->source, &(struct source_older_input){.now = t->now,
                                                 .old = is_compared ? t->old : NULL,
                                                 .older_at = t->old ? tui_recorded_at(t->old) : 0,
                                                 .change = t->has_old_coverage ? &t->change : NULL,
                                                 .sources = &t->sources});
    t->list[VIEW_SOURCE] = (struct list){0};
    tui_fit(t, VIEW_SOURCE);
}

/* The selection stays on the line's number: an editor has just been there. */
void tui_reload_source(struct tui *t)
{
    struct list before = t->list[VIEW_SOURCE];
    if (!t->source.source)
        return;
    tui_load_source(t, t->source.number);
    t->list[VIEW_SOURCE].top = before.top;
    list_select(&t->list[VIEW_SOURCE], before.selected);
}

void tui_show(struct tui *t, enum view view)
{
    if (view == t->view)
        return;
    tui_leave(t);
    if (view == VIEW_PARTS && !t->parts.all.len && t->whole)
        parts_make(&t->parts, t->whole);
    t->view = view;
    tui_fit(t, view);
}

void tui_show_calls(struct tui *t, uint32_t node)
{
    tui_leave(t);
    tui_load_calls(t, node);
    t->view = VIEW_CALLS;
}

/* The source that is open already is not read again, and keeps its selection if no line is
 * requested. */
void tui_show_source(struct tui *t, uint32_t number, size_t line)
{
    tui_leave(t);
    if (!t->source.source || t->source.number != number)
        tui_load_source(t, number);
    t->view = VIEW_SOURCE;
    if (line)
        list_centre(&t->list[VIEW_SOURCE], line - 1);
}

/* Reading machine code is announced only if it is not at hand. */
static void tui_load_line(struct tui *t, uint32_t line)
{
    struct line_view_input in = {.measured = t->now && t->now->has_lines ? t->now : NULL,
                                 .sources = &t->sources,
                                 .search = t->options->search,
                                 .source = &t->source,
                                 .line = line};
    if (!line_view_has_code(&t->line, &in))
        tui_announce(t, "Reading machine code ...");
    line_view_make(&t->line, &in);
    t->list[VIEW_LINE] = (struct list){0};
    tui_fit(t, VIEW_LINE);
}

void tui_show_line(struct tui *t)
{
    uint32_t line = (uint32_t)t->list[VIEW_SOURCE].selected + 1;
    tui_leave(t);
    tui_load_line(t, line);
    t->view = VIEW_LINE;
}

/* What a visit was about may have been closed since: it is loaded again, and the selection
 * restored. */
static void tui_return(struct tui *t, const struct visit *v)
{
    t->shift = 0;
    t->view = v->view;
    if (v->view == VIEW_CALLS && (!t->calls.measured || t->calls.entry.node != v->about))
        tui_load_calls(t, v->about);
    bool has_source = v->view == VIEW_SOURCE || v->view == VIEW_LINE;
    if (has_source && (!t->source.source || t->source.number != v->about))
        tui_load_source(t, v->about);
    if (v->view == VIEW_LINE && (t->line.source != v->about || t->line.line != v->line))
        tui_load_line(t, v->line);
    tui_fit(t, v->view);
    t->list[v->view].top = v->top;
    list_select(&t->list[v->view], v->selected);
}

void tui_go_back(struct tui *t)
{
    if (!t->back.len) {
        tui_say(t, "This is where you began.");
        return;
    }
    struct visit there = t->back.at[--t->back.len];
    vec_push(&t->forward, tui_here(t));
    tui_return(t, &there);
}

void tui_go_forward(struct tui *t)
{
    if (!t->forward.len) {
        tui_say(t, "There is nothing to go forward to.");
        return;
    }
    struct visit there = t->forward.at[--t->forward.len];
    vec_push(&t->back, tui_here(t));
    tui_return(t, &there);
}

/* --- zooming --------------------------------------------------------------------------------- */

/* An object is no part of a recording that could be opened, but a choice among the whole's rows. */
static struct measurement *tui_open_part(struct tui *t, const struct part *part, struct err *e)
{
    struct recorded_filter filter = t->options->profile->recorded;
    if (part->kind == PART_ALL || part->kind == PART_OBJECT)
        return t->whole;
    part_filter(part, &filter);
    tui_announce(t, "Opening this part of the recording ...");
    return measurement_open(t->options->profile, &filter, e);
}

/* If the part cannot be opened, a message says so, and what is shown stays. Otherwise one is in the
 * table of functions again, at its top. */
void tui_zoom(struct tui *t, const struct part *part)
{
    struct err e = {0};
    struct measurement *m = tui_open_part(t, part, &e);
    if (!m) {
        tui_say(t, "%s", e.line);
        return;
    }
    struct part chosen = *part;
    /* Numbers of functions and sources are another measurement's now. */
    if (t->now != t->whole)
        measurement_close(t->now);
    calls_table_deinit(&t->calls);
    t->calls = (struct calls_table){0};
    line_view_deinit(&t->line);
    t->now = m;
    t->back.len = t->forward.len = 0;
    if (!tui_compare(t, &e))
        tui_say(t, "%s", e.line);
    tui_list_sources(t);
    t->part = chosen;
    t->object = chosen.kind == PART_OBJECT ? chosen.name : NULL;
    if (!tui_remake(t, VIEW_FUNCTIONS) || !tui_remake(t, VIEW_FILES))
        return;
    t->list[VIEW_FUNCTIONS].selected = t->list[VIEW_FUNCTIONS].top = 0;
    t->view = VIEW_FUNCTIONS;
    tui_resize(t, t->rows, t->columns);
}

/* --- what is selected ------------------------------------------------------------------------ */

/* In the table of functions, whichever view is shown; NULL where the table is empty. */
static const struct function_row *tui_selected_row(const struct tui *t)
{
    size_t at = t->list[VIEW_FUNCTIONS].selected;
    return at < t->functions.rows.len ? &t->functions.rows.at[at] : NULL;
}

/* Each view has its own idea of what is selected; the table of functions stands in for views that
 * have none. */
uint32_t tui_selected_node(const struct tui *t)
{
    const struct function_row *row = tui_selected_row(t);
    if (t->view == VIEW_SOURCE) {
        /* Of the line, or of the next one above it with code that was met. */
        for (size_t i = t->list[VIEW_SOURCE].selected + 1; i-- && i < t->source.lines.len;)
            if (t->source.lines.at[i].function != UINT32_MAX)
                return t->source.lines.at[i].function;
        return NO_NODE;
    }
    if (t->view == VIEW_CALLS && t->calls.measured)
        return calls_table_node(&t->calls, t->list[VIEW_CALLS].selected);
    if (t->view == VIEW_LINE && t->line.rows.len)
        return t->line.rows.at[t->list[VIEW_LINE].selected].function;
    return row && row->flat ? row->flat->function : NO_NODE;
}

uint32_t tui_selected_covered(const struct tui *t)
{
    const struct function_row *row = tui_selected_row(t);
    return t->view != VIEW_CALLS && t->view != VIEW_LINE && row ? row->covered : UINT32_MAX;
}

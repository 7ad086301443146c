/* The frame of the screen: a head of two rows, the rows of the view, a line at the bottom; and the
 * views that are lists or text.
 *
 * Drawing reads struct tui and changes nothing of it: the same state gives the same cells, which is
 * how tests look at it. Each view draws its rows and the head of its columns (functions.c,
 * source.c); what they share is in cells.c: styles, the heat of a share, times with as many
 * decimals as distinguish two samples. */
#include "tui/draw/draw.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/bytes.h"
#include "output/out.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* --- what there is to zoom into --------------------------------------------------------------- */

/* Shares are of the whole recording, whatever part is shown now: this is where one comes to choose
 * another. */
static void put_row(struct span *at, const struct tui *t, const struct part *p)
{
    static const char *const PARTS[] = {"everything", "program", "process", "thread", "object"};
    const struct summary *s = &t->whole->session.summary;
    char share[32];
    uint8_t style = at->style;
    at->style = draw_heat(style, p->kind == PART_ALL ? 0 : summary_share(s, p->samples));
    draw_share(summary_share(s, p->samples), summary_error(s, p->samples), share, sizeof share);
    span_printf(at, "%6s ", share);
    at->style = style;
    span_printf(at, "%-8s ", p->kind == PART_ALL ? "" : PARTS[p->kind]);
    if (p->kind == PART_PROCESS)
        span_printf(at, "%8" PRIu32 " ", p->pid);
    else if (p->kind == PART_THREAD && p->tid)
        span_printf(at, "%8" PRIu32 " ", p->tid);
    else
        span_str(at, "         ");
    span_path(at, p->kind == PART_ALL ? PARTS[PART_ALL] : p->name, t->shift);
    if (p->kind == PART_THREAD)
        span_printf(at, " of process %" PRIu32, p->pid);
    span_fill(at, at->end);
}

/* One row a part: its share, its kind, the number of a process or thread, and its name. */
static void draw_parts(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_PARTS];
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_printf(&at, "%6s %-8s %8s name", "self%", "part", "number");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        put_row(&at, t, &t->parts.all.at[i]);
    }
}

/* Boxes with and without a cross. A column without figures is listed all the same, and said to be
 * not measured. */
static void draw_columns(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_COLUMNS];
    uint32_t there = t->columns_of == VIEW_FUNCTIONS ? draw_functions_columns(t)
                     : t->columns_of == VIEW_SOURCE  ? draw_source_columns(t)
                                                     : draw_files_columns(t);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_str(&at, "Columns shown if there is room");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        bool is_shown = !(t->hidden[t->columns_of] >> i & 1);
        span_printf(&at, " [%c] %s%s", is_shown ? 'x' : ' ',
                    tui_columns_of(t->columns_of)->names[i],
                    there >> i & 1 ? "" : " (not measured)");
        span_fill(&at, at.end);
    }
}

/* No row is marked as selected: pages scroll. */
static void draw_page(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[t->view];
    const struct page_text *page = t->view == VIEW_HELP ? &t->help : &t->notes;
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_str(&at, t->view == VIEW_HELP ? "Keys" : "What was measured");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 1, STYLE_PLAIN);
        span_str(&at, page->lines.at[i]);
    }
}

/* --- the first row --------------------------------------------------------------------------- */

/* What a share is a share of: samples and their time, and lines with code. */
static void draw_amounts(struct span *at, const struct tui *t)
{
    const struct summary *s = t->now ? &t->now->session.summary : NULL;
    char time[32];
    if (s && s->has_samples) {
        draw_time(s, s->samples, 0, time, sizeof time);
        bool is_whole = s->samples == floor(s->samples);
        span_printf(at, "  %.*f samples", is_whole ? 0 : 2, s->samples);
        if (s->rate > 0)
            span_printf(at, ", %s %c", time, s->abbreviation);
    } else if (s) {
        span_printf(at, "  %" PRIu64 " calls, no samples", s->calls);
    }
    if (t->has_coverage)
        span_printf(at, "  %.2f %% of %" PRIu64 " lines ran",
                    ratio_percent(&t->covered.result.sums.lines), t->covered.result.sums.lines.all);
}

/* In brackets, which part of the recording is shown; nothing where it is all of it. */
static void draw_part(struct span *at, const struct tui *t)
{
    static const char *const PARTS[] = {"", "program ", "process ", "thread ", "object "};
    if (t->part.kind == PART_ALL)
        return;
    span_printf(at, "  [%s", PARTS[t->part.kind]);
    span_str(at, path_base_name(t->part.name));
    if (t->part.kind == PART_PROCESS)
        span_printf(at, " %" PRIu32, t->part.pid);
    if (t->part.kind == PART_THREAD && t->part.tid)
        span_printf(at, " %" PRIu32, t->part.tid);
    span_str(at, "]");
}

/* The measurement on the left, the view's name on the right over whatever is there. */
static void draw_title(struct surface *s, const struct tui *t)
{
    static const char *const NAMES[VIEWS] = {"functions", "calls",   "source", "files", "zoom",
                                             "line",      "columns", "notes",  "help"};
    struct span at = surface_span(s, 0, 0, STYLE_REVERSE | STYLE_BOLD);
    span_str(&at, " ");
    if (t->now)
        span_str(&at, path_base_name(t->now->session.summary.program));
    else
        span_str(&at, "coverage");
    at.style = STYLE_REVERSE;
    draw_part(&at, t);
    draw_amounts(&at, t);
    if (t->old || t->has_old_coverage)
        span_str(&at, "  against base");
    /* Whether there is something that one should know: page i has it. */
    const struct summary *summary = t->now ? &t->now->session.summary : NULL;
    if ((summary && (summary->was_forced || summary->notes_len ||
                     (summary->run && summary->run->recording->losses.len))) ||
        (t->has_coverage && t->covered.reading.problems.at.len))
        span_str(&at, "  (i: notes)");
    span_fill(&at, at.end);
    size_t len = strlen(NAMES[t->view]);
    if (s->columns > len + 3) {
        at = surface_span(s, 0, s->columns - len - 2, STYLE_REVERSE | STYLE_BOLD);
        span_printf(&at, " %s ", NAMES[t->view]);
    }
}

/* --- the last row ---------------------------------------------------------------------------- */

void draw_foot(struct surface *s, const char *text)
{
    struct span at = surface_span(s, s->rows - 1, 0, STYLE_PLAIN);
    span_str(&at, text);
    span_fill(&at, at.end);
}

/* The keys that matter most in each view; all of them are on the page of help. */
static const char *draw_keys(const struct tui *t)
{
    static const char *const KEYS[VIEWS] = {
        "? help  Enter calls  a source  / search  f filter  s sort  q quit",
        "? help  Enter go to  a source  Backspace back  e edit  q quit",
        "? help  Enter code  m hot  u never ran  t untaken  e edit  q quit",
        "? help  Enter source  1 functions  f filter  s sort  q quit",
        "? help  Enter show this alone  z everything  q quit",
        "? help  Enter go there  Backspace back  / search  e edit  q quit",
        "? help  Enter, Space show or hide  Backspace back  q quit",
        "Backspace back  arrows scroll  / search  q quit",
        "Backspace back  arrows scroll  / search  q quit",
    };
    return KEYS[t->view];
}

/* On the right: where in the list one is, and what is not in it. */
static void draw_position(struct surface *s, const struct tui *t)
{
    const struct list *l = &t->list[t->view];
    const char *filter = t->filter[t->view];
    char text[80] = "";
    size_t hidden = t->view == VIEW_FUNCTIONS ? t->functions.hidden
                    : t->view == VIEW_FILES   ? t->files.hidden
                                              : 0;
    if (!l->len)
        return;
    if (hidden && filter && *filter)
        snprintf(text, sizeof text, " %zu/%zu (%zu filtered)", l->selected + 1, l->len, hidden);
    else if (hidden)
        snprintf(text, sizeof text, " %zu/%zu (%zu more)", l->selected + 1, l->len, hidden);
    else
        snprintf(text, sizeof text, " %zu/%zu", l->selected + 1, l->len);
    if (strlen(text) + 1 >= s->columns)
        return;
    struct span at = surface_span(s, s->rows - 1, s->columns - strlen(text) - 1, STYLE_PLAIN);
    span_str(&at, text);
    span_fill(&at, at.end); /* nothing is left of the keys */
}

/* --- all ------------------------------------------------------------------------------------- */

/* Too small a window gets two words: heads and foot would leave no rows. The table below is in the
 * order of enum view. */
struct cursor_place draw_screen(struct surface *s, const struct tui *t)
{
    static void (*const VIEW[VIEWS])(struct surface *, const struct tui *) = {
        draw_functions, draw_calls,   draw_source, draw_files, draw_parts,
        draw_line,      draw_columns, draw_page,   draw_page};
    enum { LEAST_ROWS = 5, LEAST_COLUMNS = 24 };
    surface_clear(s);
    if (s->rows < LEAST_ROWS || s->columns < LEAST_COLUMNS) {
        if (s->rows)
            draw_foot(s, "too small");
        return (struct cursor_place){0};
    }
    VIEW[t->view](s, t);
    draw_title(s, t);
    /* A prompt, or a message, or the keys with the position. */
    if (t->prompt) {
        /* The cursor stands after the typed text, at the last column if that is longer than the
         * row. */
        struct span at = surface_span(s, s->rows - 1, 0, STYLE_BOLD);
        span_str(&at, t->prompt == PROMPT_SEARCH ? "Search: " : "Show only (!: leave out): ");
        at.style = STYLE_PLAIN;
        if (t->typed.len)
            span_text(&at, t->typed.at, t->typed.len);
        struct cursor_place cursor = {s->rows - 1, at.column < at.end ? at.column : at.end - 1,
                                      true};
        span_fill(&at, at.end);
        return cursor;
    }
    draw_foot(s, *t->message ? t->message : draw_keys(t));
    if (!*t->message)
        draw_position(s, t);
    return (struct cursor_place){0};
}

/* The frame of the screen: a head of two rows, the rows of the view, a line at the bottom; and the
 * views that are lists or text.
 *
 * Drawing reads struct tui and changes nothing of it: the same state gives the same cells, which is
 * how tests look at it. Each view draws its rows and the head of its columns (functions.c,
 * source.c); what they share is here: styles, the heat of a share, times with as many decimals as
 * tell two samples apart. */
#include "tui/draw/draw.h"

#include "base/path.h"
#include "output/text.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what there is to zoom into --------------------------------------------------------------- */

/* Shares are of the whole recording, whatever part is shown now: this is where one comes to choose
 * another. */
static void put_row(struct span *at, const struct tui *t, const struct part *p)
{
    static const char *const KINDS[] = {"everything", "program", "process", "thread", "object"};
    const struct summary *s = &t->whole->session.summary;
    uint8_t style = at->style;
    at->style = draw_heat(style, p->kind == PART_ALL ? 0 : summary_share(s, p->samples));
    span_printf(at, "%6.2f ", 100 * summary_share(s, p->samples));
    at->style = style;
    span_printf(at, "%-8s ", p->kind == PART_ALL ? "" : KINDS[p->kind]);
    if (p->kind == PART_PROCESS)
        span_printf(at, "%8" PRIu32 " ", p->pid);
    else if (p->kind == PART_THREAD && p->tid)
        span_printf(at, "%8" PRIu32 " ", p->tid);
    else
        span_str(at, "         ");
    span_path(at, p->kind == PART_ALL ? KINDS[PART_ALL] : p->name, t->shift);
    if (p->kind == PART_THREAD)
        span_printf(at, " of process %" PRIu32, p->pid);
    span_fill(at, at->end);
}

/* One row a part: its share, its kind, the number of a process or thread, and its name. */
void draw_parts(struct surface *s, const struct tui *t)
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
void draw_columns(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_COLUMNS];
    uint32_t there = t->columns_of == VIEW_FUNCTIONS ? draw_functions_columns(t)
                     : t->columns_of == VIEW_SOURCE  ? draw_source_columns(t)
                                                     : draw_files_columns(t);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_str(&at, "Columns that are shown where there is room");
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
void draw_page(struct surface *s, const struct tui *t)
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

/* --- shared ---------------------------------------------------------------------------------- */

uint8_t draw_row_style(const struct tui *t, size_t row)
{
    return row == t->list[t->view].selected ? STYLE_REVERSE : STYLE_PLAIN;
}

/* From 10 % on hot, from 2 % on warm. What is hot is bold as well, for terminals without
 * colours. */
uint8_t draw_heat(uint8_t style, double share)
{
    const double hot = 0.1, warm = 0.02;
    if (share >= hot)
        return style | STYLE_HOT | STYLE_BOLD;
    return share >= warm ? style | STYLE_WARM : style;
}

/* Samples whose worth is not known have two decimals: they may be shares of samples. */
int draw_decimals(const struct summary *s)
{
    return s->rate > 0 ? text_time_decimals(s) : 2;
}

/* Wide enough for the time of all samples, which no row can exceed. */
size_t draw_time_width(const struct summary *s)
{
    double most = s->rate > 0 ? summary_time(s, s->samples) : s->samples;
    return (size_t)text_digits((uint64_t)most) + 1 + (size_t)draw_decimals(s);
}

void draw_time(const struct summary *s, double samples, char *into, size_t size)
{
    snprintf(into, size, "%.*f", draw_decimals(s),
             s->rate > 0 ? summary_time(s, samples) : samples);
}

void draw_time_head(const struct summary *s, const char *what, char *into, size_t size)
{
    bool is_visible = s->abbreviation > ' ' && s->abbreviation <= '~';
    if (s->rate > 0)
        snprintf(into, size, "%s %c", what, is_visible ? s->abbreviation : '?');
    else
        snprintf(into, size, "%s", what);
}

void draw_empty(struct surface *s, const char *text)
{
    struct span at = surface_span(s, DRAW_FIRST_ROW + 1, 2, STYLE_PLAIN);
    if (s->rows > DRAW_FIRST_ROW + 2)
        span_str(&at, text);
}

/* --- the first row --------------------------------------------------------------------------- */

/* What a share is a share of: samples and their time, and lines with code. */
static void draw_amounts(struct span *at, const struct tui *t)
{
    const struct summary *s = t->now ? &t->now->session.summary : NULL;
    char time[32];
    if (s && s->has_samples) {
        draw_time(s, s->samples, time, sizeof time);
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
    static const char *const KINDS[] = {"", "program ", "process ", "thread ", "object "};
    if (t->part.kind == PART_ALL)
        return;
    span_printf(at, "  [%s", KINDS[t->part.kind]);
    span_str(at, path_base_name(t->part.name));
    if (t->part.kind == PART_PROCESS)
        span_printf(at, " %" PRIu32, t->part.pid);
    if (t->part.kind == PART_THREAD && t->part.tid)
        span_printf(at, " %" PRIu32, t->part.tid);
    span_str(at, "]");
}

/* Whether there is something that one should know: page i has it. */
static bool draw_has_notes(const struct tui *t)
{
    const struct summary *s = t->now ? &t->now->session.summary : NULL;
    return (s && (s->was_forced || s->notes_len || (s->run && s->run->recording->losses.len))) ||
           (t->has_coverage && t->covered.reading.problems.at.len);
}

/* What is looked at on the left, the view's name on the right over whatever is there. */
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
    if (draw_has_notes(t))
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

/* The cursor stands behind what was typed, at the last column if that is longer than the row. */
static struct cursor_place draw_prompt(struct surface *s, const struct tui *t)
{
    struct span at = surface_span(s, s->rows - 1, 0, STYLE_BOLD);
    span_str(&at, t->prompt == PROMPT_SEARCH ? "Search: " : "Show only (!: leave out): ");
    at.style = STYLE_PLAIN;
    if (t->typed.len)
        span_text(&at, t->typed.at, t->typed.len);
    struct cursor_place cursor = {s->rows - 1, at.column < at.end ? at.column : at.end - 1, true};
    span_fill(&at, at.end);
    return cursor;
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
}

/* A prompt, or a message, or the keys with the position. */
static struct cursor_place draw_last_row(struct surface *s, const struct tui *t)
{
    if (t->prompt)
        return draw_prompt(s, t);
    draw_foot(s, *t->message ? t->message : draw_keys(t));
    if (!*t->message)
        draw_position(s, t);
    return (struct cursor_place){0};
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
    return draw_last_row(s, t);
}

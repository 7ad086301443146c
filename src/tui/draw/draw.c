/* The frame of the screen: a head of two rows, the rows of the view, a line at the bottom; and the
 * views that are lists or text.
 *
 * Drawing reads struct tui and changes nothing of it: the same state gives the same cells, which is
 * how tests look at it. Each view draws its rows and the head of its columns (functions.c,
 * source.c); what they share is here: styles, the heat of a share, times with as many decimals as
 * distinguish two samples. */
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

/* ---- Text into cells: what may be shown, and where it ends.
 *
 * A terminal obeys bytes. Names of functions and lines of sources come from files of unknown
 * origin, so each character is judged before it becomes a cell: controls, bytes that are not UTF-8,
 * characters without a column of their own, those that are written from right to left or turn the
 * direction around, and what the locale cannot show are replaced by one '?' each. Then one
 * character is one cell or two, and a row is as long as it looks.
 *
 * A span is a stretch of one row. Drawing into it moves its start on and stops at its end, so no
 * caller counts columns. */

/* --- what may be shown ------------------------------------------------------------------------ */

/* Blocks of Unicode whose letters are written from right to left, and the marks for that. */
static bool is_right_to_left(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } BLOCKS[] = {{0x0590, 0x08ff}, {0x200e, 0x200f}, {0x202a, 0x202e},   {0x2066, 0x2069},
                  {0xfb1d, 0xfdff}, {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++)
        if (c >= BLOCKS[i].first && c <= BLOCKS[i].last)
            return true;
    return false;
}

/* Of a sequence that utf8_length() has found whole: 7 minus `bytes` bits of the first byte, six of
 * each other. */
static uint32_t decode(const uint8_t *at, size_t bytes)
{
    uint32_t c = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | (at[i] & 0x3f);
    return c;
}

/* Printable ASCII is most of all text and is answered first. c < 0xa0 are the C1 controls, which
 * some terminals obey. wcwidth() depends on the locale: what it cannot show has -1. */
struct glyph glyph_next(const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t bytes = utf8_length(at, len);
    uint32_t c = bytes ? decode(at, bytes) : 0;
    if (c >= ' ' && c < 0x7f)
        return (struct glyph){c, 1, 1};
    int columns = c < 0xa0 ? 0 : wcwidth((wchar_t)c);
    if (columns < 1 || columns > 2 || is_right_to_left(c))
        return (struct glyph){'?', 1, bytes ? bytes : 1};
    return (struct glyph){c, columns, bytes};
}

size_t glyph_columns(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        struct glyph g = glyph_next(text + at, len - at);
        columns += (size_t)g.columns;
        at += g.bytes;
    }
    return columns;
}

/* --- cells ------------------------------------------------------------------------------------ */

static void surface_clear(struct surface *s)
{
    for (size_t i = 0; i < s->rows * s->columns; i++)
        s->cells[i] = (struct cell){' ', STYLE_PLAIN, 1};
}

void surface_resize(struct surface *s, size_t rows, size_t columns)
{
    memory_free(s->cells);
    *s = (struct surface){rows, columns, memory_zeroed(rows * columns, sizeof *s->cells)};
    surface_clear(s);
}

void surface_deinit(struct surface *s)
{
    memory_free(s->cells);
    *s = (struct surface){0};
}

struct span surface_span(struct surface *s, size_t row, size_t column, uint8_t style)
{
    size_t end = row < s->rows ? s->columns : 0;
    return (struct span){s, row, column < end ? column : end, end, style};
}

/* False: there is no room for it. A wide character that does not fit leaves its place blank. The
 * caller stops then: nothing smaller is squeezed in after it. */
static bool put(struct span *s, const struct glyph *g)
{
    if (s->column + (size_t)g->columns > s->end) {
        span_fill(s, s->end);
        return false;
    }
    struct cell *cell = surface_cell(s->surface, s->row, s->column);
    cell[0] = (struct cell){g->character, s->style, (uint8_t)g->columns};
    if (g->columns == 2)
        cell[1] = (struct cell){0, s->style, 0};
    s->column += (size_t)g->columns;
    return true;
}

static void span_text(struct span *s, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        struct glyph g = glyph_next(text + at, len - at);
        if (!put(s, &g))
            return;
        at += g.bytes;
    }
}

void span_str(struct span *s, const char *text)
{
    span_text(s, text, strlen(text));
}

void span_printf(struct span *s, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    span_str(s, text);
}

void span_fill(struct span *s, size_t column)
{
    size_t end = column < s->end ? column : s->end;
    for (; s->column < end; s->column++)
        *surface_cell(s->surface, s->row, s->column) = (struct cell){' ', s->style, 1};
}

void span_right(struct span *s, const char *text, size_t width)
{
    size_t len = glyph_columns(text, strlen(text));
    span_fill(s, s->column + (len < width ? width - len : 0));
    span_str(s, text);
}

/* The first byte `columns` columns after the beginning, or more. */
static size_t byte_at(const char *text, size_t len, size_t columns)
{
    size_t at = 0;
    for (size_t seen = 0; at < len && seen < columns;) {
        struct glyph g = glyph_next(text + at, len - at);
        seen += (size_t)g.columns;
        at += g.bytes;
    }
    return at;
}

static const char GAP[] = "...";
enum { GAP_LEN = 3 };

/* Keeps one part in `head_of_room` of the room for the beginning (0: none), and the rest for the
 * end, with GAP between. Room of three columns or less has no place for a gap: the text is cut.
 *
 *    span_name   std::vector<...>::push_back
 *    span_path   ...src/tui/draw/draw.c */
static void shortened(struct span *s, const char *text, size_t skip, size_t head_of_room)
{
    size_t len = strlen(text), cut = byte_at(text, len, skip);
    text += cut;
    len -= cut;
    size_t columns = glyph_columns(text, len), room = s->end - s->column;
    if (columns <= room || room <= GAP_LEN) {
        span_text(s, text, len);
        return;
    }
    size_t head = head_of_room ? (room - GAP_LEN) / head_of_room : 0;
    size_t tail = room - GAP_LEN - head;
    span_text(s, text, byte_at(text, len, head));
    span_str(s, GAP);
    size_t from = byte_at(text, len, columns - tail);
    span_text(s, text + from, len - from);
}

void span_name(struct span *s, const char *name, size_t skip)
{
    shortened(s, name, skip, 2);
}

void span_path(struct span *s, const char *path, size_t skip)
{
    shortened(s, path, skip, 0);
}

/* Tab stops count from the line's beginning, not from what is in sight, so that scrolling sideways
 * moves all lines alike. */
void span_source(struct span *s, const char *text, size_t len, size_t skip)
{
    enum { TAB = 8 };
    size_t seen = 0;
    for (size_t at = 0; at < len && s->column < s->end;) {
        bool is_tab = text[at] == '\t';
        struct glyph g = is_tab ? (struct glyph){' ', 1, 1} : glyph_next(text + at, len - at);
        size_t repeat = is_tab ? TAB - seen % TAB : 1;
        for (size_t i = 0; i < repeat; i++, seen += (size_t)g.columns)
            if (seen >= skip && !put(s, &g))
                return;
        at += g.bytes;
    }
}

/* --- what there is to zoom into --------------------------------------------------------------- */

/* Shares are of the whole recording, whatever part is shown now: this is where one comes to choose
 * another. */
static void put_row(struct span *at, const struct tui *t, const struct part *p)
{
    static const char *const PARTS[] = {"everything", "program", "process", "thread", "object"};
    const struct summary *s = &t->whole->session.summary;
    uint8_t style = at->style;
    at->style = draw_heat(style, p->kind == PART_ALL ? 0 : summary_share(s, p->samples));
    span_printf(at, "%6.2f ", 100 * summary_share(s, p->samples));
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
static int draw_decimals(const struct summary *s)
{
    return s->rate > 0 ? summary_decimals(s) : 2;
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

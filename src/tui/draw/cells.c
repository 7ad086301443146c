/* Text into cells: what may be shown, and where it ends.
 *
 * A terminal obeys bytes. Names of functions and lines of sources come from files of unknown
 * origin, so each character is judged before it becomes a cell: controls, bytes that are not UTF-8,
 * characters without a column of their own, those that are written from right to left or turn the
 * direction around, and what the locale cannot show are replaced by one '?' each. Then one
 * character is one cell or two, and a row is as long as it looks.
 *
 * A span is a stretch of one row. Drawing into it moves its start on and stops at its end, so no
 * caller counts columns. */
#include "tui/draw/draw.h"

#include "output/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

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

void surface_clear(struct surface *s)
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

void span_text(struct span *s, const char *text, size_t len)
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

/* What text_known() and its like write, as a text. */
static void known_take(struct out *o, char *into, size_t size)
{
    size_t len = o->len < size ? o->len : size - 1;
    memcpy(into, o->at, len);
    into[len] = 0;
    out_deinit(o);
}

void draw_time(const struct summary *s, double samples, double error, char *into, size_t size)
{
    bool has_rate = s->rate > 0;
    error *= s->samples;
    struct out o;
    out_init(&o, -1);
    text_known(&o, has_rate ? summary_time(s, samples) : samples,
               has_rate ? summary_time(s, error) : error, 0, draw_decimals(s));
    known_take(&o, into, size);
}

void draw_share(double share, double error, char *into, size_t size)
{
    struct out o;
    out_init(&o, -1);
    text_known_share(&o, share, error, 0, 2);
    known_take(&o, into, size);
}

void draw_share_change(double change, double error, char mark, char *into, size_t size)
{
    struct out o;
    out_init(&o, -1);
    text_known_change(&o, 100 * change, fmin(100 * error, 3.5), 0, 2, (char[]){mark, 0});
    known_take(&o, into, size);
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

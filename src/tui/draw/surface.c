/* Drawing text into cells. */
#include "tui/draw/surface.h"

#include "base/memory.h"
#include "tui/draw/glyph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* False: there is no room for it. A wide character that does not fit leaves its place blank. */
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

/* The first byte that stands `columns` columns behind the beginning, or more. */
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

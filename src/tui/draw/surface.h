/* Characters that a terminal may be given, and a screen of them in memory.
 *
 *    struct surface    rows x columns cells, row by row
 *    struct span       part of one row, with a style; drawing moves its start on
 *    struct glyph      one character of a text, judged
 *
 * A wide character takes two cells: the first has it and columns 2, the second has character 0 and
 * columns 0. */
#ifndef MONARC_TUI_DRAW_SURFACE_H
#define MONARC_TUI_DRAW_SURFACE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of which nobody knows what they hold, as characters that a terminal may be given.
 *
 * What is no character, what terminals obey (control characters), what has no column of its own
 * (marks that combine with others, joiners) and what changes the order of a row (letters and marks
 * of scripts that are written from right to left) is a question mark, one for each character, or
 * byte of none. So is what the locale cannot show. */

struct glyph {
    uint32_t character;
    int columns;  /* 1 or 2 */
    size_t bytes; /* that it took, at least 1 */
};

/* The next one of `len` bytes, at least one. */
struct glyph glyph_next(const char *text, size_t len);

/* Columns of a text. */
size_t glyph_columns(const char *text, size_t len);

/* A screen of characters in memory: what is drawn on, and what the terminal is given. Nothing but
 * what glyph.h lets through ever gets on it. */

/* How a cell looks. Colours never say what nothing else says.
 *
 *    bit   5         4       3    2 1 0
 *          underline reverse bold colour */
enum style {
    STYLE_PLAIN = 0,
    STYLE_HOT = 1, /* colours, one at a time */
    STYLE_WARM = 2,
    STYLE_MISSED = 3,
    STYLE_HIT = 4,
    STYLE_COLOUR = 7, /* mask of these */
    STYLE_BOLD = 8,
    STYLE_REVERSE = 16,
    STYLE_UNDERLINE = 32
};

struct cell {
    uint32_t character; /* 0: the right half of the one before */
    uint8_t style, columns;
};

struct surface {
    size_t rows, columns;
    struct cell *cells;
};

/* Another size; all blank. What was drawn is gone; the caller draws all of it anew. */
void surface_resize(struct surface *s, size_t rows, size_t columns);
void surface_deinit(struct surface *s);
void surface_clear(struct surface *s);

static inline struct cell *surface_cell(const struct surface *s, size_t row, size_t column)
{
    return &s->cells[row * s->columns + column];
}

/* A stretch of a row: what is drawn beyond it is not drawn. */
struct span {
    struct surface *surface;
    size_t row, column, end;
    uint8_t style;
};

/* All of a row from a column on. An empty span where there is no such row or column: drawing into
 * it does nothing. */
struct span surface_span(struct surface *s, size_t row, size_t column, uint8_t style);

/* Each draws at span->column and moves that on. What does not fit is cut without a sign;
 * span_name() and span_path() leave one. */
void span_text(struct span *s, const char *text, size_t len);
void span_str(struct span *s, const char *text);
void span_printf(struct span *s, const char *format, ...) PRINTF_LIKE(2, 3);

/* Right-aligned in `width` columns. */
void span_right(struct span *s, const char *text, size_t width);

/* Blanks as far as a column. */
void span_fill(struct span *s, size_t column);

/* A name in what is left of the span: first `skip` columns are left out; of a name that is longer
 * than the room, the middle, or, of a path, the beginning. `skip` is in columns. The cut is marked
 * by "...". */
void span_name(struct span *s, const char *name, size_t skip);
void span_path(struct span *s, const char *path, size_t skip);

/* A line of source: tabs go on to the next multiple of eight. */
void span_source(struct span *s, const char *text, size_t len, size_t skip);

#endif

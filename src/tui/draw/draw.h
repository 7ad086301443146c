/* Drawing what struct tui says on a surface. screen.c and tests call draw_screen(); the rest is
 * shared by the files of this room: first the surface, then what views have in common.
 *
 *    row 0         program, part, totals                            view      draw.c
 *    row 1         heads of columns                                           each view
 *    rows 2 ..     rows of the view                                           each view
 *    last row      keys, a message, or a prompt                  position     draw.c
 *
 * Everything is drawn anew for each key; curses sends the terminal only what differs. */
#ifndef MONARC_TUI_DRAW_DRAW_H
#define MONARC_TUI_DRAW_DRAW_H

#include "base/err.h"
#include "tui/model/tui.h"

#include <stddef.h>
#include <stdint.h>

/* ---- Characters that a terminal may be given, and a screen of them in memory.
 *
 *    struct surface    rows x columns cells, row by row
 *    struct span       part of one row, with a style; drawing moves its start on
 *    struct glyph      one character of a text, judged
 *
 * A wide character takes two cells: the first has it and columns 2, the second has character 0 and
 * columns 0. */

/* Bytes from anywhere, as characters that a terminal may be given.
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

/* A screen of characters in memory: what is drawn on, and what the terminal is given. Only
 * what glyph_next() returned ever gets on it. */

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
void surface_clear(struct surface *s);
void surface_deinit(struct surface *s);

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
void span_str(struct span *s, const char *text);
void span_text(struct span *s, const char *text, size_t len);
void span_printf(struct span *s, const char *format, ...) PRINTF_LIKE(2, 3);

/* Right-aligned in `width` columns. */
void span_right(struct span *s, const char *text, size_t width);

/* Blanks as far as a column. */
void span_fill(struct span *s, size_t column);

/* A name in the rest of the span: first `skip` columns are left out; of a name that is longer than
 * the room, the middle, or, of a path, the beginning. `skip` is in columns. The cut is marked by
 * "...". */
void span_name(struct span *s, const char *name, size_t skip);
void span_path(struct span *s, const char *path, size_t skip);

/* A line of source: tabs go on to the next multiple of eight. */
void span_source(struct span *s, const char *text, size_t len, size_t skip);

/* ---- Drawing the screen: a head of two rows, the rows of the view, a line at the bottom. */

/* Where the cursor is to stand; `is_shown`: in a prompt. */
struct cursor_place {
    size_t row, column;
    bool is_shown;
};

/* All of a surface that has the screen's size. */
struct cursor_place draw_screen(struct surface *s, const struct tui *t);

/* One line in place of the last one. */
void draw_foot(struct surface *s, const char *text);

/* --- views, each for its rows and the head of its columns --------------------------------------
 */

enum { DRAW_HEAD_ROW = 1, DRAW_FIRST_ROW = 2 };

void draw_functions(struct surface *s, const struct tui *t);
void draw_calls(struct surface *s, const struct tui *t);
void draw_source(struct surface *s, const struct tui *t);
void draw_files(struct surface *s, const struct tui *t);
void draw_line(struct surface *s, const struct tui *t);

/* Columns of a table that have anything to show, whether they are hidden or not: a bit each. Bits
 * are 1 << enum function_column, source_column or file_column. */
uint32_t draw_functions_columns(const struct tui *t);
uint32_t draw_source_columns(const struct tui *t);
uint32_t draw_files_columns(const struct tui *t);

/* The style of a row of a view, and of a share in it. */
uint8_t draw_row_style(const struct tui *t, size_t row);
uint8_t draw_heat(uint8_t style, double share);

/* Columns of times: digits of the largest. */
size_t draw_time_width(const struct summary *s);

/* Figures without the digits that their errors make unsure, as reports print them, with blanks for
 * those. Samples in the unit of the dimension, or as samples where that is not known; shares in
 * percent. Errors are shares of all samples; 0: all digits are known. */
void draw_time(const struct summary *s, double samples, double error, char *into, size_t size);
void draw_share(double share, double error, char *into, size_t size);
void draw_share_change(double change, double error, char mark, char *into, size_t size);

/* The head of a column of times. */
void draw_time_head(const struct summary *s, const char *what, char *into, size_t size);

/* One line in the middle of a view that has no rows. */
void draw_empty(struct surface *s, const char *text);

/* Columns of figures in front of names: as many as fit. No figure is cut to make room; whole
 * columns are left out, and the head says so. A column is known by its id, a small number of the
 * table's own, and exists where it has something to show; it is drawn if the user has not hidden
 * it. */

enum { MOST_COLUMNS = 12, COLUMN_HEAD = 16 };

struct screen_column {
    char head[COLUMN_HEAD];
    size_t width;
    int rank;         /* the lowest goes first */
    bool is_sorted;   /* rows are in the order of this one */
    bool is_left_out; /* for want of room */
};

struct screen_columns {
    uint32_t hidden; /* by the user, bits by id: filled by the caller before columns are added */
    uint32_t there;  /* that have something to show, hidden or not */
    struct screen_column at[MOST_COLUMNS];
    size_t len;
    size_t left_out;
    uint8_t place[MOST_COLUMNS]; /* by id: place in `at`, from 1; 0: not drawn */
};

/* Adds one with an id below MOST_COLUMNS; `width` is what figures take. The column is as wide as
 * its head at least. */
void columns_add(struct screen_columns *c, int id, const char *head, size_t width, int rank,
                 bool is_sorted);

/* Leaves out what it takes for `least` columns to remain of `room`. Both are in columns of the
 * screen; a blank follows each figure. */
void columns_fit(struct screen_columns *c, size_t room, size_t least);

/* Draws the heads; then, on rows, each figure in turn, also of columns that are not drawn. */
void columns_head(const struct screen_columns *c, struct span *s);

/* After the last head: how many columns have no room. */
void columns_head_end(const struct screen_columns *c, struct span *s);

void columns_put(const struct screen_columns *c, int id, struct span *s, const char *text);

/* Blank where it is not known, which is not the same as 0. */
void columns_put_count(const struct screen_columns *c, int id, struct span *s, bool is_known,
                       uint64_t count);

#endif

/* Drawing what struct tui says on a surface. screen.c and tests call draw_screen(); the rest is
 * shared by the files of this room.
 *
 *    row 0         program, part, totals                            view      draw.c
 *    row 1         heads of columns                                           each view
 *    rows 2 ..     rows of the view                                           each view
 *    last row      keys, a message, or a prompt                  position     draw.c
 *
 * Everything is drawn anew for each key; curses sends the terminal only what differs. */
#ifndef MONARC_TUI_DRAW_DRAW_H
#define MONARC_TUI_DRAW_DRAW_H

#include "tui/draw/surface.h"
#include "tui/model/tui.h"

/* Drawing the screen: a head of two rows, the rows of the view, a line at the bottom. */

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
void draw_parts(struct surface *s, const struct tui *t);
void draw_columns(struct surface *s, const struct tui *t);
void draw_line(struct surface *s, const struct tui *t);
void draw_page(struct surface *s, const struct tui *t);

/* Columns of a table that have anything to show, whether they are hidden or not: a bit each. Bits
 * are 1 << enum function_column, source_column or file_column. */
uint32_t draw_functions_columns(const struct tui *t);
uint32_t draw_source_columns(const struct tui *t);
uint32_t draw_files_columns(const struct tui *t);

/* The style of a row of a view, and of a share in it. */
uint8_t draw_row_style(const struct tui *t, size_t row);
uint8_t draw_heat(uint8_t style, double share);

/* Columns of times: decimals that tell two samples apart, and digits of the largest. */
int draw_decimals(const struct summary *s);
size_t draw_time_width(const struct summary *s);

/* Samples in the unit of the dimension, or as samples where that is not known. */
void draw_time(const struct summary *s, double samples, char *into, size_t size);

/* The head of a column of times. */
void draw_time_head(const struct summary *s, const char *what, char *into, size_t size);

/* One line in the middle of a view that has no rows. */
void draw_empty(struct surface *s, const char *text);

/* Columns of figures in front of names: as many as fit. No figure is cut to make room; whole
 * columns are left out, and the head says so. */

enum { MOST_COLUMNS = 12, COLUMN_HEAD = 16 };

struct screen_column {
    char head[COLUMN_HEAD];
    size_t width;
    int rank;         /* the lowest goes first */
    bool is_sorted;   /* rows are in the order of this one */
    bool is_left_out; /* for want of room */
};

struct screen_columns {
    struct screen_column at[MOST_COLUMNS];
    size_t len;
    size_t left_out;
};

/* Adds one; `width` is what figures take. The column is as wide as its head at least. Of at most
 * MOST_COLUMNS. */
void columns_add(struct screen_columns *c, const char *head, size_t width, int rank,
                 bool is_sorted);

/* Leaves out what it takes for `least` columns to remain of `room`. Both are in columns of the
 * screen; each figure has a blank behind it. */
void columns_fit(struct screen_columns *c, size_t room, size_t least);

/* Draws the heads; then, on rows, each figure in turn, also of columns that are left out. */
void columns_head(const struct screen_columns *c, struct span *s);
void columns_put(const struct screen_columns *c, size_t which, struct span *s, const char *text);

#endif

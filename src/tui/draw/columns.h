/* Columns of figures in front of names: as many as fit. No figure is cut to make room; whole
 * columns are left out, and the head says so. */
#ifndef MONARC_TUI_DRAW_COLUMNS_H
#define MONARC_TUI_DRAW_COLUMNS_H

#include "tui/draw/surface.h"

enum { MOST_COLUMNS = 12, COLUMN_HEAD = 16 };

struct column {
    char head[COLUMN_HEAD];
    size_t width;
    int rank;         /* the lowest goes first */
    bool is_sorted;   /* rows are in the order of this one */
    bool is_left_out; /* for want of room */
};

struct columns {
    struct column at[MOST_COLUMNS];
    size_t len;
    size_t left_out;
};

/* Adds one; `width` is what figures take. */
void columns_add(struct columns *c, const char *head, size_t width, int rank, bool is_sorted);

/* Leaves out what it takes for `least` columns to remain of `room`. */
void columns_fit(struct columns *c, size_t room, size_t least);

/* Draws the heads; then, on rows, each figure in turn, also of columns that are left out. */
void columns_head(const struct columns *c, struct span *s);
void columns_put(const struct columns *c, size_t which, struct span *s, const char *text);

#endif

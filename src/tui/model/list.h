/* Where one is in a list of rows: which is selected, and which stands at the top of the screen. */
#ifndef MONARC_TUI_MODEL_LIST_H
#define MONARC_TUI_MODEL_LIST_H

#include <stddef.h>

struct list {
    size_t len, selected, top;
    size_t height; /* rows that the screen has for it; at least 1 */
};

/* Another number of rows, or another height: the selection stays where it can, and in sight. */
void list_resize(struct list *l, size_t len, size_t height);

/* To a row, or as near as there are rows; into sight, with as little scrolling as it takes. */
void list_select(struct list *l, size_t row);
void list_move(struct list *l, ptrdiff_t by);

/* To a row in the middle of the screen. */
void list_centre(struct list *l, size_t row);

#endif

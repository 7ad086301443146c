/* Selecting and scrolling. */
#include "tui/model/list.h"

static void show(struct list *l)
{
    size_t last_top = l->len > l->height ? l->len - l->height : 0;
    if (l->selected < l->top)
        l->top = l->selected;
    if (l->selected >= l->top + l->height)
        l->top = l->selected - l->height + 1;
    if (l->top > last_top)
        l->top = last_top;
}

void list_resize(struct list *l, size_t len, size_t height)
{
    l->len = len;
    l->height = height ? height : 1;
    list_select(l, l->selected);
}

void list_select(struct list *l, size_t row)
{
    l->selected = row < l->len ? row : l->len ? l->len - 1 : 0;
    show(l);
}

void list_move(struct list *l, ptrdiff_t by)
{
    if (by < 0)
        list_select(l, l->selected > (size_t)-by ? l->selected - (size_t)-by : 0);
    else
        list_select(l, l->selected + (size_t)by);
}

void list_centre(struct list *l, size_t row)
{
    list_select(l, row);
    l->top = l->selected > l->height / 2 ? l->selected - l->height / 2 : 0;
    show(l);
}

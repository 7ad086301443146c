/* Fitting columns. */
#include "tui/draw/columns.h"

#include <stdio.h>
#include <string.h>

void columns_add(struct columns *c, const char *head, size_t width, int rank, bool is_sorted)
{
    struct column *at = &c->at[c->len++];
    *at = (struct column){.rank = rank, .is_sorted = is_sorted};
    snprintf(at->head, sizeof at->head, "%s", head);
    at->width = strlen(at->head) > width ? strlen(at->head) : width;
}

static size_t used(const struct columns *c)
{
    size_t sum = 0;
    for (size_t i = 0; i < c->len; i++)
        sum += c->at[i].is_left_out ? 0 : c->at[i].width + 1;
    return sum;
}

void columns_fit(struct columns *c, size_t room, size_t least)
{
    while (c->left_out < c->len && used(c) + least > room) {
        struct column *lowest = NULL;
        for (size_t i = 0; i < c->len; i++)
            if (!c->at[i].is_left_out && (!lowest || c->at[i].rank < lowest->rank))
                lowest = &c->at[i];
        lowest->is_left_out = true;
        c->left_out++;
    }
}

void columns_head(const struct columns *c, struct span *s)
{
    uint8_t style = s->style;
    for (size_t i = 0; i < c->len; i++) {
        if (c->at[i].is_left_out)
            continue;
        s->style = style | (c->at[i].is_sorted ? STYLE_REVERSE : 0);
        span_right(s, c->at[i].head, c->at[i].width);
        s->style = style;
        span_str(s, " ");
    }
}

void columns_put(const struct columns *c, size_t which, struct span *s, const char *text)
{
    if (c->at[which].is_left_out)
        return;
    span_right(s, text, c->at[which].width);
    span_str(s, " ");
}

/* Everything about one line of a source. */
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Columns that a row is indented by: what belongs to what. */
static const char *line_indent(enum detail_kind kind)
{
    static const char *const INDENTS[] = {
        [DETAIL_TEXT] = "", [DETAIL_COPY] = "", [DETAIL_PLACE] = "  ", [DETAIL_CODE] = "    "};
    return INDENTS[kind];
}

static void line_put_share(struct span *at, const struct summary *s, const struct detail *d)
{
    char text[32] = "";
    uint8_t style = at->style;
    double share = s && d->self > 0 ? summary_share(s, d->self) : 0;
    if (share > 0)
        snprintf(text, sizeof text, "%.2f", 100 * share);
    at->style = draw_heat(style, share);
    span_right(at, text, 6);
    at->style = style;
    span_str(at, " ");
}

static void line_put_row(struct span *at, const struct tui *t, const struct detail *d)
{
    if (t->now)
        line_put_share(at, &t->now->session.summary, d);
    at->style |= d->kind == DETAIL_COPY ? STYLE_BOLD : 0;
    span_str(at, line_indent(d->kind));
    span_source(at, d->text, strlen(d->text), t->shift);
    span_fill(at, at->end);
}

void draw_line(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_LINE];
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    if (t->now)
        span_printf(&at, "%6s ", "self%");
    span_printf(&at, "line %" PRIu32 " of ", t->line.line);
    span_path(&at, t->source.source->shown, 0);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        line_put_row(&at, t, &t->line.rows.at[i]);
    }
}

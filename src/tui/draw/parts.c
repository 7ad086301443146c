/* What one can zoom into; columns to choose; pages of text. */
#include "base/path.h"
#include "tui/draw/draw.h"

#include <inttypes.h>

static void put_row(struct span *at, const struct tui *t, const struct part *p)
{
    static const char *const KINDS[] = {"everything", "program", "process", "thread", "object"};
    const struct summary *s = &t->whole->session.summary;
    uint8_t style = at->style;
    at->style = draw_heat(style, p->kind == PART_ALL ? 0 : summary_share(s, p->samples));
    span_printf(at, "%6.2f ", 100 * summary_share(s, p->samples));
    at->style = style;
    span_printf(at, "%-8s ", p->kind == PART_ALL ? "" : KINDS[p->kind]);
    if (p->kind == PART_PROCESS)
        span_printf(at, "%8" PRIu32 " ", p->pid);
    else if (p->kind == PART_THREAD && p->tid)
        span_printf(at, "%8" PRIu32 " ", p->tid);
    else
        span_str(at, "         ");
    span_path(at, p->kind == PART_ALL ? KINDS[PART_ALL] : p->name, t->shift);
    if (p->kind == PART_THREAD)
        span_printf(at, " of process %" PRIu32, p->pid);
    span_fill(at, at->end);
}

void draw_parts(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_PARTS];
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_printf(&at, "%6s %-8s %8s name", "self%", "part", "number");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        put_row(&at, t, &t->parts.all.at[i]);
    }
}

void draw_columns(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_COLUMNS];
    uint32_t there = t->columns_of == VIEW_FUNCTIONS ? draw_functions_columns(t)
                     : t->columns_of == VIEW_SOURCE  ? draw_source_columns(t)
                                                     : draw_files_columns(t);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_str(&at, "Columns that are shown where there is room");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        bool is_shown = !(t->hidden[t->columns_of] >> i & 1);
        span_printf(&at, " [%c] %s%s", is_shown ? 'x' : ' ',
                    tui_columns_of(t->columns_of)->names[i],
                    there >> i & 1 ? "" : " (not measured)");
        span_fill(&at, at.end);
    }
}

void draw_page(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[t->view];
    const struct page_text *page = t->view == VIEW_HELP ? &t->help : &t->notes;
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    span_str(&at, t->view == VIEW_HELP ? "Keys" : "What was measured");
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 1, STYLE_PLAIN);
        span_str(&at, page->lines.at[i]);
    }
}

/* The table of source files. */
#include "output/text.h"
#include "tui/draw/columns.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <stdio.h>

struct file_layout {
    const struct tui *tui;
    uint32_t there; /* columns that have anything to show */
    struct columns columns;
    int at[FILE_COLUMNS]; /* from 1; 0: not there */
};

static void layout_add(struct file_layout *l, int which, const char *head, size_t width, int rank,
                       enum file_sort sort)
{
    l->there |= UINT32_C(1) << which;
    if (l->tui->hidden[VIEW_FILES] >> which & 1)
        return;
    columns_add(&l->columns, head, width, rank, l->tui->files.sort == sort);
    l->at[which] = (int)l->columns.len;
}

static void layout_make(struct file_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 30, SHARE = 6 };
    *l = (struct file_layout){.tui = t};
    if (t->has_time_in_sources && t->now->session.summary.has_samples)
        layout_add(l, FILE_SELF_SHARE, "self%", SHARE, 100, SORT_FILES_SELF);
    if (t->has_coverage) {
        const struct coverage_ratios *s = &t->covered.result.sums;
        size_t digits = (size_t)text_digits(s->lines.all);
        layout_add(l, FILE_LINES, "lines%", SHARE, 90, SORT_FILES_PERCENT);
        if (t->has_old_coverage)
            layout_add(l, FILE_BASE, "base%", SHARE, 85, SORT_FILES);
        layout_add(l, FILE_MISSED, "missed", digits, 80, SORT_FILES_MISSED);
        layout_add(l, FILE_OF, "of", digits, 60, SORT_FILES);
        if (s->branches.all)
            layout_add(l, FILE_BRANCHES, "branch%", SHARE, 70, SORT_FILES);
        layout_add(l, FILE_FUNCTIONS, "func%", SHARE, 50, SORT_FILES);
    }
    columns_fit(&l->columns, room, LEAST_NAME);
}

uint32_t draw_files_columns(const struct tui *t)
{
    struct file_layout l;
    layout_make(&l, t, 0);
    return l.there;
}

static void put_figure(const struct file_layout *l, int which, struct span *at, const char *text)
{
    if (l->at[which])
        columns_put(&l->columns, (size_t)l->at[which] - 1, at, text);
}

/* Blank where there is nothing to have a share of; `?` where nothing of it is known. */
static void put_ratio(const struct file_layout *l, int which, struct span *at,
                      const struct coverage_ratio *r)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (r && r->all)
        snprintf(text, sizeof text, "%.2f", ratio_percent(r));
    else if (r && r->unknown)
        snprintf(text, sizeof text, "?");
    if (which == FILE_LINES && r && r->all && r->hit < r->all / 2)
        at->style |= STYLE_MISSED;
    put_figure(l, which, at, text);
    at->style = style;
}

static void put_number(const struct file_layout *l, int which, struct span *at, bool is_known,
                       uint64_t number)
{
    char text[32] = "";
    if (is_known)
        snprintf(text, sizeof text, "%" PRIu64, number);
    put_figure(l, which, at, text);
}

static void put_row(const struct file_layout *l, struct span *at, size_t row)
{
    const struct tui *t = l->tui;
    const struct measured_source *source = files_table_row(&t->files, row);
    const struct coverage_ratios *c = files_table_sums(&t->files, row);
    const struct coverage_ratios *old = files_table_old_sums(&t->files, row);
    uint8_t style = at->style;
    if (l->at[FILE_SELF_SHARE]) {
        char text[32] = "";
        double share = summary_share(&t->now->session.summary, source->self);
        if (source->first_listed != UINT32_MAX)
            snprintf(text, sizeof text, "%.2f", 100 * share);
        at->style = draw_heat(style, share);
        put_figure(l, FILE_SELF_SHARE, at, text);
        at->style = style;
    }
    put_ratio(l, FILE_LINES, at, c ? &c->lines : NULL);
    put_ratio(l, FILE_BASE, at, old ? &old->lines : NULL);
    put_number(l, FILE_MISSED, at, c, c ? c->lines.all - c->lines.hit : 0);
    put_number(l, FILE_OF, at, c, c ? c->lines.all : 0);
    put_ratio(l, FILE_BRANCHES, at, c ? &c->branches : NULL);
    put_ratio(l, FILE_FUNCTIONS, at, c ? &c->functions : NULL);
    span_path(at, source->shown, t->shift);
    span_fill(at, at->end);
}

void draw_files(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_FILES];
    struct file_layout l;
    layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    at.style |= t->files.sort == SORT_FILES_NAME ? STYLE_REVERSE : 0;
    span_str(&at, "source");
    at.style = STYLE_UNDERLINE;
    if (l.columns.left_out)
        span_printf(&at, " (+%zu columns if wider)", l.columns.left_out);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        put_row(&l, &at, i);
    }
    if (!list->len)
        draw_empty(s, t->files.hidden ? "No source passes the filter; f and an empty line show all."
                                      : "There is no source.");
}

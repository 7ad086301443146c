/* The table of functions. */
#include "output/text.h"
#include "tui/draw/columns.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct function_layout {
    const struct functions_table *table;
    uint32_t hidden, there;        /* columns that were hidden; those that have anything to show */
    const struct summary *summary; /* NULL: coverage alone */
    struct columns columns;
    int at[FUNCTION_COLUMNS]; /* place in `columns`, from 1; 0: there is no such column */
};

static void functions_layout_add(struct function_layout *l, int which, const char *head,
                                 size_t width, int rank, enum function_sort sort)
{
    l->there |= UINT32_C(1) << which;
    if (l->hidden >> which & 1)
        return;
    columns_add(&l->columns, head, width, rank, l->table->sort == sort);
    l->at[which] = (int)l->columns.len;
}

static void functions_layout_profile(struct function_layout *l)
{
    const struct summary *s = l->summary;
    enum { SHARE = 6 };
    char self[16], total[16];
    draw_time_head(s, "self", self, sizeof self);
    draw_time_head(s, "total", total, sizeof total);
    if (s->has_samples) {
        functions_layout_add(l, FUNCTION_SELF_SHARE, "self%", SHARE, 100, SORT_FUNCTIONS_SELF);
        functions_layout_add(l, FUNCTION_MARGIN, "+-", SHARE - 1, 10, SORT_FUNCTIONS);
    }
    if (l->table->in.base && s->has_samples) {
        functions_layout_add(l, FUNCTION_OLD_SHARE, "base%", SHARE, 90, SORT_FUNCTIONS);
        functions_layout_add(l, FUNCTION_CHANGE, "change", SHARE + 2, 95, SORT_FUNCTIONS_CHANGE);
    }
    if (s->has_samples) {
        functions_layout_add(l, FUNCTION_SELF, self, draw_time_width(s), 40, SORT_FUNCTIONS);
        functions_layout_add(l, FUNCTION_TOTAL_SHARE, "total%", SHARE, 80, SORT_FUNCTIONS_TOTAL);
        functions_layout_add(l, FUNCTION_TOTAL, total, draw_time_width(s), 30, SORT_FUNCTIONS);
    }
    if (s->calls)
        functions_layout_add(l, FUNCTION_CALLS, "calls", (size_t)text_digits(s->calls), 70,
                             SORT_FUNCTIONS_CALLS);
}

static size_t functions_most_runs(const struct functions_table *t)
{
    uint64_t most = 0;
    for (size_t i = 0; i < t->in.coverage->functions.len; i++)
        if (t->in.coverage->functions.at[i].count > most)
            most = t->in.coverage->functions.at[i].count;
    return (size_t)text_digits(most);
}

static void functions_layout_make(struct function_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 24 };
    *l = (struct function_layout){.table = &t->functions,
                                  .hidden = t->hidden[VIEW_FUNCTIONS],
                                  .summary = t->now ? &t->now->session.summary : NULL};
    if (l->summary)
        functions_layout_profile(l);
    if (t->functions.in.coverage)
        functions_layout_add(l, FUNCTION_RUNS, "runs", functions_most_runs(&t->functions), 75,
                             SORT_FUNCTIONS_RUNS);
    columns_fit(&l->columns, room, LEAST_NAME);
}

/* --- rows ------------------------------------------------------------------------------------ */

uint32_t draw_functions_columns(const struct tui *t)
{
    struct function_layout l;
    functions_layout_make(&l, t, 0);
    return l.there;
}

static void functions_put_figure(const struct function_layout *l, int which, struct span *at,
                                 const char *text)
{
    if (l->at[which])
        columns_put(&l->columns, (size_t)l->at[which] - 1, at, text);
}

static void functions_put_share(const struct function_layout *l, int which, struct span *at,
                                double share, bool is_known, const char *format)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (is_known)
        snprintf(text, sizeof text, format, 100 * share);
    if (which == FUNCTION_SELF_SHARE)
        at->style = draw_heat(style, share);
    functions_put_figure(l, which, at, text);
    at->style = style;
}

/* A star marks what chance does not explain. */
static void functions_put_change(const struct function_layout *l, struct span *at,
                                 const struct function_row *r)
{
    bool is_meant = function_row_is_meant(l->table, r);
    double change = function_row_share(l->table, r) - function_row_old_share(l->table, r);
    uint8_t style = at->style;
    at->style |= is_meant ? STYLE_BOLD : 0;
    functions_put_share(l, FUNCTION_CHANGE, at, change, r->flat || r->old,
                        is_meant ? "%+.2f*" : "%+.2f ");
    at->style = style;
}

static void functions_put_time(const struct function_layout *l, int which, struct span *at,
                               double samples, bool is_known)
{
    char text[32] = "";
    if (is_known)
        draw_time(l->summary, samples, text, sizeof text);
    functions_put_figure(l, which, at, text);
}

static void functions_put_calls(const struct function_layout *l, struct span *at,
                                const struct flat_row *f)
{
    char text[32] = "";
    if (f && f->calls)
        snprintf(text, sizeof text, "%" PRIu64, f->calls);
    functions_put_figure(l, FUNCTION_CALLS, at, text);
}

static void functions_put_runs(const struct function_layout *l, struct span *at, uint32_t covered)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (covered != UINT32_MAX) {
        const struct result_function *f = &l->table->in.coverage->functions.at[covered];
        if (f->state == RESULT_UNKNOWN)
            snprintf(text, sizeof text, "?");
        else
            snprintf(text, sizeof text, "%" PRIu64, f->count);
        if (f->state == RESULT_MISSED)
            at->style |= STYLE_MISSED | STYLE_BOLD;
    }
    functions_put_figure(l, FUNCTION_RUNS, at, text);
    at->style = style;
}

static void functions_put_row(const struct function_layout *l, struct span *at,
                              const struct function_row *r, size_t shift)
{
    const struct functions_table *t = l->table;
    const struct flat_row *f = r->flat;
    double share = l->summary ? function_row_share(t, r) : 0;
    if (l->summary) {
        double old = function_row_old_share(t, r);
        functions_put_share(l, FUNCTION_SELF_SHARE, at, share, f, "%.2f");
        functions_put_share(l, FUNCTION_MARGIN, at,
                            f ? (f->interval.high - f->interval.low) / 2 : 0, f, "%.2f");
        functions_put_share(l, FUNCTION_OLD_SHARE, at, old, r->old, "%.2f");
        functions_put_change(l, at, r);
        functions_put_time(l, FUNCTION_SELF, at, f ? f->self : 0, f);
        functions_put_share(l, FUNCTION_TOTAL_SHARE, at,
                            f ? summary_share(l->summary, f->total) : 0, f, "%.2f");
        functions_put_time(l, FUNCTION_TOTAL, at, f ? f->total : 0, f);
        functions_put_calls(l, at, f);
    }
    functions_put_runs(l, at, r->covered);
    const char *change = function_row_change(t, r);
    if (change)
        span_printf(at, "%-4s ", change);
    const char *object = function_row_object(t, r);
    size_t end = at->end, label = object ? strlen(object) + 3 : 0;
    if (label && at->end - at->column > 2 * label)
        at->end -= label;
    span_name(at, function_row_name(t, r), shift);
    if (at->end != end || !label) {
        at->end = end;
        if (object)
            span_printf(at, " (%s)", object);
    }
    span_fill(at, end);
}

void draw_functions(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_FUNCTIONS];
    struct function_layout l;
    functions_layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    at.style |= l.table->sort == SORT_FUNCTIONS_NAME ? STYLE_REVERSE : 0;
    span_str(&at, "function");
    at.style = STYLE_UNDERLINE;
    if (l.columns.left_out)
        span_printf(&at, " (+%zu columns if wider)", l.columns.left_out);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        functions_put_row(&l, &at, &t->functions.rows.at[i], t->shift);
    }
    if (!list->len)
        draw_empty(s, t->functions.hidden ? "No function passes the filter; f and an empty line "
                                            "show all."
                                          : "Nothing was measured in any function.");
}

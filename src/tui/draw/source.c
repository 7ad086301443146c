/* A source file with its figures in front of each line. */
#include "output/text.h"
#include "tui/draw/columns.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <stdio.h>

struct source_layout {
    const struct tui *tui;
    const struct source_table *table;
    const struct summary *summary; /* NULL: no profile */
    struct columns columns;
    uint32_t there;         /* columns that have anything to show */
    int at[SOURCE_COLUMNS]; /* from 1; 0: not there */
};

static void source_layout_add(struct source_layout *l, int which, const char *head, size_t width,
                              int rank)
{
    l->there |= UINT32_C(1) << which;
    if (l->tui->hidden[VIEW_SOURCE] >> which & 1)
        return;
    columns_add(&l->columns, head, width, rank, false);
    l->at[which] = (int)l->columns.len;
}

static void source_layout_make(struct source_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_TEXT = 48, SHARE = 6, BRANCHES = 6, CONDITIONS = 5, NEVER = 5, SINCE = 6 };
    const struct source_table *table = &t->source;
    *l = (struct source_layout){.tui = t, .table = table};
    l->summary =
        t->now && table->source->first_listed != UINT32_MAX ? &t->now->session.summary : NULL;
    if (l->summary && l->summary->has_samples)
        source_layout_add(l, SOURCE_SHARE, "self%", SHARE, 90);
    if (l->summary && table->has_base) {
        source_layout_add(l, SOURCE_OLD_SHARE, "base%", SHARE, 84);
        source_layout_add(l, SOURCE_CHANGE, "change", SHARE + 2, 86);
    }
    if (l->summary && table->most_calls)
        source_layout_add(l, SOURCE_CALLS, "calls", (size_t)text_digits(table->most_calls), 60);
    if (l->summary && table->most_executions)
        source_layout_add(l, SOURCE_COUNT, "count", (size_t)text_digits(table->most_executions),
                          50);
    if (table->source->coverage != UINT32_MAX) {
        size_t digits = (size_t)text_digits(table->most_covered);
        source_layout_add(l, SOURCE_COVERED, "ran", digits > NEVER ? digits : NEVER, 80);
    }
    if (table->has_since)
        source_layout_add(l, SOURCE_SINCE, "since", SINCE, 75);
    if (table->has_branches)
        source_layout_add(l, SOURCE_BRANCHES, "branch", BRANCHES, 70);
    if (table->has_conditions)
        source_layout_add(l, SOURCE_CONDITIONS, "cond", CONDITIONS, 65);
    source_layout_add(l, SOURCE_LINE, "line", (size_t)text_digits(table->lines.len), 100);
    columns_fit(&l->columns, room, LEAST_TEXT);
}

uint32_t draw_source_columns(const struct tui *t)
{
    struct source_layout l;
    source_layout_make(&l, t, 0);
    return l.there;
}

static void source_put_figure(const struct source_layout *l, int which, struct span *at,
                              const char *text)
{
    if (l->at[which])
        columns_put(&l->columns, (size_t)l->at[which] - 1, at, text);
}

static void source_put_share(const struct source_layout *l, struct span *at,
                             const struct source_figures *f)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (l->summary && f->self > 0) {
        double share = summary_share(l->summary, f->self);
        snprintf(text, sizeof text, "%.2f", 100 * share);
        at->style = draw_heat(style, share);
    }
    source_put_figure(l, SOURCE_SHARE, at, text);
    at->style = style;
}

/* A star marks what chance does not explain. */
static void source_put_change(const struct source_layout *l, struct span *at,
                              const struct source_figures *f)
{
    char base[32] = "", change[32] = "";
    uint8_t style = at->style;
    bool is_any = f->has_base && (f->self > 0 || f->base > 0);
    if (is_any) {
        double share = summary_share(l->summary, f->self);
        snprintf(base, sizeof base, "%.2f", 100 * f->base);
        snprintf(change, sizeof change, "%+.2f%c", 100 * (share - f->base),
                 f->is_meant ? '*' : ' ');
    }
    source_put_figure(l, SOURCE_OLD_SHARE, at, base);
    at->style |= f->is_meant ? STYLE_BOLD : 0;
    source_put_figure(l, SOURCE_CHANGE, at, change);
    at->style = style;
}

static void source_put_since(const struct source_layout *l, struct span *at,
                             const struct source_figures *f)
{
    static const char *const WORDS[] = {
        [SINCE_NOTHING] = "", [SINCE_LOST] = "lost", [SINCE_GAINED] = "gained"};
    uint8_t style = at->style;
    at->style |= f->since == SINCE_LOST     ? STYLE_MISSED | STYLE_BOLD
                 : f->since == SINCE_GAINED ? STYLE_HIT
                                            : 0;
    source_put_figure(l, SOURCE_SINCE, at, WORDS[f->since]);
    at->style = style;
}

static void source_put_number(const struct source_layout *l, int which, struct span *at,
                              bool is_known, uint64_t number)
{
    char text[32] = "";
    if (is_known)
        snprintf(text, sizeof text, "%" PRIu64, number);
    source_put_figure(l, which, at, text);
}

/* `hit` of `all`; nothing of none. */
static void source_put_ratio(const struct source_layout *l, int which, struct span *at,
                             uint32_t hit, uint32_t all)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (all)
        snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, hit, all);
    if (hit < all)
        at->style |= STYLE_WARM;
    source_put_figure(l, which, at, text);
    at->style = style;
}

/* As gcov marks them: ##### never ran; ? is not known. */
static void source_put_coverage(const struct source_layout *l, struct span *at,
                                const struct source_figures *f)
{
    char text[32] = "";
    uint32_t all, hit;
    uint8_t style = at->style;
    if (f->covered && f->covered->state == RESULT_MISSED) {
        snprintf(text, sizeof text, "#####");
        at->style |= STYLE_MISSED | STYLE_BOLD;
    } else if (f->covered && f->covered->state == RESULT_UNKNOWN) {
        snprintf(text, sizeof text, "?");
    } else if (f->covered) {
        snprintf(text, sizeof text, "%" PRIu64, f->covered->count);
        at->style |= STYLE_HIT;
    }
    source_put_figure(l, SOURCE_COVERED, at, text);
    at->style = style;
    source_put_since(l, at, f);
    source_branches(l->table, f, &all, &hit);
    source_put_ratio(l, SOURCE_BRANCHES, at, hit, all);
    source_conditions(l->table, f, &all, &hit);
    source_put_ratio(l, SOURCE_CONDITIONS, at, hit, all);
}

static void source_put_row(const struct source_layout *l, struct span *at, size_t row)
{
    const struct source_figures *f = &l->table->lines.at[row];
    struct bytes text = source_line(&l->table->text, row + 1);
    source_put_share(l, at, f);
    source_put_change(l, at, f);
    source_put_number(l, SOURCE_CALLS, at, f->has_entry && f->calls, f->calls);
    source_put_number(l, SOURCE_COUNT, at, f->has_count, f->executions);
    source_put_coverage(l, at, f);
    source_put_number(l, SOURCE_LINE, at, true, row + 1);
    if (text.at)
        span_source(at, (const char *)text.at, text.len, l->tui->shift);
    span_fill(at, at->end);
}

void draw_source(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_SOURCE];
    struct source_layout l;
    source_layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    if (l.columns.left_out)
        span_printf(&at, "(+%zu columns if wider) ", l.columns.left_out);
    if (t->source.was_changed)
        span_str(&at, "CHANGED since it was measured: ");
    if (*t->source.missing)
        span_str(&at, "NO TEXT: ");
    span_path(&at, t->source.source->shown, 0);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        source_put_row(&l, &at, i);
    }
    if (!list->len)
        draw_empty(s, *t->source.missing ? t->source.missing : "The file is empty.");
}

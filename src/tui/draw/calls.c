/* One function between its callers and its callees. */
#include "output/text.h"
#include "tui/draw/columns.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <stdio.h>

enum { CALL_TOTAL_SHARE, CALL_SELF, CALL_CHILDREN, CALL_COUNT, CALL_OF };

struct call_layout {
    const struct tui *tui;
    const struct summary *summary;
    struct columns columns;
    bool has_time, has_calls;
};

static void layout_make(struct call_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 20, SHARE = 6 };
    const struct summary *s = &t->now->session.summary;
    char self[16], children[16];
    *l = (struct call_layout){
        .tui = t, .summary = s, .has_time = s->has_samples, .has_calls = s->calls > 0};
    size_t digits = (size_t)text_digits(s->calls);
    draw_time_head(s, "self", self, sizeof self);
    draw_time_head(s, "callees", children, sizeof children);
    if (l->has_time) {
        columns_add(&l->columns, "total%", SHARE, 90, false);
        columns_add(&l->columns, self, draw_time_width(s), 70, false);
        columns_add(&l->columns, children, draw_time_width(s), 60, false);
    }
    if (l->has_calls) {
        columns_add(&l->columns, "calls", digits, 80, false);
        columns_add(&l->columns, "of", digits, 50, false);
    }
    columns_fit(&l->columns, room, LEAST_NAME);
}

/* Figures of a row in the order of the columns; NULL texts are blank. */
static void put_figures(const struct call_layout *l, struct span *at, const char *texts[5],
                        double share)
{
    size_t column = 0;
    uint8_t style = at->style;
    for (int i = 0; i < 5; i++) {
        if (i <= CALL_CHILDREN ? !l->has_time : !l->has_calls)
            continue;
        at->style = i == CALL_TOTAL_SHARE ? draw_heat(style, share) : style;
        columns_put(&l->columns, column++, at, texts[i] ? texts[i] : "");
        at->style = style;
    }
}

static void put_name(const struct call_layout *l, struct span *at, uint32_t node,
                     const struct entry_line *line)
{
    const struct graph *g = &l->tui->now->session.graph;
    char room[64], cycle[32] = "";
    if (line && line->kind == LINE_SPONTANEOUS) {
        span_str(at, "<spontaneous>");
        return;
    }
    if (node != NO_NODE && !graph_is_cycle(g, node) && g->nodes[node].cycle)
        snprintf(cycle, sizeof cycle, " <cycle %" PRIu32 ">", g->nodes[node].cycle);
    size_t end = at->end, len = strlen(cycle);
    if (end - at->column > 2 * len)
        at->end -= len;
    span_name(at, calls_name(l->tui->now, node, room, sizeof room), l->tui->shift);
    at->end = end;
    span_str(at, cycle);
}

static void put_line(const struct call_layout *l, struct span *at, const struct entry_line *line)
{
    char share[16], self[32], children[32], calls[32], of[32];
    const char *texts[5] = {0};
    double part = summary_share(l->summary, line->self + line->children);
    if (line->kind != LINE_INTERNAL) {
        snprintf(share, sizeof share, "%.2f", 100 * part);
        draw_time(l->summary, line->self, self, sizeof self);
        draw_time(l->summary, line->children, children, sizeof children);
        texts[CALL_TOTAL_SHARE] = share;
        texts[CALL_SELF] = self;
        texts[CALL_CHILDREN] = children;
    }
    if (line->is_static) {
        texts[CALL_COUNT] = "static";
    } else if (line->kind != LINE_SPONTANEOUS && !line->is_seen) {
        snprintf(calls, sizeof calls, "%" PRIu64, line->calls);
        snprintf(of, sizeof of, "%" PRIu64, line->of);
        texts[CALL_COUNT] = calls;
        texts[CALL_OF] = line->kind == LINE_ARC || line->kind == LINE_UNKNOWN ? of : NULL;
    }
    put_figures(l, at, texts, line->kind == LINE_INTERNAL ? 0 : part);
    span_str(at, "    ");
    put_name(l, at, line->node, line);
}

static void put_middle(const struct call_layout *l, struct span *at, const struct entry *e)
{
    char share[16], self[32], children[32], calls[64];
    const char *texts[5] = {0};
    double part = summary_share(l->summary, e->self + e->children);
    snprintf(share, sizeof share, "%.2f", 100 * part);
    draw_time(l->summary, e->self, self, sizeof self);
    draw_time(l->summary, e->children, children, sizeof children);
    snprintf(calls, sizeof calls, "%" PRIu64, e->calls);
    texts[CALL_TOTAL_SHARE] = share;
    texts[CALL_SELF] = self;
    texts[CALL_CHILDREN] = children;
    texts[CALL_COUNT] = e->calls || e->recursive_calls ? calls : NULL;
    at->style |= STYLE_BOLD;
    put_figures(l, at, texts, part);
    put_name(l, at, e->node, NULL);
    if (e->recursive_calls)
        span_printf(at, " (+%" PRIu64 " recursive)", e->recursive_calls);
}

void draw_calls(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_CALLS];
    struct call_layout l;
    layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    span_printf(&at, "function (callers %zu, callees %zu)", t->calls.middle,
                t->calls.len - t->calls.middle - 1);
    if (l.columns.left_out)
        span_printf(&at, " (+%zu columns if wider)", l.columns.left_out);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        const struct entry_line *line = calls_table_line(&t->calls, i);
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        if (line)
            put_line(&l, &at, line);
        else
            put_middle(&l, &at, &t->calls.entry);
        span_fill(&at, at.end);
    }
}

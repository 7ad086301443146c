/* Tables of functions: the flat profile with coverage beside it, and one function between its
 * callers and its callees.
 *
 * Columns have a rank. What a window is too narrow for is left out whole, the least of the columns
 * first, and the head says how many: figures are never cut. A column that has nothing to show for
 * any row is not there at all. The name has what is left.
 *
 *    self%    +-  self s total% total s  calls function
 *    40.00  3.04   0.400  90.00   0.900   1200 parse (libx.so)         the flat profile
 *
 *    total%  self s callees s calls   of function (callers 1, callees 2)
 *     90.00   0.400     0.500  1200 1200     main                      a caller
 *     90.00   0.400     0.500  1200      parse                         the function itself
 *     30.00   0.300     0.000    60   80     scan                      a callee */
#include "output/out.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- columns that fit ------------------------------------------------------------------------- */

/* Heads are words of this room, at most COLUMN_HEAD - 1 bytes of ASCII. */
void columns_add(struct screen_columns *c, int id, const char *head, size_t width, int rank,
                 bool is_sorted)
{
    c->there |= UINT32_C(1) << id;
    if (c->hidden >> id & 1)
        return;
    struct screen_column *at = &c->at[c->len++];
    c->place[id] = (uint8_t)c->len;
    *at = (struct screen_column){.rank = rank, .is_sorted = is_sorted};
    snprintf(at->head, sizeof at->head, "%s", head);
    at->width = strlen(at->head) > width ? strlen(at->head) : width;
}

/* Takes the column of the lowest rank until the rest fits; O(columns^2), of a dozen. */
void columns_fit(struct screen_columns *c, size_t room, size_t least)
{
    size_t used = 0;
    for (size_t i = 0; i < c->len; i++)
        used += c->at[i].is_left_out ? 0 : c->at[i].width + 1;
    while (c->left_out < c->len && used + least > room) {
        struct screen_column *lowest = NULL;
        for (size_t i = 0; i < c->len; i++)
            if (!c->at[i].is_left_out && (!lowest || c->at[i].rank < lowest->rank))
                lowest = &c->at[i];
        lowest->is_left_out = true;
        used -= lowest->width + 1;
        c->left_out++;
    }
}

/* The head of the column that rows are sorted by is reversed. */
void columns_head(const struct screen_columns *c, struct span *s)
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

void columns_head_end(const struct screen_columns *c, struct span *s)
{
    if (c->left_out)
        span_printf(s, " (+%zu columns if wider)", c->left_out);
    span_fill(s, s->end);
}

/* The figure is right-aligned under its head; a text that is wider than the column pushes the rest
 * of the row. */
void columns_put(const struct screen_columns *c, int id, struct span *s, const char *text)
{
    const struct screen_column *at = &c->at[c->place[id] - (c->place[id] > 0)];
    if (!c->place[id] || at->is_left_out)
        return;
    span_right(s, text, at->width);
    span_str(s, " ");
}

void columns_put_count(const struct screen_columns *c, int id, struct span *s, bool is_known,
                       uint64_t count)
{
    char text[32] = "";
    if (is_known)
        snprintf(text, sizeof text, "%" PRIu64, count);
    columns_put(c, id, s, text);
}

/* --- the table of functions ------------------------------------------------------------------- */

/* Which columns the table of functions has, and where; made for each screen. */
struct function_layout {
    const struct functions_table *table;
    const struct summary *summary; /* NULL: coverage alone */
    struct screen_columns columns;
};

/* SORT_FUNCTIONS stands for no order. */
static void functions_layout_add(struct function_layout *l, int which, const char *head,
                                 size_t width, int rank, enum function_sort sort)
{
    columns_add(&l->columns, which, head, width, rank, l->table->sort == sort);
}

/* At least 24 columns are left to the name. */
static void functions_layout_make(struct function_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 24 };
    *l = (struct function_layout){.table = &t->functions,
                                  .summary = t->now ? &t->now->session.summary : NULL,
                                  .columns = {.hidden = t->hidden[VIEW_FUNCTIONS]}};
    if (l->summary) {
        /* Ranks say what goes first in a narrow window: the margin first (10), times before shares,
         * self% last (100). */
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
            functions_layout_add(l, FUNCTION_CHANGE, "change", SHARE + 2, 95,
                                 SORT_FUNCTIONS_CHANGE);
        }
        if (s->has_samples) {
            functions_layout_add(l, FUNCTION_SELF, self, draw_time_width(s), 40, SORT_FUNCTIONS);
            functions_layout_add(l, FUNCTION_TOTAL_SHARE, "total%", SHARE, 80,
                                 SORT_FUNCTIONS_TOTAL);
            functions_layout_add(l, FUNCTION_TOTAL, total, draw_time_width(s), 30, SORT_FUNCTIONS);
        }
        if (s->calls)
            functions_layout_add(l, FUNCTION_CALLS, "calls", (size_t)text_digits(s->calls), 70,
                                 SORT_FUNCTIONS_CALLS);
    }
    if (t->functions.in.coverage) {
        /* Of all functions, shown or not: the column keeps its width while a filter is typed. */
        uint64_t most = 0;
        for (size_t i = 0; i < t->functions.in.coverage->functions.len; i++)
            if (t->functions.in.coverage->functions.at[i].count > most)
                most = t->functions.in.coverage->functions.at[i].count;
        functions_layout_add(l, FUNCTION_RUNS, "runs", (size_t)text_digits(most), 75,
                             SORT_FUNCTIONS_RUNS);
    }
    columns_fit(&l->columns, room, LEAST_NAME);
}

/* --- rows ------------------------------------------------------------------------------------ */

/* No room is needed to know what there is. */
uint32_t draw_functions_columns(const struct tui *t)
{
    struct function_layout l;
    functions_layout_make(&l, t, 0);
    return l.columns.there;
}

/* In percent, blank where it is not known. Only the share of self time is coloured by its heat. */
static void functions_put_share(const struct function_layout *l, int which, struct span *at,
                                double share, double error, bool is_known)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (is_known)
        draw_share(share, error, text, sizeof text);
    if (which == FUNCTION_SELF_SHARE)
        at->style = draw_heat(style, share);
    columns_put(&l->columns, which, at, text);
    at->style = style;
}

static void functions_put_time(const struct function_layout *l, int which, struct span *at,
                               double samples, double error, bool is_known)
{
    char text[32] = "";
    if (is_known)
        draw_time(l->summary, samples, error, text, sizeof text);
    columns_put(&l->columns, which, at, text);
}

/* Half the interval of what a function took with callees. */
static double total_error(const struct summary *s, const struct flat_row *f)
{
    return s->stacks ? interval_half(summary_total_interval(s, f->function, f->total))
                     : summary_error(s, f->total);
}

/* Figures first, then how the row stands to the base, the name, and the object in parentheses. The
 * object keeps its place only where the name has at least as much. */
static void functions_put_row(const struct function_layout *l, struct span *at,
                              const struct function_row *r, size_t shift)
{
    const struct functions_table *t = l->table;
    const struct flat_row *f = r->flat;
    const struct change *c = r->change;
    double share = l->summary ? function_row_share(t, r) : 0;
    uint8_t style = at->style;
    if (l->summary) {
        double half = f ? interval_half(f->interval) : 0;
        double total_half = f ? total_error(l->summary, f) : 0;
        double margin = c ? fmax(c->self.margin, 0) : 0;
        functions_put_share(l, FUNCTION_SELF_SHARE, at, share, half, f);
        functions_put_share(l, FUNCTION_MARGIN, at, half, half, f);
        functions_put_share(l, FUNCTION_OLD_SHARE, at, c ? c->self.old : 0, M_SQRT1_2 * margin,
                            c && c->old != NO_FUNCTION);
        /* A star marks what chance does not explain. */
        bool is_meant = function_row_is_meant(l->table, r);
        char change[32] = "";
        if (c)
            draw_share_change(function_row_change(r), margin, is_meant ? '*' : ' ', change,
                              sizeof change);
        at->style |= is_meant ? STYLE_BOLD : 0;
        columns_put(&l->columns, FUNCTION_CHANGE, at, change);
        at->style = style;
        functions_put_time(l, FUNCTION_SELF, at, f ? f->self : 0, half, f);
        functions_put_share(l, FUNCTION_TOTAL_SHARE, at,
                            f ? summary_share(l->summary, f->total) : 0, total_half, f);
        functions_put_time(l, FUNCTION_TOTAL, at, f ? f->total : 0, total_half, f);
        columns_put_count(&l->columns, FUNCTION_CALLS, at, f && f->calls, f ? f->calls : 0);
    }
    /* What never ran is 0 in bold; `?` where the count was damaged or is not known. */
    char runs[32] = "";
    if (r->covered != UINT32_MAX) {
        const struct result_function *covered = &t->in.coverage->functions.at[r->covered];
        if (covered->state == RESULT_UNKNOWN)
            snprintf(runs, sizeof runs, "?");
        else
            snprintf(runs, sizeof runs, "%" PRIu64, covered->count);
        if (covered->state == RESULT_MISSED)
            at->style |= STYLE_MISSED | STYLE_BOLD;
    }
    columns_put(&l->columns, FUNCTION_RUNS, at, runs);
    at->style = style;
    /* What it is called in the base, and its object. */
    char notes[2][80] = {""};
    const char *object = function_row_object(t, r);
    struct arena scratch = {0};
    const char *remark = c ? comparison_remark(&t->in.base->comparison, c, &scratch) : "";
    if (*remark)
        snprintf(notes[0], sizeof notes[0], " (%s)", remark);
    if (object)
        snprintf(notes[1], sizeof notes[1], " (%s)", object);
    arena_deinit(&scratch);
    size_t end = at->end, label = strlen(notes[0]) + strlen(notes[1]);
    if (at->end - at->column > 2 * label)
        at->end -= label;
    span_name(at, function_row_name(t, r), shift);
    if (at->end != end || !label) {
        at->end = end;
        span_str(at, notes[0]), span_str(at, notes[1]);
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
    columns_head_end(&l.columns, &at);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        functions_put_row(&l, &at, &t->functions.rows.at[i], t->shift);
    }
    if (!list->len)
        draw_empty(s, t->functions.hidden ? "No function passes the filter; f and an empty line "
                                            "show all."
                                          : "Nothing was measured in any function.");
}

/* --- callers and callees ---------------------------------------------------------------------- */

/* Columns of a row of calls, in their order: times up to CALL_CHILDREN, numbers of calls after it.
 * CALL_OF are all calls of the callee. */
enum { CALL_TOTAL_SHARE, CALL_SELF, CALL_CHILDREN, CALL_COUNT, CALL_OF };

/* Columns of one function's callers and callees. */
struct call_layout {
    const struct tui *tui;
    const struct summary *summary;
    struct screen_columns columns;
};

static void layout_make(struct call_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 20, SHARE = 6 };
    const struct summary *s = &t->now->session.summary;
    char self[16], children[16];
    *l = (struct call_layout){.tui = t, .summary = s};
    size_t digits = (size_t)text_digits(s->calls);
    draw_time_head(s, "self", self, sizeof self);
    draw_time_head(s, "callees", children, sizeof children);
    if (s->has_samples) {
        columns_add(&l->columns, CALL_TOTAL_SHARE, "total%", SHARE, 90, false);
        columns_add(&l->columns, CALL_SELF, self, draw_time_width(s), 70, false);
        columns_add(&l->columns, CALL_CHILDREN, children, draw_time_width(s), 60, false);
    }
    if (s->calls) {
        columns_add(&l->columns, CALL_COUNT, "calls", digits, 80, false);
        columns_add(&l->columns, CALL_OF, "of", digits, 50, false);
    }
    columns_fit(&l->columns, room, LEAST_NAME);
}

/* Figures of a row in the order of the columns; NULL texts are blank. */
static void put_figures(const struct call_layout *l, struct span *at, const char *texts[5],
                        double share)
{
    uint8_t style = at->style;
    for (int i = CALL_TOTAL_SHARE; i <= CALL_OF; i++) {
        at->style = i == CALL_TOTAL_SHARE ? draw_heat(style, share) : style;
        columns_put(&l->columns, i, at, texts[i] ? texts[i] : "");
    }
    at->style = style;
}

/* The number of the function's cycle follows the name and is not cut with it. */
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

/* The function itself, in bold, not indented; recursive calls follow its name. */
static void put_middle(const struct call_layout *l, struct span *at, const struct entry *e)
{
    char share[16], self[32], children[32], calls[64];
    const char *texts[5] = {0};
    double part = summary_share(l->summary, e->self + e->children);
    double half = summary_error(l->summary, e->self + e->children);
    draw_share(part, half, share, sizeof share);
    draw_time(l->summary, e->self, summary_error(l->summary, e->self), self, sizeof self);
    draw_time(l->summary, e->children, half, children, sizeof children);
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

/* Callers and callees are numbered in the head, as a long list leaves the screen. */
void draw_calls(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_CALLS];
    struct call_layout l;
    layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    span_printf(&at, "function (callers %zu, callees %zu)", t->calls.middle,
                t->calls.len - t->calls.middle - 1);
    columns_head_end(&l.columns, &at);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        const struct entry_line *line = calls_table_line(&t->calls, i);
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        if (line) {
            /* A caller or callee, as in gprof's call graph: times that go along the arc, and calls
             * along it of all calls of the callee. Arcs within a cycle carry no time, and some
             * lines have no count. */
            char share[16], self[32], children[32], calls[32], of[32];
            const char *texts[5] = {0};
            double part = summary_share(l.summary, line->self + line->children);
            if (line->kind != LINE_INTERNAL) {
                double half = summary_error(l.summary, line->self + line->children);
                draw_share(part, half, share, sizeof share);
                draw_time(l.summary, line->self, half, self, sizeof self);
                draw_time(l.summary, line->children, half, children, sizeof children);
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
            put_figures(&l, &at, texts, line->kind == LINE_INTERNAL ? 0 : part);
            span_str(&at, "    ");
            put_name(&l, &at, line->node, line);
        } else
            put_middle(&l, &at, &t->calls.entry);
        span_fill(&at, at.end);
    }
}

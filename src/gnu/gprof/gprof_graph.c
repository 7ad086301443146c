/* GNU gprof's call graph and its index of functions by name.
 *
 * An entry is a function between its callers and its callees, or a cycle between those that call
 * it from outside and its members:
 *
 *   index % time    self  children    called     name
 *                   0.10    0.20      10/30          caller [3]      callers, by calls
 *   [2]     42.0    0.30    0.60      30         f [2]               the function's own line
 *                   0.60    0.00      90/90          callee [5]      callees, by time
 *   -----------------------------------------------
 *
 * Nothing is computed here but what a line shows: times are in the graph, labels (name, cycle,
 * rank) are made beforehand (gprof_text.c). Arcs of an entry are sorted when it is printed, as
 * most programs have more arcs than are ever printed.
 *
 * Entries are independent of each other, so threads print pieces of about LINES_A_PIECE lines.
 * Half a million lines are the usual size: the common line is put together from digits in one
 * fixed pattern; everything else goes the general way. Memory of the labels is prefetched, since
 * entries meet them in no order at all. */
#include "base/sort.h"
#include "gnu/gprof/gprof.h"
#include "output/out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 3 * DIGITS_ROOM, LINES_A_PIECE = 1024 };

/* Both layouts. GNU's -T keeps BSD's heading of three rows: parents, the function, children. */
static void gprof_header(struct gprof_report *r, struct out *out)
{
    gprof_new_page(r, out);
    if (!r->bsd)
        out_str(out, r->brief ? "\t\t\tCall graph\n\n"
                              : "\t\t     Call graph (explanation follows)\n\n");
    out_printf(out, "\ngranularity: each sample hit covers %ld byte(s)", gprof_granularity(r));
    double total = r->graph->shown_total;
    if (total > 0)
        out_printf(out, " for %.2f%% of %.2f seconds\n\n", 100.0 / total, total / r->time->rate);
    else
        out_str(out, " no time propagated\n\n");
    if (!r->bsd) {
        out_str(out, "index % time    self  children    called     name\n");
        return;
    }
    static const char row[] = "%6.6s %5.5s %7.7s %11.11s %7.7s/%-7.7s     %-8.8s\n";
    out_printf(out, row, "", "", "", "", "called", "total", "parents");
    out_printf(out, "%-6.6s %5.5s %7.7s %11.11s %7.7s+%-7.7s %-8.8s\t%5.5s\n", "index", "%time",
               "self", "descendants", "called", "self", "name", "index");
    out_printf(out, row, "", "", "", "", "called", "total", "children");
    out_char(out, '\n');
}

/* ` SELF CHILDREN` in the columns' widths. */
static void gprof_times(const struct gprof_report *r, double self, double children, struct out *out)
{
    out_char(out, ' ');
    out_fixed(out, self / r->time->rate, 7, 2);
    out_char(out, ' ');
    out_fixed(out, children / r->time->rate, r->bsd ? 11 : 7, 2);
}

/* `[N]`, the percentage and the times of an entry; where they fit their columns, into blanks, as
 * gprof_usual_arc(). */
static void gprof_entry_start(const struct gprof_report *r, const struct graph_node *n,
                              struct out *out)
{
    enum { RANK = 6, FITS = 9999, PERCENT_FITS = 999 };
    static const char blank[] = "          .      .       .   ";
    double self = n->shown_self / r->time->rate, children = n->shown_children / r->time->rate;
    double percent = 100 * (n->shown_self + n->shown_children) /
                     (r->graph->shown_total > 0 ? r->graph->shown_total : 1);
    bool fits = self < FITS && children < FITS && percent < PERCENT_FITS && !signbit(self) &&
                !signbit(children) && !signbit(percent) && !r->bsd;
    char *start = out_begin(out, LINE);
    memcpy(start, blank, RANK);
    *start = '[';
    *digits_u64(start + 1, n->rank, 0) = ']';
    /* Of a longer rank the start stays, as GNU gprof has it. */
    memcpy(start + RANK, blank + RANK, sizeof blank - 1 - RANK);
    if (!fits) {
        out_end(out, start + RANK + 1);
        out_fixed(out, percent, 5, 1);
        gprof_times(r, n->shown_self, n->shown_children, out);
        out_char(out, ' ');
        return;
    }
    uint32_t tenths = (uint32_t)digits_round(percent, 10);
    start[11] = (char)('0' + tenths % 10);
    digits_back(start + 10, tenths / 10);
    digits_back_cents(start + 20, self);
    digits_back_cents(start + 28, children);
    out_end(out, start + 29);
}

/* One caller or callee in any layout and of any size. */
static char *gprof_wide_arc(const struct gprof_report *r, const struct graph_arc *arc,
                            bool is_internal, uint64_t total, char *to)
{
    to = digits_spaces(to, 12);
    if (is_internal) {
        to = digits_spaces(to, r->bsd ? 21 : 17);
        to = digits_u64(to, arc->count, 7);
        return digits_spaces(to, 13);
    }
    *to++ = ' ';
    to = digits_fixed(to, arc->self / r->time->rate, 7, 2);
    *to++ = ' ';
    to = digits_fixed(to, arc->children / r->time->rate, r->bsd ? 11 : 7, 2);
    *to++ = ' ';
    to = digits_u64(to, arc->count, 7);
    *to++ = '/';
    to = digits_u64_left(to, total, 7);
    return digits_spaces(to, 5);
}

/* The same where everything fits its column, which is most of what a program prints: numbers are
 * put into a line of blanks. In hundredths, as integers: digits_back_cents() writes them from the
 * right into the line of blanks. */
static char *gprof_usual_arc(double self, double children, uint32_t count, uint32_t total, char *to)
{
    static const char blank[] = "                0.00    0.00        /            ";
    const double least = 0.004; /* what is less is 0.00 */
    memcpy(to, blank, sizeof blank - 1);
    if (self > least)
        digits_back_cents(to + 20, self);
    if (children > least)
        digits_back_cents(to + 28, children);
    digits_back(to + 36, count);
    digits_back(to + 37 + digits_count(total), total);
    return to + sizeof blank - 1;
}

/* One caller or callee; `total` is what its calls are a part of. The bounds are those of the
 * columns: four digits before the point, seven of a count. */
static void gprof_arc_line(struct gprof_report *r, const struct sortable_arc *a, uint32_t other,
                           uint64_t total, struct out *out)
{
    enum { FITS = 9999, COUNT_FITS = 9999999 };
    const struct graph_arc *arc = &r->graph->arcs[a->arc];
    const struct gprof_label *label = &r->labels[other];
    double self = arc->self / r->time->rate, children = arc->children / r->time->rate;
    char *to = out_begin(out, LINE + GPROF_LABEL_TEXT + label->len);
    bool fits = self >= 0 && self < FITS && children >= 0 && children < FITS &&
                arc->count <= COUNT_FITS && total <= COUNT_FITS;
    if (fits && a->class == CALLS && !r->bsd)
        to = gprof_usual_arc(self, children, (uint32_t)arc->count, (uint32_t)total, to);
    else
        to = gprof_wide_arc(r, arc, a->class != CALLS, total, to);
    if (label->len <= GPROF_LABEL_TEXT) /* of a size that is known, without a call */
        memcpy(to, label->text, GPROF_LABEL_TEXT);
    else
        memcpy(to, label->long_text, label->len);
    to += label->len;
    *to++ = '\n';
    out_end(out, to);
}

/* Sorted by calls; a function without callers was called by what was not compiled with -pg. */
static void gprof_callers(struct gprof_report *r, uint32_t node, struct arc_list *list,
                          struct out *out)
{
    if (!graph_has_callers(r->graph, node)) {
        out_spaces(out, r->bsd ? 53 : 49);
        out_str(out, "<spontaneous>\n");
        return;
    }
    graph_sort_callers(r->graph, node, list);
    for (size_t i = 0; i < list->all.len; i++)
        gprof_arc_line(r, &list->all.at[i], r->graph->arcs[list->all.at[i].arc].caller,
                       r->labels[node].calls, out);
}

/* The cycle's own entry: a line for all of it, then its members in the place of callees.
 *
 *    [4]     80.0    0.50    0.30      10+6       <cycle 1 as a whole> [4]
 *                    0.30    0.20       8             f <cycle 1> [5] */
static void gprof_cycle(struct gprof_report *r, uint32_t node, struct out *out)
{
    const struct graph_node *n = &r->graph->nodes[node];
    gprof_entry_start(r, n, out);
    out_u64(out, n->calls, 7);
    if (n->self_calls) {
        out_char(out, '+');
        out_u64_left(out, n->self_calls, 7);
    } else {
        out_spaces(out, 8);
    }
    out_printf(out, " <cycle %u as a whole> [%u]\n", n->cycle, n->rank);

    graph_sort_members(r->graph, node);
    for (uint32_t m = n->next_member; m != NO_NODE; m = r->graph->nodes[m].next_member) {
        const struct graph_node *member = &r->graph->nodes[m];
        out_spaces(out, 12);
        gprof_times(r, member->shown_self, member->shown_children, out);
        out_char(out, ' ');
        out_u64(out, member->calls, 7);
        if (member->self_calls) {
            out_char(out, '+');
            out_u64_left(out, member->self_calls, 7);
            out_spaces(out, 5);
        } else {
            out_spaces(out, 13);
        }
        gprof_name(r, m, out);
        out_char(out, '\n');
    }
}

/* With -l only functions have entries, not lines and not cycles. */
static bool gprof_is_printed(const struct gprof_report *r, uint32_t node)
{
    if (r->places == PLACE_WITH_ADDRESS &&
        (graph_is_cycle(r->graph, node) || !r->functions->at[node].is_function))
        return false;
    return gnu_prints_entry(r->graph, node, r->show_all);
}

/* The ranks from which each piece of the listing begins, in nodes of about as many lines. */
struct pieces {
    struct gprof_report *report;
    VEC(uint32_t) first;
};

/* About how many: what is not printed is counted as well. */
static uint32_t gprof_lines_of(const struct graph *g, uint32_t node)
{
    if (graph_is_cycle(g, node))
        return 8;
    return 4 + g->callers.start[node + 1] - g->callers.start[node] + g->callees.start[node + 1] -
           g->callees.start[node];
}

/* Entries are looked ahead of, since their nodes, arcs and labels are in no order in memory. */
static void gprof_print_piece(size_t piece, struct out *out, void *context)
{
    struct pieces *pieces = context;
    struct gprof_report *r = pieces->report;
    uint32_t end = piece + 1 < pieces->first.len ? pieces->first.at[piece + 1] : r->graph->len;
    struct arc_list list = {0};
    for (uint32_t i = pieces->first.at[piece]; i < end; i++) {
        uint32_t node = r->graph->ranked[i];
        struct graph_visit visit = {&r->graph->ranked[i], r->graph->len - i, 1, r->labels,
                                    sizeof *r->labels};
        graph_look_ahead(r->graph, &visit);
        if (!gprof_is_printed(r, node))
            continue;
        if (graph_is_cycle(r->graph, node)) {
            gprof_cycle(r, node, out);
        } else {
            gprof_callers(r, node, &list, out);
            const struct graph_node *n = &r->graph->nodes[node];
            gprof_entry_start(r, n, out);
            if (!n->calls && !n->self_calls) {
                out_spaces(out, 16);
            } else {
                out_u64(out, n->calls, 7);
                if (n->self_calls) {
                    out_char(out, '+');
                    out_u64_left(out, n->self_calls, 7);
                    out_char(out, ' ');
                } else {
                    out_spaces(out, 9);
                }
            }
            gprof_name(r, node, out);
            out_char(out, '\n');
            /* Sorted by time. */
            graph_sort_callees(r->graph, node, &list);
            for (size_t k = 0; k < list.all.len; k++) {
                uint32_t callee = r->graph->arcs[list.all.at[k].arc].callee;
                gprof_arc_line(r, &list.all.at[k], callee, r->labels[callee].calls, out);
            }
        }
        out_str(out, r->bsd ? "\n-----------------------------------------------\n\n"
                            : "-----------------------------------------------\n");
    }
    arc_list_deinit(&list);
}

/* Pieces are cut where LINES_A_PIECE lines are reached, so that threads have about the same to
 * do. */
void gprof_graph(struct gprof_report *r, struct out *out)
{
    if (r->bsd && !r->brief)
        out_str(out, gprof_bsd_graph_explanation);
    gprof_header(r, out);
    struct pieces pieces = {.report = r};
    uint32_t lines = LINES_A_PIECE;
    for (uint32_t i = 0; i < r->graph->len; i++) {
        if (lines >= LINES_A_PIECE) {
            vec_push(&pieces.first, i);
            lines = 0;
        }
        lines += gprof_lines_of(r->graph, r->graph->ranked[i]);
    }
    out_parallel(out, pieces.first.len, 0, gprof_print_piece, &pieces);
    vec_free(&pieces.first);
    if (!r->bsd && !r->brief)
        out_str(out, gprof_graph_explanation);
}

/* GNU gprof's index of functions by name, in three columns. */

enum { ROWS_A_PIECE = 512 };

/* Prints one cell, padding the rank to the column; returns the position after it. --- the index
 * ---
 *
 * Prints one cell, padding the rank to the column; returns the position after it. What is too long
 * pushes the next cell to the right, as GNU's does. */
static size_t cell(struct gprof_report *r, uint32_t node, const char *rank, size_t position,
                   size_t column, struct out *out)
{
    size_t rank_len = strlen(rank);
    position += rank_len;
    if (position < column + 5) {
        out_spaces(out, column + 5 - position);
        position = column + 5;
    }
    out_char(out, ' ');
    out_bytes(out, rank, rank_len);
    out_char(out, ' ');
    if (graph_is_cycle(r->graph, node)) {
        char cycle[32];
        position +=
            (size_t)snprintf(cycle, sizeof cycle, "<cycle %u>", r->graph->nodes[node].cycle);
        out_str(out, cycle);
        return position;
    }
    const struct function *f = &r->functions->at[node];
    const struct gprof_label *label = &r->labels[node];
    out_bytes(out, gprof_label_text(label), label->name_len);
    position += label->name_len;
    if (f->is_static && f->file && r->places != PLACE_WITH_ADDRESS) {
        const char *file = gprof_file(r, f->file);
        out_str(out, " (");
        out_str(out, file);
        out_char(out, ')');
        position += strlen(file) + 3;
    }
    return position;
}

/* Three columns, filled downwards. */
struct table {
    struct gprof_report *report;
    const uint32_t *nodes; /* column by column */
    uint32_t len, rows;
};

/* Cells of a row are `rows` apart in the list. BSD cuts names at 19 bytes; GNU lets them push. */
static void print_row(const struct table *t, uint32_t row, struct out *out)
{
    struct gprof_report *r = t->report;
    uint32_t column_width = (r->width - 1) / 3;
    size_t position = 0, column = 0;
    for (uint32_t i = row; i < t->len; i += t->rows, column += column_width) {
        char text[16];
        const struct graph_node *n = &r->graph->nodes[t->nodes[i]];
        char *end = text;
        *end++ = n->is_shown ? '[' : '(';
        end = digits_u64(end, n->rank, 0);
        *end++ = n->is_shown ? ']' : ')';
        *end = '\0';
        const char *rank = text;
        if (r->bsd) {
            char cycle[32];
            const char *name = cycle;
            if (graph_is_cycle(r->graph, t->nodes[i]))
                snprintf(cycle, sizeof cycle, "<cycle %u>", r->graph->nodes[t->nodes[i]].cycle);
            else
                name = r->functions->at[t->nodes[i]].name;
            out_printf(out, "%6.6s %-19.19s", rank, name);
        } else
            position = cell(r, t->nodes[i], rank, position, column, out);
    }
    out_char(out, '\n');
}

/* Rows of the index, by one of several threads. */
static void print_piece(size_t piece, struct out *out, void *context)
{
    const struct table *t = context;
    uint32_t end = (uint32_t)(piece + 1) * ROWS_A_PIECE;
    for (uint32_t row = (uint32_t)piece * ROWS_A_PIECE; row < end && row < t->rows; row++)
        print_row(t, row, out);
}

/*    [3] a        (5) c        [2] <cycle 1>
 *    [1] b        [9] d */
void gprof_index(struct gprof_report *r, struct out *out)
{
    struct arena scratch = {0};
    struct table t = {.report = r};
    /* Functions with calls or time of their own, by name, then the cycles. */
    const struct graph *g = r->graph;
    struct keyed *by_name = ARENA_NEW(&scratch, struct keyed, r->functions->len);
    uint32_t *list = ARENA_NEW(&scratch, uint32_t, g->len), n = 0;
    for (uint32_t i = 0; i < r->functions->len; i++)
        if (r->show_all || g->nodes[i].calls || g->nodes[i].self != 0)
            by_name[n++] = (struct keyed){r->functions->name_order[i], i};
    sort_keyed(by_name, n);
    for (uint32_t i = 0; i < n; i++)
        list[i] = by_name[i].item;
    for (uint32_t c = r->functions->len; c < g->len; c++)
        list[n++] = c;
    t.len = n;
    t.nodes = list;
    t.rows = (t.len + 2) / 3;
    out_str(out, "\f\nIndex by function name\n\n");
    out_parallel(out, (t.rows + ROWS_A_PIECE - 1) / ROWS_A_PIECE, 0, print_piece, &t);
    arena_deinit(&scratch);
}

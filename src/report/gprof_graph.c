/* GNU gprof's call graph. */
#include "report/gprof_text.h"

#include <stdio.h>

static double percent_base(const struct gprof_report *r)
{
    return r->graph->shown_total > 0 ? r->graph->shown_total : 1;
}

static void header(struct gprof_report *r, struct out *out)
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
static void times(const struct gprof_report *r, double self, double children, struct out *out)
{
    out_char(out, ' ');
    out_fixed(out, self / r->time->rate, 7, 2);
    out_char(out, ' ');
    out_fixed(out, children / r->time->rate, r->bsd ? 11 : 7, 2);
}

/* `[N]`, the percentage and the times of an entry. */
static void entry_start(const struct gprof_report *r, const struct graph_node *n, struct out *out)
{
    char rank[16];
    snprintf(rank, sizeof rank, "[%u]", n->rank);
    out_field(out, rank, 6);
    out_char(out, ' ');
    out_fixed(out, 100 * (n->shown_self + n->shown_children) / percent_base(r), 5, 1);
    times(r, n->shown_self, n->shown_children, out);
    out_char(out, ' ');
}

static void entry(struct gprof_report *r, uint32_t node, struct out *out)
{
    const struct graph_node *n = &r->graph->nodes[node];
    entry_start(r, n, out);
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
}

/* One caller or callee; `total` is what its calls are a part of. */
static void arc_line(struct gprof_report *r, const struct graph_arc *arc, uint32_t other,
                     struct out *out)
{
    out_spaces(out, 12);
    if (graph_arc_is_internal(r->graph, arc)) {
        out_spaces(out, r->bsd ? 21 : 17);
        out_u64(out, arc->count, 7);
        out_spaces(out, 13);
    } else {
        const struct graph_node *callee = &r->graph->nodes[arc->callee];
        times(r, arc->self, arc->children, out);
        out_char(out, ' ');
        out_u64(out, arc->count, 7);
        out_char(out, '/');
        out_u64_left(out, r->graph->nodes[callee->head].calls, 7);
        out_spaces(out, 5);
    }
    gprof_name(r, other, out);
    out_char(out, '\n');
}

static void callers(struct gprof_report *r, uint32_t node, struct out *out)
{
    if (r->graph->nodes[node].callers == NO_ARC) {
        out_spaces(out, r->bsd ? 53 : 49);
        out_str(out, "<spontaneous>\n");
        return;
    }
    graph_sort_callers(r->graph, node);
    for (uint32_t k = r->graph->nodes[node].callers; k != NO_ARC;
         k = r->graph->arcs[k].next_caller)
        arc_line(r, &r->graph->arcs[k], r->graph->arcs[k].caller, out);
}

static void callees(struct gprof_report *r, uint32_t node, struct out *out)
{
    graph_sort_callees(r->graph, node);
    for (uint32_t k = r->graph->nodes[node].callees; k != NO_ARC;
         k = r->graph->arcs[k].next_callee)
        arc_line(r, &r->graph->arcs[k], r->graph->arcs[k].callee, out);
}

static void cycle(struct gprof_report *r, uint32_t node, struct out *out)
{
    const struct graph_node *n = &r->graph->nodes[node];
    entry_start(r, n, out);
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
        times(r, member->shown_self, member->shown_children, out);
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

static bool is_printed(const struct gprof_report *r, const struct graph_node *n)
{
    bool is_zero = !n->calls && !n->self_calls && n->shown_self == 0 && n->shown_children == 0;
    return n->is_shown && (r->show_all || !is_zero);
}

void gprof_graph(struct gprof_report *r, struct out *out)
{
    if (r->bsd && !r->brief)
        out_str(out, gprof_bsd_graph_explanation);
    header(r, out);
    for (uint32_t i = 0; i < r->graph->len; i++) {
        uint32_t node = r->graph->ranked[i];
        if (!is_printed(r, &r->graph->nodes[node]))
            continue;
        if (graph_is_cycle(r->graph, node)) {
            cycle(r, node, out);
        } else {
            callers(r, node, out);
            entry(r, node, out);
            callees(r, node, out);
        }
        out_str(out, r->bsd ? "\n-----------------------------------------------\n\n"
                            : "-----------------------------------------------\n");
    }
    if (!r->bsd && !r->brief)
        out_str(out, gprof_graph_explanation);
}

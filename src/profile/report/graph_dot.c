/* The entries of the call graph in the language of Graphviz: a picture of the largest functions.
 *
 * Colour says how much of all time a function spent in itself, width of an arrow how much flowed
 * along it. What has no entry is left out, and the caption says how much that is. */
#include "profile/report/graph.h"

#include "output/dot_quoted.h"
#include "output/text.h"

#include <inttypes.h>

enum { LABEL_ROOM = 36, TIP_ROOM = 500 };

struct dot {
    struct out *out;
    const struct entries *table;
    struct names *names;
    bool *is_shown; /* per node of the graph */
};

static void dot_name(struct out *out, const char *name, int room)
{
    struct out shortened;
    out_init(&shortened, -1);
    text_name_within(&shortened, name, strlen(name), room);
    dot_quoted(out, shortened.at, shortened.len);
    out_deinit(&shortened);
}

static double dot_percent(const struct dot *d, double samples)
{
    const double percent = 100;
    return percent * summary_share(d->table->summary, samples);
}

static const char *dot_colour(double self_percent)
{
    const double least[] = {25, 10, 3, 1};
    static const char *const COLOURS[] = {"#dd6a4a", "#f58a4b", "#fdbb63", "#fee08b", "#fdf0c0"};
    size_t i = 0;
    while (i < sizeof least / sizeof *least && self_percent < least[i])
        i++;
    return COLOURS[i];
}

static void dot_node(struct dot *d, uint32_t node)
{
    const struct graph_node *n = &d->table->graph->nodes[node];
    const char *name = names_text(d->names, node);
    double self = dot_percent(d, n->self), total = dot_percent(d, n->self + n->children);
    out_printf(d->out, "  n%" PRIu32 " [label=\"", node);
    dot_name(d->out, name, LABEL_ROOM);
    if (d->table->summary->has_samples)
        out_printf(d->out, "\\n%.2f %%, self %.2f %%", total, self);
    out_printf(d->out, "\", fillcolor=\"%s\", tooltip=\"", dot_colour(self));
    dot_name(d->out, name, TIP_ROOM);
    out_printf(d->out, "\\ncalls: %" PRIu64 "\"];\n", n->calls + n->self_calls);
}

static void dot_arc(struct dot *d, const struct graph_arc *arc)
{
    const double thinnest = 0.7, slope = 0.06;
    const struct graph *g = d->table->graph;
    double percent = dot_percent(d, arc->self + arc->children);
    bool is_internal = graph_arc_is_internal(g, arc);
    bool is_static = graph_arc_is_static(g, arc) && !g->is_measured;
    out_printf(d->out, "  n%" PRIu32 " -> n%" PRIu32 " [label=\" ", arc->caller, arc->callee);
    if (percent > 0 && !is_internal)
        out_printf(d->out, "%.2f %%%s", percent, arc->count ? "\\n " : "");
    if (arc->count)
        out_printf(d->out, "%" PRIu64 "x", arc->count);
    out_printf(d->out, "\", penwidth=%.2f%s];\n", thinnest + slope * (is_internal ? 0 : percent),
               is_static ? ", style=dotted" : "");
}

static void dot_clusters(struct dot *d)
{
    const struct graph *g = d->table->graph;
    for (uint32_t c = g->functions->len; c < g->len; c++) {
        bool has_begun = false;
        for (uint32_t i = g->nodes[c].next_member; i != NO_NODE; i = g->nodes[i].next_member) {
            if (!d->is_shown[i])
                continue;
            if (!has_begun)
                out_printf(d->out,
                           "  subgraph cluster_%" PRIu32 " { style=\"dashed\"; color=\"#444444\"; "
                           "label=\"cycle %" PRIu32 ": %.2f %%\";",
                           g->nodes[c].cycle, g->nodes[c].cycle,
                           dot_percent(d, g->nodes[c].self + g->nodes[c].children));
            has_begun = true;
            out_printf(d->out, " n%" PRIu32 ";", i);
        }
        if (has_begun)
            out_str(d->out, " }\n");
    }
}

static void dot_caption(struct dot *d)
{
    const struct entries *t = d->table;
    out_str(d->out, "  label=\"");
    dot_name(d->out, t->summary->program, TIP_ROOM);
    if (t->omitted)
        out_printf(d->out, ": the most important entries; %" PRIu32 " more are left out",
                   t->omitted);
    if (t->summary->has_samples && !t->graph->is_measured)
        out_str(d->out, "\\nTimes along calls are estimated by counts of calls.");
    out_str(d->out, "\";\n");
}

void graph_dot(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    const struct graph *g = t->graph;
    struct arena scratch = {0};
    struct dot d = {out, t, in->names, ARENA_NEW(&scratch, bool, g->len + 1)};
    for (uint32_t i = 0; i < t->len; i++)
        d.is_shown[t->shown[i]] = true;
    out_str(
        out,
        "digraph \"calls\" {\n"
        "  graph [fontname=\"Helvetica\", fontsize=12, labelloc=t, nodesep=0.2, ranksep=0.35];\n"
        "  node [shape=box, style=filled, color=\"#6b5c3a\", fontname=\"Helvetica\", "
        "fontsize=11, margin=\"0.08,0.04\"];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n");
    dot_caption(&d);
    for (uint32_t i = 0; i < g->functions->len; i++)
        if (d.is_shown[i])
            dot_node(&d, i);
    dot_clusters(&d);
    for (uint32_t i = 0; i < g->arcs_len; i++)
        if (d.is_shown[g->arcs[i].caller] && d.is_shown[g->arcs[i].callee])
            dot_arc(&d, &g->arcs[i]);
    out_str(out, "}\n");
    arena_deinit(&scratch);
}

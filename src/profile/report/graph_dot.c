/* The entries of the call graph in the language of Graphviz: a picture of the largest functions.
 *
 * Colour says how much of all time a function spent in itself, width of an arrow how much flowed
 * along it. What has no entry is left out, and the caption says how much that is.
 *
 *     digraph "calls" {
 *       graph [...]; node [...]; edge [...];       looks, once for all
 *       label="program: ...";                      the caption
 *       n12 [label="parse\n60 %, self 50 %", ...]; a box a function, by its number in the graph
 *       subgraph cluster_1 { n12; n13; n900 }      a frame a cycle, with a box for the rest of it
 *       n3 -> n12 [label="30 %\n900x", ...];       an arrow a pair
 *     }
 *
 * Every function that has an entry has a box. Arrows are gathered in a map by their ends, in linear
 * time. The language: graphviz.org, "The DOT Language". */
#include "profile/report/writers.h"

#include "base/map.h"
#include "output/out.h"

#include <inttypes.h>

enum { LABEL_ROOM = 36, TIP_ROOM = 500 };

/* From there on boxes are not moved for as long as arrows get a little shorter. The work of placing
 * them (network simplex) is limited then: it grows faster than the picture does, and a picture of a
 * hundred boxes is not read arrow by arrow. */
enum { MANY_BOXES = 100 };

struct dot {
    struct out *out;
    const struct entries *table;
    struct names *names;
    bool *is_shown;                          /* per node of the graph */
    uint32_t *shown_members, *other_members; /* per cycle: with a box of their own, without */
};

/* Labels are short, tips whole. dot_quoted() escapes what ends a string of DOT or starts a command
 * in it. */
static void dot_name(struct out *out, const char *name, int room)
{
    struct out shortened;
    out_init(&shortened, -1);
    text_symbol_within(&shortened, name, room);
    dot_quoted(out, shortened.at, shortened.len);
    out_deinit(&shortened);
}

/* Of all samples, so that boxes and arrows can be compared. */
static double dot_percent(const struct dot *d, double samples)
{
    const double percent = 100;
    return percent * summary_share(d->table->summary, samples);
}

/* The steps and colours of the flame picture, so that a colour means the same in both. */
static const char *dot_colour(double self_percent)
{
    const double least[] = {25, 10, 3, 1};
    static const char *const COLOURS[] = {"#dd6a4a", "#f58a4b", "#fdbb63", "#fee08b", "#fdf0c0"};
    size_t i = 0;
    while (i < sizeof least / sizeof *least && self_percent < least[i])
        i++;
    return COLOURS[i];
}

/* Without samples the label has the name alone: shares of nothing would be 0 everywhere. */
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

/* --- arrows ---------------------------------------------------------------------------------- */

/* Calls that one arrow stands for. Ends are functions of the picture, or cycles: those of their
 * members that have no box of their own share one. `is_internal`: between members of one cycle,
 * where no time flows. `is_static`: all its calls stand in the code and none was counted. */
struct dot_arrow {
    uint32_t from, to;
    double samples;
    uint64_t count;
    bool is_internal, is_static;
};

/* `known` maps (from, to) to the place in `all`, which keeps the order of the graph's arcs: the
 * picture does not depend on the order of a hash. */
struct dot_arrows {
    struct map known;
    VEC(struct dot_arrow) all;
};

/* The node that an arrow to a function ends at: its box, or the box of its cycle's other members,
 * or NO_NODE where the picture has neither. */
static uint32_t dot_end(const struct dot *d, uint32_t function)
{
    uint32_t head = d->table->graph->nodes[function].head;
    if (d->is_shown[function])
        return function;
    return head != function && d->shown_members[head] ? head : NO_NODE;
}

/* Calls inside of a cycle are drawn between members with boxes alone: to and from a box that stands
 * for several they would be loops that say nothing. */
static void dot_take_arc(const struct dot *d, struct dot_arrows *arrows,
                         const struct graph_arc *arc)
{
    const struct graph *g = d->table->graph;
    uint32_t from = dot_end(d, arc->caller), to = dot_end(d, arc->callee);
    bool is_internal = graph_arc_is_internal(g, arc), is_new;
    bool are_boxes = from == arc->caller && to == arc->callee;
    if (from == NO_NODE || to == NO_NODE || (is_internal && !are_boxes))
        return;
    uint32_t at = map_index(&arrows->known, from, to, arrows->all.len, &is_new);
    if (is_new)
        vec_push(&arrows->all,
                 ((struct dot_arrow){
                     .from = from, .to = to, .is_internal = is_internal, .is_static = true}));
    arrows->all.at[at].samples += arc->self + arc->children;
    arrows->all.at[at].count += arc->count;
    arrows->all.at[at].is_static &= graph_arc_is_static(g, arc) && !g->is_measured;
}

/* A cycle has only a number; names are cut where they would make a box too wide. */
static void dot_end_name(const struct dot *d, uint32_t end)
{
    const struct graph *g = d->table->graph;
    if (graph_is_cycle(g, end))
        out_printf(d->out, "cycle %" PRIu32, g->nodes[end].cycle);
    else
        dot_name(d->out, names_text(d->names, end), TIP_ROOM);
}

/* A percentage of time, the number of calls, or both with `between` between them; time never flows
 * inside of a cycle. */
static void dot_amount(const struct dot *d, const struct dot_arrow *a, double percent,
                       const char *between)
{
    if (percent > 0 && !a->is_internal)
        out_printf(d->out, "%.2f %%%s", percent, a->count ? between : "");
    if (a->count)
        out_printf(d->out, "%" PRIu64 "x", a->count);
}

/* Names in labels are cut, those in tips are whole: "parse calls lex, 30 %, 900x". */
static void dot_tip(const struct dot *d, const struct dot_arrow *a, double percent)
{
    dot_end_name(d, a->from);
    out_str(d->out, " calls ");
    dot_end_name(d, a->to);
    out_str(d->out, "\\n");
    dot_amount(d, a, percent, ", ");
}

/* Little of what stands for members that are not shown is of use: many thin arrows. Those below
 * half a percent are left out. The width of the line grows with the share, so that the main path is
 * seen first; dotted lines are calls that were never recorded. */
static void dot_arrow(const struct dot *d, const struct dot_arrow *a)
{
    const double thinnest = 0.7, slope = 0.06, least = 0.5;
    const struct graph *g = d->table->graph;
    bool is_from_cycle = graph_is_cycle(g, a->from), is_to_cycle = graph_is_cycle(g, a->to);
    double percent = dot_percent(d, a->samples);
    if ((is_from_cycle || is_to_cycle) && d->table->summary->has_samples && percent < least)
        return;
    out_printf(d->out, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"   ", a->from, a->to);
    dot_amount(d, a, percent, "\\n   ");
    out_printf(d->out, "\", penwidth=%.2f%s", thinnest + slope * (a->is_internal ? 0 : percent),
               a->is_static ? ", style=dotted" : "");
    out_str(d->out, ", tooltip=\"");
    dot_tip(d, a, percent);
    out_str(d->out, "\", labeltooltip=\"");
    dot_tip(d, a, percent);
    out_str(d->out, "\"];\n");
}

/* Arcs between the same two boxes make one arrow, so that all are taken before one is drawn. */
static void dot_all_arrows(const struct dot *d)
{
    const struct graph *g = d->table->graph;
    struct dot_arrows arrows = {0};
    for (uint32_t i = 0; i < g->arcs_len; i++)
        dot_take_arc(d, &arrows, &g->arcs[i]);
    for (size_t i = 0; i < arrows.all.len; i++)
        dot_arrow(d, &arrows.all.at[i]);
    map_deinit(&arrows.known);
    vec_free(&arrows.all);
}

/* --- cycles ---------------------------------------------------------------------------------- */

/* One box for all members that have none: calls from outside end there. */
static void dot_other_members(struct dot *d, uint32_t cycle)
{
    uint32_t n = d->other_members[cycle];
    if (n)
        out_printf(d->out,
                   " n%" PRIu32 " [label=\"%" PRIu32 " more function%s\", style=\"dashed\", "
                   "tooltip=\"members of cycle %" PRIu32 " that have no box of their own\"];",
                   cycle, n, text_plural(n), d->table->graph->nodes[cycle].cycle);
}

/* A cycle without any member among the boxes has no frame. The box of the other members is inside,
 * so that calls to them end at the frame that they belong to. */
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
                           "label=\"cycle %" PRIu32 ": %.2f %%\"; tooltip=\"cycle %" PRIu32
                           ": functions that call each other around\";",
                           g->nodes[c].cycle, g->nodes[c].cycle,
                           dot_percent(d, g->nodes[c].self + g->nodes[c].children),
                           g->nodes[c].cycle);
            has_begun = true;
            out_printf(d->out, " n%" PRIu32 ";", i);
        }
        if (!has_begun)
            continue;
        dot_other_members(d, c);
        out_str(d->out, " }\n");
    }
}

/* That times are estimated is said in the picture itself, since pictures are passed on alone. */
static void dot_caption(struct dot *d)
{
    const struct entries *t = d->table;
    out_str(d->out, "  label=\"");
    dot_name(d->out, t->summary->program, TIP_ROOM);
    if (t->omitted)
        out_printf(d->out, ": the most important entries; %" PRIu32 " more are left out",
                   t->omitted);
    if (t->summary->has_samples && !t->graph->is_measured)
        out_str(d->out, "\\n"
                        "Times along calls are estimated from call counts.");
    out_str(d->out, "\";\n");
}

/* One pass counts the members of each cycle that have boxes; then boxes, frames and arrows are
 * written. */
void graph_dot(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    const struct graph *g = t->graph;
    struct arena scratch = {0};
    struct dot d = {out,
                    t,
                    in->names,
                    ARENA_NEW(&scratch, bool, g->len + 1),
                    ARENA_NEW(&scratch, uint32_t, g->len + 1),
                    ARENA_NEW(&scratch, uint32_t, g->len + 1)};
    for (uint32_t i = 0; i < t->len; i++)
        d.is_shown[t->shown[i]] = true;
    for (uint32_t c = g->functions->len; c < g->len; c++)
        for (uint32_t i = g->nodes[c].next_member; i != NO_NODE; i = g->nodes[i].next_member)
            ++*(d.is_shown[i] ? &d.shown_members[c] : &d.other_members[c]);
    out_str(
        out,
        "digraph \"calls\" {\n"
        "  graph [fontname=\"Helvetica\", fontsize=12, labelloc=t, nodesep=0.2, ranksep=0.35];\n"
        "  node [shape=box, style=filled, color=\"#6b5c3a\", fontname=\"Helvetica\", "
        "fontsize=11, margin=\"0.08,0.04\"];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n");
    if (t->len > MANY_BOXES)
        out_str(out, "  graph [nslimit=1];\n");
    dot_caption(&d);
    for (uint32_t i = 0; i < g->functions->len; i++)
        if (d.is_shown[i])
            dot_node(&d, i);
    dot_clusters(&d);
    dot_all_arrows(&d);
    out_str(out, "}\n");
    arena_deinit(&scratch);
}

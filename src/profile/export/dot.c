/* The call graph in the language of Graphviz. Functions below half a percent are left out, and a
 * line below the graph says how many; without times all are drawn. Nothing is pruned silently. */
#include "output/text.h"
#include "profile/export/exports.h"

#define LEAST_SHARE 0.005

struct dot {
    struct out *out;
    const struct exchange *x;
    bool *is_shown; /* per function */
    size_t left_out;
};

static double dot_percent(const struct dot *d, uint64_t amount)
{
    return d->x->total ? 100.0 * (double)amount / (double)d->x->total : 0;
}

static void dot_text(struct out *out, const char *text)
{
    dot_quoted(out, text, strlen(text));
}

static void dot_choose(struct dot *d)
{
    const struct exchange *x = d->x;
    for (size_t i = 0; i < x->arcs.len && !x->total; i++)
        d->is_shown[x->arcs.at[i].caller] = d->is_shown[x->arcs.at[i].callee] = true;
    for (size_t i = 0; i < x->functions.len; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        bool is_large = f->total && (double)f->total >= LEAST_SHARE * (double)x->total;
        d->is_shown[i] = d->is_shown[i] || is_large;
        d->left_out += !d->is_shown[i] && (f->total || f->object != EXCHANGE_NOWHERE);
    }
}

/* From white to red by the share of the whole. */
static void dot_node(struct dot *d, uint32_t number)
{
    const struct exchange_function *f = &d->x->functions.at[number];
    double total = dot_percent(d, f->total);
    out_printf(d->out, "  f%u [label=\"", number);
    dot_text(d->out, f->name);
    if (f->is_inlined)
        out_str(d->out, " [inlined]");
    if (d->x->total)
        out_printf(d->out, "\\n%.2f %%\\n(self %.2f %%)", total, dot_percent(d, f->self));
    out_printf(d->out, "\", fillcolor=\"0.05 %.3f 1.0\", tooltip=\"",
               total > 100 ? 1 : total / 100);
    dot_text(d->out, f->file ? f->file : f->linkage);
    out_str(d->out, "\"];\n");
}

static void dot_arc(struct dot *d, const struct exchange_arc *arc)
{
    double percent = dot_percent(d, arc->cost);
    out_printf(d->out, "  f%u -> f%u [label=\"", arc->caller, arc->callee);
    if (arc->cost)
        out_printf(d->out, "%.2f %%", percent);
    if (arc->calls)
        out_printf(d->out, "%s%lu×", arc->cost ? "\\n" : "", (unsigned long)arc->calls);
    out_printf(d->out, "\", penwidth=%.2f];\n", 0.5 + (percent > 100 ? 100 : percent) / 20);
}

static void dot_caption(struct dot *d)
{
    out_str(d->out, "  label=\"");
    dot_text(d->out, d->x->summary->program);
    out_printf(d->out, ": %s", d->x->event);
    if (d->x->is_model && d->x->total)
        out_str(d->out, "; times along calls are estimated by call counts");
    if (d->left_out)
        out_printf(d->out, "; %zu functions below %.1f %% are left out", d->left_out,
                   100 * LEAST_SHARE);
    out_str(d->out, "\";\n");
}

void dot_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct dot d = {
        .out = out, .x = x, .is_shown = ARENA_NEW(&scratch, bool, x->functions.len + 1)};
    dot_choose(&d);
    out_str(out, "digraph \"profile\" {\n"
                 "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                 "  edge [fontname=\"sans-serif\"];\n");
    dot_caption(&d);
    for (uint32_t i = 0; i < x->functions.len; i++)
        if (d.is_shown[i])
            dot_node(&d, i);
    for (size_t i = 0; i < x->arcs.len; i++)
        if (d.is_shown[x->arcs.at[i].caller] && d.is_shown[x->arcs.at[i].callee])
            dot_arc(&d, &x->arcs.at[i]);
    out_str(out, "}\n");
    arena_deinit(&scratch);
}

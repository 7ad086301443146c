/* Entries and trees as text.
 *
 * An entry is laid out as gprof's users know it: callers, the function with its number, callees,
 * a line of dashes. Numbers are those of JSON and CSV, printed with fewer digits. */
#include "profile/report/graph.h"

#include "output/out_parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char static_word[] = "static";

enum { ENTRIES_A_PIECE = 64 };

struct layout {
    const struct summary *summary;
    const struct graph *graph;
    struct names *names;
    const struct text_style *style;
    const uint32_t *number; /* NULL in trees */
    bool has_samples, has_time;
    int index, time, decimals, calls;
};

static struct layout lay_out(const struct summary *s, const struct graph *g, struct names *names,
                             const struct text_style *style)
{
    struct layout l = {.summary = s,
                       .graph = g,
                       .names = names,
                       .style = style,
                       .has_samples = s->has_samples,
                       .has_time = s->has_samples && s->rate > 0,
                       .index = text_digits(g->len) + 2,
                       .calls = text_digits(s->calls)};
    double most = l.has_time ? summary_time(s, s->samples) : s->samples;
    l.decimals = l.has_time ? text_time_decimals(s) : 2;
    l.time = text_digits((uint64_t)most) + l.decimals + 1;
    l.index = l.index < 5 ? 5 : l.index;
    l.time = l.time < 9 ? 9 : l.time;
    int least = g->measured_len < g->arcs_len ? (int)strlen(static_word) : 5;
    l.calls = l.calls < least ? least : l.calls;
    return l;
}

static void text_node(struct out *out, const struct layout *l, uint32_t node)
{
    const struct graph_node *n = &l->graph->nodes[node];
    if (graph_is_cycle(l->graph, node)) {
        out_printf(out, "<cycle %" PRIu32 " as a whole>", n->cycle);
    } else {
        text_function(out, l->names, node, l->style);
        if (n->cycle)
            out_printf(out, " <cycle %" PRIu32 ">", n->cycle);
    }
    if (l->number && l->number[node])
        out_printf(out, " [%" PRIu32 "]", l->number[node]);
}

/* Self and children, in time where the rate is known, else in samples. */
static void text_times(struct out *out, const struct layout *l, double self, double children)
{
    if (!l->has_samples)
        return;
    double unit = l->has_time ? l->summary->rate : 1;
    out_char(out, ' ');
    out_fixed(out, self / unit, l->time, l->decimals);
    out_char(out, ' ');
    out_fixed(out, children / unit, l->time, l->decimals);
}

static void text_no_times(struct out *out, const struct layout *l)
{
    if (l->has_samples)
        out_spaces(out, 2 * ((size_t)l->time + 1));
}

/* `mark` and the second number fill a field of their own. */
static void text_calls(struct out *out, const struct layout *l, uint64_t calls, char mark,
                       uint64_t second)
{
    out_str(out, "  ");
    out_u64(out, calls, l->calls);
    out_char(out, mark);
    if (mark == ' ')
        out_spaces(out, (size_t)l->calls);
    else
        out_u64_left(out, second, l->calls);
}

/* In place of a number of calls, where the code has one and no call was recorded. */
static void text_static(struct out *out, const struct layout *l)
{
    out_spaces(out, 2 + (size_t)l->calls - strlen(static_word));
    out_str(out, static_word);
    out_spaces(out, (size_t)l->calls + 1);
}

/* Where the times along calls come from. */
static void text_origin(struct out *out, const struct graph *g)
{
    if (g->is_measured)
        out_str(out, "Times    of callers and callees: samples that had both on the stack\n");
    else
        out_str(out, "Model    times of callees are split among callers by call counts\n");
}

static void text_line(struct out *out, const struct layout *l, const struct entry_line *line)
{
    out_spaces(out, (size_t)l->index + (l->has_samples ? 7 : 0));
    if (line->kind == LINE_INTERNAL)
        text_no_times(out, l);
    else
        text_times(out, l, line->self, line->children);
    if (line->kind == LINE_SPONTANEOUS || line->is_seen)
        out_spaces(out, 2 * (size_t)l->calls + 3);
    else if (line->is_static)
        text_static(out, l);
    else if (line->kind == LINE_INTERNAL)
        text_calls(out, l, line->calls, ' ', 0);
    else if (line->kind == LINE_MEMBER)
        text_calls(out, l, line->calls, line->recursive_calls ? '+' : ' ', line->recursive_calls);
    else
        text_calls(out, l, line->calls, '/', line->of);
    out_str(out, "      ");
    if (line->kind == LINE_SPONTANEOUS)
        out_str(out, "<spontaneous>");
    else if (line->kind == LINE_UNKNOWN)
        out_str(out, "<unknown caller>");
    else
        text_node(out, l, line->node);
    out_char(out, '\n');
}

static void text_primary(struct out *out, const struct layout *l, const struct entry *e)
{
    char index[16];
    double share = summary_share(l->summary, e->self + e->children);
    snprintf(index, sizeof index, "[%" PRIu32 "]", e->number);
    out_printf(out, "%-*s", l->index, index);
    if (l->has_samples) {
        text_heat_on(out, l->style, share);
        out_printf(out, " %6.2f", 100 * share);
        text_heat_off(out, l->style, share);
    }
    text_times(out, l, e->self, e->children);
    if (e->calls || e->recursive_calls)
        text_calls(out, l, e->calls, e->recursive_calls ? '+' : ' ', e->recursive_calls);
    else
        out_spaces(out, 2 * (size_t)l->calls + 3);
    out_str(out, "  ");
    text_node(out, l, e->node);
    out_char(out, '\n');
}

static void text_head(struct out *out, const struct layout *l)
{
    char self[16], children[24];
    const char unit = l->summary->abbreviation > ' ' && l->summary->abbreviation <= '~'
                          ? l->summary->abbreviation
                          : '?';
    snprintf(self, sizeof self, l->has_time ? "self %c" : "samples", unit);
    snprintf(children, sizeof children, l->has_time ? "callees %c" : "callees", unit);
    out_printf(out, "%-*s", l->index, "index");
    if (l->has_samples)
        out_printf(out, " %6s %*s %*s", "total%", l->time, self, l->time, children);
    out_printf(out, "  %*s%*s  function\n", l->calls, "calls", l->calls + 1, "");
}

struct listing {
    const struct entries *entries;
    const struct layout *layout;
};

static void text_entry(struct out *out, const struct layout *l, const struct entry *e)
{
    for (size_t k = 0; k < e->callers.all.len; k++)
        text_line(out, l, &e->callers.all.at[k]);
    text_primary(out, l, e);
    for (size_t k = 0; k < e->below.all.len; k++)
        text_line(out, l, &e->below.all.at[k]);
    out_str(out, "----------------------------------------------------------------------\n");
}

static void text_entries(size_t piece, struct out *out, void *context)
{
    const struct listing *listing = context;
    const struct entries *t = listing->entries;
    struct entry e = {0};
    size_t end = (piece + 1) * ENTRIES_A_PIECE;
    for (size_t i = piece * ENTRIES_A_PIECE; i < end && i < t->len; i++) {
        entry_make(t, t->shown[i], &e);
        text_entry(out, listing->layout, &e);
    }
    entry_deinit(&e);
}

void graph_text(struct out *out, const struct entries *t, struct names *names,
                const struct text_style *style)
{
    struct layout l = lay_out(t->summary, t->graph, names, style);
    struct listing listing = {t, &l};
    l.number = t->number;
    names_fill(names);
    text_summary(out, t->summary);
    text_notes(out, t->summary);
    text_origin(out, t->graph);
    out_char(out, '\n');
    text_head(out, &l);
    out_parallel(out, (t->len + ENTRIES_A_PIECE - 1) / ENTRIES_A_PIECE, 0, text_entries, &listing);
    if (t->omitted)
        out_printf(out, "%" PRIu32 " more entr%s not shown\n", t->omitted,
                   t->omitted == 1 ? "y is" : "ies are");
    if (t->summary->unattributed > 0)
        out_printf(out, "%.2f %% of the samples are in no function, and so in no entry\n",
                   100 * summary_share(t->summary, t->summary->unattributed));
}

/* --- trees ----------------------------------------------------------------------------------- */

static void text_tree_row(struct out *out, const struct layout *l, const struct tree_row *r)
{
    double share = summary_share(l->summary, r->samples);
    if (l->has_samples) {
        text_heat_on(out, l->style, share);
        out_printf(out, "%6.2f", 100 * share);
        text_heat_off(out, l->style, share);
        out_char(out, ' ');
        out_fixed(out, l->has_time ? summary_time(l->summary, r->samples) : r->samples, l->time,
                  l->decimals);
        out_str(out, "  ");
    }
    if (r->is_static)
        out_printf(out, "%*s", l->calls, static_word);
    else if (r->calls)
        out_u64(out, r->calls, l->calls);
    else
        out_spaces(out, (size_t)l->calls);
    out_spaces(out, 2 + 2 * (size_t)r->depth);
    if (r->node == NO_NODE)
        out_str(out, "<unknown caller>");
    else
        text_node(out, l, r->node);
    if (r->cut)
        out_printf(out, " (+%" PRIu32 ")", r->cut);
    out_char(out, '\n');
}

static void text_tree(struct out *out, const struct layout *l, const struct tree *t)
{
    char total[16];
    const char unit = l->summary->abbreviation > ' ' && l->summary->abbreviation <= '~'
                          ? l->summary->abbreviation
                          : '?';
    snprintf(total, sizeof total, l->has_time ? "total %c" : "samples", unit);
    out_char(out, '\n');
    if (l->has_samples)
        out_printf(out, "%6s %*s  ", "total%", l->time, total);
    out_printf(out, "%*s  %s of ", l->calls, "calls", t->is_upward ? "callers" : "callees");
    text_node(out, l, t->function);
    out_char(out, '\n');
    for (size_t i = 0; i < t->len; i++)
        text_tree_row(out, l, &t->rows[i]);
    if (t->is_cut)
        out_printf(out, "the tree goes on; --limit allows %zu rows\n", t->len);
}

/* What trees are worth. */
static void text_paths(struct out *out, const struct tree *t)
{
    if (t->has_paths)
        out_str(out,
                "Model    times of callees are split by call counts, as if every call took equally "
                "long;\n         paths longer than a pair are an estimate\n");
    else
        out_str(out,
                "Paths    only pairs of callers and callees are known; --model estimates longer "
                "ones\n");
}

void trees_text(struct out *out, const struct tree *trees, size_t len, struct names *names,
                const struct text_style *style)
{
    struct layout l = lay_out(trees->summary, trees->graph, names, style);
    text_summary(out, trees->summary);
    text_notes(out, trees->summary);
    if (!trees->has_paths)
        text_origin(out, trees->graph);
    text_paths(out, trees);
    for (size_t i = 0; i < len; i++)
        text_tree(out, &l, &trees[i]);
}

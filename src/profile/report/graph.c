/* Entries and trees as text.
 *
 * An entry is laid out as gprof's users know it: callers, the function with its number, callees,
 * a line of dashes. Numbers are those of JSON and CSV, printed with fewer digits. */
#include "profile/report/writers.h"

#include "output/json.h"
#include "output/out.h"
#include "profile/analysis/compare/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char static_word[] = "static";

enum { ENTRIES_A_PIECE = 64 };

struct columns {
    const struct summary *summary;
    const struct graph *graph;
    struct names *names;
    const struct text_style *style;
    const uint32_t *number; /* NULL in trees */
    bool has_samples, has_time;
    int index, time, decimals, calls;
    bool has_calls;
    const struct baseline *base; /* or NULL */
    int was;                     /* width of the base's calls; 0: it has none */
};

enum { WAS_SHARE = 6 };

static struct columns graph_columns_of(const struct summary *s, const struct graph *g,
                                       struct names *names, const struct text_style *style)
{
    struct columns l = {.summary = s,
                        .graph = g,
                        .names = names,
                        .style = style,
                        .has_samples = s->has_samples,
                        .has_time = s->has_samples && s->rate > 0,
                        .index = text_digits(g->len) + 2,
                        .calls = text_digits(s->calls),
                        .has_calls =
                            s->calls || (!g->is_measured && g->measured_len < g->arcs_len)};
    double most = l.has_time ? summary_time(s, s->samples) : s->samples;
    l.decimals = l.has_time ? text_time_decimals(s) : 2;
    l.time = text_digits((uint64_t)most) + l.decimals + 1;
    l.index = l.index < 5 ? 5 : l.index;
    l.time = l.time < 9 ? 9 : l.time;
    int least = g->measured_len < g->arcs_len ? (int)strlen(static_word) : 5;
    l.calls = l.calls < least ? least : l.calls;
    return l;
}

/* Columns between times and names. */
static int text_calls_width(const struct columns *l)
{
    return l->has_calls ? 2 * l->calls + 3 : 0;
}

static int text_was_width(const struct columns *l)
{
    return l->base ? (l->was ? l->was + 2 : 0) + (l->base->old.has_samples ? WAS_SHARE + 2 : 0) : 0;
}

/* Calls in the base, and its total share; negative: blank. */
static void text_was(struct out *out, const struct columns *l, double calls, double share)
{
    if (!l->base)
        return;
    if (l->was && calls >= 0)
        out_printf(out, "  %*.0f", l->was, calls);
    else if (l->was)
        out_spaces(out, (size_t)l->was + 2);
    if (l->base->old.has_samples && share >= 0)
        out_printf(out, "  %*.2f", WAS_SHARE, 100 * share);
    else if (l->base->old.has_samples)
        out_spaces(out, WAS_SHARE + 2);
}

/* Of a call of the entry, or to it. */
static void text_was_arc(struct out *out, const struct columns *l, const struct entry *e,
                         const struct entry_line *line, bool is_caller)
{
    bool is_arc = line->kind == LINE_ARC || line->kind == LINE_INTERNAL;
    double calls = -1;
    if (l->base && is_arc)
        calls = baseline_arc_calls(l->base, is_caller ? line->node : e->node,
                                   is_caller ? e->node : line->node);
    text_was(out, l, calls, -1);
}

static void text_was_function(struct out *out, const struct columns *l, uint32_t node)
{
    const struct change *was = l->base ? baseline_change(l->base, node) : NULL;
    bool is_known = was && was->old != NO_FUNCTION;
    text_was(out, l, is_known ? was->old_calls : -1, is_known ? was->total.old : -1);
}

/* Of functions and cycles with their callees; blank in lines of callers and callees. */
static void text_others(struct out *out, const struct columns *l, uint32_t node)
{
    const struct other_measures *others = &l->summary->others;
    for (size_t i = 0; i < others->len; i++)
        others_share(out, &others->at[i], others->at[i].totals[node]);
}

/* A name, behind `used` columns of its row. */
static void text_node(struct out *out, const struct columns *l, uint32_t node, int used)
{
    const struct graph_node *n = &l->graph->nodes[node];
    if (graph_is_cycle(l->graph, node)) {
        out_printf(out, "<cycle %" PRIu32 " as a whole>", n->cycle);
    } else {
        int behind = l->number && l->number[node] ? 3 + text_digits(l->number[node]) : 0;
        behind += n->cycle ? 9 + text_digits(n->cycle) : 0;
        text_function_behind(out, l->names, node, l->style, used + behind);
        if (n->cycle)
            out_printf(out, " <cycle %" PRIu32 ">", n->cycle);
    }
    if (l->number && l->number[node])
        out_printf(out, " [%" PRIu32 "]", l->number[node]);
}

/* Self and children, in time where the rate is known, else in samples. */
static void text_times(struct out *out, const struct columns *l, double self, double children)
{
    if (!l->has_samples)
        return;
    double unit = l->has_time ? l->summary->rate : 1;
    out_char(out, ' ');
    out_fixed(out, self / unit, l->time, l->decimals);
    out_char(out, ' ');
    out_fixed(out, children / unit, l->time, l->decimals);
}

static void text_no_times(struct out *out, const struct columns *l)
{
    if (l->has_samples)
        out_spaces(out, 2 * ((size_t)l->time + 1));
}

/* `mark` and the second number fill a field of their own. */
static void text_calls(struct out *out, const struct columns *l, uint64_t calls, char mark,
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
static void text_static(struct out *out, const struct columns *l)
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

static void text_line(struct out *out, const struct columns *l, const struct entry *e,
                      const struct entry_line *line, bool is_caller)
{
    int used = l->index + (l->has_samples ? 2 * l->time + 9 : 0) + text_calls_width(l) +
               others_width(&l->summary->others) + text_was_width(l) + 6;
    out_spaces(out, (size_t)l->index + (l->has_samples ? 7 : 0));
    if (line->kind == LINE_INTERNAL)
        text_no_times(out, l);
    else
        text_times(out, l, line->self, line->children);
    if (!l->has_calls || line->kind == LINE_SPONTANEOUS || line->is_seen)
        out_spaces(out, (size_t)text_calls_width(l));
    else if (line->is_static)
        text_static(out, l);
    else if (line->kind == LINE_INTERNAL)
        text_calls(out, l, line->calls, ' ', 0);
    else if (line->kind == LINE_MEMBER)
        text_calls(out, l, line->calls, line->recursive_calls ? '+' : ' ', line->recursive_calls);
    else
        text_calls(out, l, line->calls, '/', line->of);
    out_spaces(out, (size_t)others_width(&l->summary->others));
    text_was_arc(out, l, e, line, is_caller);
    out_str(out, "      ");
    if (line->kind == LINE_SPONTANEOUS)
        out_str(out, "<spontaneous>");
    else if (line->kind == LINE_UNKNOWN)
        out_str(out, "<unknown caller>");
    else
        text_node(out, l, line->node, used);
    out_char(out, '\n');
}

static void text_primary(struct out *out, const struct columns *l, const struct entry *e)
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
        out_spaces(out, (size_t)text_calls_width(l));
    text_others(out, l, e->node);
    text_was_function(out, l, e->node);
    out_str(out, "  ");
    text_node(out, l, e->node,
              l->index + (l->has_samples ? 2 * l->time + 9 : 0) + text_calls_width(l) +
                  others_width(&l->summary->others) + text_was_width(l) + 2);
    out_char(out, '\n');
}

static void text_head(struct out *out, const struct columns *l)
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
    if (l->has_calls)
        out_printf(out, "  %*s%*s", l->calls, "calls", l->calls + 1, "");
    others_head(out, &l->summary->others);
    if (l->was)
        out_printf(out, "  %*s", l->was, "was");
    if (l->base && l->base->old.has_samples)
        out_printf(out, "  %*s", WAS_SHARE, "was%");
    out_str(out, "  function\n");
}

struct listing {
    const struct entries *entries;
    const struct columns *layout;
};

static void text_entry(struct out *out, const struct columns *l, const struct entry *e)
{
    for (size_t k = 0; k < e->callers.all.len; k++)
        text_line(out, l, e, &e->callers.all.at[k], true);
    text_primary(out, l, e);
    for (size_t k = 0; k < e->below.all.len; k++)
        text_line(out, l, e, &e->below.all.at[k], false);
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

void graph_text(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    struct columns l = graph_columns_of(t->summary, t->graph, names, style);
    l.base = in->base;
    if (l.base && l.base->old.has_calls)
        l.was = text_digits(l.base->old.calls) > 4 ? text_digits(l.base->old.calls) : 4;
    struct listing listing = {t, &l};
    l.number = t->number;
    names_fill(names);
    text_summary_brief(out, t->summary);
    text_origin(out, t->graph);
    out_char(out, '\n');
    text_head(out, &l);
    out_parallel(out, (t->len + ENTRIES_A_PIECE - 1) / ENTRIES_A_PIECE, 0, text_entries, &listing);
    if (!t->len && t->omitted)
        out_str(out, "No entry is left: no function that was measured passes --focus, --ignore and "
                     "--min-percent.\n");
    if (t->omitted)
        out_printf(out, "%" PRIu32 " more entr%s not shown\n", t->omitted,
                   t->omitted == 1 ? "y is" : "ies are");
    if (t->summary->unattributed > 0)
        out_printf(out, "%.2f %% of the samples are in no function, and so in no entry\n",
                   100 * summary_share(t->summary, t->summary->unattributed));
}

/* --- trees ----------------------------------------------------------------------------------- */

static void text_tree_row(struct out *out, const struct columns *l, const struct tree_row *r)
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
    int used = (l->has_samples ? l->time + 9 : 0) + (l->has_calls ? l->calls + 2 : 0) +
               2 * (int)(r->depth < 40 ? r->depth : 40);
    if (r->node == NO_NODE)
        out_str(out, "<unknown caller>");
    else
        text_node(out, l, r->node, used);
    if (r->cut)
        out_printf(out, " (+%" PRIu32 ")", r->cut);
    out_char(out, '\n');
}

static void text_tree(struct out *out, const struct columns *l, const struct tree *t)
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
    text_node(out, l, t->function, 30);
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

void trees_text(struct out *out, const struct report_input *in)
{
    const struct tree *trees = in->trees;
    size_t len = in->trees_len;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    struct columns l = graph_columns_of(trees->summary, trees->graph, names, style);
    text_summary_brief(out, trees->summary);
    if (!trees->has_paths)
        text_origin(out, trees->graph);
    text_paths(out, trees);
    for (size_t i = 0; i < len; i++)
        text_tree(out, &l, &trees[i]);
}

/* Entries and trees for programs: JSON and CSV. */

/* --- entries --------------------------------------------------------------------------------- */

static const char *graph_kind_name(enum line_kind kind)
{
    static const char *const names[] = {[LINE_ARC] = "arc",
                                        [LINE_INTERNAL] = "internal",
                                        [LINE_SPONTANEOUS] = "spontaneous",
                                        [LINE_UNKNOWN] = "unknown",
                                        [LINE_MEMBER] = "member"};
    return names[kind];
}

/* What identifies a node: a function, or the number of a cycle. */
static void graph_json_node(struct json *j, const struct graph *g, uint32_t node,
                            struct names *names)
{
    const struct graph_node *n = &g->nodes[node];
    if (!graph_is_cycle(g, node))
        json_pair_function(j, names, node);
    json_key(j, "cycle");
    if (n->cycle)
        json_u64(j, n->cycle);
    else
        json_none(j);
}

static void graph_json_id(struct json *j, uint32_t number)
{
    json_key(j, "id");
    if (number)
        json_u64(j, number);
    else
        json_none(j);
}

/* What is listed of an entry: callers, or what it calls. */
struct json_listed {
    const struct entries *entries;
    const struct baseline *base;
    uint32_t node; /* the entry's */
    bool is_caller;
    struct names *names;
};

static void graph_json_line(struct json *j, const struct json_listed *l,
                            const struct entry_line *line)
{
    const struct entries *t = l->entries;
    struct names *names = l->names;
    json_begin(j, '{');
    json_pair_str(j, "kind", graph_kind_name(line->kind));
    if (line->node != NO_NODE) {
        graph_json_id(j, t->number[line->node]);
        json_pair_str(j, "name", names_get(names, line->node));
    }
    json_pair_u64(j, "calls", line->calls);
    if (line->kind == LINE_ARC || line->kind == LINE_INTERNAL)
        json_key(j, "static"), json_bool(j, line->is_static);
    if (line->kind == LINE_MEMBER)
        json_pair_u64(j, "recursive_calls", line->recursive_calls);
    else
        json_pair_u64(j, "of_calls", line->of);
    json_pair_double(j, "self_samples", line->self);
    json_pair_double(j, "callees_samples", line->children);
    if (l->base && (line->kind == LINE_ARC || line->kind == LINE_INTERNAL))
        json_pair_double(j, "base_calls",
                         baseline_arc_calls(l->base, l->is_caller ? line->node : l->node,
                                            l->is_caller ? l->node : line->node));
    json_end(j);
}

static void graph_json_lines(struct json *j, const struct json_listed *l, const char *key,
                             const struct entry_lines *lines)
{
    json_key(j, key), json_begin(j, '[');
    for (size_t i = 0; i < lines->all.len; i++)
        graph_json_line(j, l, &lines->all.at[i]);
    json_end(j);
}

static void graph_json_others(struct json *j, const struct other_measures *others, uint32_t node)
{
    if (!others->len)
        return;
    json_key(j, "events"), json_begin(j, '[');
    for (size_t i = 0; i < others->len; i++) {
        double total = others->at[i].totals[node];
        json_begin(j, '{');
        json_pair_str(j, "name", others->at[i].name);
        json_pair_double(j, "total_share", other_share(&others->at[i], total));
        json_pair_double(j, "total_samples", total);
        json_end(j);
    }
    json_end(j);
}

static void graph_json_entry(struct json *j, const struct entries *t, const struct entry *e,
                             const struct report_input *in)
{
    struct names *names = in->names;
    struct json_listed callers = {t, in->base, e->node, true, names};
    struct json_listed below = {t, in->base, e->node, false, names};
    json_begin(j, '{');
    graph_json_id(j, e->number);
    json_pair_str(j, "kind", e->is_cycle ? "cycle" : "function");
    graph_json_node(j, t->graph, e->node, names);
    json_pair_double(j, "total_share", summary_share(t->summary, e->self + e->children));
    json_pair_double(j, "self_samples", e->self);
    json_pair_double(j, "callees_samples", e->children);
    json_pair_u64(j, "calls", e->calls);
    json_pair_u64(j, "recursive_calls", e->recursive_calls);
    graph_json_lines(j, &callers, "callers", &e->callers);
    graph_json_lines(j, &below, e->is_cycle ? "members" : "callees", &e->below);
    graph_json_others(j, &t->summary->others, e->node);
    base_json(j, in->base, e->node, false);
    json_end(j);
}

void graph_json(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct json j = {.out = out};
    struct entry e = {0};
    json_report_begin(&j, "graph", t->summary);
    json_key(&j, "entries"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++) {
        entry_make(t, t->shown[i], &e);
        graph_json_entry(&j, t, &e, in);
    }
    json_end(&j);
    json_pair_u64(&j, "omitted_entries", t->omitted);
    json_key(&j, "measured"), json_bool(&j, t->graph->is_measured);
    json_end(&j);
    entry_deinit(&e);
}

static void graph_csv_function(struct csv *c, const struct graph *g, uint32_t node,
                               struct names *names)
{
    if (node == NO_NODE || graph_is_cycle(g, node)) {
        csv_none(c), csv_none(c), csv_none(c);
        return;
    }
    csv_str(c, names_get(names, node));
    csv_str(c, names->functions->at[node].name);
    csv_address(c, names->functions->at[node].start);
}

static void graph_csv_object(struct csv *c, const struct graph *g, uint32_t node,
                             struct names *names)
{
    if (node == NO_NODE || graph_is_cycle(g, node))
        csv_none(c);
    else
        csv_str(c, function_object_label(names->functions, node));
}

static void graph_csv_line(struct csv *c, const struct entries *t, const struct entry_line *line,
                           uint32_t callee, struct names *names)
{
    csv_str(c, graph_kind_name(line->kind));
    graph_csv_function(c, t->graph, line->node, names);
    graph_csv_function(c, t->graph, callee, names);
    csv_u64(c, line->calls);
    csv_double(c, line->self);
    csv_double(c, line->children);
    csv_u64(c, line->is_static);
    graph_csv_object(c, t->graph, line->node, names);
    graph_csv_object(c, t->graph, callee, names);
    csv_end(c);
}

/* One line an arc: the callers of all functions that are shown. */
void graph_csv(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct names *names = in->names;
    struct csv c = {.out = out};
    struct entry e = {0};
    csv_header(
        &c, "kind,caller,caller_linkage_name,caller_address,callee,callee_linkage_name,"
            "callee_address,calls,self_samples,callees_samples,static,caller_object,callee_object");
    for (uint32_t i = 0; i < t->len; i++) {
        if (graph_is_cycle(t->graph, t->shown[i]))
            continue;
        entry_make(t, t->shown[i], &e);
        for (size_t k = 0; k < e.callers.all.len; k++)
            graph_csv_line(&c, t, &e.callers.all.at[k], e.node, names);
    }
    entry_deinit(&e);
}

/* --- trees ----------------------------------------------------------------------------------- */

static const char *graph_row_kind(const struct tree *t, const struct tree_row *r)
{
    if (r->node == NO_NODE)
        return "unknown";
    return graph_is_cycle(t->graph, r->node) ? "cycle" : "function";
}

static void graph_json_tree_row(struct json *j, const struct tree *t, const struct tree_row *r,
                                struct names *names)
{
    json_begin(j, '{');
    json_pair_u64(j, "depth", r->depth);
    json_pair_str(j, "kind", graph_row_kind(t, r));
    if (r->node != NO_NODE)
        graph_json_node(j, t->graph, r->node, names);
    json_pair_u64(j, "calls", r->calls);
    json_key(j, "static"), json_bool(j, r->is_static);
    json_pair_double(j, "share", summary_share(t->summary, r->samples));
    json_pair_double(j, "samples", r->samples);
    json_pair_u64(j, "cut", r->cut);
    json_end(j);
}

void trees_json(struct out *out, const struct report_input *in)
{
    const struct tree *trees = in->trees;
    size_t len = in->trees_len;
    struct names *names = in->names;
    struct json j = {.out = out};
    json_report_begin(&j, trees->is_upward ? "callers" : "callees", trees->summary);
    json_key(&j, "estimates_paths"), json_bool(&j, trees->has_paths);
    json_key(&j, "trees"), json_begin(&j, '[');
    for (size_t i = 0; i < len; i++) {
        json_begin(&j, '{');
        json_pair_function(&j, names, trees[i].function);
        json_key(&j, "is_cut"), json_bool(&j, trees[i].is_cut);
        json_key(&j, "rows"), json_begin(&j, '[');
        for (size_t k = 0; k < trees[i].len; k++)
            graph_json_tree_row(&j, &trees[i], &trees[i].rows[k], names);
        json_end(&j);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

static void graph_csv_tree_row(struct csv *c, const struct tree *t, const struct tree_row *r,
                               struct names *names)
{
    csv_u64(c, r->depth);
    csv_str(c, graph_row_kind(t, r));
    graph_csv_function(c, t->graph, r->node, names);
    if (r->node != NO_NODE && t->graph->nodes[r->node].cycle)
        csv_u64(c, t->graph->nodes[r->node].cycle);
    else
        csv_none(c);
    csv_u64(c, r->calls);
    csv_double(c, summary_share(t->summary, r->samples));
    csv_double(c, r->samples);
    csv_u64(c, r->cut);
    csv_u64(c, r->is_static);
    graph_csv_object(c, t->graph, r->node, names);
    csv_end(c);
}

void trees_csv(struct out *out, const struct report_input *in)
{
    const struct tree *trees = in->trees;
    size_t len = in->trees_len;
    struct names *names = in->names;
    struct csv c = {.out = out};
    csv_header(
        &c,
        "tree,depth,kind,name,linkage_name,address,cycle,calls,share,samples,cut,static,object");
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < trees[i].len; k++) {
            csv_u64(&c, i + 1);
            graph_csv_tree_row(&c, &trees[i], &trees[i].rows[k], names);
        }
}

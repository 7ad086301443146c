/* Entries and trees for programs: JSON and CSV. */
#include "profile/report/graph.h"

#include "output/json.h"
#include "profile/report/base.h"
#include "profile/report/summary.h"

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

/* Call paths out of a graph that knows pairs alone; exchange.h explains the model.
 *
 * Breadth first from the roots, over the graph without its cycles, which ends. A queue replaces
 * recursion. There may be exponentially many paths: a frame with less than `least` is added to its
 * parent's frame for all that is small, so that no more than samples / least frames stand at one
 * depth.
 *
 * The model divides a function's time among its callers by their calls, whatever was sampled, so a
 * path's part of a function is the same for all graphs of the same calls: their amounts can be put
 * on the paths of one of them. */
#include "profile/analysis/exchange/exchange.h"

#include "base/map.h"

/* A frame whose callees are not processed yet. */
struct waiting {
    uint32_t frame, node;
    double weight; /* its self time and callees' */
};

/* The tree of paths while it grows. */
struct path_tree {
    struct model_paths *out;
    const struct graph *g, *amounts;
    double least;
    VEC(struct waiting) queue;
    uint32_t *callers;   /* per node: from how many nodes it is called, the unknown one included */
    double *unexplained; /* per node: time that no caller accounts for */
};

static double flow_of(const struct graph_arc *arc)
{
    return arc->self + arc->children;
}

static double total_of(const struct graph *g, uint32_t node)
{
    return g->nodes[node].self + g->nodes[node].children;
}

/* Converts part of the graph's samples at a node to amounts: the model divides both alike. */
static double amount_of(const struct path_tree *m, uint32_t node, double weight)
{
    return m->amounts == m->g ? weight : weight / total_of(m->g, node) * total_of(m->amounts, node);
}

/* Appends a frame, and returns its number. */
static uint32_t add(struct path_tree *m, uint32_t parent, uint32_t node, double self,
                    bool is_estimate)
{
    vec_push(&m->out->frames, (struct model_frame){parent, node, self, is_estimate});
    return (uint32_t)m->out->frames.len - 1;
}

/* What is put together below one frame. */
struct small_callees {
    double weight, amount;
};

/* A frame, or a part of `small`, which the caller adds up. */
static void add_callee(struct path_tree *m, uint32_t parent, uint32_t node, double weight,
                       struct small_callees *small)
{
    if (weight < m->least) {
        small->weight += weight;
        small->amount += amount_of(m, node, weight);
        return;
    }
    bool is_estimate = m->callers[node] > 1 || m->out->frames.at[parent].is_estimate;
    uint32_t frame = add(m, parent, node, 0, is_estimate);
    vec_push(&m->queue, (struct waiting){frame, node, weight});
}

static void add_small(struct path_tree *m, uint32_t parent, const struct small_callees *small)
{
    if (small->weight > 0)
        add(m, parent, MODEL_SMALL, small->amount, true);
}

/* Time of one function's callees, per callee's head; a cycle's members may share some. */
struct callee {
    uint32_t node;
    double flow;
};

struct callees {
    VEC(struct callee) all;
    struct map by_node;
};

/* Adds up what flows to each callee of a function. */
static void gather(const struct path_tree *m, uint32_t function, struct callees *c)
{
    const struct graph *g = m->g;
    for (uint32_t i = g->callees.start[function]; i < g->callees.start[function + 1]; i++) {
        const struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
        if (graph_arc_is_internal(g, arc) || flow_of(arc) <= 0)
            continue;
        bool is_new;
        uint32_t head = g->nodes[arc->callee].head;
        uint32_t at = map_index(&c->by_node, head, 0, c->all.len, &is_new);
        if (is_new)
            vec_push(&c->all, (struct callee){.node = head});
        c->all.at[at].flow += flow_of(arc);
    }
}

/* Gives a frame its self time, and its callees frames. Members of a cycle are frames below the
 * cycle's. */
static void expand(struct path_tree *m, const struct waiting *w)
{
    const struct graph *g = m->g;
    struct callees callees = {0};
    double part = w->weight / total_of(g, w->node);
    struct small_callees small = {0};
    if (graph_is_cycle(g, w->node)) {
        for (uint32_t i = g->nodes[w->node].next_member; i != NO_NODE;
             i = g->nodes[i].next_member) {
            gather(m, i, &callees);
            if (g->nodes[i].self > 0)
                add(m, w->frame, i, part * m->amounts->nodes[i].self,
                    m->out->frames.at[w->frame].is_estimate);
        }
    } else {
        gather(m, w->node, &callees);
        m->out->frames.at[w->frame].self = part * m->amounts->nodes[w->node].self;
    }
    for (size_t i = 0; i < callees.all.len; i++)
        add_callee(m, w->frame, callees.all.at[i].node, part * callees.all.at[i].flow, &small);
    add_small(m, w->frame, &small);
    map_deinit(&callees.by_node);
    vec_free(&callees.all);
}

void model_paths_make(struct model_paths *p, const struct graph *g, const struct graph *amounts,
                      double least)
{
    struct arena scratch = {0};
    struct path_tree m = {.out = p, .g = g, .amounts = amounts, .least = least};
    /* Callers of heads, and what is left of a head's time when its callers have theirs. */
    struct map seen = {0};
    m.callers = ARENA_NEW(&scratch, uint32_t, g->len);
    m.unexplained = ARENA_NEW(&scratch, double, g->len);
    for (uint32_t i = 0; i < g->len; i++)
        if (g->nodes[i].head == i)
            m.unexplained[i] = total_of(g, i);
    for (uint32_t i = 0; i < g->arcs_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        if (graph_arc_is_internal(g, arc) || graph_arc_is_static(g, arc))
            continue;
        bool is_new;
        uint32_t head = g->nodes[arc->callee].head;
        map_at(&seen, g->nodes[arc->caller].head, head, 0, &is_new);
        m.callers[head] += is_new;
        m.unexplained[head] -= flow_of(arc);
    }
    map_deinit(&seen);
    add(&m, 0, MODEL_SMALL, 0, false);
    const double rounding = 1e-9;
    struct small_callees small = {0};
    for (uint32_t i = 0; i < g->len; i++) {
        if (m.unexplained[i] <= rounding * (1 + total_of(g, i)))
            continue;
        m.callers[i]++;
        add_callee(&m, 0, i, m.unexplained[i], &small);
    }
    add_small(&m, 0, &small);
    for (size_t i = 0; i < m.queue.len; i++) {
        struct waiting w = m.queue.at[i];
        expand(&m, &w);
    }
    vec_free(&m.queue);
    arena_deinit(&scratch);
}

void model_paths_deinit(struct model_paths *p)
{
    vec_free(&p->frames);
}

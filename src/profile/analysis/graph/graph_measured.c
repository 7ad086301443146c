/* A call graph whose times come from stacks. */
#include "profile/analysis/graph/graph_measured.h"

static struct static_calls seen_calls(const struct stacks *stacks, struct arena *a)
{
    struct static_calls seen = {ARENA_NEW(a, struct static_call, stacks->calls_len),
                                stacks->calls_len};
    for (size_t i = 0; i < seen.len; i++)
        seen.at[i] = (struct static_call){stacks->calls[i].caller, stacks->calls[i].callee};
    return seen;
}

static void measure_nodes(struct graph *g, const struct stacks *stacks)
{
    for (uint32_t i = 0; i < g->len; i++) {
        struct graph_node *n = &g->nodes[i];
        double below = stacks->inclusive[i] - n->self;
        n->children = below > 0 ? below : 0;
        n->is_shown = true;
        n->fraction = 1;
        n->shown_self = n->self;
        n->shown_children = n->children;
        g->shown_total += n->self;
    }
}

/* Both lists go by caller: with all arcs of a caller entered under their callees, its measured
 * calls find theirs. */
static void measure_arcs(struct graph *g, const struct stacks *stacks)
{
    struct arena scratch = {0};
    uint32_t *arc_to = ARENA_NEW(&scratch, uint32_t, g->functions->len);
    uint32_t caller = NO_FUNCTION;
    for (size_t i = 0; i < stacks->calls_len; i++) {
        const struct stack_call *call = &stacks->calls[i];
        if (call->caller != caller) {
            caller = call->caller;
            for (uint32_t k = g->callees.start[caller]; k < g->callees.start[caller + 1]; k++)
                arc_to[g->arcs[g->callees.arc[k]].callee] = g->callees.arc[k];
        }
        struct graph_arc *arc = &g->arcs[arc_to[call->callee]];
        arc->self = call->self;
        arc->children = call->inclusive - call->self;
    }
    arena_deinit(&scratch);
}

void graph_build_measured(struct graph *g, struct functions *f, const struct profile *p,
                          const struct attribution *t, const struct stacks *stacks, struct arena *a)
{
    struct static_calls seen = seen_calls(stacks, a);
    functions_order_names(f, a);
    graph_connect(g, f, p, t, (struct graph_rules){.calls = &seen}, a);
    g->is_measured = true;
    measure_nodes(g, stacks);
    measure_arcs(g, stacks);
}

/* From times and the graph to the rows of GNU gprof's flat profile: by time, then calls, both
 * descending, then name. */
#include "gnu/gprof/gnu_flat.h"

#include "base/sort.h"

/* NULL: it has none. */
static const struct graph_node *node_of(const struct gnu_flat_input *in, uint32_t i)
{
    uint32_t node = in->node_of ? in->node_of[i] : i;
    return in->graph && node != NO_NODE ? &in->graph->nodes[node] : NULL;
}

static uint64_t calls_of(const struct gnu_flat_input *in, uint32_t i)
{
    const struct graph_node *n = node_of(in, i);
    return n ? n->calls : 0;
}

static double children_of(const struct gnu_flat_input *in, uint32_t i)
{
    const struct graph_node *n = node_of(in, i);
    return n ? n->children : 0;
}

static bool is_listed(const struct gnu_flat_input *in, uint32_t i)
{
    bool is_idle = !calls_of(in, i) && in->time->self[i] == 0;
    return selection_admits(in->selection, ASK_FLAT, i) && (!is_idle || in->shows_idle);
}

static struct keyed *sorted_functions(const struct gnu_flat_input *in, uint32_t *len,
                                      struct arena *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->functions->len; i++)
        n += is_listed(in, i);
    uint32_t *function = ARENA_NEW(a, uint32_t, n);
    struct keyed *order = ARENA_NEW(a, struct keyed, n);
    uint64_t *keys = ARENA_NEW(a, uint64_t, n);
    *len = n;
    n = 0;
    for (uint32_t i = 0; i < in->functions->len; i++)
        if (is_listed(in, i))
            function[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct keyed){in->functions->name_order[function[i]], i};
    sort_keyed(order, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = ~calls_of(in, function[i]);
    sort_by(order, n, keys);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = sort_descending(in->time->self[function[i]]);
    sort_by(order, n, keys);
    for (uint32_t i = 0; i < n; i++)
        order[i].item = function[order[i].item];
    return order;
}

/* Of all functions, listed or not. */
static double longest_call(const struct gnu_flat_input *in)
{
    double longest = 0;
    for (uint32_t i = 0; i < in->functions->len; i++) {
        uint64_t calls = calls_of(in, i);
        double time = calls ? (in->time->self[i] + children_of(in, i)) / (double)calls : 0;
        longest = time > longest ? time : longest;
    }
    return longest;
}

void gnu_flat_make(struct gnu_flat *t, const struct gnu_flat_input *in, struct arena *a)
{
    struct arena scratch = {0};
    double cumulative = 0;
    *t = (struct gnu_flat){.longest = longest_call(in)};
    t->total = in->time->total > 0 ? in->time->total : 0;
    const struct keyed *order = sorted_functions(in, &t->len, &scratch);
    t->rows = ARENA_NEW(a, struct gnu_flat_row, t->len);
    for (uint32_t i = 0; i < t->len; i++) {
        uint32_t function = order[i].item;
        cumulative += in->time->self[function];
        t->rows[i] = (struct gnu_flat_row){.function = function,
                                           .calls = calls_of(in, function),
                                           .self = in->time->self[function],
                                           .cumulative = cumulative,
                                           .children = children_of(in, function)};
    }
    arena_deinit(&scratch);
}

/* What calls cost, and which thread spent it.
 *
 * Calls cost what the graph of the model says, or what recorded stacks say so that nothing counts
 * twice: of a stack, a sample is booked once on each function, on the call that made its outermost
 * frame. So the calls of a function add up to its time, recursion or not, which is what readers of
 * such files add up.
 *
 * Readers take what callers account for as all there is, once there is a caller; without one, they
 * add up what a function itself and its calls cost, which counts what stands below its inner frames
 * twice. What was not called by anyone known is therefore called from [outside], where the function
 * has other callers as well, or where that sum would be more than its time.
 *
 * Threads: each frame's own amount is split among those that were there, in whole numbers that add
 * up. */
#include "profile/analysis/exchange/exchange.h"

#include "base/map.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* The arcs of an exchange while they are added up. */
struct call_costs {
    struct exchange *x;
    struct map by_pair;
};

/* The arc of a pair, new or old. */
static struct exchange_arc *costs_arc(struct call_costs *m, uint32_t caller, uint32_t callee)
{
    bool is_new;
    uint32_t at = map_index(&m->by_pair, caller, callee, m->x->arcs.len, &is_new);
    if (is_new)
        vec_push(&m->x->arcs, (struct exchange_arc){.caller = caller, .callee = callee});
    return &m->x->arcs.at[at];
}

/* Follows the frames and knows of every function on how many frames around it is. */
static void costs_walk(struct call_costs *m, struct arena *a)
{
    const struct exchange *x = m->x;
    /* Self of each frame with all below it. */
    uint64_t *total = ARENA_NEW(a, uint64_t, x->frames.len);
    for (size_t i = x->frames.len; i-- > 0;) {
        total[i] += x->frames.at[i].self;
        if (i)
            total[x->frames.at[i].parent] += total[i];
    }
    uint32_t *path = ARENA_NEW(a, uint32_t, x->frames.len + 1);
    uint32_t *around = ARENA_NEW(a, uint32_t, x->functions.len + 1);
    uint32_t depth = 0;
    for (uint32_t i = 1; i < x->frames.len; i++) {
        struct exchange_frame *f = &x->frames.at[i];
        for (; depth >= f->depth; depth--)
            around[path[depth]]--;
        depth = f->depth;
        path[depth] = f->function;
        f->is_outermost = !around[f->function]++;
        /* The outermost frame of a function alone is booked. */
        struct exchange_function *function = &m->x->functions.at[f->function];
        function->self += f->self;
        if (!f->is_outermost)
            continue;
        function->total += total[i];
        if (f->depth > 1)
            costs_arc(m, m->x->frames.at[f->parent].function, f->function)->cost += total[i];
    }
}

/* Adds the calls from [outside]. */
static void costs_from_outside(struct call_costs *m, const bool *is_member)
{
    struct exchange *x = m->x;
    struct arena scratch = {0};
    uint64_t *explained = ARENA_NEW(&scratch, uint64_t, x->functions.len + 1);
    uint64_t *spent = ARENA_NEW(&scratch, uint64_t, x->functions.len + 1);
    bool *is_called = ARENA_NEW(&scratch, bool, x->functions.len + 1);
    uint32_t outside = EXCHANGE_NOWHERE, known = (uint32_t)x->functions.len;
    for (size_t i = 0; i < x->arcs.len; i++) {
        explained[x->arcs.at[i].callee] += x->arcs.at[i].cost;
        is_called[x->arcs.at[i].callee] = true;
        spent[x->arcs.at[i].caller] += x->arcs.at[i].cost;
    }
    for (uint32_t i = 0; i < known; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        bool recurs = !x->is_model && !is_called[i] && f->self + spent[i] > f->total;
        /* A model's rounding may differ by one for each caller. */
        uint64_t total = f->total, rounding = x->is_model ? x->arcs.len : 0;
        if (!(is_called[i] || recurs) || is_member[i] || total <= explained[i] + rounding)
            continue;
        if (outside == EXCHANGE_NOWHERE) {
            outside = known;
            vec_push(&x->functions, (struct exchange_function){.name = "[outside]",
                                                               .linkage = "[outside]",
                                                               .object = EXCHANGE_NOWHERE});
        }
        costs_arc(m, outside, i)->cost = total - explained[i];
        x->functions.at[outside].total += total - explained[i];
    }
    arena_deinit(&scratch);
}

static int costs_compare(const void *left, const void *right)
{
    const struct exchange_arc *l = left, *r = right;
    if (l->caller != r->caller)
        return l->caller < r->caller ? -1 : 1;
    return (l->callee > r->callee) - (l->callee < r->callee);
}

/* Without pairs that cost nothing and were not counted. */
static void costs_finish(struct call_costs *m)
{
    struct exchange *x = m->x;
    size_t kept = 0;
    for (size_t i = 0; i < x->arcs.len; i++) {
        x->has_calls |= x->arcs.at[i].calls > 0;
        if (x->arcs.at[i].calls || x->arcs.at[i].cost)
            x->arcs.at[kept++] = x->arcs.at[i];
    }
    x->arcs.len = kept;
    if (kept)
        qsort(x->arcs.at, kept, sizeof *x->arcs.at, costs_compare);
    map_deinit(&m->by_pair);
}

void exchange_measured_costs(const struct exchange_costs *c)
{
    struct arena scratch = {0};
    struct call_costs m = {.x = c->x};
    costs_walk(&m, &scratch);
    for (uint32_t i = 0; i < c->graph->measured_len; i++) {
        const struct graph_arc *arc = &c->graph->arcs[i];
        if (arc->count && c->of[arc->caller] != EXCHANGE_NOWHERE &&
            c->of[arc->callee] != EXCHANGE_NOWHERE)
            costs_arc(&m, c->of[arc->caller], c->of[arc->callee])->calls += arc->count;
    }
    costs_from_outside(&m, ARENA_NEW(&scratch, bool, c->x->functions.len + 1));
    costs_finish(&m);
    arena_deinit(&scratch);
}

/* Samples in whole units. */
static uint64_t costs_whole(const struct exchange_costs *c, double samples)
{
    return samples > 0 ? (uint64_t)llround(samples * c->scale) : 0;
}

void exchange_model_costs(const struct exchange_costs *c)
{
    struct arena scratch = {0};
    struct call_costs m = {.x = c->x};
    bool *is_member = ARENA_NEW(&scratch, bool, c->x->functions.len + 1); /* of a cycle */
    const struct graph *g = c->graph;
    for (uint32_t i = 0; i < g->len; i++) {
        if (c->of[i] == UINT32_MAX || graph_is_cycle(g, i))
            continue;
        struct exchange_function *f = &c->x->functions.at[c->of[i]];
        is_member[c->of[i]] = g->nodes[i].head != i;
        f->self = costs_whole(c, g->nodes[i].self);
        f->total = costs_whole(c, g->nodes[i].self + g->nodes[i].children);
    }
    if (c->rest != EXCHANGE_NOWHERE) {
        struct exchange_function *f = &c->x->functions.at[c->rest];
        f->self = f->total = costs_whole(c, c->x->summary->unattributed);
    }
    for (uint32_t i = 0; i < g->measured_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        struct exchange_arc *to = costs_arc(&m, c->of[arc->caller], c->of[arc->callee]);
        to->calls += arc->count;
        if (!graph_arc_is_internal(g, arc))
            to->cost += costs_whole(c, arc->self + arc->children);
    }
    costs_from_outside(&m, is_member);
    costs_finish(&m);
    arena_deinit(&scratch);
}

/* --- threads
 * ----------------------------------------------------------------------------------------- */

void exchange_thread_shares(struct exchange_input *in, const struct exchange_samples *from,
                            struct arena *a)
{
    const struct recording *r = from->recording;
    VEC(struct exchange_share) all = {0};
    struct map place_of = {0};
    const uint32_t *labels_of = NULL;
    if (from->tells_labels && !from->tells_spans)
        labels_of = recording_label_groups(r, a);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (from->weights[s->node] <= 0 || !recording_choice_admits(from->choice, r, s))
            continue;
        bool is_new;
        struct exchange_share share = {.node = from->merged[s->node],
                                       .thread = from->no_threads ? 0 : s->thread,
                                       .slice = from->tells_times ? s->slice : 0,
                                       .labels = from->tells_labels ? s->labels : 0};
        if (labels_of)
            share.labels = labels_of[share.labels];
        uint32_t place = map_index(&place_of, map_two(share.node, share.thread),
                                   map_two(share.slice, share.labels), all.len, &is_new);
        if (is_new)
            vec_push(&all, share);
        all.at[place].weight += (double)s->weight;
    }
    struct exchange_share *shares = ARENA_NEW(a, struct exchange_share, all.len);
    for (size_t i = 0; i < all.len; i++)
        shares[i] = all.at[i];
    in->shares = shares;
    in->shares_len = all.len;
    vec_free(&all);
    map_deinit(&place_of);
}

/* Each part is what lies between the sums before and after it, so that they add up to `self`. */
static void threads_split_frame(struct exchange *x, const struct exchange_share *shares,
                                const struct keyed *order, size_t len)
{
    uint32_t frame = (uint32_t)(order->key >> 32);
    uint64_t self = x->frames.at[frame].self, given = 0;
    double whole = 0, sum = 0;
    for (size_t i = 0; i < len; i++)
        whole += shares[order[i].item].weight;
    for (size_t i = 0; i < len; i++) {
        sum += shares[order[i].item].weight;
        uint64_t until = i + 1 == len ? self : (uint64_t)floor((double)self * (sum / whole));
        until = until > self ? self : until;
        if (until > given)
            vec_push(&x->parts, (struct exchange_part){
                                    frame, (uint32_t)order[i].key, shares[order[i].item].slice,
                                    shares[order[i].item].labels, until - given});
        given = until > given ? until : given;
    }
}

/* Shares are sorted by slice and labels, then stably by frame and thread, so that those of one
 * frame follow each other. */
void exchange_split(struct exchange *x, const struct exchange_input *in, const uint32_t *frame_of)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, in->shares_len);
    size_t len = 0, next;
    for (size_t i = 0; i < in->shares_len; i++) {
        uint32_t frame = frame_of[in->shares[i].node];
        if (frame && x->frames.at[frame].self)
            order[len++] =
                (struct keyed){map_two(in->shares[i].slice, in->shares[i].labels), (uint32_t)i};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) {
        const struct exchange_share *share = &in->shares[order[i].item];
        order[i].key = map_two(frame_of[share->node], share->thread);
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i = next) {
        for (next = i + 1; next < len && order[next].key >> 32 == order[i].key >> 32;)
            next++;
        threads_split_frame(x, in->shares, order + i, next - i);
    }
    arena_deinit(&scratch);
}

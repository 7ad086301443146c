/* Repair of damaged counts: the flow nearest to what was counted.
 *
 * Of all flows that are not negative and conserve, take the one that differs from the counters by
 * the least sum. That is a circulation of least cost: an arc with a counter costs 1 for each count
 * above or below what was counted, one without costs nothing, and an arc from exit to entry closes
 * the circle (R. Levin, I. Newman, G. Haber: Complementing Missing and Inaccurate Profiling Using a
 * Minimum Cost Circulation Algorithm, HiPEAC 2008). It is found by successive shortest paths, with
 * the costs of an arc changing where its count passes the counter (R. K. Ahuja, T. L. Magnanti,
 * J. B. Orlin: Network Flows, 1993, sections 9.7 and 14.5): negative counts become 0, which leaves
 * blocks with a surplus and blocks that lack as much, and each step sends what it can from a
 * surplus on the cheapest way. Every step is an optimum for what has been sent so far.
 *
 * A path costs at worst blocks times arcs, and there may be as many paths as counts are off, so
 * visited arcs are counted and a function is given up beyond STEPS_PER_ARC of each. So is one whose
 * counts could overflow when they are summed. Both stay damaged. */
#include "coverage/analysis/flow.h"

#include <string.h>

/* --- arcs by block --------------------------------------------------------------------------- */

/* Arcs of one function by their ends, in the order of the file. */
struct flow_graph {
    VEC(uint32_t) first_out, out; /* block b: out[first_out[b]] to out[first_out[b + 1]] */
    VEC(uint32_t) first_in, in;   /* indices in notes->arcs */
};

/* A counting sort of the function's arcs by one of their ends; stable. */
static void sort_by_end(const struct notes *n, const struct notes_function *f, bool is_in,
                        uint32_t *first, uint32_t *sorted)
{
    const struct notes_arc *arcs = n->arcs.at + f->first_arc;
    memset(first, 0, ((size_t)f->blocks + 2) * sizeof *first);
    for (uint32_t i = 0; i < f->arcs; i++)
        first[(is_in ? arcs[i].target : arcs[i].source) + 2]++;
    for (uint32_t b = 2; b < f->blocks + 2; b++)
        first[b] += first[b - 1];
    for (uint32_t i = 0; i < f->arcs; i++)
        sorted[first[(is_in ? arcs[i].target : arcs[i].source) + 1]++] = f->first_arc + i;
}

/* Reuses the memory of *out. */
static void flow_graph_build(const struct notes *n, const struct notes_function *f,
                             struct flow_graph *out)
{
    vec_reserve(&out->first_out, (size_t)f->blocks + 2);
    vec_reserve(&out->first_in, (size_t)f->blocks + 2);
    vec_reserve(&out->out, f->arcs);
    vec_reserve(&out->in, f->arcs);
    out->first_out.len = out->first_in.len = (size_t)f->blocks + 1;
    out->out.len = out->in.len = f->arcs;
    sort_by_end(n, f, false, out->first_out.at, out->out.at);
    sort_by_end(n, f, true, out->first_in.at, out->in.at);
}

static void flow_graph_deinit(struct flow_graph *g)
{
    vec_free(&g->first_out);
    vec_free(&g->out);
    vec_free(&g->first_in);
    vec_free(&g->in);
}

/* Sums are unsigned and wrap, as those of the solver do. Entry and exit are checked on one side
 * alone. */
bool flow_is_conserved(const struct notes *n, const struct flow *flow, size_t index)
{
    const struct notes_function *f = &n->functions.at[index];
    const int64_t *block = flow->blocks.at + f->first_block;
    struct flow_graph g = {0};
    bool is_good = true;
    flow_graph_build(n, f, &g);
    for (uint32_t b = 0; b < f->blocks && is_good; b++) {
        uint64_t in = 0, out = 0;
        for (uint32_t i = g.first_in.at[b]; i < g.first_in.at[b + 1]; i++)
            in += (uint64_t)flow->arcs.at[g.in.at[i]];
        for (uint32_t i = g.first_out.at[b]; i < g.first_out.at[b + 1]; i++) {
            out += (uint64_t)flow->arcs.at[g.out.at[i]];
            is_good &= flow->arcs.at[g.out.at[i]] >= 0;
        }
        is_good &= b == 0 || in == (uint64_t)block[b];
        is_good &= b == f->exit || out == (uint64_t)block[b];
    }
    flow_graph_deinit(&g);
    return is_good;
}
/* --- the cheapest circulation ---------------------------------------------------------------- */

enum {
    STEPS_PER_ARC = 128,  /* arcs visited, beyond which a function is given up */
    LEAST_STEPS = 1 << 22 /* but small functions get as many */
};

/* All arrays are of one function and live in an arena of repair(). */
struct circulation {
    const struct notes_function *f;
    const struct notes_arc *arcs;
    int64_t *count;       /* of each arc; [arcs] is the arc from exit to entry */
    const int64_t *known; /* the counters: what counts on the tree are is not used */
    struct flow_graph *graph;
    int64_t *surplus;  /* of each block: in minus out */
    int32_t *distance; /* from the nearest surplus; INT32_MAX: none leads here */
    uint32_t *came_by; /* arc * 2, + 1 if against its direction */
    uint32_t *queue;   /* a ring of blocks */
    bool *is_queued;
    uint64_t steps;
};

/* The arc that closes the circle has no counter. */
static bool repair_is_counted(const struct circulation *r, uint32_t arc)
{
    return arc < r->f->arcs && !(r->arcs[arc].flags & NOTES_ARC_ON_TREE);
}

/* What was counted; a negative counter is as good as 0. Counts below 0 come from lost updates, or
 * damage. */
static int64_t repair_target_of(const struct circulation *r, uint32_t arc)
{
    return r->known[arc] > 0 ? r->known[arc] : 0;
}

/* The closing arc leads from the exit to the entry, block 0. */
static uint32_t repair_source_of(const struct circulation *r, uint32_t arc)
{
    return arc < r->f->arcs ? r->arcs[arc].source : r->f->exit;
}

static uint32_t repair_end_of(const struct circulation *r, uint32_t arc)
{
    return arc < r->f->arcs ? r->arcs[arc].target : 0;
}

/* The cost of one more (or, backwards, one less), and how many that holds for; 0: not possible. An
 * arc without a counter is free in both directions, down to 0. Taking back what was added above the
 * counter pays: the cost is negative. */
static int64_t repair_room(const struct circulation *r, uint32_t arc, bool backwards, int32_t *cost)
{
    int64_t count = r->count[arc];
    int64_t target = repair_is_counted(r, arc) ? repair_target_of(r, arc) : 0;
    *cost = 0;
    if (!repair_is_counted(r, arc))
        return backwards ? count : INT64_MAX;
    if (backwards) {
        *cost = count > target ? -1 : 1;
        return count > target ? count - target : count;
    }
    *cost = count < target ? -1 : 1;
    return count < target ? target - count : INT64_MAX;
}

struct ring {
    uint32_t head, len;
};

/* A block is in the ring at most once, so that it has room for all. */
static void repair_enqueue(struct circulation *r, struct ring *ring, uint32_t block)
{
    if (r->is_queued[block])
        return;
    r->is_queued[block] = true;
    uint64_t at = (uint64_t)ring->head + ring->len++;
    r->queue[at % r->f->blocks] = block;
}

/* A shorter way to `next` was found: it is visited again. */
static void repair_relax(struct circulation *r, struct ring *ring, uint32_t block, uint32_t arc,
                         bool backwards)
{
    int32_t cost;
    uint32_t next = backwards ? repair_source_of(r, arc) : repair_end_of(r, arc);
    r->steps++;
    if (!repair_room(r, arc, backwards, &cost) || r->distance[block] + cost >= r->distance[next])
        return;
    r->distance[next] = r->distance[block] + cost;
    r->came_by[next] = arc * 2 + backwards;
    repair_enqueue(r, ring, next);
}

/* Cheapest ways from all surplus at once (Bellman and Ford, with a queue). Costs may be negative,
 * which this search allows; there are no circles of negative cost, since every step so far was on a
 * cheapest way. */
static void repair_find_ways(struct circulation *r, uint64_t most_steps)
{
    struct ring ring = {0};
    for (uint32_t b = 0; b < r->f->blocks; b++) {
        r->distance[b] = r->surplus[b] > 0 ? 0 : INT32_MAX;
        r->came_by[b] = UINT32_MAX;
        if (r->surplus[b] > 0)
            repair_enqueue(r, &ring, b);
    }
    while (ring.len && r->steps < most_steps) {
        uint32_t block = r->queue[ring.head];
        ring.head = (ring.head + 1) % r->f->blocks;
        ring.len--;
        r->is_queued[block] = false;
        const struct flow_graph *g = r->graph;
        uint32_t base = r->f->first_arc;
        for (uint32_t i = g->first_out.at[block]; i < g->first_out.at[block + 1]; i++)
            repair_relax(r, &ring, block, g->out.at[i] - base, false);
        for (uint32_t i = g->first_in.at[block]; i < g->first_in.at[block + 1]; i++)
            repair_relax(r, &ring, block, g->in.at[i] - base, true);
        if (block == r->f->exit)
            repair_relax(r, &ring, block, r->f->arcs, false);
        if (block == 0)
            repair_relax(r, &ring, block, r->f->arcs, true);
    }
    for (; ring.len; ring.len--, ring.head = (ring.head + 1) % r->f->blocks)
        r->is_queued[r->queue[ring.head]] = false;
}

/* One step of the way, from its end towards the surplus that it began at. */
static uint32_t repair_step_back(const struct circulation *r, uint32_t block, uint32_t *arc,
                                 bool *backwards)
{
    *arc = r->came_by[block] / 2;
    *backwards = r->came_by[block] & 1;
    return *backwards ? repair_end_of(r, *arc) : repair_source_of(r, *arc);
}

/* Negative counts become 0. False if a count is so large that sums could overflow. The closing arc
 * gets what leaves the entry, so that the entry is in balance to begin with. */
static bool repair_start(struct circulation *r)
{
    const int64_t most = INT64_MAX / 8 / ((int64_t)r->f->arcs + 1);
    uint64_t entered = 0;
    memset(r->surplus, 0, r->f->blocks * sizeof *r->surplus);
    for (uint32_t i = 0; i < r->f->arcs; i++) {
        if (r->known[i] > most || r->known[i] < -most)
            return false;
        r->count[i] = repair_target_of(r, i);
        r->surplus[r->arcs[i].target] += r->count[i];
        r->surplus[r->arcs[i].source] -= r->count[i];
        entered += r->arcs[i].source == 0 ? (uint64_t)r->count[i] : 0;
    }
    r->count[r->f->arcs] = (int64_t)entered;
    r->surplus[0] += (int64_t)entered;
    r->surplus[r->f->exit] -= (int64_t)entered;
    return true;
}

/* Surplus and want are always as much, so that one of them shows when it is done. */
static bool repair_has_surplus(const struct circulation *r)
{
    for (uint32_t b = 0; b < r->f->blocks; b++)
        if (r->surplus[b] > 0)
            return true;
    return false;
}

/* False: given up, or no way leads to a block that lacks; `count` is then of no use. */
static bool repair_solve(struct circulation *r)
{
    uint64_t most = (uint64_t)r->f->arcs * STEPS_PER_ARC;
    most = most > LEAST_STEPS ? most : LEAST_STEPS;
    if (!repair_start(r))
        return false;
    while (repair_has_surplus(r)) {
        r->steps += r->f->blocks;
        repair_find_ways(r, most);
        uint32_t nearest = UINT32_MAX;
        for (uint32_t b = 0; b < r->f->blocks; b++)
            if (r->surplus[b] < 0 && r->distance[b] != INT32_MAX &&
                (nearest == UINT32_MAX || r->distance[b] < r->distance[nearest]))
                nearest = b;
        uint32_t lack = nearest;

        if (r->steps >= most || lack == UINT32_MAX)
            return false;
        /* Sends as much as the way to `lack` has room for. */
        int64_t amount = -r->surplus[lack];
        uint32_t arc, block = lack;
        bool backwards;
        int32_t cost;
        while (r->came_by[block] != UINT32_MAX) {
            block = repair_step_back(r, block, &arc, &backwards);
            int64_t here = repair_room(r, arc, backwards, &cost);
            amount = here < amount ? here : amount;
        }
        amount = r->surplus[block] < amount ? r->surplus[block] : amount;
        r->surplus[block] -= amount;
        r->surplus[lack] += amount;
        for (block = lack; r->came_by[block] != UINT32_MAX;) {
            block = repair_step_back(r, block, &arc, &backwards);
            r->count[arc] += backwards ? -amount : amount;
        }
    }
    return true;
}

/* The flow is changed only where the repair succeeds. */
static bool repair(const struct notes *n, const struct notes_function *f, struct flow *flow,
                   struct flow_function *what, struct flow_graph *graph)
{
    struct arena a = {0};
    struct circulation r = {.f = f,
                            .arcs = n->arcs.at + f->first_arc,
                            .known = flow->arcs.at + f->first_arc,
                            .graph = graph,
                            .count = ARENA_NEW(&a, int64_t, (size_t)f->arcs + 1),
                            .surplus = ARENA_NEW(&a, int64_t, f->blocks),
                            .distance = ARENA_NEW(&a, int32_t, f->blocks),
                            .came_by = ARENA_NEW(&a, uint32_t, f->blocks),
                            .queue = ARENA_NEW(&a, uint32_t, f->blocks),
                            .is_queued = ARENA_NEW(&a, bool, f->blocks)};
    flow_graph_build(n, f, graph);
    bool ok = repair_solve(&r);
    if (ok) {
        /* Takes the result over into the flow. */
        int64_t *arc = flow->arcs.at + r.f->first_arc, *block = flow->blocks.at + r.f->first_block;
        what->state = FLOW_SOLVED;
        what->reason = FLOW_REPAIRED;
        what->change = 0;
        memset(block, 0, r.f->blocks * sizeof *block);
        for (uint32_t i = 0; i < r.f->arcs; i++) {
            if (repair_is_counted(&r, i))
                what->change +=
                    (uint64_t)(r.count[i] > arc[i] ? r.count[i] - arc[i] : arc[i] - r.count[i]);
            arc[i] = r.count[i];
            block[r.arcs[i].target] += r.count[i];
            if (r.arcs[i].source == 0)
                block[0] += r.count[i];
        }
        for (uint32_t i = 0; i < r.f->arcs; i++) /* what flows back into the entry comes in twice */
            if (r.arcs[i].target == 0)
                block[0] -= r.count[i];
    }

    arena_deinit(&a);
    return ok;
}

/* Functions are independent; the graph's memory goes from one to the next. */
size_t flow_repair(const struct notes *n, struct flow *flow)
{
    struct flow_graph graph = {0};
    size_t repaired = 0;
    for (size_t i = 0; i < flow->functions.len; i++) {
        struct flow_function *what = &flow->functions.at[i];
        if (what->state == FLOW_DAMAGED && repair(n, &n->functions.at[i], flow, what, &graph))
            repaired++;
    }
    flow_graph_deinit(&graph);
    flow->states[FLOW_DAMAGED] -= repaired;
    flow->states[FLOW_SOLVED] += repaired;
    return repaired;
}

/* Whether nothing is wrong but calls that returned more often than they were made: setjmp, to which
 * longjmp came back. What the lines and branches show is sound then. The arc of a call that did not
 * return is fake: its count is calls less returns, below 0 then. */
static bool is_only_longjmp(const struct notes *n, const struct flow *flow, size_t function)
{
    const struct notes_function *f = &n->functions.at[function];
    if (flow->functions.at[function].reason != FLOW_NEGATIVE)
        return false;
    for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++)
        if (flow->arcs.at[i] < 0 && !(n->arcs.at[i].flags & NOTES_ARC_FAKE))
            return false;
    for (uint32_t b = 0; b < f->blocks; b++)
        if (flow->blocks.at[f->first_block + b] < 0)
            return false;
    return true;
}

void flow_forget_damaged(const struct notes *n, struct flow *flow, bool repairs)
{
    for (size_t i = 0; i < flow->functions.len; i++) {
        struct flow_function *f = &flow->functions.at[i];
        if (f->state == FLOW_DAMAGED && is_only_longjmp(n, flow, i)) {
            f->state = FLOW_SOLVED;
            f->reason = FLOW_FINE;
        }
    }
    if (repairs)
        flow_repair(n, flow);
    /* A function without counters is in another object, unless these are not all of one build: then
     * its counts are unknown. */
    bool is_odd = flow->has_counters && (flow->pairing.is_other_stamp || flow->pairing.unmatched);
    for (size_t i = 0; i < flow->functions.len; i++) {
        struct flow_function *f = &flow->functions.at[i];
        bool is_absent = f->state == FLOW_ABSENT && is_odd;
        f->reason = is_absent ? FLOW_OTHER_CODE : f->reason;
        f->state = is_absent || f->state == FLOW_DAMAGED ? FLOW_UNKNOWN : f->state;
    }
}

/* Only counters of functions that were repaired are written, in the order of the arcs. */
void flow_store(const struct notes *n, const struct flow *flow, struct counters *c)
{
    for (size_t i = 0; i < flow->functions.len; i++) {
        const struct flow_function *what = &flow->functions.at[i];
        const struct notes_function *f = &n->functions.at[i];
        if (what->reason != FLOW_REPAIRED)
            continue;
        const struct counted_record *r =
            counters_find(c, &c->functions.at[what->counted], KIND_ARCS);
        uint64_t *value = r && !r->is_zero ? c->values.at + r->first : NULL;
        for (uint32_t j = f->first_arc; value && j < f->first_arc + f->arcs; j++)
            if (!(n->arcs.at[j].flags & NOTES_ARC_ON_TREE))
                *value++ = (uint64_t)flow->arcs.at[j];
    }
}

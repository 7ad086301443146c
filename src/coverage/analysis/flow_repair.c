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
 * surplus on the cheapest way. Every step is an optimum for what has been sent so far. */
#include "coverage/analysis/flow.h"

#include <string.h>

enum {
    STEPS_PER_ARC = 128,  /* arcs looked at, beyond which a function is given up */
    LEAST_STEPS = 1 << 22 /* but small functions get as many */
};

struct repairing {
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

static bool repair_is_counted(const struct repairing *r, uint32_t arc)
{
    return arc < r->f->arcs && !(r->arcs[arc].flags & NOTES_ARC_ON_TREE);
}

/* What was counted; a negative counter is as good as 0. */
static int64_t repair_target_of(const struct repairing *r, uint32_t arc)
{
    return r->known[arc] > 0 ? r->known[arc] : 0;
}

static uint32_t repair_source_of(const struct repairing *r, uint32_t arc)
{
    return arc < r->f->arcs ? r->arcs[arc].source : r->f->exit;
}

static uint32_t repair_end_of(const struct repairing *r, uint32_t arc)
{
    return arc < r->f->arcs ? r->arcs[arc].target : 0;
}

/* The cost of one more (or, backwards, one less), and how many that holds for; 0: not possible. */
static int64_t repair_room(const struct repairing *r, uint32_t arc, bool backwards, int32_t *cost)
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

static void repair_enqueue(struct repairing *r, struct ring *ring, uint32_t block)
{
    if (r->is_queued[block])
        return;
    r->is_queued[block] = true;
    uint64_t at = (uint64_t)ring->head + ring->len++;
    r->queue[at % r->f->blocks] = block;
}

static void repair_relax(struct repairing *r, struct ring *ring, uint32_t block, uint32_t arc,
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

static void repair_leave_block(struct repairing *r, struct ring *ring, uint32_t block)
{
    const struct flow_graph *g = r->graph;
    uint32_t base = r->f->first_arc;
    for (uint32_t i = g->first_out.at[block]; i < g->first_out.at[block + 1]; i++)
        repair_relax(r, ring, block, g->out.at[i] - base, false);
    for (uint32_t i = g->first_in.at[block]; i < g->first_in.at[block + 1]; i++)
        repair_relax(r, ring, block, g->in.at[i] - base, true);
    if (block == r->f->exit)
        repair_relax(r, ring, block, r->f->arcs, false);
    if (block == 0)
        repair_relax(r, ring, block, r->f->arcs, true);
}

/* Cheapest ways from all surplus at once (Bellman and Ford, with a queue). */
static void repair_find_ways(struct repairing *r, uint64_t most_steps)
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
        repair_leave_block(r, &ring, block);
    }
    for (; ring.len; ring.len--, ring.head = (ring.head + 1) % r->f->blocks)
        r->is_queued[r->queue[ring.head]] = false;
}

static uint32_t repair_nearest_lack(const struct repairing *r)
{
    uint32_t nearest = UINT32_MAX;
    for (uint32_t b = 0; b < r->f->blocks; b++)
        if (r->surplus[b] < 0 && r->distance[b] != INT32_MAX &&
            (nearest == UINT32_MAX || r->distance[b] < r->distance[nearest]))
            nearest = b;
    return nearest;
}

static uint32_t repair_step_back(const struct repairing *r, uint32_t block, uint32_t *arc,
                                 bool *backwards)
{
    *arc = r->came_by[block] / 2;
    *backwards = r->came_by[block] & 1;
    return *backwards ? repair_end_of(r, *arc) : repair_source_of(r, *arc);
}

/* Sends as much as the way to `lack` has room for. */
static void repair_send(struct repairing *r, uint32_t lack)
{
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

/* Negative counts become 0. False if a count is so large that sums could overflow. */
static bool repair_start(struct repairing *r)
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

static bool repair_has_surplus(const struct repairing *r)
{
    for (uint32_t b = 0; b < r->f->blocks; b++)
        if (r->surplus[b] > 0)
            return true;
    return false;
}

static bool repair_solve(struct repairing *r)
{
    uint64_t most = (uint64_t)r->f->arcs * STEPS_PER_ARC;
    most = most > LEAST_STEPS ? most : LEAST_STEPS;
    if (!repair_start(r))
        return false;
    while (repair_has_surplus(r)) {
        r->steps += r->f->blocks;
        repair_find_ways(r, most);
        uint32_t lack = repair_nearest_lack(r);
        if (r->steps >= most || lack == UINT32_MAX)
            return false;
        repair_send(r, lack);
    }
    return true;
}

/* Takes the result over into the flow. */
static void repair_accept(const struct repairing *r, struct flow *flow, struct flow_function *what)
{
    int64_t *arc = flow->arcs.at + r->f->first_arc, *block = flow->blocks.at + r->f->first_block;
    what->state = FLOW_SOLVED;
    what->reason = FLOW_REPAIRED;
    what->change = 0;
    memset(block, 0, r->f->blocks * sizeof *block);
    for (uint32_t i = 0; i < r->f->arcs; i++) {
        if (repair_is_counted(r, i))
            what->change +=
                (uint64_t)(r->count[i] > arc[i] ? r->count[i] - arc[i] : arc[i] - r->count[i]);
        arc[i] = r->count[i];
        block[r->arcs[i].target] += r->count[i];
        if (r->arcs[i].source == 0)
            block[0] += r->count[i];
    }
    for (uint32_t i = 0; i < r->f->arcs; i++) /* what flows back into the entry comes in twice */
        if (r->arcs[i].target == 0)
            block[0] -= r->count[i];
}

static bool repair(const struct notes *n, const struct notes_function *f, struct flow *flow,
                   struct flow_function *what, struct flow_graph *graph)
{
    struct arena a = {0};
    struct repairing r = {.f = f,
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
    if (ok)
        repair_accept(&r, flow, what);
    arena_deinit(&a);
    return ok;
}

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

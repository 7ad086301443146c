/* The orders of GNU gprof's -r and -R. gprof.h has the algorithm in brief.
 *
 * Chains of functions grow at their ends as arcs are taken by count:
 *
 *   arc f → g     f g             neither is in a chain: g joins f's
 *   arc g → h     f g h           h joins at the nearer end
 *   arc k → f     k f g h
 *   arc x → y     k f g h,  x y   chains are never joined
 *
 * What GNU computes by walking along chains is kept as positions in them, relative to the function
 * that a chain grew from; so the distance to either end is a subtraction, and the time is linear
 * but for sorting. Only the ranges of arc specs, few of them, are still walked: GNU links them to
 * each other by an accident, and their chains can be forked or closed. */
#include "gnu/gprof/gprof.h"

#include "base/sort.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A function in its chain. Nodes after those of the functions are the ranges of arc specs, which
 * begin life linked to each other (as GNU's do, by an accident of sharing a field): their chains
 * can be forked and closed, and are walked. `position` counts from the function that the chain grew
 * from, so it is negative towards the head. */
struct place {
    uint32_t next, previous;
    uint32_t chain;   /* the function that it grew from; of functions only */
    int32_t position; /* in the chain, relative to that function's 0 */
    uint32_t walk;    /* the last one that came along */
    bool is_placed;
};

/* An arc of the graph, or of a spec; the latter have a count of 0. */
struct chain_arc {
    uint32_t caller, callee; /* nodes */
    uint64_t count;
    bool is_taken; /* by the functions that were set aside */
};

/* The two functions at its ends. */
struct chain {
    uint32_t head, tail;
};

/* One call of gnu_layout_functions() or gnu_layout_files(). */
struct chaining {
    const struct functions *functions;
    const struct graph *graph;
    const struct selection *selection;
    struct gnu_printed printed;
    struct arena scratch;
    struct place *at;
    struct chain *chains; /* by the function they grew from */
    uint32_t nodes, walks;
    struct chain_arc *arcs; /* of arc specs, then the graph's, recursive ones included */
    uint32_t arcs_len, first_measured;
    bool only_files; /* of -R: what is in no file of the map stays out */
    VEC(const char *) names;
};

/* Ranges of arc specs are nodes after those of the functions, and their arcs come before the
 * graph's. */
static void gnu_start(struct chaining *o, const struct functions *f, const struct graph *g,
                      const struct selection *s)
{
    *o = (struct chaining){.functions = f, .graph = g, .selection = s};
    o->nodes = f->len + s->ranges_len;
    o->at = ARENA_NEW(&o->scratch, struct place, o->nodes);
    o->chains = ARENA_NEW(&o->scratch, struct chain, f->len);
    for (uint32_t i = 0; i < o->nodes; i++)
        o->at[i] = (struct place){.next = NO_NODE, .previous = NO_NODE, .chain = i};
    for (uint32_t i = 0; i < f->len; i++)
        o->chains[i] = (struct chain){i, i};
    for (uint32_t i = 0; i < s->ranges_len; i++)
        if (s->ranges[i].next != NO_RANGE)
            o->at[f->len + i].next = f->len + s->ranges[i].next;

    uint32_t measured = g ? g->arcs_len : 0;
    o->arcs = ARENA_NEW(&o->scratch, struct chain_arc, s->spec_arcs_len + (size_t)measured);
    for (uint32_t i = 0; i < s->spec_arcs_len; i++)
        o->arcs[i] = (struct chain_arc){.caller = f->len + s->spec_arcs[i].caller,
                                        .callee = f->len + s->spec_arcs[i].callee};
    o->first_measured = s->spec_arcs_len;
    o->arcs_len = o->first_measured + measured;
    for (uint32_t i = 0; i < measured; i++)
        o->arcs[o->first_measured + i] = (struct chain_arc){
            .caller = g->arcs[i].caller, .callee = g->arcs[i].callee, .count = g->arcs[i].count};
}

/* Names outlive the scratch: they are the functions' and the specs'. */
static void gnu_finish(struct chaining *o, struct gnu_layout *t, struct arena *a)
{
    *t = (struct gnu_layout){ARENA_NEW(a, const char *, o->names.len), o->names.len};
    if (o->names.len)
        memcpy(t->names, o->names.at, o->names.len * sizeof *t->names);
    vec_free(&o->names);
    arena_deinit(&o->scratch);
}

/* --- chains ---------------------------------------------------------------------------------- */

static bool gnu_is_linked(const struct chaining *o, uint32_t node)
{
    return o->at[node].next != NO_NODE || o->at[node].previous != NO_NODE;
}

/* Where a node's chain ends and how far away. Positions are consecutive along a chain, so that a
 * distance is a difference. */
struct ends {
    uint32_t head, tail;
    uint32_t to_head, to_tail; /* steps; UINT32_MAX: the chain is closed, it has no tail */
};

static uint32_t gnu_walk_to_head(const struct chaining *o, uint32_t node, uint32_t *steps)
{
    *steps = 0;
    for (; o->at[node].previous != NO_NODE; node = o->at[node].previous)
        ++*steps;
    return node;
}

/* More steps than there are ranges: the chain is closed. */
static uint32_t gnu_walk_to_tail(const struct chaining *o, uint32_t node, uint32_t *steps)
{
    *steps = 0;
    for (; o->at[node].next != NO_NODE; node = o->at[node].next)
        if (++*steps > o->selection->ranges_len) {
            *steps = UINT32_MAX;
            break;
        }
    return node;
}

/* Of a function by subtraction, of a range by walking. */
static struct ends gnu_find_ends(const struct chaining *o, uint32_t node)
{
    struct ends e;
    if (node >= o->functions->len) {
        e.head = gnu_walk_to_head(o, node, &e.to_head);
        e.tail = gnu_walk_to_tail(o, node, &e.to_tail);
        return e;
    }
    const struct chain *c = &o->chains[o->at[node].chain];
    int32_t position = o->at[node].position;
    e = (struct ends){.head = c->head, .tail = c->tail};
    e.to_head = (uint32_t)(position - o->at[c->head].position);
    e.to_tail = (uint32_t)(o->at[c->tail].position - position);
    return e;
}

/* Puts a node that is in no chain before the head or after the tail of another's. */
static void gnu_attach(struct chaining *o, uint32_t node, const struct ends *e, bool at_head)
{
    uint32_t end = at_head ? e->head : e->tail;
    struct place *joining = &o->at[node];
    *(at_head ? &joining->next : &joining->previous) = end;
    *(at_head ? &o->at[end].previous : &o->at[end].next) = node;
    if (node >= o->functions->len)
        return;
    joining->chain = o->at[end].chain;
    joining->position = o->at[end].position + (at_head ? -1 : 1);
    struct chain *c = &o->chains[joining->chain];
    *(at_head ? &c->head : &c->tail) = node;
}

/* False if both are in chains already. Of a tie, a caller goes to the head and a callee to the
 * tail: GNU compares with <= once and with < once. */
static bool gnu_join(struct chaining *o, uint32_t caller, uint32_t callee)
{
    if (!gnu_is_linked(o, caller)) {
        struct ends e = gnu_find_ends(o, callee);
        gnu_attach(o, caller, &e, e.to_head <= e.to_tail);
        return true;
    }
    if (gnu_is_linked(o, callee))
        return false;
    struct ends e = gnu_find_ends(o, caller);
    gnu_attach(o, callee, &e, e.to_head < e.to_tail);
    return true;
}

/* --- output ---------------------------------------------------------------------------------- */

/* Prints a node's name; it may appear again if it is a range. */
static void gnu_place(struct chaining *o, uint32_t node)
{
    uint32_t functions = o->functions->len;
    o->at[node].is_placed = true;
    vec_push(&o->names, node < functions ? o->functions->at[node].name
                                         : o->selection->ranges[node - functions].name);
}

/* Each node of a closed chain once; GNU gprof would go on for ever. */
static void gnu_place_chain(struct chaining *o, uint32_t node)
{
    uint32_t steps;
    o->walks++;
    node = node < o->functions->len ? o->chains[o->at[node].chain].head
                                    : gnu_walk_to_head(o, node, &steps);
    for (; node != NO_NODE && o->at[node].walk != o->walks; node = o->at[node].next) {
        o->at[node].walk = o->walks;
        gnu_place(o, node);
    }
}

/* Whether the map of -R has the function. */
static bool gnu_is_in_file(const struct chaining *o, uint32_t node)
{
    uint32_t functions = o->functions->len;
    return node < functions ? o->functions->at[node].is_mapped
                            : o->selection->ranges[node - functions].is_mapped;
}

/* Arcs by number: what one step takes, or leaves to the next. */
struct arc_numbers {
    uint32_t *at, len;
};

/* The total for shares of calls. */
static uint64_t gnu_count_all(const struct chaining *o, const struct arc_numbers *arcs)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < arcs->len; i++)
        total += o->arcs[arcs->at[i]].count;
    return total;
}

/* Makes chains of the arcs, up to the one with which `share` of all calls is exceeded, and places
 * them in the order of the arcs. What could not be linked is left to `rest`. Two passes: all joins
 * first, then the output, since a chain may grow until the last arc. */
static void gnu_place_arcs(struct chaining *o, const struct arc_numbers *arcs, double share,
                           struct arc_numbers *rest)
{
    double total = (double)gnu_count_all(o, arcs);
    uint64_t running = 0;
    for (uint32_t i = 0; i < arcs->len; i++) {
        const struct chain_arc *arc = &o->arcs[arcs->at[i]];
        running += arc->count;
        if (arc->is_taken ||
            (o->only_files && !(gnu_is_in_file(o, arc->caller) && gnu_is_in_file(o, arc->callee))))
            continue;
        bool is_rare = (double)running / total > share;
        if (is_rare || o->at[arc->caller].is_placed || o->at[arc->callee].is_placed ||
            !gnu_join(o, arc->caller, arc->callee))
            rest->at[rest->len++] = arcs->at[i];
    }
    for (uint32_t i = 0; i < arcs->len; i++) {
        const struct chain_arc *arc = &o->arcs[arcs->at[i]];
        if (gnu_is_linked(o, arc->caller) && !o->at[arc->caller].is_placed &&
            !o->at[arc->callee].is_placed)
            gnu_place_chain(o, arc->caller);
    }
}

static struct arc_numbers gnu_new_numbers(struct chaining *o)
{
    return (struct arc_numbers){ARENA_NEW(&o->scratch, uint32_t, o->arcs_len), 0};
}

/* All arcs but those from a function to itself, as they were made. */
static struct arc_numbers gnu_all_arcs(struct chaining *o)
{
    struct arc_numbers arcs = gnu_new_numbers(o);
    for (uint32_t i = 0; i < o->arcs_len; i++)
        if (o->arcs[i].caller != o->arcs[i].callee)
            arcs.at[arcs.len++] = i;
    return arcs;
}

/* --- functions ------------------------------------------------------------------------------- */

/* Descending, stable: GNU's qsort is glibc's merge sort. */
static void gnu_sort_by_count(const struct chaining *o, struct arc_numbers *arcs)
{
    struct arena scratch = {0};
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, arcs->len);
    for (uint32_t i = 0; i < arcs->len; i++)
        sorted[i] = (struct keyed){~o->arcs[arcs->at[i]].count, arcs->at[i]};
    sort_keyed(sorted, arcs->len);
    for (uint32_t i = 0; i < arcs->len; i++)
        arcs->at[i] = sorted[i].item;
    arena_deinit(&scratch);
}

/* Recursive calls take no part. */
static void gnu_take_arc(struct chaining *o, uint32_t graph_arc, struct arc_numbers *taken)
{
    uint32_t number = o->first_measured + graph_arc;
    struct chain_arc *arc = &o->arcs[number];
    if (arc->caller == arc->callee)
        return;
    arc->is_taken = true;
    taken->at[taken->len++] = number;
}

/* The arcs to callees, then those from callers, newest first or as the call graph printed them. A
 * list that the call graph has sorted stays sorted in GNU's memory, and this finds it so. */
static void gnu_take_arcs(struct chaining *o, uint32_t function, struct arc_numbers *taken)
{
    const struct graph *g = o->graph;
    bool is_sorted = o->printed.graph && gnu_prints_entry(g, function, o->printed.idle) &&
                     (!o->printed.has_lines || o->functions->at[function].is_function);
    struct arc_list list = {0};
    for (int side = 0; side < 2; side++) {
        const struct graph_lists *lists = side ? &g->callers : &g->callees;
        uint32_t start = lists->start[function], len = lists->start[function + 1] - start;
        if (is_sorted)
            (side ? graph_sort_callers : graph_sort_callees)(g, function, &list);
        for (uint32_t i = 0; i < len; i++)
            gnu_take_arc(o, is_sorted ? list.all.at[i].arc : lists->arc[start + i], taken);
    }
    arc_list_deinit(&list);
}

/* Sets the busiest functions aside: their arcs join nothing. One that calls another of them, or is
 * called by one or by a function without calls, is released; the arc's caller goes first in the
 * output. The others follow where they stand, but for the last. "But for the last" is GNU's loop,
 * which ends one too early. */
static void gnu_place_busiest(struct chaining *o, const struct arc_numbers *busiest)
{
    if (!busiest->len)
        return;
    /* An arc between two of them is taken twice. */
    struct arc_numbers taken = {ARENA_NEW(&o->scratch, uint32_t, 2 * (size_t)o->arcs_len), 0},
                       released = taken;
    for (uint32_t i = 0; i < busiest->len; i++) {
        gnu_take_arcs(o, busiest->at[i], &taken);
        o->at[busiest->at[i]].is_placed = true;
    }
    for (uint32_t i = 0; i < taken.len; i++) {
        const struct chain_arc *arc = &o->arcs[taken.at[i]];
        if (!o->at[arc->caller].is_placed || !o->at[arc->callee].is_placed)
            continue;
        o->at[arc->caller].is_placed = o->at[arc->callee].is_placed = false;
        released.at[released.len++] = taken.at[i]; /* never ahead of `i` */
    }
    gnu_sort_by_count(o, &released);
    for (uint32_t i = 0; i + 1 < busiest->len; i++)
        if (o->at[busiest->at[i]].is_placed)
            gnu_place(o, busiest->at[i]);
    for (uint32_t i = 0; i < released.len; i++) {
        const struct chain_arc *arc = &o->arcs[released.at[i]];
        if (!o->at[arc->caller].is_placed && !o->at[arc->callee].is_placed)
            gnu_place(o, arc->caller);
    }
}

/* In this order: the busiest, chains of the arcs of 99 % of all calls, chains of what those left,
 * functions that no chain took, and then functions without calls. */
void gnu_layout_functions(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                          const struct selection *s, struct gnu_printed printed, struct arena *a)
{
    struct chaining o;
    gnu_start(&o, f, g, s);
    o.printed = printed;
    struct arc_numbers arcs = gnu_all_arcs(&o), rest = gnu_new_numbers(&o),
                       ignored = gnu_new_numbers(&o);
    struct arc_numbers used = {ARENA_NEW(&o.scratch, uint32_t, f->len), 0};
    for (uint32_t i = 0; i < f->len; i++) {
        o.at[i].is_placed = !g || !g->nodes[i].calls;
        if (!o.at[i].is_placed)
            used.at[used.len++] = i;
    }
    gnu_sort_by_count(&o, &arcs);
    /* The functions that were called, by the number of their callers among the arcs that make up 90
     * % of all calls, and of them the first in each 80; but none from one on that has exactly five.
     */
    enum { ONE_IN = 80, STOP = 5 };
    const double SHARE = 0.9;
    uint32_t *callers = ARENA_NEW(&o.scratch, uint32_t, o.nodes);
    double total = (double)gnu_count_all(&o, &arcs);
    uint64_t running = 0;
    for (uint32_t i = 0; i < arcs.len; i++) {
        const struct chain_arc *arc = &o.arcs[arcs.at[i]];
        running += arc->count;
        if ((double)running / total > SHARE)
            break;
        callers[arc->callee]++;
    }

    struct keyed *sorted = ARENA_NEW(&o.scratch, struct keyed, used.len);
    for (uint32_t i = 0; i < used.len; i++)
        sorted[i] = (struct keyed){~(uint64_t)callers[used.at[i]], used.at[i]};
    sort_keyed(sorted, used.len);
    struct arc_numbers busiest = {ARENA_NEW(&o.scratch, uint32_t, used.len / ONE_IN), 0};
    for (uint32_t i = 0; i < used.len / ONE_IN && callers[sorted[i].item] != STOP; i++)
        busiest.at[busiest.len++] = sorted[i].item;
    gnu_place_busiest(&o, &busiest);
    gnu_place_arcs(&o, &arcs, 0.99, &rest);
    gnu_place_arcs(&o, &rest, 1, &ignored);
    for (uint32_t i = 0; i < used.len; i++)
        if (!o.at[used.at[i]].is_placed)
            gnu_place(&o, used.at[i]);
    for (uint32_t i = 0; i < f->len; i++)
        if (!g || !g->nodes[i].calls)
            gnu_place(&o, i);
    gnu_finish(&o, t, a);
}

/* --- files ----------------------------------------------------------------------------------- */

static int gnu_by_text(uint32_t left, uint32_t right, const void *context)
{
    const char *const *at = context;
    return strcmp(at[left], at[right]);
}

/* The files of the map that are not among the names yet, by name. A file that was placed is found
 * by sorting names of both kinds together, O(n log n). */
static void gnu_place_other_files(struct chaining *o, const struct order_map *map)
{
    size_t placed = o->names.len, len = placed + map->len;
    const char **all = ARENA_NEW(&o->scratch, const char *, len);
    uint32_t *order = ARENA_NEW(&o->scratch, uint32_t, len);
    for (size_t i = 0; i < len; i++) {
        order[i] = (uint32_t)i;
        all[i] = i < placed ? o->names.at[i] : map->at[i - placed].file;
    }
    sort_u32(order, len, gnu_by_text, all); /* placed ones come first among equals */
    for (size_t i = 0; i < len; i++)
        if (order[i] >= placed && (!i || strcmp(all[order[i - 1]], all[order[i]])))
            vec_push(&o->names, all[order[i]]);
}

/* With -R functions have the names of their files, so that chains of functions are chains of files.
 * Arcs are taken as they were made, not by count. */
void gnu_layout_files(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                      const struct selection *s, const struct order_map *map, struct arena *a)
{
    struct chaining o;
    gnu_start(&o, f, g, s);
    o.only_files = true;
    struct arc_numbers arcs = gnu_all_arcs(&o), ignored = gnu_new_numbers(&o);
    gnu_place_arcs(&o, &arcs, 0.99, &ignored);
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].is_mapped && !o.at[i].is_placed)
            gnu_place(&o, i);
    gnu_place_other_files(&o, map);
    gnu_finish(&o, t, a);
}

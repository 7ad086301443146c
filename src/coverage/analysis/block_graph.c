/* Successors by counting sort, kinds by looking at each block's arcs; linear in the arcs.
 *
 *     block     arcs out of it                        kinds
 *     7         fake, fall-through, other             BLOCK_CALL; ARC_CALL, 0, ARC_THROW
 *     8         one, not fake                         ARC_UNCONDITIONAL
 *     9         two, not fake                         BLOCK_DECIDES; both are branches
 *     0         fake                                  ARC_NONLOCAL, its target BLOCK_NONLOCAL
 *
 * Nothing of it depends on counters, so that it is built once for a unit. The queue serves as
 * scratch of the sort and of the search for exceptional blocks, one after the other. */
#include "coverage/analysis/line_coverage.h"

#include <string.h>

/* Arcs in the order of their targets; the scratch queue takes them. Followed by a sort by source,
 * which is stable, this gives arcs by source and target. */
static void sort_by_target(const struct notes *n, const struct notes_function *f,
                           struct block_graph *g)
{
    uint32_t *place = calloc((size_t)f->blocks + 1, sizeof *place);
    if (!place)
        memory_exhausted(f->blocks);
    for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++)
        place[n->arcs.at[i].target + 1]++;
    for (uint32_t b = 0; b < f->blocks; b++)
        place[b + 1] += place[b];
    vec_reserve(&g->queue, f->arcs);
    for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++)
        g->queue.at[place[n->arcs.at[i].target]++] = i;
    free(place);
}

/* Nearly all files are: then no sort is needed. clang's order of targets means true and false and
 * must stay. */
static bool is_in_order(const struct notes *n, const struct notes_function *f)
{
    const struct notes_arc *arcs = vec_from(&n->arcs, f->first_arc);
    for (uint32_t i = 1; i < f->arcs; i++)
        if (arcs[i].source < arcs[i - 1].source ||
            (arcs[i].source == arcs[i - 1].source && arcs[i].target < arcs[i - 1].target &&
             !n->origin.is_llvm))
            return false;
    return true;
}

/* Three steps: degrees, sums of degrees as beginnings, arcs. `first` has one more element than
 * blocks, and is put back by one place after the sort has moved it on. */
static void list_successors(const struct notes *n, const struct notes_function *f,
                            struct block_graph *g, uint32_t *first)
{
    first[f->blocks] = f->first_arc + f->arcs;
    for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++) {
        first[n->arcs.at[i].source]++;
        g->in_degree.at[f->first_block + n->arcs.at[i].target]++;
    }
    for (uint32_t b = 0, sum = f->first_arc; b < f->blocks; b++) {
        uint32_t degree = first[b];
        first[b] = sum;
        sum += degree;
    }

    if (is_in_order(n, f)) {
        for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++)
            g->out.at[i] = i;
        return;
    }
    sort_by_target(n, f, g);
    for (uint32_t i = 0; i < f->arcs; i++) {
        uint32_t arc = g->queue.at[i];
        g->out.at[first[n->arcs.at[arc].source]++] = arc;
    }
    for (uint32_t b = f->blocks; b-- > 1;)
        first[b] = first[b - 1];
    if (f->blocks)
        first[0] = f->first_arc;
}

/* `from` and `to` bound the block's arcs in g->out. A call that returns to a block with no other
 * way in makes that the rest of the call's block. */
static void classify_block(const struct notes *n, const struct notes_function *f, uint32_t block,
                           uint32_t from, uint32_t to, struct block_graph *g, bool *has_throw)
{
    uint32_t real = 0, fake = 0;
    for (uint32_t i = from; i < to; i++)
        *(n->arcs.at[g->out.at[i]].flags & NOTES_ARC_FAKE ? &fake : &real) += 1;
    bool is_call = fake && block;
    uint8_t *own = &g->block_kinds.at[f->first_block + block];
    *own |= (uint8_t)((is_call ? BLOCK_CALL : 0) | (fake || real > 1 ? BLOCK_DECIDES : 0));
    for (uint32_t i = from; i < to; i++) {
        uint32_t arc = g->out.at[i], flags = n->arcs.at[arc].flags;
        uint32_t target = f->first_block + n->arcs.at[arc].target;
        uint8_t *kind = &g->arc_kinds.at[arc];
        *own |= n->arcs.at[arc].target == block ? BLOCK_REPEATS : 0;
        if (flags & NOTES_ARC_FAKE) {
            *kind = block ? ARC_CALL : ARC_NONLOCAL;
            g->block_kinds.at[target] |= block ? 0 : BLOCK_NONLOCAL;
            continue;
        }
        *kind = real == 1 ? ARC_UNCONDITIONAL : 0;
        if (is_call && !(flags & NOTES_ARC_FALLTHROUGH)) {
            *kind |= ARC_THROW;
            *has_throw = true;
        } else if (is_call && real == 1 && g->in_degree.at[target] == 1) {
            g->block_kinds.at[target] |= BLOCK_RETURN;
        }
    }
}

/* Marks as exceptional what cannot be reached from the entry without a throw. A search from the
 * entry over all other arcs; fake arcs are no way either. No recursion. */
static void find_exceptional(const struct notes *n, const struct notes_function *f,
                             struct block_graph *g, const uint32_t *first)
{
    uint8_t *kinds = g->block_kinds.at + f->first_block;
    uint32_t len = 0;
    for (uint32_t b = 0; b < f->blocks; b++)
        kinds[b] |= BLOCK_EXCEPTIONAL;
    kinds[0] &= (uint8_t)~BLOCK_EXCEPTIONAL;
    vec_reserve(&g->queue, f->blocks);
    g->queue.at[len++] = 0;
    while (len) {
        uint32_t block = g->queue.at[--len];
        for (uint32_t i = first[block]; i < first[block + 1]; i++) {
            uint32_t arc = g->out.at[i], target = n->arcs.at[arc].target;
            bool is_plain =
                !(n->arcs.at[arc].flags & NOTES_ARC_FAKE) && !(g->arc_kinds.at[arc] & ARC_THROW);
            if (!is_plain || !(kinds[target] & BLOCK_EXCEPTIONAL))
                continue;
            kinds[target] &= (uint8_t)~BLOCK_EXCEPTIONAL;
            g->queue.at[len++] = target;
        }
    }
}

#define ZEROED(v, n)                                   \
    do {                                               \
        vec_reserve((v), (n));                         \
        (v)->len = n;                                  \
        if (n)                                         \
            memset((v)->at, 0, (n) * sizeof *(v)->at); \
    } while (0)

/* One pass a function. Functions without blocks have no graph, but their place in first_out. */
void block_graph_build(const struct notes *n, struct block_graph *g)
{
    size_t blocks = (size_t)n->blocks;
    ZEROED(&g->first_out, blocks + n->functions.len);
    ZEROED(&g->in_degree, blocks);
    ZEROED(&g->block_kinds, blocks);
    ZEROED(&g->arc_kinds, n->arcs.len);
    vec_reserve(&g->out, n->arcs.len);
    g->out.len = n->arcs.len;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint32_t *first = g->first_out.at + n->functions.at[i].first_block + i;
        if (!f->blocks)
            continue;
        bool has_throw = false;
        list_successors(n, f, g, first);
        for (uint32_t b = 0; b < f->blocks; b++)
            classify_block(n, f, b, first[b], first[b + 1], g, &has_throw);
        if (has_throw)
            find_exceptional(n, f, g, first);
    }
}

void block_graph_deinit(struct block_graph *g)
{
    vec_free(&g->first_out);
    vec_free(&g->out);
    vec_free(&g->arc_kinds);
    vec_free(&g->block_kinds);
    vec_free(&g->in_degree);
    vec_free(&g->queue);
}

/* Merging the nodes of a run by function, in one pass: parents stand before their children. */
#include "profile/analysis/recording/call_tree.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct merging {
    VEC(struct call_node) nodes;
    struct map children; /* (node, function) -> node */
};

static uint32_t child_of(struct merging *m, uint32_t parent, uint32_t function)
{
    bool is_new;
    uint32_t fresh = (uint32_t)m->nodes.len;
    uint32_t child = *map_at(&m->children, parent, function, fresh, &is_new);
    if (!is_new)
        return child;
    vec_push(&m->nodes, (struct call_node){.parent = parent,
                                           .function = function,
                                           .next = m->nodes.at[parent].first_child});
    m->nodes.at[parent].first_child = fresh;
    return child;
}

static void sum_up(struct call_node *nodes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        nodes[i].total = nodes[i].self;
    for (size_t i = len; i-- > 1;)
        nodes[nodes[i].parent].total += nodes[i].total;
}

void call_tree_init_merged(struct call_tree *t, const struct recording *recording,
                           const double *samples, const struct call_frames *frames,
                           uint32_t *merged)
{
    struct merging m = {0};
    size_t len = recording->nodes.len;
    map_reserve(&m.children, len);
    vec_push(&m.nodes, (struct call_node){0});
    for (size_t i = 0; i < len; i++) {
        uint32_t place = frames->place[i], node = i ? merged[recording->nodes.at[i].parent] : 0;
        uint32_t k = frames->start[place], end = frames->start[place + 1];
        bool is_in_own_piece = frames->is_piece && frames->is_piece[i] && k < end && node &&
                               m.nodes.at[node].function == frames->frame[k];
        for (k += is_in_own_piece; k < end; k++)
            node = child_of(&m, node, frames->frame[k]);
        merged[i] = node;
        m.nodes.at[node].self += samples[i];
    }
    map_deinit(&m.children);
    sum_up(m.nodes.at, m.nodes.len);
    *t = (struct call_tree){m.nodes.at, (uint32_t)m.nodes.len, frames->functions};
}

void call_tree_init(struct call_tree *t, const struct recording *recording, const double *samples,
                    const struct call_frames *frames)
{
    size_t len = recording->nodes.len;
    uint32_t *merged = malloc((len + 1) * sizeof *merged);
    if (!merged)
        memory_exhausted(len * sizeof *merged);
    call_tree_init_merged(t, recording, samples, frames, merged);
    free(merged);
}

void call_tree_deinit(struct call_tree *t)
{
    free(t->nodes);
    *t = (struct call_tree){0};
}

/* The next node of a walk from outside to inside, 0 at its end; takes functions that the walk
 * leaves off the stack. */
static uint32_t next_node(const struct call_tree *t, uint32_t i, uint32_t *on_stack)
{
    if (t->nodes[i].first_child)
        return t->nodes[i].first_child;
    for (; i; i = t->nodes[i].parent) {
        on_stack[t->nodes[i].function]--;
        if (t->nodes[i].next)
            return t->nodes[i].next;
    }
    return 0;
}

void call_tree_inclusive(const struct call_tree *t, double *inclusive)
{
    uint32_t *on_stack = calloc((size_t)t->functions + 1, sizeof *on_stack);
    if (!on_stack)
        memory_exhausted(t->functions);
    memset(inclusive, 0, t->functions * sizeof *inclusive);
    for (uint32_t i = t->nodes[0].first_child; i; i = next_node(t, i, on_stack))
        if (on_stack[t->nodes[i].function]++ == 0)
            inclusive[t->nodes[i].function] += t->nodes[i].total;
    free(on_stack);
}

/* Arcs by block, and the law of flow. */
#include "coverage/analysis/flow.h"

#include <string.h>

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

void flow_graph_build(const struct notes *n, const struct notes_function *f, struct flow_graph *out)
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

void flow_graph_deinit(struct flow_graph *g)
{
    vec_free(&g->first_out);
    vec_free(&g->out);
    vec_free(&g->first_in);
    vec_free(&g->in);
}

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

/* Summing functions by object; listing threads. */
#include "analysis/shares.h"

#include <stdlib.h>
#include <string.h>

static int by_samples(const void *left, const void *right)
{
    const struct share_row *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? 1 : -1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? 1 : -1;
    int by = strcmp(l->name, r->name);
    return by ? by : (l->thread > r->thread) - (l->thread < r->thread);
}

static void finish(struct shares *t)
{
    double covered = 0;
    qsort(t->rows, t->len, sizeof *t->rows, by_samples);
    for (uint32_t i = 0; i < t->len; i++)
        covered += t->rows[i].samples;
    t->rest = t->summary->samples > covered ? t->summary->samples - covered : 0;
}

void shares_by_object(struct shares *t, const struct summary *s, const struct space *space,
                      const struct graph *g, struct arena *a)
{
    struct arena scratch = {0};
    struct share_row *all = ARENA_NEW(&scratch, struct share_row, space->len);
    for (uint32_t i = 0; i < g->functions->len; i++) {
        struct share_row *row = &all[g->functions->at[i].object];
        row->samples += g->nodes[i].self;
        row->calls += g->nodes[i].calls + g->nodes[i].self_calls;
    }
    *t = (struct shares){.summary = s, .rows = ARENA_NEW(a, struct share_row, space->len)};
    for (uint32_t i = 0; i < space->len; i++) {
        all[i].name = space->objects[i].recorded->path[0] ? space->objects[i].recorded->path
                                                          : space->objects[i].label;
        if (all[i].samples > 0 || all[i].calls)
            t->rows[t->len++] = all[i];
    }
    finish(t);
    arena_deinit(&scratch);
}

/* The functions of one thread; `*next` goes on behind them. */
static void take_functions(struct share_row *row, const struct stacks *stacks, uint32_t thread,
                           size_t *next)
{
    row->functions = stacks->shares + *next;
    for (; *next < stacks->shares_len && stacks->shares[*next].thread == thread; ++*next)
        row->functions_len++;
}

void shares_by_thread(struct shares *t, const struct summary *s, const struct recording *r,
                      const struct stacks *stacks, struct arena *a)
{
    size_t next = 0;
    *t = (struct shares){
        .summary = s, .is_by_thread = true, .rows = ARENA_NEW(a, struct share_row, r->threads.len)};
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct recorded_thread *from = &r->threads.at[i];
        t->rows[t->len++] = (struct share_row){
            .name = from->name,
            .samples = (double)from->samples,
            .thread = from->id,
            .cpu_ns = from->cpu_ns,
            .run_ns = from->end_ns > from->start_ns ? from->end_ns - from->start_ns : 0};
        take_functions(&t->rows[i], stacks, (uint32_t)i, &next);
    }
    finish(t);
}

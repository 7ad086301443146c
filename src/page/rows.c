/* Which functions there are on the page, in which order, and the paths that lead to them. */
#include "page/rows.h"

/* Of all samples: what a path of the model must have to be drawn by itself. */
#define LEAST_SHARE 0.0005

static bool has_arcs(const struct graph *g, uint32_t function)
{
    return g->callers.start[function] != g->callers.start[function + 1] ||
           g->callees.start[function] != g->callees.start[function + 1];
}

static void take_measured(struct page_rows *r)
{
    const struct page_profile *p = r->profile;
    struct filter all = {0};
    struct view_rules rules = {.sort = BY_SELF, .shows_all = true, .filter = &all};
    flat_make(&r->flat, p->summary, p->graph, &r->names, &rules, &r->arena);
    for (uint32_t i = 0; i < r->flat.len; i++) {
        const struct flat_row *f = &r->flat.rows[i];
        if (f->self <= 0 && f->total <= 0 && !f->calls && !has_arcs(p->graph, f->function))
            continue;
        r->of[f->function] = (uint32_t)r->all.len;
        vec_push(&r->all,
                 (struct page_row){f->is_profiler                             ? ROW_PROFILER
                                   : p->functions->at[f->function].is_inlined ? ROW_INLINED
                                                                              : ROW_FUNCTION,
                                   f->function, f});
    }
    r->measured = (uint32_t)r->all.len;
}

static void take_path_functions(struct page_rows *r)
{
    for (uint32_t i = 1; i < r->tree.len; i++) {
        uint32_t function = r->tree.nodes[i].function;
        if (r->of[function] != UINT32_MAX)
            continue;
        bool is_inlined = function >= r->frames.first_inlined;
        r->of[function] = (uint32_t)r->all.len;
        vec_push(&r->all,
                 (struct page_row){is_inlined ? ROW_INLINED : ROW_UNKNOWN, function, NULL});
    }
}

static void take_cycles(struct page_rows *r)
{
    r->first_cycle = (uint32_t)r->all.len;
    for (uint32_t i = 0; i < r->profile->graph->cycles; i++)
        vec_push(&r->all, (struct page_row){ROW_CYCLE, i + 1, NULL});
    r->small = (uint32_t)r->all.len;
    vec_push(&r->all, (struct page_row){ROW_SMALL, 0, NULL});
}

static void make_frames(struct page_rows *r)
{
    const struct page_profile *p = r->profile;
    struct call_frames_input in = {.recording = p->space->recording,
                                   .functions = p->functions,
                                   .function = p->space->function,
                                   .is_piece = p->space->is_piece,
                                   .files = NULL};
    if (p->named)
        r->frames = *p->named;
    else
        named_frames_make(&r->frames, &in, &r->arena);
    r->merged = ARENA_NEW(&r->arena, uint32_t, p->space->recording->nodes.len);
    call_tree_init_merged(&r->tree, p->space->recording, p->weights, &r->frames.frames, r->merged);
}

static void shorten_names(struct page_rows *r)
{
    bool *is_shown = ARENA_NEW(&r->arena, bool, r->names.functions->len);
    for (size_t i = 0; i < r->all.len; i++)
        if (r->all.at[i].kind != ROW_CYCLE && r->all.at[i].kind != ROW_SMALL)
            is_shown[r->all.at[i].function] = true;
    names_shorten(&r->names, is_shown);
}

void page_rows_make(struct page_rows *r, const struct page_profile *p)
{
    *r = (struct page_rows){.profile = p, .has_stacks = p->summary->stacks != NULL};
    if (r->has_stacks)
        make_frames(r);
    names_init(&r->names, r->has_stacks ? &r->frames.functions : p->functions, p->demangle,
               &r->arena);
    r->of = ARENA_NEW(&r->arena, uint32_t, r->names.functions->len);
    for (uint32_t i = 0; i < r->names.functions->len; i++)
        r->of[i] = UINT32_MAX;
    take_measured(r);
    take_path_functions(r);
    take_cycles(r);
    if (!r->has_stacks && p->summary->samples > 0)
        model_paths_make(&r->model, p->graph, LEAST_SHARE * p->summary->samples);
    shorten_names(r);
}

void page_rows_deinit(struct page_rows *r)
{
    call_tree_deinit(&r->tree);
    model_paths_deinit(&r->model);
    vec_free(&r->all);
    arena_deinit(&r->arena);
}

uint32_t page_row_of_node(const struct page_rows *r, uint32_t node)
{
    if (node == MODEL_SMALL)
        return r->small;
    if (graph_is_cycle(r->profile->graph, node))
        return r->first_cycle + r->profile->graph->nodes[node].cycle - 1;
    return r->of[node];
}

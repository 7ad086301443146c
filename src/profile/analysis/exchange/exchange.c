/* Puts functions, frames and objects together. What paths and arcs cost is in exchange_costs.c. */
#include "profile/analysis/exchange/exchange.h"

#include <math.h>
#include <string.h>

/* Of all samples: what a path of the model must have to stand by itself. */
#define LEAST_SHARE 1e-5

enum { NOT_MET = EXCHANGE_NOWHERE };

/* A frame before all are in their order. Parents stand before their children. */
struct loose_frame {
    uint32_t parent, first_child, next; /* 0: no further one */
    uint32_t node;                      /* of the graph or the tree's functions, or MODEL_SMALL */
    uint32_t function;
    uint32_t in_tree; /* the node of the tree, 0: of none */
    bool is_estimate;
    double self;
};

struct exchange_making {
    struct exchange *x;
    const struct exchange_input *in;
    struct arena *a;
    VEC(struct loose_frame) loose;
    uint32_t *frame_of; /* per node of the tree; NULL: nobody asks */
    uint32_t *of;       /* per function and cycle: its number in x->functions */
    uint32_t rest;      /* the function of samples in none, or EXCHANGE_NOWHERE */
    double scale;       /* units in a sample */
};

/* --- objects and functions ------------------------------------------------------------------- */

static void exchange_one_object(struct exchange_making *m)
{
    const struct functions *f = m->in->names->functions;
    struct bytes id = object_build_id(m->in->objects[0]);
    struct exchange_object o = {
        .path = object_path(m->in->objects[0]), .build_id = id.at, .build_id_len = id.len};
    if (f->len) {
        o.low = f->at[0].start;
        o.high = f->at[f->len - 1].last + 1;
    }
    vec_push(&m->x->objects, o);
}

static void exchange_take_objects(struct exchange_making *m)
{
    const struct space *s = m->in->space;
    if (!s) {
        exchange_one_object(m);
        m->x->program = 0;
        return;
    }
    const struct recording *r = s->recording;
    uint32_t program = r->processes.len ? r->processes.at[0].program : RECORDING_NONE;
    for (uint32_t i = 0; i < s->len; i++) {
        const struct space_object *o = &s->objects[i];
        if (program != RECORDING_NONE && o->recorded == &r->objects.at[program])
            m->x->program = i;
        vec_push(&m->x->objects,
                 (struct exchange_object){.path = space_object_name(s, i),
                                          .build_id = o->recorded->build_id,
                                          .build_id_len = o->recorded->build_id_bytes,
                                          .low = o->low + o->base,
                                          .high = o->high + o->base});
    }
}

static uint32_t exchange_add(struct exchange_making *m, struct exchange_function f)
{
    vec_push(&m->x->functions, f);
    return (uint32_t)m->x->functions.len - 1;
}

static uint32_t exchange_add_name(struct exchange_making *m, const char *name)
{
    return exchange_add(
        m, (struct exchange_function){.name = name, .linkage = name, .object = EXCHANGE_NOWHERE});
}

static struct exchange_function exchange_describe(const struct exchange_making *m, uint32_t number)
{
    const struct functions *all = m->in->names->functions;
    const struct function *from = &all->at[number];
    struct exchange_function f = {.name = names_get(m->in->names, number),
                                  .linkage = from->name,
                                  .object = from->object,
                                  .is_inlined = number >= m->in->first_inlined};
    if (f.is_inlined) {
        f.file = from->file;
        f.line = from->line;
        return f;
    }
    struct object *file = from->object < m->in->objects_len ? m->in->objects[from->object] : NULL;
    f.address = from->start;
    if (file && function_has_code(from) &&
        !object_line(file, function_link_address(all, number), &f.file, &f.line))
        f.file = NULL, f.line = 0;
    return f;
}

/* A function, or a cycle of the model's graph. */
static uint32_t exchange_function_of(struct exchange_making *m, uint32_t number)
{
    if (m->of[number] != NOT_MET)
        return m->of[number];
    if (!m->in->tree && graph_is_cycle(m->in->graph, number))
        m->of[number] = exchange_add_name(
            m, arena_printf(m->a, "[cycle %u]", m->in->graph->nodes[number].cycle));
    else
        m->of[number] = exchange_add(m, exchange_describe(m, number));
    return m->of[number];
}

static bool exchange_is_selected(const struct exchange_making *m, uint32_t number)
{
    const bool *selected = m->in->selected;
    return !selected || (number < m->in->names->functions->len && selected[number]);
}

/* Those that were called or ran, and are on no path. */
static void exchange_take_called(struct exchange_making *m)
{
    const struct graph *g = m->in->graph;
    for (uint32_t i = 0; i < g->functions->len; i++)
        if (g->nodes[i].self > 0 && exchange_is_selected(m, i))
            exchange_function_of(m, i);
    for (uint32_t i = 0; i < g->measured_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        if (!exchange_is_selected(m, arc->caller) && !exchange_is_selected(m, arc->callee))
            continue;
        exchange_function_of(m, arc->caller);
        exchange_function_of(m, arc->callee);
    }
}

/* --- frames ---------------------------------------------------------------------------------- */

static void exchange_take_stacks(struct exchange_making *m)
{
    const struct call_tree *t = m->in->tree;
    for (uint32_t i = 1; i < t->len; i++)
        vec_push(&m->loose, (struct loose_frame){.parent = t->nodes[i].parent,
                                                 .node = t->nodes[i].function,
                                                 .in_tree = i,
                                                 .self = t->nodes[i].self});
}

static void exchange_take_model(struct exchange_making *m)
{
    struct model_paths paths = {0};
    model_paths_make(&paths, m->in->graph, LEAST_SHARE * m->in->summary->samples);
    for (size_t i = 1; i < paths.frames.len; i++) {
        const struct model_frame *f = &paths.frames.at[i];
        vec_push(&m->loose, (struct loose_frame){.parent = f->parent,
                                                 .node = f->node,
                                                 .is_estimate = f->is_estimate,
                                                 .self = f->self});
    }
    model_paths_deinit(&paths);
}

/* Keeps the frames within those that were selected, with their time, and those around them. */
static void exchange_select(struct exchange_making *m)
{
    struct arena scratch = {0};
    size_t len = m->loose.len;
    bool *is_within = ARENA_NEW(&scratch, bool, len), *is_kept = ARENA_NEW(&scratch, bool, len);
    uint32_t *place = ARENA_NEW(&scratch, uint32_t, len);
    for (size_t i = 1; i < len; i++) {
        const struct loose_frame *f = &m->loose.at[i];
        is_kept[i] = is_within[i] = is_within[f->parent] || exchange_is_selected(m, f->node);
    }
    for (size_t i = len; i-- > 1;)
        is_kept[m->loose.at[i].parent] |= is_kept[i];
    m->loose.len = 1;
    for (size_t i = 1; i < len; i++) {
        struct loose_frame f = m->loose.at[i];
        if (!is_kept[i])
            continue;
        f.parent = place[f.parent];
        f.self = is_within[i] ? f.self : 0;
        place[i] = (uint32_t)m->loose.len;
        vec_push(&m->loose, f);
    }
    arena_deinit(&scratch);
}

static void exchange_name_frames(struct exchange_making *m)
{
    uint32_t small = NOT_MET;
    for (size_t i = 1; i < m->loose.len; i++) {
        struct loose_frame *f = &m->loose.at[i];
        if (f->node == MODEL_SMALL && small == NOT_MET)
            small = exchange_add_name(m, "[too small to stand alone]");
        f->function = f->node == MODEL_SMALL ? small : exchange_function_of(m, f->node);
        m->x->has_estimates |= f->is_estimate;
    }
}

/* What no function has, so that the sum is what was measured. */
static void exchange_take_rest(struct exchange_making *m)
{
    double rest = m->in->summary->unattributed;
    if (rest <= 0 || m->in->tree || m->in->selected)
        return;
    m->rest = exchange_add_name(m, "[no function]");
    vec_push(&m->loose, (struct loose_frame){.function = m->rest, .self = rest});
}

static void exchange_link_children(struct exchange_making *m)
{
    for (uint32_t i = (uint32_t)m->loose.len - 1; i; i--) {
        struct loose_frame *parent = &m->loose.at[m->loose.at[i].parent];
        m->loose.at[i].next = parent->first_child;
        parent->first_child = i;
    }
}

static uint32_t exchange_frame_behind(const struct exchange_making *m, uint32_t i, uint32_t *depth)
{
    if (m->loose.at[i].first_child) {
        ++*depth;
        return m->loose.at[i].first_child;
    }
    while (i && !m->loose.at[i].next) {
        i = m->loose.at[i].parent;
        --*depth;
    }
    return m->loose.at[i].next;
}

/* In the order of the frames, each gets the whole numbers between the sum before it and behind. */
static void exchange_order_frames(struct exchange_making *m)
{
    struct arena scratch = {0};
    uint32_t *place = ARENA_NEW(&scratch, uint32_t, m->loose.len);
    double sum = 0;
    uint32_t i = 0, depth = 0;
    do {
        const struct loose_frame *f = &m->loose.at[i];
        sum += f->self * m->scale;
        uint64_t until = (uint64_t)llround(sum);
        place[i] = (uint32_t)m->x->frames.len;
        vec_push(&m->x->frames, (struct exchange_frame){.parent = place[f->parent],
                                                        .depth = depth,
                                                        .function = f->function,
                                                        .is_estimate = f->is_estimate,
                                                        .self = until - m->x->total});
        m->x->total = until;
        if (m->frame_of && f->in_tree)
            m->frame_of[f->in_tree] = place[i];
        i = exchange_frame_behind(m, i, &depth);
    } while (i);
    arena_deinit(&scratch);
}

/* --- all ------------------------------------------------------------------------------------- */

/* Times as nanoseconds; events as they were counted; else samples. */
static void exchange_choose_unit(struct exchange_making *m)
{
    const struct summary *s = m->in->summary;
    bool is_time = s->rate > 0 && s->dimension && !strcmp(s->dimension, "seconds");
    m->x->event = s->run && s->run->event ? s->run->event->name : is_time ? "cpu" : "samples";
    m->x->unit = is_time ? "nanoseconds" : s->rate > 0 ? s->dimension : "samples";
    m->scale = is_time ? 1e9 / s->rate : s->rate > 0 ? 1 / s->rate : 1;
    m->x->period = (uint64_t)llround(m->scale);
}

void exchange_make(struct exchange *x, const struct exchange_input *in, struct arena *a)
{
    const struct functions *f = in->names->functions;
    uint32_t nodes = in->graph->len > f->len ? in->graph->len : f->len;
    struct exchange_making m = {
        .x = x, .in = in, .a = a, .of = ARENA_NEW(a, uint32_t, nodes), .rest = EXCHANGE_NOWHERE};
    *x = (struct exchange){
        .summary = in->summary, .is_model = !in->tree, .program = EXCHANGE_NOWHERE};
    memset(m.of, 0xff, nodes * sizeof *m.of);
    exchange_choose_unit(&m);
    exchange_take_objects(&m);
    vec_push(&m.loose, (struct loose_frame){.function = NOT_MET});
    if (in->tree)
        exchange_take_stacks(&m);
    else if (in->summary->samples > 0)
        exchange_take_model(&m);
    if (in->selected)
        exchange_select(&m);
    exchange_name_frames(&m);
    exchange_take_rest(&m);
    exchange_take_called(&m);
    exchange_link_children(&m);
    if (in->tree && (in->shares_len || in->keeps_frames))
        m.frame_of = ARENA_NEW(a, uint32_t, in->tree->len);
    exchange_order_frames(&m);
    x->function_of = m.of;
    x->frame_of = m.frame_of;
    if (in->shares_len)
        exchange_split(x, in, m.frame_of);
    struct exchange_costs costs = {x, in->graph, m.of, m.rest, m.scale};
    (in->tree || in->selected ? exchange_measured_costs : exchange_model_costs)(&costs);
    vec_free(&m.loose);
}

void exchange_deinit(struct exchange *x)
{
    vec_free(&x->objects);
    vec_free(&x->functions);
    vec_free(&x->frames);
    vec_free(&x->parts);
    vec_free(&x->arcs);
}

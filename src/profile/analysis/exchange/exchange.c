/* An exchange: functions, frames and objects put together for other tools. What calls and threads
 * cost is in exchange_costs.c, instructions in exchange_code.c.
 *
 * Frames come from recorded stacks, or from paths of the model, as a list in which parents precede
 * their children. They are selected, named, linked, and then laid down depth first, which is the
 * order in which tools read them. On that way amounts are made whole: each frame gets the whole
 * numbers between the sum before it and the sum after it,
 *
 *     self          0.4   0.4   0.4   0.8
 *     sum     0     0.4   0.8   1.2   2.0
 *     whole            0     1     0     1
 *
 * so that the sum of any stretch, and a frame with all below it is one, is off by less than one. */
#include "profile/analysis/exchange/exchange.h"

#include "base/map.h"

#include <math.h>
#include <string.h>

/* Of all samples: the least share of a path of the model with a frame of its own. */
#define LEAST_SHARE 1e-5

enum { NOT_MET = EXCHANGE_NOWHERE };

/* A frame before all are in their order. Parents precede their children. */
struct unordered_frame {
    uint32_t parent, first_child, next; /* 0: no further one */
    uint32_t node;                      /* of the graph or the tree's functions, or MODEL_SMALL */
    uint32_t function;
    const struct call_line *line; /* NULL: not known */
    uint32_t in_tree;             /* the node of the tree, 0: of none */
    bool is_estimate;
    double self;
};

/* An exchange while it is put together. */
struct exchange_build {
    struct exchange *x;
    const struct exchange_input *in;
    const struct graph *shape;
    struct arena *a;
    VEC(struct unordered_frame) unordered;
    uint32_t *frame_of;  /* per node of the tree; NULL: not wanted */
    struct map place_of; /* function and line -> number of those places that begin no function */
    uint32_t *of;        /* per function and cycle: its number in x->functions */
    uint32_t rest;       /* the function of samples in none, or EXCHANGE_NOWHERE */
    double scale;        /* units in a sample */
};

/* --- objects and functions ------------------------------------------------------------------- */

/* The object files; of a recording, those of all processes. */
static void exchange_take_objects(struct exchange_build *m)
{
    const struct space *s = m->in->space;
    if (!s) {
        const struct functions *f = m->in->names->functions;
        struct bytes id = object_build_id(m->in->objects[0]);
        struct exchange_object o = {
            .path = object_path(m->in->objects[0]), .build_id = id.at, .build_id_len = id.len};
        if (f->len) {
            o.low = f->at[0].start;
            o.high = f->at[f->len - 1].last + 1;
        }
        vec_push(&m->x->objects, o);
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
                                          .kind = o->recorded->kind,
                                          .build_id = o->recorded->build_id,
                                          .build_id_len = o->recorded->build_id_bytes,
                                          .low = o->low + o->base,
                                          .high = o->high + o->base});
    }
}

static uint32_t exchange_add(struct exchange_build *m, struct exchange_function f)
{
    vec_push(&m->x->functions, f);
    return (uint32_t)m->x->functions.len - 1;
}

static uint32_t exchange_add_name(struct exchange_build *m, const char *name)
{
    return exchange_add(
        m, (struct exchange_function){.name = name, .linkage = name, .object = EXCHANGE_NOWHERE});
}

/* A function as it is exported. Inlined ones have no address of their own. */
static struct exchange_function exchange_describe(const struct exchange_build *m, uint32_t number)
{
    const struct functions *all = m->in->names->functions;
    const struct function *from = &all->at[number];
    struct exchange_function f = {.name = names_get(m->in->names, number),
                                  .linkage = from->name,
                                  .object = from->object,
                                  .is_inlined = number >= m->in->first_inlined};
    struct object *file = from->object < m->in->objects_len ? m->in->objects[from->object] : NULL;
    f.address = f.is_inlined ? 0 : from->start;
    if (function_has_code(from))
        function_place(all, number, file, &f.file, &f.line);
    return f;
}

/* A function, or a cycle of the model's graph. */
static uint32_t exchange_function_of(struct exchange_build *m, uint32_t number)
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

/* Whether a function was requested. Cycles and what is too small have no number to select. */
static bool exchange_is_selected(const struct exchange_build *m, uint32_t number)
{
    const bool *selected = m->in->selected;
    return !selected || (number < m->in->names->functions->len && selected[number]);
}

/* The time of such a function is its callers', and calls of it or by it are not reported. */
static bool exchange_is_left_out(const struct exchange_build *m, uint32_t number)
{
    return m->in->is_left_out && m->in->is_left_out[number];
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Keeps the frames within those that were selected, with their time, and those around them. */
static void exchange_select(struct exchange_build *m)
{
    struct arena scratch = {0};
    size_t len = m->unordered.len;
    bool *is_within = ARENA_NEW(&scratch, bool, len), *is_kept = ARENA_NEW(&scratch, bool, len);
    uint32_t *place = ARENA_NEW(&scratch, uint32_t, len);
    for (size_t i = 1; i < len; i++) {
        const struct unordered_frame *f = &m->unordered.at[i];
        is_kept[i] = is_within[i] = is_within[f->parent] || exchange_is_selected(m, f->node);
    }
    for (size_t i = len; i-- > 1;)
        is_kept[m->unordered.at[i].parent] |= is_kept[i];
    m->unordered.len = 1;
    for (size_t i = 1; i < len; i++) {
        struct unordered_frame f = m->unordered.at[i];
        if (!is_kept[i])
            continue;
        f.parent = place[f.parent];
        f.self = is_within[i] ? f.self : 0;
        place[i] = (uint32_t)m->unordered.len;
        vec_push(&m->unordered, f);
    }
    arena_deinit(&scratch);
}

/* Places beside those at which functions begin are numbered from 1, until it is known how many
 * functions there are. */
static uint32_t exchange_place_of(struct exchange_build *m, const struct unordered_frame *f)
{
    const struct exchange_function *function = &m->x->functions.at[f->function];
    bool is_new;
    if (!f->line || !f->line->line || f->line->line == function->line || !f->line->file ||
        !function->file || strcmp(f->line->file, function->file))
        return 0;
    uint32_t place = map_index(&m->place_of, f->function, f->line->line, m->x->places.len, &is_new);
    if (is_new)
        vec_push(&m->x->places,
                 ((struct exchange_place){
                     f->function, f->line->line,
                     function->is_inlined || !m->in->space
                         ? 0
                         : space_place(m->in->space, f->line->object, f->line->address)}));
    return place + 1;
}

/* All functions first. */
static void exchange_number_places(struct exchange *x)
{
    uint32_t len = (uint32_t)x->functions.len, others = (uint32_t)x->places.len;
    vec_reserve(&x->places, len + others);
    memmove(x->places.at + len, x->places.at, others * sizeof *x->places.at);
    for (uint32_t i = 0; i < len; i++)
        x->places.at[i] =
            (struct exchange_place){i, x->functions.at[i].line, x->functions.at[i].address};
    x->places.len = len + others;
    for (size_t i = 1; i < x->frames.len; i++) {
        struct exchange_frame *f = &x->frames.at[i];
        f->place = f->place ? len + f->place - 1 : f->function;
    }
}

/* The next frame of a walk depth first, 0 at its end. */
static uint32_t exchange_frame_behind(const struct exchange_build *m, uint32_t i, uint32_t *depth)
{
    if (m->unordered.at[i].first_child) {
        ++*depth;
        return m->unordered.at[i].first_child;
    }
    while (i && !m->unordered.at[i].next) {
        i = m->unordered.at[i].parent;
        --*depth;
    }
    return m->unordered.at[i].next;
}

/* In the order of the frames, each gets the whole numbers between the sums before and after it. */
static void exchange_order_frames(struct exchange_build *m)
{
    struct arena scratch = {0};
    uint32_t *place = ARENA_NEW(&scratch, uint32_t, m->unordered.len);
    double sum = 0;
    uint32_t i = 0, depth = 0;
    do {
        const struct unordered_frame *f = &m->unordered.at[i];
        sum += f->self * m->scale;
        uint64_t until = (uint64_t)llround(sum);
        place[i] = (uint32_t)m->x->frames.len;
        vec_push(&m->x->frames, (struct exchange_frame){.parent = place[f->parent],
                                                        .depth = depth,
                                                        .function = f->function,
                                                        .place = i ? exchange_place_of(m, f) : 0,
                                                        .is_estimate = f->is_estimate,
                                                        .self = until - m->x->total});
        m->x->total = until;
        if (m->frame_of && (f->in_tree || f->function == m->rest))
            m->frame_of[f->in_tree] = place[i];
        i = exchange_frame_behind(m, i, &depth);
    } while (i);
    arena_deinit(&scratch);
}

/* --- all ------------------------------------------------------------------------------------- */

void exchange_make(struct exchange *x, const struct exchange_input *in, struct arena *a)
{
    const struct functions *f = in->names->functions;
    uint32_t nodes = in->graph->len > f->len ? in->graph->len : f->len;
    struct exchange_build m = {
        .x = x, .in = in, .a = a, .of = ARENA_NEW(a, uint32_t, nodes), .rest = EXCHANGE_NOWHERE};
    m.shape = in->shape ? in->shape : in->graph;
    *x = (struct exchange){
        .summary = in->summary, .is_model = !in->tree, .program = EXCHANGE_NOWHERE};
    memset(m.of, 0xff, nodes * sizeof *m.of);
    /* Times as nanoseconds; events as they were counted; else samples. */
    const struct summary *s = in->summary;
    bool is_time = s->rate > 0 && s->dimension && !strcmp(s->dimension, "seconds");
    x->event = s->run && s->run->event ? s->run->event->name : is_time ? "cpu" : "samples";
    static const char *const units[] = {"nanoseconds", "count", "bytes"};
    x->unit = is_time ? "nanoseconds" : s->rate > 0 ? s->dimension : "samples";
    if (!is_time && s->run && s->run->event)
        x->unit = units[s->run->event->unit];
    m.scale = is_time ? 1e9 / s->rate : s->rate > 0 ? 1 / s->rate : 1;
    x->period = (uint64_t)llround(m.scale);
    exchange_take_objects(&m);
    vec_push(&m.unordered, (struct unordered_frame){.function = NOT_MET});
    if (in->tree) {
        const struct call_tree *t = in->tree;
        for (uint32_t i = 1; i < t->len; i++) {
            const struct call_line *line = in->lines ? &in->lines[t->nodes[i].function] : NULL;
            uint32_t function = line ? line->function : t->nodes[i].function;
            vec_push(&m.unordered, (struct unordered_frame){.parent = t->nodes[i].parent,
                                                            .node = function,
                                                            .in_tree = i,
                                                            .line = line,
                                                            .self = t->nodes[i].self});
        }
    } else {
        struct model_paths paths = {0};
        double samples = in->shape ? in->shape_samples : in->summary->samples;
        if (samples > 0)
            model_paths_make(&paths, m.shape, in->graph, LEAST_SHARE * samples);
        for (size_t i = 1; i < paths.frames.len; i++) {
            const struct model_frame *from = &paths.frames.at[i];
            vec_push(&m.unordered, (struct unordered_frame){.parent = from->parent,
                                                            .node = from->node,
                                                            .is_estimate = from->is_estimate,
                                                            .self = from->self});
        }
        model_paths_deinit(&paths);
    }
    if (in->selected)
        exchange_select(&m);
    uint32_t small = NOT_MET;
    for (size_t i = 1; i < m.unordered.len; i++) {
        struct unordered_frame *frame = &m.unordered.at[i];
        if (frame->node == MODEL_SMALL && small == NOT_MET)
            small = exchange_add_name(&m, "[too small to stand alone]");
        frame->function =
            frame->node == MODEL_SMALL ? small : exchange_function_of(&m, frame->node);
        x->has_estimates |= frame->is_estimate;
    }
    /* What no function has, so that the sum is what was measured: of stacks, what had no frames but
     * those that are left out. */
    double rest = in->tree ? in->tree->nodes[0].self : in->summary->unattributed;
    if ((rest > 0 || (in->has_rest && !in->tree)) && !in->selected) {
        m.rest = exchange_add_name(&m, in->is_left_out ? "[left out]" : "[no function]");
        vec_push(&m.unordered, (struct unordered_frame){.function = m.rest, .self = rest});
    }
    /* Those that were called or ran, and are on no path. */
    const struct graph *g = m.shape;
    for (uint32_t i = 0; i < g->functions->len; i++)
        if (g->nodes[i].self > 0 && exchange_is_selected(&m, i) && !exchange_is_left_out(&m, i))
            exchange_function_of(&m, i);
    for (uint32_t i = 0; i < g->measured_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        if ((!exchange_is_selected(&m, arc->caller) && !exchange_is_selected(&m, arc->callee)) ||
            exchange_is_left_out(&m, arc->caller) || exchange_is_left_out(&m, arc->callee))
            continue;
        exchange_function_of(&m, arc->caller);
        exchange_function_of(&m, arc->callee);
    }
    /* Backwards, so that children keep their order. */
    for (uint32_t i = (uint32_t)m.unordered.len - 1; i; i--) {
        struct unordered_frame *parent = &m.unordered.at[m.unordered.at[i].parent];
        m.unordered.at[i].next = parent->first_child;
        parent->first_child = i;
    }
    if (in->tree && (in->shares_len || in->keeps_frames))
        m.frame_of = ARENA_NEW(a, uint32_t, in->tree->len);
    /* From here on frames have their numbers, and amounts are whole. */
    exchange_order_frames(&m);
    x->function_of = m.of;
    x->frame_of = m.frame_of;
    if (in->shares_len)
        exchange_split(x, in, m.frame_of);
    struct exchange_costs costs = {x, in->graph, m.of, m.rest, m.scale};
    if (!in->lacks_calls)
        (in->tree || in->selected ? exchange_measured_costs : exchange_model_costs)(&costs);
    exchange_number_places(x);
    map_deinit(&m.place_of);
    vec_free(&m.unordered);
}

void exchange_deinit(struct exchange *x)
{
    vec_free(&x->objects);
    vec_free(&x->functions);
    vec_free(&x->frames);
    vec_free(&x->places);
    vec_free(&x->parts);
    vec_free(&x->arcs);
}

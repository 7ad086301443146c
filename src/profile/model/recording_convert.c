/* Making a run of a recording.
 *
 * The file decides the shape of the tree, so the walk keeps its way in lists of its own. Nodes that
 * no path leads to from the outermost frame are left out, and their samples. */
#include "profile/model/recording_convert.h"

#include "base/map.h"
#include "monarc/sidecar.h"

#include <string.h>

#define NO_NODE UINT32_MAX

struct conversion {
    const struct sidecar *from;
    struct recording *recording;
    struct arena scratch;
    uint32_t *objects; /* of the recording's objects: the run's */
    uint32_t generated, cut;
    struct map nodes; /* (parent and object, address) to the run's node */
};

static const char *convert_text(struct conversion *c, const char *text)
{
    return arena_copy(&c->recording->arena, text, strlen(text));
}

/* --- objects --------------------------------------------------------------------------------- */

static struct recording_object convert_object(struct conversion *c, const struct sidecar_object *o)
{
    struct recording_object object = {.kind = o->path[0] ? RECORDING_OBJECT_FILE
                                                         : RECORDING_OBJECT_VDSO,
                                      .build_id_bytes = o->build_id_bytes,
                                      .low = o->start - o->bias,
                                      .high = o->end - o->bias,
                                      .path = o->path[0] ? convert_text(c, o->path) : NULL,
                                      .process = RECORDING_NONE};
    memcpy(object.build_id, o->build_id, o->build_id_bytes);
    return object;
}

/* The executable first, the others in the order in which the recorder met them. */
static void convert_objects(struct conversion *c)
{
    const struct sidecar *r = c->from;
    const struct sidecar_object **firsts =
        ARENA_NEW(&c->scratch, const struct sidecar_object *, r->objects.len + 1);
    uint32_t *order = ARENA_NEW(&c->scratch, uint32_t, r->objects.len);
    uint32_t kept = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < r->objects.len; i++)
            if ((pass == 0) == (&r->objects.at[i] == sidecar_executable(r)))
                order[kept++] = i;
    for (uint32_t i = 2; i < kept; i++) /* by id: few are out of order */
        for (uint32_t k = i; k > 1 && r->objects.at[order[k]].id < r->objects.at[order[k - 1]].id;
             k--) {
            uint32_t swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    for (uint32_t i = 0; i < kept; i++) {
        const struct sidecar_object *o = &r->objects.at[order[i]];
        uint32_t number = 0;
        while (number < c->recording->objects.len && !sidecar_object_same(firsts[number], o))
            number++;
        c->objects[order[i]] = number;
        if (number < c->recording->objects.len)
            continue;
        firsts[number] = o;
        vec_push(&c->recording->objects, convert_object(c, o));
    }
}

/* Objects that stand for no file, made when first needed. */
static uint32_t convert_pseudo(struct conversion *c, uint32_t *number, uint32_t kind)
{
    if (*number == RECORDING_NONE) {
        *number = (uint32_t)c->recording->objects.len;
        vec_push(&c->recording->objects,
                 (struct recording_object){
                     .kind = kind,
                     .high = UINT64_MAX,
                     .process = kind == RECORDING_OBJECT_GENERATED ? 0 : RECORDING_NONE});
    }
    return *number;
}

/* RUN_NONE where no object holds the address. */
static uint32_t convert_address(const struct conversion *c, uint64_t *address)
{
    const struct sidecar_object *o = sidecar_object_at(c->from, *address);
    if (!o)
        return RECORDING_NONE;
    *address -= o->bias;
    return c->objects[o - c->from->objects.at];
}

/* --- samples --------------------------------------------------------------------------------- */

static uint32_t convert_node(struct conversion *c, uint32_t parent, uint32_t object,
                             uint64_t address)
{
    bool is_new;
    uint32_t node =
        map_index(&c->nodes, map_two(parent, object), address, c->recording->nodes.len, &is_new);
    if (is_new)
        vec_push(&c->recording->nodes, (struct recording_node){parent, object, address});
    return node;
}

/* A frame at a run-time address; 0 stands for all frames beyond the innermost ones. */
static uint32_t convert_frame(struct conversion *c, uint32_t parent, uint64_t address)
{
    if (!address)
        return convert_node(c, parent, convert_pseudo(c, &c->cut, RECORDING_OBJECT_CUT),
                            RECORDING_CUT_TOO_MANY);
    uint32_t object = convert_address(c, &address);
    if (object == RECORDING_NONE)
        object = convert_pseudo(c, &c->generated, RECORDING_OBJECT_GENERATED);
    return convert_node(c, parent, object, address);
}

/* What a sample weighs, in whole units: so that there are as many samples in the end as there were
 * hits, and their time is right to one part in a million. */
static uint64_t convert_period(const struct process_facts *p)
{
    const uint64_t dividend = UINT64_C(1000000000000); /* ns a second, mHz a Hz */
    uint64_t period = p->millihertz ? (dividend + p->millihertz / 2) / p->millihertz : 1;
    return period ? period : 1;
}

static uint64_t convert_weight(const struct conversion *c, uint64_t hits)
{
    uint64_t weight;
    bool is_wrong = __builtin_mul_overflow(hits, convert_period(&c->from->process), &weight);
    return is_wrong ? UINT64_MAX : weight;
}

static void convert_hits(struct conversion *c, uint32_t node, uint32_t thread, uint64_t hits)
{
    vec_push(&c->recording->samples,
             (struct recording_sample){.thread = thread,
                                       .node = node,
                                       .weight = convert_weight(c, hits),
                                       .count = hits < UINT32_MAX ? (uint32_t)hits : UINT32_MAX});
}

struct pending {
    uint32_t from, parent, thread; /* the recording's node; the run's */
};

struct tree_links {
    uint32_t *first_child, *next;
    uint32_t *thread; /* of outermost frames */
};

/* Node i + 1 is the recording's node i; 0 is the root. */
static void convert_link_nodes(struct conversion *c, struct tree_links *t, uint32_t shared_thread)
{
    const struct sidecar *r = c->from;
    struct map numbers = {0}, roots = {0};
    map_reserve(&numbers, r->nodes.len);
    for (uint32_t i = 0; i < r->nodes.len; i++)
        map_at(&numbers, r->nodes.at[i].id, 0, i + 1, NULL);
    for (uint32_t i = 0; i < r->threads.len; i++)
        if (r->threads.at[i].root > MONARC_ROOT_NODE)
            map_at(&roots, r->threads.at[i].root, 0, i, NULL);
    for (uint32_t i = (uint32_t)r->nodes.len; i > 0; i--) {
        uint64_t id = r->nodes.at[i - 1].parent;
        const uint32_t *thread = map_find(&roots, id, 0);
        bool is_outermost = thread || id == MONARC_ROOT_NODE;
        const uint32_t *found = is_outermost ? &(uint32_t){0} : map_find(&numbers, id, 0);
        if (!found)
            continue;
        t->thread[i] = thread ? *thread : shared_thread;
        t->next[i] = t->first_child[*found];
        t->first_child[*found] = i;
    }
    map_deinit(&numbers);
    map_deinit(&roots);
}

/* Frames with others further in hold return addresses; a node may be both. */
static void convert_stacks(struct conversion *c, uint32_t shared_thread)
{
    const struct sidecar *r = c->from;
    size_t len = r->nodes.len + 1;
    struct tree_links t = {ARENA_NEW(&c->scratch, uint32_t, len),
                           ARENA_NEW(&c->scratch, uint32_t, len),
                           ARENA_NEW(&c->scratch, uint32_t, len)};
    VEC(struct pending) pending = {0};
    convert_link_nodes(c, &t, shared_thread);
    for (uint32_t i = t.first_child[0]; i; i = t.next[i])
        vec_push(&pending, (struct pending){i, RECORDING_ROOT, t.thread[i]});
    while (pending.len) {
        struct pending at = pending.at[--pending.len];
        const struct stack_node *node = &r->nodes.at[at.from - 1];
        if (node->hits)
            convert_hits(c, convert_frame(c, at.parent, node->address), at.thread, node->hits);
        if (!t.first_child[at.from])
            continue;
        uint64_t address = node->address ? node->address - 1 : 0;
        uint32_t parent = convert_frame(c, at.parent, address);
        for (uint32_t i = t.first_child[at.from]; i; i = t.next[i])
            vec_push(&pending, (struct pending){i, parent, at.thread});
    }
    vec_free(&pending);
}

static void convert_histogram(struct conversion *c, const struct histogram *h, uint32_t object,
                              uint32_t thread)
{
    double bytes = histogram_bin_bytes(h);
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++)
        convert_hits(c, convert_node(c, RECORDING_ROOT, object, h->low + (uint64_t)(bytes * i)),
                     thread, histogram_get(h, i));
}

/* --- the rest -------------------------------------------------------------------------------- */

static void convert_arc(struct conversion *c, struct recording_arc arc)
{
    vec_push(&c->recording->arcs, arc);
}

static void convert_profile(struct conversion *c, const struct profile *p, uint32_t object)
{
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        convert_arc(c, (struct recording_arc){arc->from ? object : RECORDING_NONE, object,
                                              arc->from, arc->self, arc->count});
    }
    for (size_t i = 0; i < p->blocks.len; i++)
        vec_push(&c->recording->blocks,
                 (struct recording_block){object, p->blocks.at[i].address, p->blocks.at[i].count});
}

static void convert_calls_between(struct conversion *c)
{
    for (size_t i = 0; i < c->from->arcs.len; i++) {
        struct arc arc = c->from->arcs.at[i];
        uint32_t from = convert_address(c, &arc.from), self = convert_address(c, &arc.self);
        convert_arc(c, (struct recording_arc){from, self, from == RECORDING_NONE ? 0 : arc.from,
                                              self == RECORDING_NONE ? 0 : arc.self, arc.count});
    }
}

static uint64_t convert_since(const struct conversion *c, uint64_t at)
{
    uint64_t start = c->from->process.start_ns;
    return at > start ? at - start : 0;
}

static void convert_process(struct conversion *c)
{
    const struct sidecar *r = c->from;
    const struct process_facts *p = &r->process;
    const struct sidecar_object *program = sidecar_executable(r);
    const char *slash = program ? strrchr(program->path, '/') : NULL;
    vec_push(&c->recording->processes,
             (struct recording_process){.pid = p->pid,
                                        .parent_pid = p->parent,
                                        .program = program && program->path[0] ? 0 : RECORDING_NONE,
                                        .end_ns = convert_since(c, p->end_ns),
                                        .user_ns = p->cpu_ns,
                                        .has_cpu = true,
                                        .name = convert_text(c, slash     ? slash + 1
                                                                : program ? program->path
                                                                          : "")});
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct sidecar_thread *from = &r->threads.at[i];
        struct recording_thread t = {.tid = from->id,
                                     .start_ns = convert_since(c, from->start_ns),
                                     .end_ns = convert_since(c, from->end_ns),
                                     .cpu_ns = from->cpu_ns,
                                     .has_cpu = true};
        t.end_ns = t.end_ns < t.start_ns ? t.start_ns : t.end_ns;
        memcpy(t.name, from->name, RECORDING_THREAD_NAME_BYTES);
        vec_push(&c->recording->threads, t);
    }
}

/* A thread that stands for those that were not told apart. */
static uint32_t convert_shared_thread(struct conversion *c)
{
    if (c->from->threads.len == 1)
        return 0;
    vec_push(&c->recording->threads,
             (struct recording_thread){.end_ns = convert_since(c, c->from->process.end_ns)});
    return (uint32_t)c->recording->threads.len - 1;
}

static void convert_texts(struct conversion *c)
{
    for (size_t i = 0; i < c->from->texts.len; i++)
        vec_push(&c->recording->texts,
                 (struct recording_text){convert_text(c, c->from->texts.at[i].key),
                                         convert_text(c, c->from->texts.at[i].value)});
    for (size_t i = 0; i < c->from->marks.len; i++) {
        const struct sidecar_mark *m = &c->from->marks.at[i];
        vec_push(&c->recording->marks,
                 (struct recording_mark){convert_since(c, m->at_ns), m->kind, 0, m->thread,
                                         convert_text(c, m->name)});
    }
    for (size_t i = 0; i < c->from->losses.len; i++) {
        const struct sidecar_loss *l = &c->from->losses.at[i];
        if (l->count)
            vec_push(&c->recording->losses, (struct recording_loss){RECORDING_LOST_OTHER, l->count,
                                                                    0, convert_text(c, l->text)});
    }
}

static void convert_facts(struct conversion *c)
{
    const struct process_facts *p = &c->from->process;
    struct recording *r = c->recording;
    bool is_clock = p->event == EVENT_CPU || p->event == EVENT_WALL;
    r->method = RECORDING_METHOD_PROCESS;
    r->rate = p->rate;
    r->start_real_ns = p->start_real_ns;
    r->length_ns = convert_since(c, p->end_ns);
    r->slice_ns = r->length_ns ? r->length_ns : 1;
    vec_push(&r->events,
             (struct recording_event){
                 .name = event_name(p->event) ? event_name(p->event) : "unknown",
                 .unit = is_clock && p->millihertz ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT,
                 .period = convert_period(p),
                 .user_only = true});
    vec_push(&r->nodes,
             (struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE});
}

bool recording_from_recording(struct recording *out, const struct sidecar *r,
                              const struct profile *profiles, struct err *e)
{
    struct conversion c = {
        .from = r, .recording = out, .generated = RECORDING_NONE, .cut = RECORDING_NONE};
    c.objects = ARENA_NEW(&c.scratch, uint32_t, r->objects.len);
    convert_objects(&c);
    convert_facts(&c);
    convert_process(&c);
    convert_texts(&c);
    uint32_t shared = convert_shared_thread(&c);
    if (r->nodes.len)
        convert_stacks(&c, shared);
    for (size_t i = 0; i < r->objects.len; i++) {
        for (size_t k = 0; !r->nodes.len && k < profiles[i].histograms.len; k++)
            convert_histogram(&c, &profiles[i].histograms.at[k], c.objects[i], shared);
        convert_profile(&c, &profiles[i], c.objects[i]);
    }
    convert_calls_between(&c);
    map_deinit(&c.nodes);
    arena_deinit(&c.scratch);
    return recording_check(out, e);
}

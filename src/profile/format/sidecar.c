/* The sidecar of a recorder inside a process, read straight into a recording.
 *
 * The file is walked twice. First its frame (lengths, checksum), the process and its objects, which
 * everything else refers to by run-time address; then the rest, each record into the list of the
 * recording that it belongs to. Only the nodes of stacks are kept aside: they stand in any order,
 * and a recording wants parents before children.
 *
 * Each record is read by a cursor over its payload alone, so that no count can reach beyond it;
 * lists grow by what was there, never by a claim. The file decides the shape of the tree: the walk
 * keeps its way in a list of its own, and nodes to which no path leads from an outermost frame are
 * left out, with their samples. Time is linear in the file, except for objects, which are compared
 * with each other (65,536 at most).
 *
 * Refused: other versions, records that are cut off, a wrong checksum, objects that end before they
 * start, a sidecar without executable. Source: docs/formats/sidecar.md. */
#include "profile/format/recording_file.h"

#include "base/bytes.h"
#include "base/map.h"
#include "base/sort.h"
#include "wire/sidecar.h"
#include "profile/model/launchers.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t sidecar_checksum(struct bytes b)
{
    return hash_fnv64(b.at, b.len);
}

/* ---- objects */

/* Text up to and with its NUL, copied. */
static const char *take_text(struct cursor *in, struct arena *a)
{
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    if (!nul) {
        in->failed = true;
        return "";
    }
    const char *text = (const char *)in->at;
    size_t len = (size_t)(nul - in->at);
    in->at = nul + 1;
    return arena_copy(a, text, len);
}

bool process_objects_read(struct process_objects *objects, struct cursor in, struct arena *a)
{
    enum { MOST_OBJECTS = 1 << 16 };
    struct process_object o = {.record = {in.at, cursor_left(&in)}};
    o.id = cursor_u32(&in);
    o.is_executable = cursor_u32(&in) & 1;
    o.start = cursor_u64(&in);
    o.end = cursor_u64(&in);
    o.bias = cursor_u64(&in);
    o.text_low = cursor_u64(&in);
    o.text_high = cursor_u64(&in);
    o.build_id_bytes = cursor_u32(&in);
    cursor_u32(&in);
    const uint8_t *id = cursor_take(&in, sizeof o.build_id);
    if (id)
        memcpy(o.build_id, id, sizeof o.build_id);
    o.path = take_text(&in, a);
    o.gmon = take_text(&in, a);
    /* A bias between start and end would give link addresses that wrap within the object. */
    if (in.failed || o.end < o.start || o.end - o.bias < o.start - o.bias ||
        o.text_high < o.text_low || o.build_id_bytes > sizeof o.build_id)
        return false;
    for (size_t i = objects->list.len; i-- > 0;)
        if (objects->list.at[i].id == o.id) {
            objects->list.at[i] = o;
            return true;
        }
    if (objects->list.len >= MOST_OBJECTS)
        return false;
    vec_push(&objects->list, o);
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct process_object *l = left, *r = right;
    if (l->start != r->start)
        return l->start < r->start ? -1 : 1;
    return (l->id > r->id) - (l->id < r->id);
}

void process_objects_sort(struct process_objects *objects)
{
    if (objects->list.len)
        qsort(objects->list.at, objects->list.len, sizeof *objects->list.at, by_start);
}

const struct process_object *process_object_at(const struct process_objects *objects,
                                               uint64_t address)
{
    size_t behind = PARTITION_POINT(objects->list.len, i, objects->list.at[i].start <= address);
    const struct process_object *o = behind ? &objects->list.at[behind - 1] : NULL;
    return o && address < o->end ? o : NULL;
}

bool process_object_same(const struct process_object *a, const struct process_object *b)
{
    return a->build_id_bytes == b->build_id_bytes && a->end - a->start == b->end - b->start &&
           a->start - a->bias == b->start - b->bias && !strcmp(a->path, b->path) &&
           !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

/* ---- the frame of the file */

bool sidecar_probe(struct bytes in)
{
    return in.len >= 4 && (bytes_u32(in.at, false) == MONARC_SIDE_MAGIC ||
                           bytes_u32(in.at, true) == MONARC_SIDE_MAGIC);
}

bool sidecar_next(struct cursor *in, uint32_t *tag, struct cursor *payload)
{
    *tag = cursor_u32(in);
    uint32_t n = cursor_u32(in);
    *payload = *in;
    if (!cursor_take(in, n) || (n % 8 && !cursor_take(in, 8 - n % 8)))
        return false;
    payload->end = payload->at + n;
    return true;
}

/* Blames a record whose payload does not hold what its tag promises. Returns false. */
static bool bad_record(uint32_t tag, const struct cursor *payload, struct err *e)
{
    return err_at(e, payload, "the %zu bytes of a record with tag %" PRIu32 " do not make one",
                  cursor_left(payload), tag);
}

/* u32 pid, parent | u64 start since 1970, start, end, CPU time, samples, ns sampled, mHz | u32
 * rate, event, clock, why written. Times are nanoseconds. */
static bool read_process(struct cursor in, struct process_facts *p)
{
    p->pid = cursor_u32(&in);
    p->parent = cursor_u32(&in);
    p->start_real_ns = cursor_u64(&in);
    p->start_ns = cursor_u64(&in);
    p->end_ns = cursor_u64(&in);
    p->cpu_ns = cursor_u64(&in);
    p->samples = cursor_u64(&in);
    p->sampled_ns = cursor_u64(&in);
    p->millihertz = cursor_u64(&in);
    p->rate = cursor_u32(&in);
    p->event = cursor_u32(&in);
    p->clock = cursor_u32(&in);
    p->written = cursor_u32(&in);
    return !in.failed;
}

/* The first walk: *records is where the second one begins. Goes to END and checks the sum, so
 * that the second walk meets no damage that a sum can show; and has all objects, since records
 * before the last OBJECT may have addresses in it. */
static bool read_frame(struct bytes bytes, const char *name, struct cursor *records,
                       struct process_facts *process, struct process_objects *objects,
                       struct arena *a, struct err *e)
{
    struct cursor in = cursor_over(bytes, name), start = in;
    in.big_endian = cursor_left(&in) >= 4 && bytes_u32(in.at, true) == MONARC_SIDE_MAGIC;
    uint32_t magic = cursor_u32(&in), version = cursor_u32(&in), order = cursor_u32(&in);
    uint32_t word = cursor_u32(&in);
    if (in.failed)
        return err_at(e, &start, "%zu bytes are too few for a sidecar", cursor_left(&start));
    if (magic != MONARC_SIDE_MAGIC || order != MONARC_BYTE_ORDER)
        return err_at(e, &start, "is not a sidecar of a recorder");
    if (version != MONARC_SIDE_VERSION)
        return err_at(e, &start, "version %" PRIu32 " of the sidecar is not known", version);
    if (word != 4 && word != 8)
        return err_at(e, &start, "a pointer size of %" PRIu32 " bytes is not known", word);
    in.word = (uint8_t)word;
    *records = in;
    for (;;) {
        struct cursor where = in, payload;
        uint32_t tag;
        if (!sidecar_next(&in, &tag, &payload))
            return err_at(e, &where, "the file ends within a record");
        if ((tag == MONARC_SIDE_PROCESS && !read_process(payload, process)) ||
            (tag == MONARC_SIDE_OBJECT && !process_objects_read(objects, payload, a)))
            return bad_record(tag, &payload, e);
        if (tag != MONARC_SIDE_END)
            continue;
        uint64_t sum = cursor_u64(&payload);
        if (payload.failed ||
            sum != sidecar_checksum((struct bytes){where.base, cursor_offset(&where)}))
            return err_at(e, &where, "the checksum is wrong: the file was damaged");
        process_objects_sort(objects);
        return true;
    }
}

/* An object that was loaded, unloaded and loaded again is there once for each time, and has one
 * profile, which is listed with the first. A name with a slash, or none, is refused: it would lead
 * out of the folder. */
bool sidecar_list(struct bytes in, const char *name, struct arena *a, struct sidecar_profiles *out,
                  struct err *e)
{
    struct process_objects objects = {0};
    struct process_facts process;
    struct cursor records = {0};
    bool ok = read_frame(in, name, &records, &process, &objects, a, e);
    size_t len = objects.list.len;
    *out = (struct sidecar_profiles){
        .len = len,
        .names = ARENA_NEW(a, const char *, len),
        .profiles = ARENA_NEW(a, struct profile, len),
        .hint = {.word = records.word, .order = records.big_endian ? ORDER_BIG : ORDER_LITTLE}};
    for (size_t i = 0; ok && i < len; i++) {
        const struct process_object *o = &objects.list.at[i];
        size_t first = 0;
        while (!process_object_same(&objects.list.at[first], o))
            first++;
        out->names[i] = first == i ? o->gmon : NULL;
        if (!*o->gmon || strchr(o->gmon, '/'))
            ok = err_in(e, name, "the sidecar names '%s' as a file of its folder", o->gmon);
    }
    vec_free(&objects.list);
    return ok;
}

/* ---- objects of the recording */

/* By what is the executable, then by the recorder's numbers: it numbers objects as it meets them.
 */
static int executable_first(const void *left, const void *right)
{
    const struct process_object *l = *(struct process_object *const *)left;
    const struct process_object *r = *(struct process_object *const *)right;
    if (l->is_executable != r->is_executable)
        return l->is_executable ? -1 : 1;
    return (l->id > r->id) - (l->id < r->id);
}

/* The executable first, the others in the order in which the recorder met them. Loads of one
 * file become one object of the recording; each process_object learns its number. Link addresses
 * start at the same place in each load, so the first one's range stands for all. */
static void add_objects(struct recording *r, struct process_objects *objects)
{
    struct arena scratch = {0};
    size_t len = objects->list.len;
    struct process_object **order = ARENA_NEW(&scratch, struct process_object *, len + 1);
    struct process_object **firsts = ARENA_NEW(&scratch, struct process_object *, len + 1);
    for (size_t i = 0; i < len; i++)
        order[i] = &objects->list.at[i];
    if (len)
        qsort(order, len, sizeof *order, executable_first);
    for (size_t i = 0; i < len; i++) {
        struct process_object *o = order[i];
        o->number = 0;
        while (o->number < r->objects.len && !process_object_same(firsts[o->number], o))
            o->number++;
        if (o->number < r->objects.len)
            continue;
        bool is_file = o->path[0];
        struct recording_object object = {
            .kind = is_file ? RECORDING_OBJECT_FILE : RECORDING_OBJECT_VDSO,
            .build_id_bytes = o->build_id_bytes,
            .low = o->start - o->bias,
            .high = o->end - o->bias,
            .path = is_file ? arena_copy(&r->arena, o->path, strlen(o->path)) : NULL,
            .process = RECORDING_NONE};
        memcpy(object.build_id, o->build_id, o->build_id_bytes);
        firsts[o->number] = o;
        vec_push(&r->objects, object);
    }
    arena_deinit(&scratch);
}

/* The object's number, and *address at link time; RECORDING_NONE where no object holds it. */
static uint32_t locate(const struct process_objects *objects, uint64_t *address)
{
    const struct process_object *o = process_object_at(objects, *address);
    if (!o)
        return RECORDING_NONE;
    *address -= o->bias;
    return o->number;
}

/* ---- samples */

/* The recording's tree of call stacks while it grows. */
struct stack_tree {
    struct recording *r;
    const struct process_objects *objects;
    struct map index;        /* (parent and object, address) to the node */
    uint32_t generated, cut; /* objects that stand for no file, made when first needed */
    uint64_t period;         /* weight of a sample */
};

/* The node of that frame below that parent, made if it is new: parents are made before children,
 * which is the order that a recording wants. */
static uint32_t tree_node(struct stack_tree *t, uint32_t parent, uint32_t object, uint64_t address)
{
    bool is_new;
    uint32_t node =
        map_index(&t->index, map_two(parent, object), address, t->r->nodes.len, &is_new);
    if (is_new)
        vec_push(&t->r->nodes, (struct recording_node){parent, object, address});
    return node;
}

/* A frame at a run-time address; 0 stands for all frames beyond the innermost ones. */
static uint32_t tree_frame(struct stack_tree *t, uint32_t parent, uint64_t address)
{
    uint32_t object = address ? locate(t->objects, &address) : RECORDING_NONE;
    if (object != RECORDING_NONE)
        return tree_node(t, parent, object, address);
    uint32_t *missing = address ? &t->generated : &t->cut;
    if (*missing == RECORDING_NONE) {
        *missing = (uint32_t)t->r->objects.len;
        vec_push(&t->r->objects,
                 (struct recording_object){.kind = address ? RECORDING_OBJECT_GENERATED
                                                           : RECORDING_OBJECT_CUT,
                                           .high = UINT64_MAX,
                                           .process = address ? 0 : RECORDING_NONE});
    }
    return tree_node(t, parent, *missing, address ? address : RECORDING_CUT_TOO_MANY);
}

/* A sample of `hits` hits: its weight is that many periods, and no more than 64 bits hold. */
static void tree_hits(struct stack_tree *t, uint32_t node, uint32_t thread, uint64_t hits)
{
    struct recording_sample s = {
        .thread = thread, .node = node, .count = hits < UINT32_MAX ? (uint32_t)hits : UINT32_MAX};
    if (__builtin_mul_overflow(hits, t->period, &s.weight))
        s.weight = UINT64_MAX;
    vec_push(&t->r->samples, s);
}

/* Adds the recorder's nodes from the outermost inwards. `roots` maps the parents of the outermost
 * frames of threads to these; other stacks are `shared_thread`'s. In the lists of children, node
 * i + 1 is nodes[i], and 0 stands for all roots.
 *
 * Two passes: lists of children from the parents' ids, then a walk from the roots with a stack
 * of its own, since the file decides how deep the tree is. A node that is not reached from a
 * root (its parent is missing, or it is in a circle) stays out with its samples. */
static void tree_stacks(struct stack_tree *t, const struct stack_nodes *list,
                        const struct map *roots, uint32_t shared_thread)
{
    const struct stack_node *nodes = list->list.at;
    size_t len = list->list.len;
    struct arena scratch = {0};
    struct map numbers = {0};
    uint32_t *first_child = ARENA_NEW(&scratch, uint32_t, len + 1);
    uint32_t *next = ARENA_NEW(&scratch, uint32_t, len + 1);
    uint32_t *thread_of = ARENA_NEW(&scratch, uint32_t, len + 1); /* of outermost frames */
    map_reserve(&numbers, len);
    for (uint32_t i = 0; i < len; i++)
        map_at(&numbers, nodes[i].id, 0, i + 1, NULL);
    for (uint32_t i = (uint32_t)len; i > 0; i--) {
        uint64_t parent = nodes[i - 1].parent;
        const uint32_t *thread = map_find(roots, parent, 0);
        bool is_outermost = thread || parent == MONARC_ROOT_NODE;
        const uint32_t *found = is_outermost ? &(uint32_t){0} : map_find(&numbers, parent, 0);
        if (!found)
            continue;
        thread_of[i] = thread ? *thread : shared_thread;
        next[i] = first_child[*found];
        first_child[*found] = i;
    }
    map_deinit(&numbers);

    struct step {
        uint32_t from, parent, thread; /* the recorder's node; the recording's */
    };
    VEC(struct step) steps = {0};
    for (uint32_t i = first_child[0]; i; i = next[i])
        vec_push(&steps, (struct step){i, RECORDING_ROOT, thread_of[i]});
    while (steps.len) {
        struct step at = steps.at[--steps.len];
        const struct stack_node *node = &nodes[at.from - 1];
        if (node->hits)
            tree_hits(t, tree_frame(t, at.parent, node->address), at.thread, node->hits);
        if (!first_child[at.from])
            continue;
        /* Frames with others further in hold return addresses; a node may be both. */
        uint32_t parent = tree_frame(t, at.parent, node->address ? node->address - 1 : 0);
        for (uint32_t i = first_child[at.from]; i; i = next[i])
            vec_push(&steps, (struct step){i, parent, at.thread});
    }
    vec_free(&steps);
    arena_deinit(&scratch);
}

/* Where there are no stacks, each bin with samples becomes a frame without callers, at the bin's
 * first address. */
static void tree_histogram(struct stack_tree *t, const struct histogram *h, uint32_t object,
                           uint32_t thread)
{
    double bytes = histogram_bin_bytes(h);
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++)
        tree_hits(t, tree_node(t, RECORDING_ROOT, object, h->low + (uint64_t)(bytes * i)), thread,
                  histogram_get(h, i));
}

/* ---- the process */

/* Why and by which clock the file was written, as texts of the recording. */
static void add_process_texts(struct recording *r, const struct process_facts *p)
{
    static const char *const clocks[] = {"none", "perf", "timer", "itimer"};
    static const char *const reasons[] = {"recovery", "exit", "exec", "request"};
    enum { WRITTEN_SIGNAL = 256, CLOCKS = 4, REASONS = 4 };
    const char *written = p->written < REASONS ? reasons[p->written] : "unknown";
    if (p->written >= WRITTEN_SIGNAL)
        written = arena_printf(&r->arena, "signal %" PRIu32, p->written - WRITTEN_SIGNAL);
    vec_push(&r->texts,
             (struct recording_text){"clock", p->clock < CLOCKS ? clocks[p->clock] : "unknown"});
    vec_push(&r->texts, (struct recording_text){"written", written});
}

/* The one process, the one event and the root of the tree. */
static void add_process(struct recording *r, const struct process_facts *p,
                        const struct process_object *program, uint64_t period)
{
    char abbreviation;
    const char *dimension = event_dimension(p->event, &abbreviation);
    bool is_clock = p->millihertz && dimension && !strcmp(dimension, "seconds");
    const char *slash = strrchr(program->path, '/');
    const char *name = slash ? slash + 1 : program->path;
    r->method = RECORDING_METHOD_PROCESS;
    r->rate = p->rate;
    r->start_real_ns = p->start_real_ns;
    r->length_ns = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
    r->slice_ns = r->length_ns ? r->length_ns : 1;
    vec_push(&r->events, (struct recording_event){
                             .name = event_name(p->event) ? event_name(p->event) : "unknown",
                             .unit = is_clock ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT,
                             .period = period,
                             .user_only = true});
    vec_push(&r->nodes,
             (struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE});
    vec_push(&r->processes, (struct recording_process){
                                .pid = p->pid,
                                .parent_pid = p->parent,
                                .program = program->path[0] ? program->number : RECORDING_NONE,
                                .end_ns = r->length_ns,
                                .user_ns = p->cpu_ns,
                                .has_cpu = true,
                                .name = arena_copy(&r->arena, name, strlen(name))});
    add_process_texts(r, p);
}

/* Thread notes; those of state 0 are free places. `roots` gets the parents of their stacks. */
static void read_threads(struct cursor *in, uint64_t start_ns, struct recording *r,
                         struct map *roots)
{
    enum { THREAD_BYTES = 64 };
    while (cursor_left(in) >= THREAD_BYTES) {
        struct recording_thread t = {.tid = cursor_u32(in), .has_cpu = true};
        uint32_t state = cursor_u32(in);
        uint64_t start = cursor_u64(in), end = cursor_u64(in);
        t.cpu_ns = cursor_u64(in);
        cursor_u64(in); /* samples: the stacks have them */
        const uint8_t *name = cursor_take(in, RECORDING_THREAD_NAME_BYTES);
        uint64_t root = cursor_u64(in);
        if (!state)
            continue;
        memcpy(t.name, name, RECORDING_THREAD_NAME_BYTES);
        t.start_ns = start > start_ns ? start - start_ns : 0;
        t.end_ns = end > start_ns ? end - start_ns : 0;
        t.end_ns = t.end_ns < t.start_ns ? t.start_ns : t.end_ns;
        if (root > MONARC_ROOT_NODE)
            map_at(roots, root, 0, (uint32_t)r->threads.len, NULL);
        vec_push(&r->threads, t);
    }
}

/* u64 time, CPU time, samples | u32 kind, thread | 64 bytes of name. The CPU time and samples up to
 * the mark have no place in a recording. */
static void read_mark(struct cursor *in, uint64_t start_ns, struct recording *r)
{
    enum { NAME_BYTES = 64 };
    struct recording_mark m = {.at_ns = cursor_u64(in)};
    cursor_u64(in); /* CPU time and samples up to then */
    cursor_u64(in);
    m.kind = cursor_u32(in);
    m.tid = cursor_u32(in);
    const char *name = (const char *)cursor_take(in, NAME_BYTES);
    if (!name)
        return;
    m.at_ns = m.at_ns > start_ns ? m.at_ns - start_ns : 0;
    m.name = arena_copy(&r->arena, name, strnlen(name, NAME_BYTES));
    vec_push(&r->marks, m);
}

/* Calls between objects; those within one are in its profile. An end that no object holds is 0 in
 * no object. */
static void read_arcs(struct cursor *in, const struct process_objects *objects, struct recording *r)
{
    enum { ARC_BYTES = 24 };
    while (cursor_left(in) >= ARC_BYTES) {
        uint64_t from = cursor_u64(in), self = cursor_u64(in), count = cursor_u64(in);
        uint32_t from_object = locate(objects, &from), self_object = locate(objects, &self);
        vec_push(&r->arcs, (struct recording_arc){from_object, self_object,
                                                  from_object == RECORDING_NONE ? 0 : from,
                                                  self_object == RECORDING_NONE ? 0 : self, count});
    }
}

/* Calls and blocks within an object. */
static void add_profile(struct recording *r, const struct profile *p, uint32_t object)
{
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        vec_push(&r->arcs, (struct recording_arc){arc->from ? object : RECORDING_NONE, object,
                                                  arc->from, arc->self, arc->count});
    }
    for (size_t i = 0; i < p->blocks.len; i++)
        vec_push(&r->blocks,
                 (struct recording_block){object, p->blocks.at[i].address, p->blocks.at[i].count});
}

/* The second walk, over all that refers to objects and to the start of the process. */
static bool read_lists(struct cursor in, const struct process_objects *objects, uint64_t start_ns,
                       struct recording *r, struct stack_nodes *nodes, struct map *roots,
                       struct err *e)
{
    enum { NODE_BYTES = 32 };
    struct cursor record;
    uint32_t tag;
    bool ok = true;
    while (ok && sidecar_next(&in, &tag, &record) && tag != MONARC_SIDE_END) {
        struct cursor payload = record;
        switch (tag) {
        case MONARC_SIDE_TEXT: {
            const char *key = take_text(&payload, &r->arena);
            const char *value = take_text(&payload, &r->arena);
            if (!payload.failed)
                vec_push(&r->texts, (struct recording_text){key, value});
            break;
        }
        case MONARC_SIDE_ARCS: read_arcs(&payload, objects, r); break;
        case MONARC_SIDE_THREADS: read_threads(&payload, start_ns, r, roots); break;
        case MONARC_SIDE_STACKS:
            while (cursor_left(&payload) >= NODE_BYTES) {
                struct stack_node node = {.id = cursor_u64(&payload)};
                node.parent = cursor_u64(&payload);
                node.address = cursor_u64(&payload);
                node.hits = cursor_u64(&payload);
                vec_push(&nodes->list, node);
            }
            break;
        case MONARC_SIDE_LOST: {
            cursor_u64(&payload); /* the reason's number, which its text says */
            uint64_t count = cursor_u64(&payload);
            const char *text = take_text(&payload, &r->arena);
            if (!payload.failed && count)
                vec_push(&r->losses, (struct recording_loss){RECORDING_LOST_OTHER, count, 0, text});
            break;
        }
        case MONARC_SIDE_MARK: read_mark(&payload, start_ns, r); break;
        default: break;
        }
        ok = !payload.failed || bad_record(tag, &record, e);
    }
    return ok;
}

/* Which rank of a job the process is, by the variables that the recorder noted, each a text
 * "environment" with its name and a text "value". */
static void add_rank(struct recording *r, struct arena *scratch)
{
    struct recording_text *texts = r->texts.at;
    struct rank_told told;
    const char *host = "";
    size_t room = 0, used = 0;
    for (size_t i = 0; i < r->texts.len; i++)
        room += strlen(texts[i].value) + 2;
    char *environment = arena_alloc(scratch, room + 1);
    for (size_t i = 0; i < r->texts.len; i++) {
        if (!strcmp(texts[i].key, "host"))
            host = texts[i].value;
        if (i + 1 < r->texts.len && !strcmp(texts[i].key, "environment") &&
            !strcmp(texts[i + 1].key, "value"))
            used +=
                (size_t)sprintf(environment + used, "%s=%s", texts[i].value, texts[i + 1].value) +
                1;
    }
    if (!rank_of_environment((struct bytes){(const uint8_t *)environment, used}, &told))
        return;
    told.rank.host = host;
    vec_push(&r->ranks, told.rank);
}

bool sidecar_read(struct bytes bytes, const char *name, const struct sidecar_profiles *profiles,
                  struct recording *out, struct err *e)
{
    struct arena scratch = {0};
    struct process_facts p = {0};
    struct process_objects objects = {0};
    struct stack_nodes nodes = {0};
    struct map roots = {0};
    struct cursor records;
    size_t executable = 0;
    bool ok = read_frame(bytes, name, &records, &p, &objects, &scratch, e);
    while (executable < objects.list.len && !objects.list.at[executable].is_executable)
        executable++;
    if (ok && executable == objects.list.len)
        ok = err_in(e, name, "the recording names no executable");
    if (!ok)
        goto done;

    /* In whole units, so that there are as many samples in the end as there were hits, and their
     * time is right to one part in a million: ns a second, mHz a Hz. */
    const uint64_t dividend = UINT64_C(1000000000000);
    uint64_t period = p.millihertz ? (dividend + p.millihertz / 2) / p.millihertz : 1;
    struct stack_tree tree = {.r = out,
                              .objects = &objects,
                              .generated = RECORDING_NONE,
                              .cut = RECORDING_NONE,
                              .period = period ? period : 1};
    add_objects(out, &objects);
    add_process(out, &p, &objects.list.at[executable], tree.period);
    for (size_t i = 0; i < profiles->len && i < objects.list.len; i++)
        add_profile(out, &profiles->profiles[i], objects.list.at[i].number);
    ok = read_lists(records, &objects, p.start_ns, out, &nodes, &roots, e);

    /* Samples of merged threads are one more thread's, unless there is but one.
     */
    uint32_t shared = 0;
    if (out->threads.len != 1) {
        shared = (uint32_t)out->threads.len;
        vec_push(&out->threads, (struct recording_thread){.end_ns = out->length_ns});
    }
    tree_stacks(&tree, &nodes, &roots, shared);
    for (size_t i = 0; !nodes.list.len && i < profiles->len && i < objects.list.len; i++)
        for (size_t k = 0; k < profiles->profiles[i].histograms.len; k++)
            tree_histogram(&tree, &profiles->profiles[i].histograms.at[k],
                           objects.list.at[i].number, shared);
    map_deinit(&tree.index);
    add_rank(out, &scratch);
    struct err why = {0};
    ok = ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
done:
    map_deinit(&roots);
    vec_free(&nodes.list);
    vec_free(&objects.list);
    arena_deinit(&scratch);
    return ok;
}

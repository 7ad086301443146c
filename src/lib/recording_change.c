/* Building recordings, making profiles of them, and the laws of adding them up.
 *
 * Rows are added to the model's lists one call at a time. Each call checks the indices it is given,
 * so that what is built can be written; what only the whole shows (symbols in order) is checked by
 * recording_check() when it is. Memory is reserved before anything is changed, and a call that is
 * refused some leaves all lists as they were. Stacks are found by a map from (parent, object,
 * address) to the node, made of a recording that was read when the first stack is added.
 *
 * A row that other rows name returns its number, MONARC_NONE if it was refused. Objects,
 * processes, threads and events must be there before what names them; symbols come in the order
 * of objects and starts. Texts are copied. Laws are those of adding up: samples, weights and
 * calls of each event are kept, in whatever order the three are added. */
#include "lib/handles.h"

#include "base/vec.h"
#include "profile/model/recording_lists.h"

#include <string.h>

/* ---- building */

/* A row to be added, and the number that it got. */
struct row {
    struct monarc_recording *r;
    void *item;        /* of the model's list */
    const char **text; /* of it, to be copied, where no table says which are */
    const struct monarc_frame *frames;
    size_t len;
    uint32_t number;
    enum recording_list list;
};

/* Every recording has a root of its stacks, and slices of some length. */
static void recording_begin(struct recording *recording)
{
    if (recording->nodes.len)
        return;
    vec_push(&recording->nodes,
             ((struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE}));
    recording->slice_ns = 1;
}

/* The root, if this is the first row. */
static bool recording_row_begin(void *context)
{
    recording_begin(&((struct row *)context)->r->recording);
    return true;
}

/* Appending is the last step of each, so that a call which is left has added nothing. */
static bool recording_row_add(struct row *row, bool (*add)(void *), struct monarc_error *e)
{
    if (heap_run(&row->r->heap, recording_row_begin, row) == HEAP_TRUE &&
        heap_run(&row->r->heap, add, row) == HEAP_TRUE)
        return true;
    return call_fail_memory(e);
}

/* Copies of its texts live as long as the recording. */
static bool recording_row_append(void *context)
{
    struct row *row = context;
    struct recording *recording = &row->r->recording;
    if (row->text && *row->text)
        *row->text = arena_copy(&recording->arena, *row->text, strlen(*row->text));
    row->number = (uint32_t)recording_items_of(recording, row->list).len;
    recording_item_append(recording, row->list, row->item);
    return true;
}

/* What the tables of fields say of the item is checked, and `what` is the error. */
static bool recording_item_add(struct row *row, const char *what, struct monarc_error *e)
{
    if (!recording_item_holds(&row->r->recording, row->list, row->item))
        return call_fail(e, MONARC_MISUSE, "%s", what);
    return recording_row_add(row, recording_row_append, e);
}

#define ROW(of, name, from) \
    (&(struct row){.r = (of), .item = &(from), .list = RECORDING_LIST_##name})

/* For rows with numbers: the new one's, or MONARC_NONE. */
static uint32_t recording_item_number(struct row *row, const char *what, struct monarc_error *e)
{
    return recording_item_add(row, what, e) ? row->number : MONARC_NONE;
}

/* Refuses a row that has a number. */
static uint32_t recording_row_misuse(struct monarc_error *e, const char *what)
{
    call_fail(e, MONARC_MISUSE, "%s", what);
    return MONARC_NONE;
}

/* Only what a caller can know of a run that it recorded itself; how many rows there are is
 * counted. */
bool monarc_recording_set_facts(struct monarc_recording *r,
                                const struct monarc_recording_facts *facts, struct monarc_error *e)
{
    struct row row = {.r = r};
    if (!facts || !facts->slice_ns)
        return call_fail(e, MONARC_MISUSE, "slices of time have a length");
    if (!recording_row_add(&row, recording_row_begin, e))
        return false;
    r->recording.start_real_ns = facts->start_ns;
    r->recording.length_ns = facts->length_ns;
    r->recording.slice_ns = facts->slice_ns;
    r->recording.user_ns = facts->user_ns;
    r->recording.system_ns = facts->system_ns;
    r->recording.monitor_ns = facts->monitor_ns;
    r->recording.cost_ns = facts->cost_ns;
    r->recording.rate = facts->rate;
    r->recording.cpus = facts->cpus;
    r->recording.machine = facts->machine;
    return true;
}

bool monarc_recording_add_text(struct monarc_recording *r, const char *key, const char *value,
                               struct monarc_error *e)
{
    static const char what[] = "a text has a key and a value";
    struct recording_text text = {key, value};
    if (!key || !*key)
        return call_fail(e, MONARC_MISUSE, what);
    return recording_item_add(ROW(r, TEXTS, text), what, e);
}

/* Only files have paths, and only generated code has a process. High may equal low: nothing of the
 * object was mapped. */
uint32_t monarc_recording_add_object(struct monarc_recording *r, const struct monarc_object *object,
                                     struct monarc_error *e)
{
    static const char what[] = "an object has a kind, a range, and a path if it is a file";
    if (!object || (unsigned)object->kind > MONARC_OBJECT_CUT || object->low > object->high ||
        object->build_id_bytes > RECORDING_BUILD_ID_BYTES ||
        (object->build_id_bytes && !object->build_id) ||
        (object->kind == MONARC_OBJECT_FILE) != (object->path != NULL))
        return recording_row_misuse(e, what);
    bool is_generated = object->kind == MONARC_OBJECT_GENERATED;
    if (is_generated && object->process >= r->recording.processes.len)
        return recording_row_misuse(e, "generated code is of a process");
    struct recording_object o = {.kind = (uint32_t)object->kind,
                                 .build_id_bytes = (uint32_t)object->build_id_bytes,
                                 .low = object->low,
                                 .high = object->high,
                                 .path = object->path,
                                 .process = is_generated ? object->process : RECORDING_NONE,
                                 .is_deleted = object->is_deleted};
    if (object->build_id_bytes)
        memcpy(o.build_id, object->build_id, object->build_id_bytes);
    struct row *row = ROW(r, OBJECTS, o);
    row->text = &o.path;
    return recording_item_number(row, what, e);
}

/* The order is the model's; symbols that come in another are refused rather than sorted, since
 * numbers of rows are the caller's to know. A file with symbols is known by them alone from then
 * on: reports open no file for it. */
bool monarc_recording_add_symbol(struct monarc_recording *r, const struct monarc_symbol *symbol,
                                 struct monarc_error *e)
{
    static const char what[] = "a symbol has an object, a range and a name";
    const struct recording_symbol *last =
        r->recording.symbols.len ? &r->recording.symbols.at[r->recording.symbols.len - 1] : NULL;
    if (!symbol || symbol->object >= r->recording.objects.len || !symbol->name ||
        symbol->start + symbol->size < symbol->start)
        return call_fail(e, MONARC_MISUSE, what);
    if (last && (last->object > symbol->object ||
                 (last->object == symbol->object && last->start > symbol->start)))
        return call_fail(e, MONARC_MISUSE, "symbols are not in the order of objects and starts");
    struct recording_symbol s = {symbol->object, symbol->start, symbol->size, symbol->name};
    struct recording_object *o = &r->recording.objects.at[symbol->object];
    struct row *row = ROW(r, SYMBOLS, s);
    row->text = &s.name;
    if (!recording_item_add(row, what, e))
        return false;
    o->is_listed |= o->kind == RECORDING_OBJECT_FILE;
    return true;
}

/* An end of 0 is that of a process that was still running. */
uint32_t monarc_recording_add_process(struct monarc_recording *r,
                                      const struct monarc_process *process, struct monarc_error *e)
{
    static const char what[] = "a process has a name, and ends after it began";
    if (!process || (process->end_ns && process->end_ns < process->start_ns))
        return recording_row_misuse(e, what);
    if (process->program != MONARC_NONE &&
        (process->program >= r->recording.objects.len ||
         r->recording.objects.at[process->program].kind != RECORDING_OBJECT_FILE))
        return recording_row_misuse(e, "a process' program is an object that is a file");
    struct recording_process p = {.pid = process->pid,
                                  .parent_pid = process->parent_pid,
                                  .program = process->program,
                                  .start_ns = process->start_ns,
                                  .end_ns = process->end_ns,
                                  .user_ns = process->user_ns,
                                  .system_ns = process->system_ns,
                                  .has_cpu = process->has_cpu,
                                  .has_ended = process->has_ended,
                                  .status = process->status,
                                  .name = process->name,
                                  .why_unseen = process->why_unseen};
    return recording_item_number(ROW(r, PROCESSES, p), what, e);
}

/* The kernel keeps 15 bytes of a name, and the model one more; a longer one is refused, not cut. */
uint32_t monarc_recording_add_thread(struct monarc_recording *r, const struct monarc_thread *thread,
                                     struct monarc_error *e)
{
    static const char what[] = "a thread is of a process, and ends after it began";
    if (!thread || (thread->end_ns && thread->end_ns < thread->start_ns))
        return recording_row_misuse(e, what);
    if (!thread->name || strlen(thread->name) > RECORDING_THREAD_NAME_BYTES)
        return recording_row_misuse(e, "a thread has a name of at most 16 bytes");
    struct recording_thread t = {.process = thread->process,
                                 .tid = thread->tid,
                                 .start_ns = thread->start_ns,
                                 .end_ns = thread->end_ns,
                                 .cpu_ns = thread->cpu_ns,
                                 .has_cpu = thread->has_cpu};
    memcpy(t.name, thread->name, strlen(thread->name));
    return recording_item_number(ROW(r, THREADS, t), what, e);
}

/* The first event is the one that reports show unless another is requested. */
uint32_t monarc_recording_add_event(struct monarc_recording *r, const struct monarc_event *event,
                                    struct monarc_error *e)
{
    static const char what[] = "an event has a name";
    if (!event || !event->name || !*event->name)
        return recording_row_misuse(e, what);
    struct recording_event made = {.name = event->name,
                                   .unit =
                                       event->is_time ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT,
                                   .period = event->period,
                                   .user_only = event->is_user_only};
    return recording_item_number(ROW(r, EVENTS, made), what, e);
}

/* ---- stacks and what is counted on them */

/* All nodes so far, by what they are found by. If memory ends in the middle, is_mapped stays false
 * and the map is made again. */
static void recording_map_nodes(struct monarc_recording *r)
{
    map_deinit(&r->node_of);
    for (size_t i = 1; i < r->recording.nodes.len; i++) {
        const struct recording_node *n = &r->recording.nodes.at[i];
        map_at(&r->node_of, map_two(n->parent, n->object), n->address, (uint32_t)i, NULL);
    }
    r->is_mapped = true;
}

/* Room for all nodes first: one that has a number is there. Frames come innermost first and are
 * added from the outermost. */
static bool recording_add_stack(void *context)
{
    struct row *row = context;
    struct recording *recording = &row->r->recording;
    const struct monarc_frame *frames = row->frames;
    if (!row->r->is_mapped)
        recording_map_nodes(row->r);
    vec_reserve(&recording->nodes, recording->nodes.len + row->len);
    row->number = RECORDING_ROOT;
    for (size_t i = row->len; i-- > 0;) {
        bool is_new;
        uint32_t parent = row->number;
        row->number = map_index(&row->r->node_of, map_two(parent, frames[i].object),
                                frames[i].address, recording->nodes.len, &is_new);
        if (is_new)
            vec_push(&recording->nodes,
                     ((struct recording_node){parent, frames[i].object, frames[i].address}));
    }
    return true;
}

/* A stack without frames is the root. The frames of a stack that is there already are found, not
 * added: so the number is the same. */
uint32_t monarc_recording_add_stack(struct monarc_recording *r, const struct monarc_frame *frames,
                                    size_t len, struct monarc_error *e)
{
    struct row row = {.r = r, .frames = frames, .len = len};
    if ((len && !frames) || len > UINT32_MAX / 2 || r->recording.nodes.len > UINT32_MAX / 2)
        return recording_row_misuse(e, "a stack has frames, and not too many");
    for (size_t i = 0; i < len; i++)
        if (frames[i].object >= r->recording.objects.len)
            return recording_row_misuse(e, "a frame is in an object");
    return recording_row_add(&row, recording_add_stack, e) ? row.number : MONARC_NONE;
}

/* Node 0 is fine even before there is any stack. Whether weights have a sum, and slices are within
 * bounds, is checked when the recording is written. */
bool monarc_recording_add_sample(struct monarc_recording *r, const struct monarc_sample *sample,
                                 struct monarc_error *e)
{
    static const char what[] = "a sample has a thread, an event and a stack";
    if (!sample || sample->thread >= r->recording.threads.len ||
        sample->event >= r->recording.events.len ||
        (sample->node && sample->node >= r->recording.nodes.len))
        return call_fail(e, MONARC_MISUSE, what);
    struct recording_sample s = {sample->slice, sample->thread, sample->event,
                                 sample->node,  sample->weight, sample->count};
    return recording_item_add(ROW(r, SAMPLES, s), what, e);
}

/* Ends in no object have MONARC_NONE. */
bool monarc_recording_add_call(struct monarc_recording *r, const struct monarc_recorded_call *call,
                               struct monarc_error *e)
{
    static const char what[] = "a call is between objects, or MONARC_NONE";
    if (!call)
        return call_fail(e, MONARC_MISUSE, what);
    struct recording_arc arc = {call->from_object, call->self_object, call->from, call->self,
                                call->count};
    return recording_item_add(ROW(r, ARCS, arc), what, e);
}

bool monarc_recording_add_block(struct monarc_recording *r,
                                const struct monarc_recorded_block *block, struct monarc_error *e)
{
    static const char what[] = "a block is in an object";
    if (!block)
        return call_fail(e, MONARC_MISUSE, what);
    struct recording_block made = {block->object, block->address, block->count};
    return recording_item_add(ROW(r, BLOCKS, made), what, e);
}

/* All losses of callers are of the kind that reports print as they are. */
bool monarc_recording_add_loss(struct monarc_recording *r, const struct monarc_loss *loss,
                               struct monarc_error *e)
{
    static const char what[] = "a loss needs a description";
    if (!loss)
        return call_fail(e, MONARC_MISUSE, what);
    struct recording_loss made = {RECORDING_LOST_OTHER, loss->count, loss->ns, loss->text};
    return recording_item_add(ROW(r, LOSSES, made), what, e);
}

/* ---- converting */

/* A profile that is made of a recording. */
struct profile_making {
    const struct recording *recording;
    struct monarc_profile *into;
    struct err why;
};

/* Calls within the program, and those into it from nowhere that is known. Others have no place in
 * gmon.out. */
static void recording_make_calls(const struct recording *recording, uint32_t program,
                                 struct profile *p)
{
    for (size_t i = 0; i < recording->arcs.len; i++) {
        const struct recording_arc *a = &recording->arcs.at[i];
        if (a->self_object == program &&
            (a->from_object == program || a->from_object == RECORDING_NONE))
            vec_push(&p->arcs, ((struct arc){a->from, a->self, a->count}));
    }
    for (size_t i = 0; i < recording->blocks.len; i++)
        if (recording->blocks.at[i].object == program)
            vec_push(&p->blocks, ((struct block){recording->blocks.at[i].address,
                                                 recording->blocks.at[i].count}));
}

/* Samples and counts of the program itself; fails if there is nothing of either. */
static bool recording_make_profile(void *context)
{
    struct profile_making *m = context;
    struct profile *p = &m->into->merger.sum;
    uint32_t program =
        m->recording->processes.len ? m->recording->processes.at[0].program : RECORDING_NONE;
    if (program == RECORDING_NONE)
        return err_set(&m->why, "the recording has no program");
    bool has_samples = recording_profile(m->recording, p);
    recording_make_calls(m->recording, program, p);
    if (!has_samples && !p->arcs.len && !p->blocks.len)
        return err_set(&m->why, "nothing was measured in the program itself");
    p->format = PROFILE_GNU;
    p->version = 1;
    p->word = 8;
    return true;
}

/* In the heap of `into`, which is empty after a failure. */
bool monarc_recording_to_profile(const struct monarc_recording *r, struct monarc_profile *into,
                                 struct monarc_error *e)
{
    struct profile_making m = {.recording = &r->recording, .into = into};
    profile_handle_empty(into);
    enum heap_outcome outcome = heap_run(&into->heap, recording_make_profile, &m);
    if (outcome != HEAP_TRUE)
        profile_handle_empty(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* ---- laws */

/* Three recordings whose sums are compared. */
struct adding_up {
    const struct recording *with[3];
    struct err why;
};

/* What adding up keeps of an event; calls are those of all events. */
struct event_sums {
    uint64_t samples, weight, calls;
};

/* By the event's name, for its number may differ in the sum. */
static struct event_sums recording_sums_of(const struct recording *r, const char *event)
{
    struct event_sums s = {0};
    for (size_t i = 0; i < r->samples.len; i++)
        if (!strcmp(r->events.at[r->samples.at[i].event].name, event)) {
            s.samples += r->samples.at[i].count;
            s.weight += r->samples.at[i].weight;
        }
    for (size_t i = 0; i < r->arcs.len; i++)
        s.calls = add_saturating(s.calls, r->arcs.at[i].count);
    return s;
}

/* The sum in one order; false: they do not fit together. Ranks that were in the sum already are not
 * added again. */
static bool recording_add_up(struct recording *sum, const struct recording *const *with,
                             const uint8_t *order, bool *is_added)
{
    struct err why;
    for (size_t i = 0; i < 3; i++) {
        const struct recording *one = with[order[i]];
        size_t processes = sum->processes.len;
        if (!recording_merge(sum, one, &why))
            return false;
        is_added[order[i]] = !one->ranks.len || sum->processes.len > processes;
    }
    return true;
}

/* Whether the sum has what the three have together. */
static bool recording_check_event_sums(const struct adding_up *a, const struct recording *sum,
                                       const bool *is_added, const char *event)
{
    struct event_sums is = recording_sums_of(sum, event), was = {0};
    for (size_t i = 0; i < 3; i++) {
        if (!is_added[i])
            continue;
        struct event_sums one = recording_sums_of(a->with[i], event);
        was.samples += one.samples;
        was.weight += one.weight;
        was.calls = add_saturating(was.calls, one.calls);
    }
    return is.samples == was.samples && is.weight == was.weight && is.calls == was.calls;
}

/* Numbers of rows depend on the order, so that only what each event sums up to is compared. */
static bool recording_check_sums(void *context)
{
    struct adding_up *a = context;
    static const uint8_t ORDERS[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    bool can[3];
    for (size_t i = 0; i < 3; i++) {
        struct recording sum = {0};
        bool is_added[3];
        can[i] = recording_add_up(&sum, a->with, ORDERS[i], is_added);
        if (can[i] != can[0])
            return err_set(&a->why, "the three merge in one order and not in the other");
        for (size_t k = 0; can[i] && k < sum.events.len; k++)
            if (!recording_check_event_sums(a, &sum, is_added, sum.events.at[k].name))
                return err_set(&a->why, "merging changes the sums of event %s",
                               sum.events.at[k].name);
        recording_deinit(&sum);
    }
    return true;
}

/* The three are only read; sums are made in a heap that is thrown away. */
bool monarc_recording_check_laws(const struct monarc_recording *a, const struct monarc_recording *b,
                                 const struct monarc_recording *c, struct monarc_error *e)
{
    struct adding_up sums = {.with = {&a->recording, &b->recording, &c->recording}};
    for (size_t i = 0; i < 3; i++)
        if (!sums.with[i]->nodes.len)
            return call_fail(e, MONARC_MISUSE, "no recording is given");
    return call_result(heap_run_aside(&a->heap, recording_check_sums, &sums), MONARC_UNFIT,
                       &sums.why, e);
}

/* Building recordings, making profiles of them, and the laws of adding them up. */
#include "lib/recording.h"

#include "base/vec.h"
#include "lib/profile.h"
#include "profile/model/run_merge.h"
#include "profile/model/run_profile.h"

#include <string.h>

/* ---- building */

struct row {
    struct monarc_recording *r;
    const void *from;
    size_t len;
    uint32_t number;
};

/* Every recording has a root of its stacks, and slices of some length. */
static void recording_begin(struct run *run)
{
    if (run->nodes.len)
        return;
    vec_push(&run->nodes, ((struct run_node){.parent = RUN_NONE, .object = RUN_NONE}));
    run->slice_ns = 1;
}

static bool recording_row_begin(void *context)
{
    recording_begin(&((struct row *)context)->r->run);
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

static uint32_t recording_row_number(struct row *row, bool (*add)(void *), struct monarc_error *e)
{
    return recording_row_add(row, add, e) ? row->number : MONARC_NONE;
}

static uint32_t recording_row_misuse(struct monarc_error *e, const char *what)
{
    call_fail(e, MONARC_MISUSE, "%s", what);
    return MONARC_NONE;
}

static const char *recording_row_text(struct row *row, const char *text)
{
    return text ? arena_copy(&row->r->run.arena, text, strlen(text)) : NULL;
}

static bool recording_is_index_or_none(uint32_t index, size_t len)
{
    return index < len || index == MONARC_NONE;
}

bool monarc_recording_set_facts(struct monarc_recording *r,
                                const struct monarc_recording_facts *facts, struct monarc_error *e)
{
    struct row row = {.r = r};
    if (!facts || !facts->slice_ns)
        return call_fail(e, MONARC_MISUSE, "slices of time have a length");
    if (!recording_row_add(&row, recording_row_begin, e))
        return false;
    r->run.start_real_ns = facts->start_ns;
    r->run.length_ns = facts->length_ns;
    r->run.slice_ns = facts->slice_ns;
    r->run.user_ns = facts->user_ns;
    r->run.system_ns = facts->system_ns;
    r->run.monitor_ns = facts->monitor_ns;
    r->run.cost_ns = facts->cost_ns;
    r->run.rate = facts->rate;
    r->run.cpus = facts->cpus;
    r->run.machine = facts->machine;
    return true;
}

static bool recording_add_text(void *context)
{
    struct row *row = context;
    const char *const *pair = row->from;
    vec_push(&row->r->run.texts, ((struct run_text){recording_row_text(row, pair[0]),
                                                    recording_row_text(row, pair[1])}));
    return true;
}

bool monarc_recording_add_text(struct monarc_recording *r, const char *key, const char *value,
                               struct monarc_error *e)
{
    struct row row = {.r = r, .from = (const char *const[]){key, value}};
    if (!key || !*key || !value)
        return call_fail(e, MONARC_MISUSE, "a text has a key and a value");
    return recording_row_add(&row, recording_add_text, e);
}

static bool recording_add_object(void *context)
{
    struct row *row = context;
    const struct monarc_object *from = row->from;
    struct run_object o = {.kind = (uint32_t)from->kind,
                           .build_id_bytes = (uint32_t)from->build_id_bytes,
                           .low = from->low,
                           .high = from->high,
                           .path = recording_row_text(row, from->path),
                           .process =
                               from->kind == MONARC_OBJECT_GENERATED ? from->process : RUN_NONE,
                           .is_deleted = from->is_deleted};
    if (from->build_id_bytes)
        memcpy(o.build_id, from->build_id, from->build_id_bytes);
    row->number = (uint32_t)row->r->run.objects.len;
    vec_push(&row->r->run.objects, o);
    return true;
}

uint32_t monarc_recording_add_object(struct monarc_recording *r, const struct monarc_object *object,
                                     struct monarc_error *e)
{
    struct row row = {.r = r, .from = object};
    if (!object || (unsigned)object->kind > MONARC_OBJECT_CUT || object->low > object->high ||
        object->build_id_bytes > RUN_BUILD_ID_BYTES ||
        (object->build_id_bytes && !object->build_id) ||
        (object->kind == MONARC_OBJECT_FILE) != (object->path != NULL))
        return recording_row_misuse(e, "an object has a kind, a range, and a path if it is a file");
    if (object->kind == MONARC_OBJECT_GENERATED && object->process >= r->run.processes.len)
        return recording_row_misuse(e, "generated code is of a process");
    return recording_row_number(&row, recording_add_object, e);
}

static bool recording_add_symbol(void *context)
{
    struct row *row = context;
    const struct monarc_symbol *from = row->from;
    struct run *run = &row->r->run;
    vec_push(&run->symbols, ((struct run_symbol){from->object, from->start, from->size,
                                                 recording_row_text(row, from->name)}));
    run->objects.at[from->object].is_listed |=
        run->objects.at[from->object].kind == RUN_OBJECT_FILE;
    return true;
}

bool monarc_recording_add_symbol(struct monarc_recording *r, const struct monarc_symbol *symbol,
                                 struct monarc_error *e)
{
    struct row row = {.r = r, .from = symbol};
    const struct run_symbol *last =
        r->run.symbols.len ? &r->run.symbols.at[r->run.symbols.len - 1] : NULL;
    if (!symbol || symbol->object >= r->run.objects.len || !symbol->name ||
        symbol->start + symbol->size < symbol->start)
        return call_fail(e, MONARC_MISUSE, "a symbol has an object, a range and a name");
    if (last && (last->object > symbol->object ||
                 (last->object == symbol->object && last->start > symbol->start)))
        return call_fail(e, MONARC_MISUSE, "symbols are not in the order of objects and starts");
    return recording_row_add(&row, recording_add_symbol, e);
}

static bool recording_add_process(void *context)
{
    struct row *row = context;
    const struct monarc_process *from = row->from;
    row->number = (uint32_t)row->r->run.processes.len;
    vec_push(&row->r->run.processes,
             ((struct run_process){.pid = from->pid,
                                   .parent_pid = from->parent_pid,
                                   .program = from->program,
                                   .start_ns = from->start_ns,
                                   .end_ns = from->end_ns,
                                   .user_ns = from->user_ns,
                                   .system_ns = from->system_ns,
                                   .has_cpu = from->has_cpu,
                                   .has_ended = from->has_ended,
                                   .status = from->status,
                                   .name = recording_row_text(row, from->name),
                                   .why_unseen = recording_row_text(row, from->why_unseen)}));
    return true;
}

uint32_t monarc_recording_add_process(struct monarc_recording *r,
                                      const struct monarc_process *process, struct monarc_error *e)
{
    struct row row = {.r = r, .from = process};
    if (!process || !process->name || (process->end_ns && process->end_ns < process->start_ns))
        return recording_row_misuse(e, "a process has a name, and ends after it began");
    if (process->program != MONARC_NONE &&
        (process->program >= r->run.objects.len ||
         r->run.objects.at[process->program].kind != RUN_OBJECT_FILE))
        return recording_row_misuse(e, "a process' program is an object that is a file");
    return recording_row_number(&row, recording_add_process, e);
}

static bool recording_add_thread(void *context)
{
    struct row *row = context;
    const struct monarc_thread *from = row->from;
    struct run_thread t = {.process = from->process,
                           .tid = from->tid,
                           .start_ns = from->start_ns,
                           .end_ns = from->end_ns,
                           .cpu_ns = from->cpu_ns,
                           .has_cpu = from->has_cpu};
    memcpy(t.name, from->name, strlen(from->name));
    row->number = (uint32_t)row->r->run.threads.len;
    vec_push(&row->r->run.threads, t);
    return true;
}

uint32_t monarc_recording_add_thread(struct monarc_recording *r, const struct monarc_thread *thread,
                                     struct monarc_error *e)
{
    struct row row = {.r = r, .from = thread};
    if (!thread || thread->process >= r->run.processes.len ||
        (thread->end_ns && thread->end_ns < thread->start_ns))
        return recording_row_misuse(e, "a thread is of a process, and ends after it began");
    if (!thread->name || strlen(thread->name) > RUN_THREAD_NAME_BYTES)
        return recording_row_misuse(e, "a thread has a name of at most 16 bytes");
    return recording_row_number(&row, recording_add_thread, e);
}

static bool recording_add_event(void *context)
{
    struct row *row = context;
    const struct monarc_event *from = row->from;
    row->number = (uint32_t)row->r->run.events.len;
    vec_push(&row->r->run.events,
             ((struct run_event){.name = recording_row_text(row, from->name),
                                 .unit = from->is_time ? RUN_UNIT_NS : RUN_UNIT_COUNT,
                                 .period = from->period,
                                 .user_only = from->is_user_only}));
    return true;
}

uint32_t monarc_recording_add_event(struct monarc_recording *r, const struct monarc_event *event,
                                    struct monarc_error *e)
{
    struct row row = {.r = r, .from = event};
    if (!event || !event->name || !*event->name)
        return recording_row_misuse(e, "an event has a name");
    return recording_row_number(&row, recording_add_event, e);
}

/* ---- stacks and what is counted on them */

static void recording_map_nodes(struct monarc_recording *r)
{
    map_deinit(&r->node_of);
    for (size_t i = 1; i < r->run.nodes.len; i++) {
        const struct run_node *n = &r->run.nodes.at[i];
        map_at(&r->node_of, map_two(n->parent, n->object), n->address, (uint32_t)i, NULL);
    }
    r->is_mapped = true;
}

/* Room for all nodes first: one that has a number is there. */
static bool recording_add_stack(void *context)
{
    struct row *row = context;
    struct run *run = &row->r->run;
    const struct monarc_frame *frames = row->from;
    if (!row->r->is_mapped)
        recording_map_nodes(row->r);
    vec_reserve(&run->nodes, run->nodes.len + row->len);
    row->number = RUN_ROOT;
    for (size_t i = row->len; i-- > 0;) {
        bool is_new;
        uint32_t parent = row->number;
        row->number = map_index(&row->r->node_of, map_two(parent, frames[i].object),
                                frames[i].address, run->nodes.len, &is_new);
        if (is_new)
            vec_push(&run->nodes, ((struct run_node){parent, frames[i].object, frames[i].address}));
    }
    return true;
}

uint32_t monarc_recording_add_stack(struct monarc_recording *r, const struct monarc_frame *frames,
                                    size_t len, struct monarc_error *e)
{
    struct row row = {.r = r, .from = frames, .len = len};
    if ((len && !frames) || len > UINT32_MAX / 2 || r->run.nodes.len > UINT32_MAX / 2)
        return recording_row_misuse(e, "a stack has frames, and not too many");
    for (size_t i = 0; i < len; i++)
        if (frames[i].object >= r->run.objects.len)
            return recording_row_misuse(e, "a frame is in an object");
    return recording_row_number(&row, recording_add_stack, e);
}

static bool recording_add_sample(void *context)
{
    struct row *row = context;
    const struct monarc_sample *s = row->from;
    vec_push(&row->r->run.samples,
             ((struct run_sample){s->slice, s->thread, s->event, s->node, s->weight, s->count}));
    return true;
}

bool monarc_recording_add_sample(struct monarc_recording *r, const struct monarc_sample *sample,
                                 struct monarc_error *e)
{
    struct row row = {.r = r, .from = sample};
    if (!sample || sample->thread >= r->run.threads.len || sample->event >= r->run.events.len ||
        (sample->node && sample->node >= r->run.nodes.len))
        return call_fail(e, MONARC_MISUSE, "a sample has a thread, an event and a stack");
    return recording_row_add(&row, recording_add_sample, e);
}

static bool recording_add_call(void *context)
{
    struct row *row = context;
    const struct monarc_recorded_call *c = row->from;
    vec_push(&row->r->run.arcs,
             ((struct run_arc){c->from_object, c->self_object, c->from, c->self, c->count}));
    return true;
}

bool monarc_recording_add_call(struct monarc_recording *r, const struct monarc_recorded_call *call,
                               struct monarc_error *e)
{
    struct row row = {.r = r, .from = call};
    if (!call || !recording_is_index_or_none(call->from_object, r->run.objects.len) ||
        !recording_is_index_or_none(call->self_object, r->run.objects.len))
        return call_fail(e, MONARC_MISUSE, "a call is between objects, or MONARC_NONE");
    return recording_row_add(&row, recording_add_call, e);
}

static bool recording_add_block(void *context)
{
    struct row *row = context;
    const struct monarc_recorded_block *b = row->from;
    vec_push(&row->r->run.blocks, ((struct run_block){b->object, b->address, b->count}));
    return true;
}

bool monarc_recording_add_block(struct monarc_recording *r,
                                const struct monarc_recorded_block *block, struct monarc_error *e)
{
    struct row row = {.r = r, .from = block};
    if (!block || block->object >= r->run.objects.len)
        return call_fail(e, MONARC_MISUSE, "a block is in an object");
    return recording_row_add(&row, recording_add_block, e);
}

static bool recording_add_loss(void *context)
{
    struct row *row = context;
    const struct monarc_loss *l = row->from;
    vec_push(&row->r->run.losses, ((struct run_loss){RUN_LOST_OTHER, l->count, l->ns,
                                                     recording_row_text(row, l->text)}));
    return true;
}

bool monarc_recording_add_loss(struct monarc_recording *r, const struct monarc_loss *loss,
                               struct monarc_error *e)
{
    struct row row = {.r = r, .from = loss};
    if (!loss || !loss->text)
        return call_fail(e, MONARC_MISUSE, "a loss is said in words");
    return recording_row_add(&row, recording_add_loss, e);
}

/* ---- converting */

struct profile_making {
    const struct run *run;
    struct monarc_profile *into;
    struct err why;
};

static void recording_make_calls(const struct run *run, uint32_t program, struct profile *p)
{
    for (size_t i = 0; i < run->arcs.len; i++) {
        const struct run_arc *a = &run->arcs.at[i];
        if (a->self_object == program && (a->from_object == program || a->from_object == RUN_NONE))
            vec_push(&p->arcs, ((struct arc){a->from, a->self, a->count}));
    }
    for (size_t i = 0; i < run->blocks.len; i++)
        if (run->blocks.at[i].object == program)
            vec_push(&p->blocks,
                     ((struct block){run->blocks.at[i].address, run->blocks.at[i].count}));
}

static bool recording_make_profile(void *context)
{
    struct profile_making *m = context;
    struct profile *p = &m->into->merger.sum;
    uint32_t program = m->run->processes.len ? m->run->processes.at[0].program : RUN_NONE;
    if (program == RUN_NONE)
        return err_set(&m->why, "the recording has no program");
    bool has_samples = run_profile(m->run, p);
    recording_make_calls(m->run, program, p);
    if (!has_samples && !p->arcs.len && !p->blocks.len)
        return err_set(&m->why, "nothing was measured in the program itself");
    p->format = PROFILE_GNU;
    p->version = 1;
    p->word = 8;
    return true;
}

bool monarc_recording_to_profile(const struct monarc_recording *r, struct monarc_profile *into,
                                 struct monarc_error *e)
{
    struct profile_making m = {.run = &r->run, .into = into};
    profile_handle_empty(into);
    enum heap_outcome outcome = heap_run(&into->heap, recording_make_profile, &m);
    if (outcome != HEAP_TRUE)
        profile_handle_empty(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* ---- laws */

struct adding_up {
    const struct run *with[3];
    struct err why;
};

/* What adding up keeps of an event; calls are those of all events. */
struct event_sums {
    uint64_t samples, weight, calls;
};

static struct event_sums recording_sums_of(const struct run *r, const char *event)
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

static bool recording_add_up(struct run *sum, const struct run *const *with, const uint8_t *order)
{
    struct err why;
    for (size_t i = 0; i < 3; i++)
        if (!run_merge(sum, with[order[i]], &why))
            return false;
    return true;
}

static bool recording_check_event_sums(const struct adding_up *a, const struct run *sum,
                                       const char *event)
{
    struct event_sums is = recording_sums_of(sum, event), was = {0};
    for (size_t i = 0; i < 3; i++) {
        struct event_sums one = recording_sums_of(a->with[i], event);
        was.samples += one.samples;
        was.weight += one.weight;
        was.calls = add_saturating(was.calls, one.calls);
    }
    return is.samples == was.samples && is.weight == was.weight && is.calls == was.calls;
}

static bool recording_check_sums(void *context)
{
    struct adding_up *a = context;
    static const uint8_t ORDERS[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    bool can[3];
    for (size_t i = 0; i < 3; i++) {
        struct run sum = {0};
        can[i] = recording_add_up(&sum, a->with, ORDERS[i]);
        if (can[i] != can[0])
            return err_set(&a->why, "the three merge in one order and not in the other");
        for (size_t k = 0; can[i] && k < sum.events.len; k++)
            if (!recording_check_event_sums(a, &sum, sum.events.at[k].name))
                return err_set(&a->why, "merging changes the sums of event %s",
                               sum.events.at[k].name);
        run_deinit(&sum);
    }
    return true;
}

bool monarc_recording_check_laws(const struct monarc_recording *a, const struct monarc_recording *b,
                                 const struct monarc_recording *c, struct monarc_error *e)
{
    struct adding_up sums = {.with = {&a->run, &b->run, &c->run}};
    struct heap scratch;
    for (size_t i = 0; i < 3; i++)
        if (!sums.with[i]->nodes.len)
            return call_fail(e, MONARC_MISUSE, "there is no recording");
    heap_init(&scratch, &a->heap.memory);
    enum heap_outcome outcome = heap_run(&scratch, recording_check_sums, &sums);
    heap_release(&scratch);
    return call_result(outcome, MONARC_UNFIT, &sums.why, e);
}

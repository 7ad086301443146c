/* Handles of recordings: their life, reading and writing, merging, what is in them.
 *
 * Two formats are read into the one model: the file of `monarc run`, and the sidecar of a recorder
 * inside a process, which names a gmon.out for each object. Those lie beside it and are read if the
 * source is a path; otherwise the recording says, among its losses, how many are missing. Merging
 * works on a copy, so that a failure leaves the sum as it was.
 *
 * A file is read as a whole and checked; one that fails leaves the handle empty, because a run
 * that breaks its rules could not be walked. Getters copy rows out of the model; texts in them
 * live until the handle is changed. */
#include "lib/handles.h"

#include "profile/format/recording_file.h"
#include "profile/model/recording.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)MONARC_OBJECT_CUT == RECORDING_OBJECT_CUT && MONARC_NONE == RECORDING_NONE,
               "kinds of objects and missing indices are the same");

/* Zeroed: no root yet, which reading or the first row adds. */
struct monarc_recording *monarc_recording_new(const struct monarc_memory *memory,
                                              struct monarc_error *e)
{
    struct monarc_recording *r = handle_alloc(memory, sizeof *r);
    if (!r) {
        call_fail_memory(e);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    heap_init(&r->heap, memory);
    return r;
}

/* Lists and map lie in the heap that is given back: they are forgotten, not freed. */
void monarc_recording_clear(struct monarc_recording *r)
{
    heap_release(&r->heap);
    memset(&r->recording, 0, sizeof r->recording);
    memset(&r->node_of, 0, sizeof r->node_of);
    r->is_mapped = false;
    r->format = MONARC_NO_FORMAT;
}

/* The memory functions are copied first: they are in the handle that is given back. */
void monarc_recording_free(struct monarc_recording *r)
{
    if (!r)
        return;
    struct monarc_memory memory = r->heap.memory;
    heap_release(&r->heap);
    memory_loose_free(&memory, r);
}

/* ---- files */

/* A recording that is being read, and the profiles that its sidecar names. */
struct recording_reading {
    struct monarc_recording *r;
    struct call_input in;
    bool is_known;
    struct sidecar_profiles profiles; /* of a sidecar */
    struct call_input *files;         /* what is in theirs */
    size_t unread;
    struct err why;
};

/* A file of `monarc run`. */
static bool recording_read_bytes(void *context)
{
    struct recording_reading *reading = context;
    reading->is_known = recording_probe(reading->in.bytes);
    return reading->is_known ? recording_read(reading->in.bytes, reading->in.name,
                                              &reading->r->recording, &reading->why)
                             : err_in(&reading->why, reading->in.name, "is not a recording");
}

/* First turn: which profiles the sidecar names. Their list is in the recording's arena. */
static bool sidecar_list_files(void *context)
{
    struct recording_reading *reading = context;
    struct arena *a = &reading->r->recording.arena;
    if (!sidecar_list(reading->in.bytes, reading->in.name, a, &reading->profiles, &reading->why))
        return false;
    reading->files = ARENA_NEW(a, struct call_input, reading->profiles.len);
    return true;
}

/* Last turn: the profiles that are there, then the sidecar with them. */
static bool sidecar_read_bytes(void *context)
{
    struct recording_reading *reading = context;
    struct sidecar_profiles *p = &reading->profiles;
    struct recording *recording = &reading->r->recording;
    for (size_t i = 0; i < p->len; i++)
        if (reading->files[i].bytes.at &&
            !format_read(reading->files[i].bytes, reading->files[i].name, &p->hint, &p->profiles[i],
                         &reading->why))
            return false;
    if (!sidecar_read(reading->in.bytes, reading->in.name, p, recording, &reading->why))
        return false;
    if (reading->unread)
        vec_push(&recording->losses,
                 ((struct recording_loss){RECORDING_LOST_OTHER, reading->unread, 0,
                                          "profiles of objects, which the sidecar only names"}));
    for (size_t i = 0; i < p->len; i++)
        profile_deinit(&p->profiles[i]);
    return true;
}

/* In turns, because files are opened outside of what can be left: which files there are, what is in
 * them, what it means. A source without path has no folder to look for them. */
static bool recording_read_sidecar(struct recording_reading *reading, const char *path,
                                   struct monarc_error *e)
{
    struct heap *h = &reading->r->heap;
    const char *slash = path ? strrchr(path, '/') : NULL;
    int folder = slash ? (int)(slash + 1 - path) : 0;
    enum heap_outcome outcome = heap_run(h, sidecar_list_files, reading);
    if (!call_result(outcome, MONARC_BAD_INPUT, &reading->why, e))
        return false;
    for (size_t i = 0; i < reading->profiles.len; i++) {
        const char *name = reading->profiles.names[i];
        char file[PATH_MAX];
        struct monarc_source in = monarc_source_from_path(file);
        reading->unread += name && !path;
        if (!name || !path)
            continue;
        int len = snprintf(file, sizeof file, "%.*s%s", folder, path, name);
        if (len < 0 || (size_t)len >= sizeof file)
            return call_fail(e, MONARC_CANNOT_READ, "%s: the name of %s is too long", path, name);
        if (!access(file, F_OK) && !call_read(&in, h, &reading->files[i], e))
            return false;
    }
    outcome = heap_run(h, sidecar_read_bytes, reading);
    if (!call_result(outcome, MONARC_BAD_INPUT, &reading->why, e))
        return false;
    for (size_t i = 0; i < reading->profiles.len; i++)
        heap_give((void *)reading->files[i].bytes.at);
    return true;
}

/* A recording that was not read to its end may break its own rules: nothing of it is kept. */
bool monarc_recording_read(struct monarc_recording *r, const struct monarc_source *in,
                           struct monarc_error *e)
{
    struct recording_reading reading = {.r = r};
    monarc_recording_clear(r);
    if (!call_read(in, &r->heap, &reading.in, e))
        return false;
    struct bytes bytes = reading.in.bytes;
    bool is_side = sidecar_probe(bytes) && !recording_probe(bytes), ok;
    if (is_side) {
        ok = recording_read_sidecar(&reading, in->path, e);
    } else {
        enum heap_outcome outcome = heap_run(&r->heap, recording_read_bytes, &reading);
        ok = call_result(outcome, reading.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT,
                         &reading.why, e);
    }
    if (!ok) {
        monarc_recording_clear(r);
        return false;
    }
    if (bytes.at != in->bytes)
        heap_give((void *)bytes.at);
    r->format = is_side ? MONARC_SIDECAR : MONARC_RECORDING;
    return true;
}

/* A recording that was built is checked as a whole here: rows were only checked one by one. */
static bool recording_encode(struct call_writing *writing)
{
    const struct recording *recording = writing->what;
    if (!recording->nodes.len)
        return err_set(&writing->why, "no recording is given");
    if (!recording_check(recording, &writing->why))
        return false;
    writing->w.word = 8;
    recording_write(&writing->w, recording);
    return true;
}

/* Always the file of `monarc run`, whatever was read. */
bool monarc_recording_write(const struct monarc_recording *r, struct monarc_target *to,
                            struct monarc_error *e)
{
    struct call_writing writing = {.encode = recording_encode, .what = &r->recording};
    return call_write(&writing, &r->heap.memory, to, e);
}

/* ---- merging */

struct recording_merging {
    struct monarc_recording *into;
    const struct monarc_recording *from;
    struct err why;
};

/* In a copy: a merge that fails leaves traces. */
static bool recording_merge_runs(void *context)
{
    struct recording_merging *m = context;
    struct recording sum = {0}, was = m->into->recording;
    bool is_first = !was.nodes.len;
    if (!m->from->recording.nodes.len)
        return true;
    if ((!is_first && !recording_merge(&sum, &was, &m->why)) ||
        !recording_merge(&sum, &m->from->recording, &m->why)) {
        recording_deinit(&sum);
        return false;
    }
    recording_deinit(&was);
    m->into->recording = sum;
    map_deinit(&m->into->node_of);
    m->into->is_mapped = false;
    return true;
}

/* The first recording that is added to an empty one is copied like all others. */
bool monarc_recording_merge(struct monarc_recording *into, const struct monarc_recording *from,
                            struct monarc_error *e)
{
    struct recording_merging m = {.into = into, .from = from};
    if (into == from)
        return call_fail(e, MONARC_MISUSE, "a recording cannot be added to itself");
    enum heap_outcome outcome = heap_run(&into->heap, recording_merge_runs, &m);
    if (outcome == HEAP_EXHAUSTED)
        monarc_recording_clear(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* ---- what is in one */

/* How many rows of each kind there are, and the facts of the run. */
void monarc_recording_get_facts(const struct monarc_recording *r,
                                struct monarc_recording_facts *out)
{
    const struct recording *recording = &r->recording;
    *out = (struct monarc_recording_facts){.format = r->format,
                                           .calls = recording->arcs.len,
                                           .blocks = recording->blocks.len,
                                           .objects = recording->objects.len,
                                           .symbols = recording->symbols.len,
                                           .nodes = recording->nodes.len,
                                           .processes = recording->processes.len,
                                           .threads = recording->threads.len,
                                           .events = recording->events.len,
                                           .samples = recording->samples.len,
                                           .losses = recording->losses.len,
                                           .start_ns = recording->start_real_ns,
                                           .length_ns = recording->length_ns,
                                           .slice_ns = recording->slice_ns,
                                           .user_ns = recording->user_ns,
                                           .system_ns = recording->system_ns,
                                           .monitor_ns = recording->monitor_ns,
                                           .cost_ns = recording->cost_ns,
                                           .stacks = recording->stacks,
                                           .whole_stacks = recording->whole,
                                           .rate = recording->rate,
                                           .cpus = recording->cpus,
                                           .machine = recording->machine};
}

/* The ith text of that key: arguments of the command are several. */
const char *monarc_recording_get_text(const struct monarc_recording *r, const char *key, size_t i)
{
    for (size_t at = 0; key && at < r->recording.texts.len; at++)
        if (!strcmp(r->recording.texts.at[at].key, key) && !i--)
            return r->recording.texts.at[at].value;
    return NULL;
}

/* Objects that are no files have no path, whatever the model says. */
bool monarc_recording_get_object(const struct monarc_recording *r, size_t i,
                                 struct monarc_object *out)
{
    if (i >= r->recording.objects.len)
        return false;
    const struct recording_object *o = &r->recording.objects.at[i];
    *out = (struct monarc_object){.kind = (enum monarc_object_kind)o->kind,
                                  .path = o->kind == RECORDING_OBJECT_FILE ? o->path : NULL,
                                  .low = o->low,
                                  .high = o->high,
                                  .process = o->process,
                                  .build_id = o->build_id,
                                  .build_id_bytes = o->build_id_bytes,
                                  .is_deleted = o->is_deleted};
    return true;
}

bool monarc_recording_get_symbol(const struct monarc_recording *r, size_t i,
                                 struct monarc_symbol *out)
{
    if (i >= r->recording.symbols.len)
        return false;
    const struct recording_symbol *s = &r->recording.symbols.at[i];
    *out = (struct monarc_symbol){s->object, s->start, s->size, s->name};
    return true;
}

bool monarc_recording_get_process(const struct monarc_recording *r, size_t i,
                                  struct monarc_process *out)
{
    if (i >= r->recording.processes.len)
        return false;
    const struct recording_process *p = &r->recording.processes.at[i];
    *out = (struct monarc_process){.pid = p->pid,
                                   .parent_pid = p->parent_pid,
                                   .program = p->program,
                                   .start_ns = p->start_ns,
                                   .end_ns = p->end_ns,
                                   .user_ns = p->user_ns,
                                   .system_ns = p->system_ns,
                                   .has_cpu = p->has_cpu,
                                   .has_ended = p->has_ended,
                                   .status = p->status,
                                   .name = p->name,
                                   .why_unseen = p->why_unseen};
    return true;
}

bool monarc_recording_get_thread(const struct monarc_recording *r, size_t i,
                                 struct monarc_thread *out)
{
    if (i >= r->recording.threads.len)
        return false;
    const struct recording_thread *t = &r->recording.threads.at[i];
    *out = (struct monarc_thread){t->process, t->tid,     t->start_ns, t->end_ns,
                                  t->cpu_ns,  t->has_cpu, t->name};
    return true;
}

bool monarc_recording_get_event(const struct monarc_recording *r, size_t i,
                                struct monarc_event *out)
{
    if (i >= r->recording.events.len)
        return false;
    const struct recording_event *event = &r->recording.events.at[i];
    *out = (struct monarc_event){event->name, event->unit == RECORDING_UNIT_NS, event->period,
                                 event->user_only};
    return true;
}

bool monarc_recording_get_sample(const struct monarc_recording *r, size_t i,
                                 struct monarc_sample *out)
{
    if (i >= r->recording.samples.len)
        return false;
    const struct recording_sample *s = &r->recording.samples.at[i];
    *out = (struct monarc_sample){s->slice, s->thread, s->event, s->node, s->weight, s->count};
    return true;
}

bool monarc_recording_get_loss(const struct monarc_recording *r, size_t i, struct monarc_loss *out)
{
    if (i >= r->recording.losses.len)
        return false;
    const struct recording_loss *l = &r->recording.losses.at[i];
    *out = (struct monarc_loss){l->count, l->ns, l->text};
    return true;
}

bool monarc_recording_get_call(const struct monarc_recording *r, size_t i,
                               struct monarc_recorded_call *out)
{
    if (i >= r->recording.arcs.len)
        return false;
    const struct recording_arc *a = &r->recording.arcs.at[i];
    *out =
        (struct monarc_recorded_call){a->from_object, a->self_object, a->from, a->self, a->count};
    return true;
}

bool monarc_recording_get_block(const struct monarc_recording *r, size_t i,
                                struct monarc_recorded_block *out)
{
    if (i >= r->recording.blocks.len)
        return false;
    const struct recording_block *b = &r->recording.blocks.at[i];
    *out = (struct monarc_recorded_block){b->object, b->address, b->count};
    return true;
}

/* Parents precede their children, so this ends. */
size_t monarc_recording_get_stack(const struct monarc_recording *r, uint32_t node,
                                  struct monarc_frame *out, size_t room)
{
    size_t len = 0;
    for (; node != RECORDING_ROOT && node < r->recording.nodes.len;
         node = r->recording.nodes.at[node].parent) {
        if (len < room)
            out[len] = (struct monarc_frame){r->recording.nodes.at[node].object,
                                             r->recording.nodes.at[node].address};
        len++;
    }
    return len;
}

/* A run of names. */
#include "profile/import/named_recording.h"

#include "base/bytes.h"
#include "base/path.h"
#include "record/tally.h"

#include <stdio.h>
#include <string.h>

/* A function's address is 48 bits of its name's hash, and four of room for its code. */
enum { FUNCTION_BYTES = 16, CALL_OFFSET = 8, NAME_BITS = 48 };

void named_run_begin(struct named_run *n, struct recording *out)
{
    *n = (struct named_run){.recording = out, .cut = RECORDING_NONE};
    vec_push(&out->nodes, (struct recording_node){.object = RECORDING_NONE});
    out->slice_ns = 1;
}

/* --- objects and functions ------------------------------------------------------------------- */

static uint32_t named_add_object(struct named_run *n, struct recording_object o)
{
    vec_push(&n->recording->objects, o);
    return (uint32_t)n->recording->objects.len - 1;
}

/* Numbers of paths are not those of objects: there may be one that stands for cut stacks. */
uint32_t named_run_object(struct named_run *n, const char *path, size_t len)
{
    uint32_t known = intern_find(&n->paths, path, len);
    if (known != INTERN_NONE)
        return known + (n->cut != RECORDING_NONE && known >= n->cut);
    uint32_t number = intern(&n->paths, path, len);
    (void)number;
    return named_add_object(
        n, (struct recording_object){.kind = RECORDING_OBJECT_FILE,
                                     .path = arena_copy(&n->recording->arena, path, len),
                                     .process = RECORDING_NONE,
                                     .is_listed = true});
}

uint64_t named_run_function(struct named_run *n, uint32_t object, const char *name, size_t len)
{
    bool is_new;
    uint64_t address = hash_bytes(name, len) & ((UINT64_C(1) << NAME_BITS) - 1);
    for (address |= 1;; address++) { /* 0 is of code without a name */
        uint32_t *found =
            map_at(&n->symbol_of, object, address, map_value(n->recording->symbols.len), &is_new);
        const char *there = is_new ? NULL : n->recording->symbols.at[*found].name;
        if (is_new || (!strncmp(there, name, len) && !there[len]))
            break;
    }
    uint64_t start = address * FUNCTION_BYTES;
    struct recording_object *o = &n->recording->objects.at[object];
    if (!is_new)
        return start;
    vec_push(&n->recording->symbols,
             (struct recording_symbol){object, start, FUNCTION_BYTES,
                                       arena_copy(&n->recording->arena, name, len)});
    o->high = start + FUNCTION_BYTES > o->high ? start + FUNCTION_BYTES : o->high;
    return start;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static uint32_t named_node(struct named_run *n, uint32_t parent, uint32_t object, uint64_t address)
{
    bool is_new;
    uint32_t node =
        map_index(&n->node_of, map_two(parent, object), address, n->recording->nodes.len, &is_new);
    if (is_new)
        vec_push(&n->recording->nodes, (struct recording_node){parent, object, address});
    return node;
}

uint32_t named_run_frame(struct named_run *n, uint32_t caller, uint32_t object, const char *name,
                         size_t len)
{
    return named_node(n, caller, object, len ? named_run_function(n, object, name, len) : 0);
}

uint32_t named_run_cut(struct named_run *n, enum recording_cut why)
{
    if (n->cut == RECORDING_NONE)
        n->cut = named_add_object(n, (struct recording_object){.kind = RECORDING_OBJECT_CUT,
                                                               .process = RECORDING_NONE,
                                                               .path = ""});
    return named_node(n, RECORDING_ROOT, n->cut, why);
}

/* --- events, threads, samples ---------------------------------------------------------------- */

uint32_t named_run_event(struct named_run *n, const char *name, size_t len,
                         enum recording_event_unit unit)
{
    struct recording *r = n->recording;
    for (uint32_t i = 0; i < r->events.len; i++)
        if (!strncmp(r->events.at[i].name, name, len) && !r->events.at[i].name[len])
            return i;
    vec_push(&r->events,
             (struct recording_event){.name = arena_copy(&r->arena, name, len), .unit = unit});
    return (uint32_t)r->events.len - 1;
}

static uint32_t named_process(struct named_run *n, uint32_t pid, const char *name, size_t len)
{
    bool is_new;
    uint32_t number = map_index(&n->process_of, pid, 0, n->recording->processes.len, &is_new);
    if (is_new)
        vec_push(&n->recording->processes,
                 (struct recording_process){.pid = pid,
                                            .program = RECORDING_NONE,
                                            .name = arena_copy(&n->recording->arena, name, len)});
    return number;
}

uint32_t named_run_thread(struct named_run *n, uint32_t pid, uint32_t tid, const char *name,
                          size_t len)
{
    bool is_new;
    uint32_t process = named_process(n, pid, name, len);
    uint32_t number = map_index(&n->thread_of, pid, tid, n->recording->threads.len, &is_new);
    if (!is_new)
        return number;
    struct recording_thread t = {.process = process, .tid = tid};
    snprintf(t.name, sizeof t.name, "%.*s", (int)(len < RECORDING_THREAD_NAME_BYTES ? len : 16),
             name);
    vec_push(&n->recording->threads, t);
    return number;
}

void named_run_name_process(struct named_run *n, const char *name, size_t len)
{
    n->recording->processes.at[0].name = arena_copy(&n->recording->arena, name, len);
}

bool named_run_sample(struct named_run *n, uint32_t thread, uint32_t event, uint32_t node,
                      uint64_t weight, uint64_t count)
{
    uint64_t samples = count ? count : weight;
    if (__builtin_add_overflow(n->total, weight, &n->total))
        return false;
    vec_push(
        &n->recording->samples,
        (struct recording_sample){.thread = thread,
                                  .event = event,
                                  .node = node,
                                  .weight = weight,
                                  .count = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX});
    return true;
}

void named_run_calls(struct named_run *n, uint32_t from_object, uint64_t from, uint32_t object,
                     uint64_t self, uint64_t count)
{
    vec_push(&n->recording->arcs,
             (struct recording_arc){from_object, object,
                                    from_object == RECORDING_NONE ? 0 : from + CALL_OFFSET, self,
                                    count});
}

void named_run_lose(struct named_run *n, const char *text, uint64_t count)
{
    bool is_new;
    uint32_t number = map_index(&n->texts_lost, hash_bytes(text, strlen(text)), 0,
                                n->recording->losses.len, &is_new);
    if (is_new)
        vec_push(&n->recording->losses,
                 (struct recording_loss){.kind = RECORDING_LOST_OTHER, .text = text});
    n->recording->losses.at[number].count += count;
}

/* --- the end --------------------------------------------------------------------------------- */

static int named_by_place(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

/* The object of the command's name, which the kernel has cut; else the first. */
static uint32_t named_program(const struct recording *r, const char *name)
{
    uint32_t first = RECORDING_NONE;
    size_t len = strlen(name);
    for (uint32_t i = (uint32_t)r->objects.len; i-- > 0;) {
        if (r->objects.at[i].kind != RECORDING_OBJECT_FILE)
            continue;
        const char *base = path_base_name(r->objects.at[i].path);
        bool is_it = len && (!strcmp(base, name) || (len == 15 && !strncmp(base, name, len)));
        if (is_it)
            return i;
        first = *base == '[' && first != RECORDING_NONE ? first : i;
    }
    return first;
}

void named_run_finish(struct named_run *n)
{
    struct recording *r = n->recording;
    if (r->symbols.len)
        qsort(r->symbols.at, r->symbols.len, sizeof *r->symbols.at, named_by_place);
    for (size_t i = 0; i < r->objects.len; i++)
        if (r->objects.at[i].kind == RECORDING_OBJECT_FILE && !r->objects.at[i].high)
            r->objects.at[i].high = FUNCTION_BYTES;
    for (size_t i = 0; i < r->processes.len; i++)
        r->processes.at[i].program = named_program(r, r->processes.at[i].name);
    tally_sum_up(r);
    intern_deinit(&n->paths);
    map_deinit(&n->symbol_of);
    map_deinit(&n->node_of);
    map_deinit(&n->thread_of);
    map_deinit(&n->process_of);
    map_deinit(&n->texts_lost);
}

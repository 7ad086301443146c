/* What threads wait for, chains of threads that wait for each other, and what they transfer.
 *
 * A resource is known by its kind and its address in the memory of a process. The first look at one
 * asks /proc/PID/maps what lies there, so that it gets a name, and what several processes share
 * gets one number for all of them:
 *
 *     a file that is mapped, or its .bss    the variable of the symbol table around the address
 *     shared memory                         the file and the offset in it
 *     anything else (heap, stack)           no name: reports go by who waits there
 *
 * Chains are a tree as stacks are: a step is (the step before, thread, node, resource, what it
 * does), found by a map. Both lists are bounded; what does not fit is merged with waits that were
 * not inspected. A holder that runs is somewhere else at each look, and a crowd that waits for it
 * has a step each for every place: from half of the list on, such steps have no place.
 *
 * Cost: a line of maps for each mapping and a symbol table, once a resource; else a look-up. */
#include "record/collector_private.h"

#include "objfile/object.h"
#include "record/proc_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_TRANSFERS = 200000,
    MOST_RESOURCES = 20000,
    MOST_STEPS = 200000,
    THREAD_BITS = 18, /* of a step's key: 50,000 threads */
    STEP_BITS = 18,
    PATH_ROOM = 4096
};
_Static_assert(MOST_STEPS < (1 << STEP_BITS), "the number of a step fits its key");

/* What is mapped around an address. */
struct waits_mapping {
    struct mapping code; /* of the file that the address belongs to; image RECORDING_NONE: none */
    uint64_t device, inode, offset; /* offset: of the address */
    bool is_shared;
    char path[PATH_ROOM];
};

/* A file is mapped in pieces that follow each other, or are further into it with free pages between
 * them: the first has its headers, one its code, and .bss, which has no name, follows the last. Its
 * code, where we know it, says by how much its addresses were moved. */
static bool waits_find_mapping(const struct collector *c, uint32_t process, uint64_t address,
                               struct waits_mapping *out)
{
    char path[64], line[PATH_ROOM + 128];
    uint64_t file_end = 0, offset = 0;
    bool found = false;
    *out = (struct waits_mapping){.code.image = RECORDING_NONE};
    snprintf(path, sizeof path, "/proc/%d/maps",
             (int)proc_living((pid_t)c->processes.at[process].pid));
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        struct proc_mapping m;
        if (!proc_parse_mapping(line, &m))
            continue;
        bool follows = m.start == file_end;
        bool goes_on =
            *m.path ? !strcmp(m.path, out->path) && (follows || m.offset > offset) : follows;
        if (*m.path)
            offset = m.offset;
        if (!goes_on) {
            out->code.image = RECORDING_NONE;
            snprintf(out->path, sizeof out->path, "%s", m.path);
        }
        file_end = m.end;
        const struct mapping *code = mappings_find(c->inner.at[process].mappings, m.start);
        if (code)
            out->code = *code;
        found = address >= m.start && address < m.end;
        if (!found)
            continue;
        out->is_shared = m.rights[3] == 's';
        out->device = m.device;
        out->inode = m.inode;
        out->offset = m.offset + (address - m.start);
    }
    if (file)
        fclose(file);
    return found;
}

/* The variable around a link address, the narrowest that has a size; NULL: none. */
static const struct object_symbol *waits_variable(struct object *o, uint64_t address)
{
    size_t len = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL), *best = NULL;
    for (size_t i = 0; i < len; i++) {
        const struct object_symbol *s = &symbols[i];
        if (s->type == SYMBOL_OBJECT && address >= s->address && address - s->address < s->size &&
            (!best || s->size < best->size))
            best = s;
    }
    return best;
}

/* Where in a variable a lock begins, by the word that is waited at: arrays and structures have
 * several. Of a condition variable (48 bytes) and a lock for readers and writers (56), two words
 * within it are waited at in turn; in C's libraries they share 8 aligned bytes. */
static uint64_t waits_lock_begin(const struct recording_resource *r, const struct object_symbol *s,
                                 uint64_t word)
{
    enum { WORDS_BYTES = 8, CONDITION_BYTES = 48, RWLOCK_BYTES = 56 };
    if (r->kind != RECORDING_RESOURCE_FUTEX)
        return word;
    return s->size == CONDITION_BYTES || s->size == RWLOCK_BYTES ? 0
                                                                 : word & -(uint64_t)WORDS_BYTES;
}

/* Gives a resource in memory its name, and says where it is if it is shared. */
static void waits_name(struct collector *c, uint32_t process, struct recording_resource *r)
{
    struct waits_mapping m;
    if (!waits_find_mapping(c, process, r->address, &m))
        return;
    if (m.is_shared) {
        r->name = m.path[0] ? arena_copy(&c->arena, m.path, strlen(m.path)) : NULL;
        r->process = r->name && m.inode ? RECORDING_NONE : process;
        r->address = r->process == RECORDING_NONE ? m.offset : r->address;
        return;
    }
    if (m.code.image == RECORDING_NONE)
        return;
    struct object *o = images_open(&c->images, m.code.image);
    uint64_t code = images_link_address(&c->images, m.code.image, m.code.offset);
    uint64_t link = r->address - m.code.start + code;
    const struct object_symbol *s = o ? waits_variable(o, link) : NULL;
    uint64_t within = s ? waits_lock_begin(r, s, link - s->address) : 0;
    if (within)
        r->name = arena_printf(&c->arena, "%s+0x%" PRIx64, s->name, within);
    else if (s)
        r->name = arena_copy(&c->arena, s->name, strlen(s->name));
}

/* One that is shared is looked up again by name: each process has it elsewhere. */
uint32_t collector_resource(struct collector *c, pid_t pid, enum recording_resource_kind kind,
                            uint64_t address, const char *name, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    bool is_memory = kind <= RECORDING_RESOURCE_JOIN, is_new;
    struct recording_resource one = {
        .kind = kind, .process = is_memory ? process : RECORDING_NONE, .address = address};
    uint64_t hash = name ? hash_bytes(name, strlen(name)) : 0;
    uint64_t key = map_two(one.process, kind) ^ hash;
    uint32_t *found = map_find(&c->resource_of, key, address);
    if (found)
        return *found;
    if (c->resources.len >= MOST_RESOURCES)
        return RECORDING_NONE;
    if (name)
        one.name = arena_copy(&c->arena, name, strlen(name));
    else if (is_memory && kind != RECORDING_RESOURCE_JOIN && !c->options.is_replayed)
        waits_name(c, process, &one);
    uint32_t number = (uint32_t)c->resources.len;
    if (is_memory && one.process == RECORDING_NONE) {
        uint64_t shared = map_two(RECORDING_NONE, kind) ^ hash_bytes(one.name, strlen(one.name));
        number = map_index(&c->resource_of, shared, one.address, number, &is_new);
    }
    if (number == c->resources.len)
        vec_push(&c->resources, one);
    map_set(&c->resource_of, key, address, number);
    return number;
}

/* Which steps there are is known by two keys of 64 bits. */
uint32_t collector_wait_step(struct collector *c, const struct recording_link *step)
{
    bool is_new;
    uint64_t thread = step->thread & ((UINT32_C(1) << THREAD_BITS) - 1);
    uint64_t parent = step->parent & ((UINT32_C(1) << STEP_BITS) - 1);
    uint64_t first =
        thread | parent << THREAD_BITS | (uint64_t)step->doing << (THREAD_BITS + STEP_BITS);
    uint32_t *found = map_find(&c->step_of, first, map_two(step->node, step->resource));
    if (found)
        return *found;
    if (c->steps.len >= MOST_STEPS / 2 && step->doing == RECORDING_DOING_RUN &&
        step->node != RECORDING_ROOT) {
        struct recording_link placeless = *step;
        placeless.node = RECORDING_ROOT;
        return collector_wait_step(c, &placeless);
    }
    if (c->steps.len >= MOST_STEPS)
        return step->parent;
    uint32_t number =
        map_index(&c->step_of, first, map_two(step->node, step->resource), c->steps.len, &is_new);
    vec_push(&c->steps, *step);
    return number;
}

void collector_wait(struct collector *c, uint32_t step, bool is_new, uint64_t ns, uint64_t at_ns)
{
    struct recording_link *s = step == RECORDING_NONE ? NULL : &c->steps.at[step];
    const struct recording_link *first = s;
    while (first && first->parent != RECORDING_NONE)
        first = &c->steps.at[first->parent];
    if (!s || !collector_counts(c, c->threads.at[first->thread].process, at_ns))
        return;
    s->ns += ns;
    s->waits += is_new;
}

void collector_wait_error(struct collector *c, uint32_t step, uint64_t error, uint64_t single)
{
    struct recording_link *s = &c->steps.at[step];
    if (__builtin_add_overflow(s->error, error, &s->error))
        s->error = UINT64_MAX;
    if (__builtin_add_overflow(s->single, single, &s->single))
        s->single = UINT64_MAX;
}

uint32_t collector_step_before(const struct collector *c, uint32_t step)
{
    return c->steps.at[step].parent;
}

/* Samples of one loop hit several of its instructions, which have one caller. */
bool collector_steps_are_alike(const struct collector *c, uint32_t one, uint32_t other,
                               bool anywhere)
{
    const struct recording_link *a = &c->steps.at[one], *b = &c->steps.at[other];
    const struct recording_node *nodes = c->tally.nodes.at;
    bool both_run = a->doing == RECORDING_DOING_RUN && b->doing == RECORDING_DOING_RUN &&
                    a->parent == b->parent && a->thread == b->thread;
    bool both_known = a->node != RECORDING_ROOT && b->node != RECORDING_ROOT;
    return one == other ||
           (both_run &&
            (anywhere || (both_known && nodes[a->node].parent == nodes[b->node].parent &&
                          nodes[a->node].object == nodes[b->node].object)));
}

/* --- bytes ------------------------------------------------------------------------------------ */

int64_t collector_call_of(const struct collector *c, struct collector_place place)
{
    const struct recording_node *node = &c->tally.nodes.at[place.node];
    bool is_call = (node->object == c->kernel || node->object == c->wait) &&
                   node->address < RECORDING_KERNEL_FAULT;
    return is_call ? (int64_t)node->address : -1;
}

bool collector_is_fault(const struct collector *c, struct collector_place place)
{
    const struct recording_node *node = &c->tally.nodes.at[place.node];
    return node->object == c->kernel && node->address == RECORDING_KERNEL_FAULT;
}

uint64_t collector_function_of(const struct collector *c, struct collector_place place)
{
    const struct recording_node *node = &c->tally.nodes.at[place.stack];
    if (place.stack == RECORDING_ROOT || node->object == c->cut)
        return 0;
    struct unwind_tables *t = c->images.all.at[node->object]->tables;
    uint64_t start = t ? unwind_function_start(t, node->address) : 0;
    return ((uint64_t)node->object << 48 ^ start) | UINT64_C(1) << 63;
}

/* Beyond MOST_TRANSFERS, files are merged, and then stacks. */
void collector_transfer(struct collector *c, pid_t pid, pid_t tid, struct recording_transfer t,
                        uint64_t at_ns)
{
    bool is_new;
    t.thread = collector_thread(c, pid, tid, at_ns);
    if (!collector_counts(c, c->threads.at[t.thread].process, at_ns))
        return;
    if (c->transfers.len >= MOST_TRANSFERS) {
        t.resource = RECORDING_NONE;
        t.node = c->transfers.len >= 2 * MOST_TRANSFERS ? RECORDING_ROOT : t.node;
    }
    uint32_t at = map_index(&c->transfer_of, map_two(t.thread, t.resource),
                            map_two(t.node, t.is_write), c->transfers.len, &is_new);
    if (is_new) {
        vec_push(&c->transfers, t);
        return;
    }
    struct recording_transfer *known = &c->transfers.at[at];
    known->calls += t.calls;
    known->bytes += t.bytes;
    known->disk_bytes += t.disk_bytes;
    known->squares += t.squares;
}

void collector_transferred(struct collector *c, const struct recording_transferred *all)
{
    c->transferred.read += all->read;
    c->transferred.written += all->written;
    c->transferred.read_calls += all->read_calls;
    c->transferred.write_calls += all->write_calls;
    c->transferred.disk_read += all->disk_read;
    c->transferred.disk_written += all->disk_written;
}

struct recording_transferred collector_transferred_so_far(const struct collector *c)
{
    return c->transferred;
}

uint32_t collector_thread_number(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    return collector_has_process(c, pid) ? collector_thread(c, pid, tid, at_ns) : RECORDING_NONE;
}

size_t collector_living(const struct collector *c, pid_t *pids, size_t most)
{
    size_t len = 0;
    for (size_t i = c->processes.len; i-- > 0 && len < most;)
        if (collector_goes_on(c, i))
            pids[len++] = (pid_t)c->processes.at[i].pid;
    return len;
}

void collector_waits_forget(struct collector *c, uint32_t process)
{
    for (size_t i = 0; i < c->steps.len; i++) {
        const struct recording_link *first = &c->steps.at[i];
        while (first->parent != RECORDING_NONE)
            first = &c->steps.at[first->parent];
        struct recording_link *s = &c->steps.at[i];
        if (c->threads.at[first->thread].process == process)
            s->ns = s->waits = s->error = s->single = 0;
    }
    for (size_t i = 0; i < c->transfers.len; i++) {
        struct recording_transfer *t = &c->transfers.at[i];
        if (c->threads.at[t->thread].process != process)
            continue;
        *(t->is_write ? &c->transferred.written : &c->transferred.read) -= t->bytes;
        *(t->is_write ? &c->transferred.write_calls : &c->transferred.read_calls) -= t->calls;
        *(t->is_write ? &c->transferred.disk_written : &c->transferred.disk_read) -= t->disk_bytes;
        t->calls = t->bytes = t->disk_bytes = t->squares = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->waits.len; i++)
        if (c->threads.at[c->waits.at[i].thread].process != process)
            c->waits.at[kept++] = c->waits.at[i];
    c->waits.len = kept;
}

void collector_waits_finish(struct collector *c, struct recording *out)
{
    for (size_t i = 0; i < c->resources.len; i++) {
        struct recording_resource one = c->resources.at[i];
        one.name = one.name ? arena_copy(&out->arena, one.name, strlen(one.name)) : NULL;
        vec_push(&out->resources, one);
    }
    for (size_t i = 0; i < c->steps.len; i++)
        vec_push(&out->links, c->steps.at[i]);
    vec_copy(&out->transfers, &c->transfers);
    if (c->transferred.read_calls + c->transferred.write_calls)
        vec_push(&out->transferred, c->transferred);
}

void collector_waits_free(struct collector *c)
{
    vec_free(&c->resources);
    vec_free(&c->steps);
    map_deinit(&c->resource_of);
    map_deinit(&c->step_of);
    vec_free(&c->transfers);
    map_deinit(&c->transfer_of);
}

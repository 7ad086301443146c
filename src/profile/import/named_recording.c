/* The shared part of imports that name functions.
 *
 * A recording counts on addresses in objects; these files have names. So a name becomes an address:
 * 48 bits of its hash, sixteen bytes for each function, in an object that is `is_listed`, which
 * means that its symbols stand in the recording and no file is opened. The same name has the same
 * address in every recording, which is what lets two of them be merged or compared; names whose
 * hashes collide take the next free address, so that order can matter there and nowhere else.
 * Nodes, symbols, threads and losses are each found by a hash: time is linear in the frames.
 *
 *     address   = 16 * (the name's hash, 48 bits, odd)     0 is code without a name
 *     line      = an address of 4094 after a function's    of formats with lines, in 40 bits
 *     call site = the caller's line + 1                     where the call returns to
 *     symbol    = [address, address + 16)
 *
 * A call site must lie within its caller and differ from its entry, hence the 16 bytes. */
#include "profile/import/named_recording.h"

#include "base/bytes.h"
#include "base/path.h"
#include "objfile/object.h"
#include "record/tally.h"

#include <stdio.h>
#include <string.h>

/* A function's address is 48 bits of its name's hash, and four of room for its code. With lines,
 * twelve of the bits are room: two names of a file meet more often, which moves one of them, as
 * above. */
enum { ADDRESS_BITS = 52, FUNCTION_BYTES = 16, LINES_BYTES = 4096 };

void named_run_begin(struct named_run *n, struct recording *out, bool has_lines)
{
    *n = (struct named_run){
        .recording = out, .cut = RECORDING_NONE, .room = has_lines ? LINES_BYTES : FUNCTION_BYTES};
    vec_push(&out->nodes, (struct recording_node){.object = RECORDING_NONE});
    out->slice_ns = 1;
}

/* --- objects and functions ------------------------------------------------------------------- */

/* Appends an object; returns its number. */
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

/* Where the function of that object and address stands in the table, or the free slot where it
 * belongs. */
static struct named_slot_of_name *named_name_slot(const struct named_run *n, uint32_t object,
                                                  uint64_t address)
{
    for (size_t i = (address >> 1 ^ object * 0x9e3779b1u) & n->name_mask;;
         i = (i + 1) & n->name_mask) {
        struct named_slot_of_name *slot = &n->name_slots[i];
        if (!slot->name || (slot->address == address && slot->name->object == object))
            return slot;
    }
}

/* Probes addresses from the hash on until one is free or has this very name. Of two names with one
 * hash, the one that comes second moves on; both stay apart, but in another run they may be the
 * other way round. The table is at most half full; what a look-up needs of it is an entry and
 * the name. */
uint64_t named_run_function(struct named_run *n, uint32_t object, const char *name, size_t len)
{
    struct named_slot_of_name *slot;
    uint64_t address = hash_bytes(name, len) & ((UINT64_C(1) << ADDRESS_BITS) / n->room - 1);
    size_t before = n->name_slots ? n->name_mask + 1 : 0, slots = before ? 2 * before : 1024;
    if (n->recording->symbols.len >= before / 2) {
        struct named_slot_of_name *old = n->name_slots;
        n->name_slots = memory_zeroed(slots, sizeof *n->name_slots);
        n->name_mask = slots - 1;
        memory_prefer_large_pages(n->name_slots, slots * sizeof *n->name_slots);
        for (size_t i = 0; i < before; i++)
            if (old[i].name)
                *named_name_slot(n, old[i].name->object, old[i].address) = old[i];
        memory_free(old);
    }
    for (address |= 1;; address++) { /* 0 is of code without a name */
        slot = named_name_slot(n, object, address);
        if (!slot->name)
            break;
        if (slot->name->len == len && !memcmp(slot->name->text, name, len))
            return address * n->room;
    }
    struct named_name *copy = arena_alloc(&n->recording->arena, sizeof *copy + len + 1);
    *copy = (struct named_name){.object = object, .len = len};
    memcpy(copy->text, name, len);
    *slot = (struct named_slot_of_name){address, copy};
    uint64_t start = address * n->room;
    struct recording_object *o = &n->recording->objects.at[object];
    vec_push(&n->recording->symbols, (struct recording_symbol){object, start, n->room, copy->text});
    o->high = start + n->room > o->high ? start + n->room : o->high;
    return start;
}

/* The file goes into the key, after the NUL that ends the name for all others. */
uint64_t named_run_function_in(struct named_run *n, uint32_t object, const char *name, size_t len,
                               const char *file, size_t file_len)
{
    n->key.len = 0;
    vec_reserve(&n->key, len + 1 + file_len);
    memcpy(n->key.at, name, len);
    n->key.at[len] = 0;
    if (file_len)
        memcpy(n->key.at + len + 1, file, file_len);
    return named_run_function(n, object, n->key.at, file_len ? len + 1 + file_len : len);
}

/* A line's place in the room of its function follows from line and file, so that it is the same in
 * each recording; where two would have one, the second takes the next. The first byte is the
 * function's entry, and the last but one stands for code without a line. */
uint64_t named_run_line(struct named_run *n, uint32_t object, uint64_t function, const char *file,
                        size_t len, uint32_t line)
{
    enum { PLACES = LINES_BYTES - 3, NO_LINE = LINES_BYTES - 2 };
    if (!line || !len)
        return function + NO_LINE;
    uint32_t number = intern(&n->files, file, len);
    uint64_t first = (hash_bytes(file, len) + line) % PLACES;
    for (uint64_t k = 0; k < PLACES; k++) {
        uint64_t address = function + 1 + (first + k) % PLACES;
        bool is_new;
        uint32_t at = map_index(&n->line_at, address, object, n->lines.len, &is_new);
        if (is_new)
            vec_push(&n->lines, ((struct named_line){object, number, line, function, address}));
        if (n->lines.at[at].file == number && n->lines.at[at].line == line)
            return address;
    }
    return function + NO_LINE;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static uint32_t named_hash(const struct recording_node *node)
{
    uint64_t hash = (map_two(node->parent, node->object) ^ node->address * 0x9e3779b97f4a7c15u) *
                    0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Where the node stands in the table, or the free slot where it belongs. A file may have millions
 * of different frames, and what limits is the memory that is touched for each: the hash rules out
 * nearly all other nodes without reading them. */
static struct named_slot *named_slot(const struct named_run *n, const struct recording_node *node,
                                     uint32_t hash)
{
    for (size_t i = hash & n->node_mask;; i = (i + 1) & n->node_mask) {
        struct named_slot *slot = &n->node_slots[i];
        const struct recording_node *there = &n->recording->nodes.at[slot->node];
        if (!slot->node || (slot->hash == hash && there->parent == node->parent &&
                            there->address == node->address && there->object == node->object))
            return slot;
    }
}

/* Room for so many nodes in the table, which is at most two thirds full. It grows without a look at
 * the nodes, in one pass over both tables. */
static void named_reserve(struct named_run *n, size_t nodes)
{
    size_t before = n->node_slots ? n->node_mask + 1 : 0, slots = before ? before : 1024;
    while (nodes > slots / 3 * 2)
        slots *= 2;
    if (slots == before)
        return;
    struct named_slot *old = n->node_slots;
    n->node_slots = memory_zeroed(slots, sizeof *n->node_slots);
    n->node_mask = slots - 1;
    memory_prefer_large_pages(n->node_slots, slots * sizeof *n->node_slots);
    for (size_t i = 0; i < before; i++) {
        size_t k = old[i].hash & n->node_mask;
        while (old[i].node && n->node_slots[k].node)
            k = (k + 1) & n->node_mask;
        if (old[i].node)
            n->node_slots[k] = old[i];
    }
    memory_free(old);
}

/* A frame that is the first below its caller mostly comes right after it, since the rest of a stack
 * that is new comes at once: then it is found there, and is not in the table. So the table has no
 * more than a node for each place where stacks part. The root is in no slot, either.
 *
 *     main;a;b;c      nodes  1 main  2 a  3 b  4 c    none in the table
 *     main;a;x;y                     2 <- 5 x  6 y    5 alone */
uint32_t named_run_node(struct named_run *n, uint32_t parent, uint32_t object, uint64_t address)
{
    struct recording *r = n->recording;
    struct recording_node node = {parent, object, address};
    size_t behind = (size_t)parent + 1;
    if (behind == r->nodes.len) {
        vec_push(&r->nodes, node);
        return map_value(behind);
    }
    const struct recording_node *first = &r->nodes.at[behind];
    if (first->parent == parent && first->address == address && first->object == object)
        return (uint32_t)behind;
    uint32_t hash = named_hash(&node);
    named_reserve(n, n->node_used + 1);
    struct named_slot *slot = named_slot(n, &node, hash);
    if (!slot->node) {
        *slot = (struct named_slot){.node = map_value(r->nodes.len), .hash = hash};
        n->node_used++;
        vec_push(&r->nodes, node);
    }
    return slot->node;
}

uint32_t named_run_frame(struct named_run *n, uint32_t caller, uint32_t object, const char *name,
                         size_t len)
{
    return named_run_node(n, caller, object, len ? named_run_function(n, object, name, len) : 0);
}

/* The frames that stand outside are of one object, made when it is first needed; the reason is the
 * address in it. */
uint32_t named_run_cut(struct named_run *n, enum recording_cut why)
{
    if (n->cut == RECORDING_NONE)
        n->cut = named_add_object(n, (struct recording_object){.kind = RECORDING_OBJECT_CUT,
                                                               .process = RECORDING_NONE,
                                                               .path = ""});
    return named_run_node(n, RECORDING_ROOT, n->cut, why);
}

/* --- events, threads, samples ---------------------------------------------------------------- */

/* Events are few: a list is searched. A name ends at its first NUL, if not before. */
uint32_t named_run_event(struct named_run *n, const char *name, size_t len,
                         enum recording_event_unit unit)
{
    struct recording *r = n->recording;
    len = strnlen(name, len);
    for (uint32_t i = 0; i < r->events.len; i++)
        if (!strncmp(r->events.at[i].name, name, len) && !r->events.at[i].name[len])
            return i;
    vec_push(&r->events,
             (struct recording_event){.name = arena_copy(&r->arena, name, len), .unit = unit});
    return (uint32_t)r->events.len - 1;
}

/* Threads are found by both numbers, since a tid may be used again in another process. The name is
 * the one that comes first, and names the process, too. */
uint32_t named_run_thread(struct named_run *n, uint32_t pid, uint32_t tid, const char *name,
                          size_t len)
{
    bool is_new;
    /* Processes have no program yet: named_run_finish() finds it, once all objects are known. */
    uint32_t process = map_index(&n->process_of, pid, 0, n->recording->processes.len, &is_new);
    if (is_new)
        vec_push(&n->recording->processes,
                 (struct recording_process){.pid = pid,
                                            .program = RECORDING_NONE,
                                            .name = arena_copy(&n->recording->arena, name, len)});
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

/* The sum of all weights must fit 64 bits, which is checked here, where the line to blame is
 * known. */
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

/* A caller that is not known has address 0 in no object. Calls return to the byte after their
 * line. */
void named_run_calls(struct named_run *n, uint32_t from_object, uint64_t from, uint32_t object,
                     uint64_t self, uint64_t count)
{
    vec_push(&n->recording->arcs,
             (struct recording_arc){from_object, object,
                                    from_object == RECORDING_NONE ? 0 : from + 1, self, count});
}

/* Losses are distinguished by their texts' hash. Texts are constants of this program, so few that
 * they do not collide. */
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

/* The object of the command's name, which the kernel has cut; else the first. Libraries and names
 * in brackets ([kernel.kallsyms], [vdso]) are the last to be taken for a program. */
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
        bool is_other = *base == '[' || path_is_library(base);
        first = is_other && first != RECORDING_NONE ? first : i;
    }
    return first;
}

static int named_by_line(const void *left, const void *right)
{
    const struct named_line *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->address > r->address) - (l->address < r->address);
}

/* Writes the lines of each object as an excerpt. A function begins on the lowest of its lines that
 * are in the file of the first one that was named: names of files are numbered in their order. */
static void named_run_put_lines(struct named_run *n)
{
    struct recording *r = n->recording;
    struct arena scratch = {0};
    struct excerpt_line *lines = ARENA_NEW(&scratch, struct excerpt_line, 2 * n->lines.len);
    if (n->lines.len)
        qsort(n->lines.at, n->lines.len, sizeof *n->lines.at, named_by_line);
    for (size_t i = 0, symbol = 0, len; i < n->lines.len;) {
        uint32_t object = n->lines.at[i].object;
        struct writer w = {0};
        for (len = 0; i < n->lines.len && n->lines.at[i].object == object;) {
            const struct named_line *all = &n->lines.at[i], *entry = all;
            size_t own = 0;
            while (r->symbols.at[symbol].object != object ||
                   r->symbols.at[symbol].start != all->function)
                symbol++;
            for (; i + own < n->lines.len && all[own].object == object &&
                   all[own].function == all->function;
                 own++)
                if (all[own].file < entry->file ||
                    (all[own].file == entry->file && all[own].line < entry->line))
                    entry = &all[own];
            const char *name = r->symbols.at[symbol].name;
            lines[len++] = (struct excerpt_line){all->function, all->function + 1, name,
                                                 n->files.texts.at[entry->file], entry->line};
            for (size_t k = 0; k < own; k++)
                lines[len++] = (struct excerpt_line){all[k].address, all[k].address + 1, name,
                                                     n->files.texts.at[all[k].file], all[k].line};
            i += own;
        }
        excerpt_write_lines(&w, lines, len);
        recording_add_excerpt(r, object, (struct bytes){w.out.at, w.out.len});
        writer_deinit(&w);
    }
    arena_deinit(&scratch);
}

/* Symbols by object and start, as the model wants them; equal samples become one. */
void named_run_finish(struct named_run *n)
{
    struct recording *r = n->recording;
    if (r->symbols.len)
        qsort(r->symbols.at, r->symbols.len, sizeof *r->symbols.at, named_by_place);
    for (size_t i = 0; i < r->objects.len; i++)
        if (r->objects.at[i].kind == RECORDING_OBJECT_FILE && !r->objects.at[i].high)
            r->objects.at[i].high = n->room;
    named_run_put_lines(n);
    for (size_t i = 0; i < r->processes.len; i++)
        r->processes.at[i].program = named_program(r, r->processes.at[i].name);
    tally_sum_up(r, true);
    intern_deinit(&n->paths);
    intern_deinit(&n->files);
    map_deinit(&n->line_at);
    vec_free(&n->lines);
    vec_free(&n->key);
    memory_free(n->name_slots);
    memory_free(n->node_slots);
    map_deinit(&n->thread_of);
    map_deinit(&n->process_of);
    map_deinit(&n->texts_lost);
}

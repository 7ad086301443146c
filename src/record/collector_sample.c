/* From a sample to a node of the tree of stacks.
 *
 * The tree has a node for each way in which a function was reached: (caller's node, object, address
 * in the object). A stack comes as registers and a copied piece of memory, which is unwound, or as
 * a chain of addresses that the kernel or another profiler has found. It is put into the tree from
 * the outermost frame inwards:
 *
 *     root - [why the rest is missing] - outermost frame - ... - innermost frame - [leaf]
 *
 * The first bracket stands for a stack that has no outer end; the leaf says what the thread did
 * outside of user code: a system call, a page fault, a wait. Both are objects of their own, so that
 * reports need no case for them.
 *
 * What the copied piece of stack does not hold is read from the process only if the thread has
 * certainly not run since: it stands still while it is read. A thread that goes on may have
 * returned and called others, and what then lies in the outer part of its stack are callers that
 * never called: that the piece which was copied looks the same proves nothing, since the same
 * frames are often built again.
 *
 * A sample costs one walk over its frames and a look-up in a map for each. Memory is bounded: from
 * NODES_FOR_ALL nodes on, only the FEW_FRAMES innermost frames are kept. */
#include "record/collector_private.h"

#include "objfile/object.h"
#include "record/proc_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_FRAMES = 8192,
    FEW_FRAMES = 32,
    NODES_FOR_ALL = 1000 * 1000, /* nodes from which on only the innermost frames are kept */
    PAGE_BYTES = 4096,
    MAPS_AGAIN_NS = 20 * 1000 * 1000,
};

/* One stack while it is walked. */
struct sample_walk {
    struct collector *c;
    const struct collector_sample *sample;
    uint32_t process;
    bool went_beyond;      /* it needed more than sample->stack */
    uint64_t page_address; /* of `page`; 0: none was read */
    uint8_t page[PAGE_BYTES];
};

/* --- what unwinding asks --------------------------------------------------------------------- */

/* What is mapped at an address. A mapping that was not reported (by ptrace, or when events were
 * lost) is looked for in the process itself, but not more often than MAPS_AGAIN_NS. */
static const struct mapping *sample_mapping(struct sample_walk *w, uint64_t pc)
{
    struct collected_process *p = &w->c->inner.at[w->process];
    const struct mapping *found = mappings_find(p->mappings, pc);
    if (found || w->sample->at_ns < p->maps_read_ns + MAPS_AGAIN_NS || !w->sample->is_live)
        return found;
    p->maps_read_ns = w->sample->at_ns;
    if (!collector_read_maps(w->c, w->sample->pid, w->sample->at_ns))
        return NULL;
    return mappings_find(w->c->inner.at[w->process].mappings, pc);
}

/* struct unwind_stack: module_at() */
static bool sample_module(void *context, uint64_t pc, struct unwind_module *out)
{
    struct sample_walk *w = context;
    const struct mapping *m = sample_mapping(w, pc);
    if (!m)
        return false;
    struct images *images = &w->c->images;
    const struct image *image = images->all.at[m->image];
    uint64_t link = images_link_address(images, m->image, pc - m->start + m->offset);
    *out = (struct unwind_module){.tables = image->tables,
                                  .bias = pc - link,
                                  .is_generated = image->object.kind == RECORDING_OBJECT_GENERATED};
    return true;
}

/* All of it or nothing. */
static bool sample_read_memory(pid_t pid, uint64_t address, void *into, size_t len)
{
    return proc_read_memory(pid, address, into, len) == len;
}

/* The stack pointer, from which on the stack was copied. */
static uint64_t sample_sp(const struct sample_walk *w)
{
    const struct arch *a = w->c->options.arch;
    return a ? w->sample->registers->at[a->sp] : 0;
}

/* A word of the stack that was read beyond the samples' copy. */
static bool sample_read_beyond(struct sample_walk *w, uint64_t address, uint64_t *word)
{
    struct bytes beyond = w->sample->beyond;
    uint64_t at = address - sample_sp(w) - w->sample->stack.len;
    if (beyond.len < sizeof *word || at > beyond.len - sizeof *word)
        return false;
    memcpy(word, beyond.at + at, sizeof *word);
    return w->went_beyond = true;
}

/* struct unwind_stack: read(). Code is in its file, whatever has become of the process; all else is
 * in the process's memory, which is read by pages, as frames that follow each other are close. */
static bool sample_read(void *context, uint64_t address, uint64_t *word)
{
    struct sample_walk *w = context;
    if (sample_read_beyond(w, address, word))
        return true;
    struct images *images = &w->c->images;
    const struct mapping *m = mappings_find(w->c->inner.at[w->process].mappings, address);
    bool is_file = m && images->all.at[m->image]->object.kind == RECORDING_OBJECT_FILE;
    struct object *o = is_file ? images_open(images, m->image) : NULL;
    if (o) {
        uint64_t link = images_link_address(images, m->image, address - m->start + m->offset);
        struct bytes code = object_code(o, link, sizeof *word);
        if (code.len >= sizeof *word) {
            memcpy(word, code.at, sizeof *word);
            return true;
        }
    }
    uint64_t page = address & -(uint64_t)PAGE_BYTES;
    if (!w->sample->is_still || !page)
        return false;
    if (address - page > PAGE_BYTES - sizeof *word)
        return sample_read_memory(w->sample->pid, address, word, sizeof *word);
    if (w->page_address != page) {
        w->page_address = 0;
        if (!sample_read_memory(w->sample->pid, page, w->page, sizeof w->page))
            return false;
        w->page_address = page;
    }
    memcpy(word, w->page + (address - page), sizeof *word);
    return true;
}

/* --- system calls ---------------------------------------------------------------------------- */

/* Up to `most` bytes of a file's code that end at an address of run time, less where a section
 * begins; none, if there are not `least`. */
static struct bytes sample_code_before(struct sample_walk *w, uint64_t pc, size_t least,
                                       size_t most)
{
    struct images *images = &w->c->images;
    const struct mapping *m = sample_mapping(w, pc);
    if (!m || images->all.at[m->image]->object.kind != RECORDING_OBJECT_FILE)
        return (struct bytes){0};
    uint64_t link = images_link_address(images, m->image, pc - m->start + m->offset);
    struct object *o = images_open(images, m->image);
    for (size_t len = most; o && len >= least; len--) {
        struct bytes code = object_code(o, link - len, len);
        if (code.len >= len)
            return (struct bytes){code.at, len};
    }
    return (struct bytes){0};
}

/* A word of the stack, `slot` bytes above the stack pointer; false: it was not copied. */
static bool sample_stack_word(const struct sample_walk *w, uint64_t slot, uint64_t *word)
{
    struct bytes stack = w->sample->stack;
    if (stack.len < sizeof *word || slot > stack.len - sizeof *word)
        return false;
    memcpy(word, stack.at + slot, sizeof *word);
    return true;
}

/* The number of a system call that was passed to the function that makes it. */
static int64_t sample_syscall_passed(struct sample_walk *w, uint64_t slot)
{
    enum { MOST_BEFORE = 32 };
    const struct arch *a = w->c->options.arch;
    uint64_t returns_to, number;
    if (slot == ARCH_SLOT_OF_CALLER) {
        if (!sample_stack_word(w, 0, &returns_to))
            return SYSCALL_UNKNOWN;
        slot = a->syscall_caller_slot(sample_code_before(w, returns_to, 1, MOST_BEFORE));
        if (!slot)
            return SYSCALL_UNKNOWN;
        slot += sizeof returns_to;
    }
    bool is_known = sample_stack_word(w, slot, &number) && number < a->syscalls_len;
    return is_known ? (int64_t)number : SYSCALL_UNKNOWN;
}

/* The number of the system call that the thread is in, or SYSCALL_UNKNOWN, SYSCALL_NONE. Where no
 * register keeps it, it stands in the code before the instruction, or that code says where. */
static int64_t sample_syscall(struct sample_walk *w)
{
    enum { MOST_BEFORE = 5 };
    const struct collector_sample *s = w->sample;
    const struct arch *a = w->c->options.arch;
    if (s->syscall != SYSCALL_UNKNOWN || !s->registers || !a || !a->syscall_code_len)
        return s->syscall;
    size_t least = a->syscall_code_len, most = least + (a->syscall_number ? MOST_BEFORE : 0);
    struct bytes code = sample_code_before(w, s->registers->pc, least, most);
    if (!code.len)
        return SYSCALL_UNKNOWN;
    code.len -= least;
    if (memcmp(code.at + code.len, a->syscall_code, least) != 0)
        return SYSCALL_NONE;
    if (!a->syscall_number)
        return (int64_t)s->registers->at[a->syscall_register];
    unsigned slot = 0;
    int64_t number = a->syscall_number(code, &slot);
    return slot ? sample_syscall_passed(w, slot) : number;
}

/* The address of a leaf in the object of waits. */
static uint64_t sample_wait_place(enum collector_where where, int64_t number)
{
    if (where != COLLECTOR_WAITING)
        return where == COLLECTOR_READY ? RECORDING_WAIT_READY : RECORDING_WAIT_STOPPED;
    if (number >= 0)
        return (uint64_t)number;
    return number == SYSCALL_NONE ? RECORDING_WAIT_FAULT : RECORDING_WAIT_UNKNOWN;
}

/* Frames of the kernel's own code, as far as its addresses were reported. */
static uint32_t sample_kernel(struct sample_walk *w, uint32_t node)
{
    struct collector *c = w->c;
    const struct collector_chain *chain = w->sample->chain;
    for (uint32_t i = chain->kernel_len; i-- > 0;) {
        uint64_t address = chain->kernel[i] - (i ? 1 : 0);
        const struct mapping *m = mappings_find(c->kernel_code, address);
        bool is_known = m || (node && c->tally.nodes.at[node].object == c->kernel);
        if (m)
            node = tally_node(&c->tally, node, m->image, address - m->start);
        else if (!is_known)
            node = tally_node(&c->tally, node, c->kernel, RECORDING_KERNEL_UNKNOWN);
    }
    return node;
}

/* The innermost frame of a sample outside of user code. */
static uint32_t sample_leaf(struct sample_walk *w, uint32_t node)
{
    struct collector *c = w->c;
    enum collector_where where = w->sample->where;
    if (w->sample->chain && w->sample->chain->kernel_len)
        return sample_kernel(w, node);
    if (where == COLLECTOR_IN_USER && node != RECORDING_ROOT)
        return node;
    int64_t number = sample_syscall(w);
    if (where != COLLECTOR_IN_KERNEL)
        return tally_node(&c->tally, node, c->wait, sample_wait_place(where, number));
    uint64_t place = number >= 0              ? (uint64_t)number
                     : number == SYSCALL_NONE ? RECORDING_KERNEL_FAULT
                                              : RECORDING_KERNEL_UNKNOWN;
    return tally_node(&c->tally, node, c->kernel, place);
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* Why the walk ended, as the recording names it. */
static enum recording_cut sample_cut_of(enum unwind_end end)
{
    switch (end) {
    case UNWIND_DEEP: return RECORDING_CUT_DEEP;
    case UNWIND_NO_TABLE: return RECORDING_CUT_NO_TABLE;
    case UNWIND_GENERATED: return RECORDING_CUT_GENERATED;
    case UNWIND_TOO_MANY: return RECORDING_CUT_TOO_MANY;
    default: return RECORDING_CUT_BROKEN;
    }
}

/* The node of a frame of user code at an address of run time, within its caller's. */
static uint32_t sample_frame(struct sample_walk *w, uint32_t parent, uint64_t address)
{
    struct collector *c = w->c;
    const struct mapping *m = sample_mapping(w, address);
    if (!m || c->images.all.at[m->image]->object.kind == RECORDING_OBJECT_GENERATED) {
        /* An object of the process's own: after a fork it may have other code at that address. */
        size_t nodes = c->tally.nodes.len;
        uint32_t node = tally_node(&c->tally, parent, collector_generated(c, w->process), address);
        if (c->tally.nodes.len > nodes)
            collector_generated_at(c, w->process, address);
        return node;
    }
    uint64_t offset = address - m->start + m->offset;
    return tally_node(&c->tally, parent, m->image,
                      images_link_address(&c->images, m->image, offset));
}

/* Whether user registers are those of another program: in the midst of an exec the kernel has
 * mapped the new one and still has the registers of the old one's system call, whose code is
 * nowhere. Nothing of the new one has called that. */
static bool sample_is_of_before_exec(struct sample_walk *w)
{
    const struct collector_sample *s = w->sample;
    if (s->where != COLLECTOR_IN_KERNEL)
        return false;
    if (s->chain && s->chain->user_len)
        return !sample_mapping(w, s->chain->user[0]);
    return s->registers && !sample_mapping(w, s->registers->pc);
}

/* Whether a frame of a chain is one: where a function does not keep the frame pointer, the kernel
 * takes what it finds for a return address. */
static bool sample_is_frame(struct sample_walk *w, uint32_t i)
{
    uint64_t address = w->sample->chain->user[i];
    return !i || sample_mapping(w, address - 1);
}

/* A chain has return addresses, which belong to the call before them; the first address is where
 * user code was. */
static struct collector_place sample_chain(struct sample_walk *w)
{
    const struct collector_chain *chain = w->sample->chain;
    enum recording_cut cut = RECORDING_CUT_BROKEN;
    bool is_whole = !chain->is_leaf && !chain->is_cut;
    if (chain->is_leaf)
        cut = RECORDING_CUT_NO_STACK;
    else if (chain->is_cut)
        cut = RECORDING_CUT_TOO_MANY;
    for (uint32_t i = 0; i < chain->user_len && is_whole; i++)
        is_whole = sample_is_frame(w, i);
    uint32_t node = RECORDING_ROOT;
    if (!is_whole)
        node = tally_node(&w->c->tally, node, w->c->cut, cut);
    for (uint32_t i = chain->user_len; i-- > 0;)
        if (sample_is_frame(w, i))
            node = sample_frame(w, node, chain->user[i] - (i ? 1 : 0));
    return (struct collector_place){
        .stack = node, .node = node, .has_stack = !chain->is_leaf, .is_whole = is_whole};
}

/* The stack of a sample: as reported, or unwound. Without stacks it is the innermost frame. */
static struct collector_place sample_stack(struct sample_walk *w)
{
    struct collector *c = w->c;
    const struct collector_sample *s = w->sample;
    uint64_t frames[MOST_FRAMES];
    enum unwind_end end;
    bool has_chain = s->chain && (s->chain->user_len || !s->registers);
    if (sample_is_of_before_exec(w))
        return (struct collector_place){.stack = RECORDING_ROOT};
    if (has_chain)
        return sample_chain(w);
    if (!s->registers) {
        bool ran = s->where == COLLECTOR_IN_USER || s->where == COLLECTOR_IN_KERNEL;
        uint32_t node = ran ? RECORDING_ROOT
                            : tally_node(&c->tally, RECORDING_ROOT, c->cut, RECORDING_CUT_NO_STACK);
        return (struct collector_place){.stack = node};
    }
    struct unwind_stack stack = {.address = sample_sp(w),
                                 .bytes = s->stack,
                                 .module_at = sample_module,
                                 .read = sample_read,
                                 .context = w};
    uint32_t most = c->tally.nodes.len < NODES_FOR_ALL ? MOST_FRAMES : FEW_FRAMES;
    uint32_t len = 0;
    if (c->options.no_stacks)
        end = UNWIND_BROKEN;
    else
        len = unwind_walk(&stack, c->options.arch, s->registers, frames, most, &end);
    if (!len)
        frames[len++] = s->registers->pc;
    uint32_t node = RECORDING_ROOT;
    if (c->options.no_stacks)
        node = tally_node(&c->tally, node, c->cut, RECORDING_CUT_NO_STACK);
    else if (end != UNWIND_WHOLE)
        node = tally_node(&c->tally, node, c->cut, sample_cut_of(end));
    for (uint32_t i = len; i-- > 0;)
        node = sample_frame(w, node, frames[i]);
    return (struct collector_place){.stack = node,
                                    .node = node,
                                    .has_stack = !c->options.no_stacks,
                                    .is_whole = end == UNWIND_WHOLE,
                                    .is_deep = end == UNWIND_DEEP || w->went_beyond};
}

struct collector_place collector_place(struct collector *c, const struct collector_sample *s)
{
    struct sample_walk w = {.c = c, .sample = s};
    uint32_t thread = collector_thread(c, s->pid, s->tid, s->at_ns); /* which may move the list */
    w.process = c->threads.at[thread].process;
    struct collector_place place = sample_stack(&w);
    place.node = sample_leaf(&w, place.stack);
    return place;
}

struct collector_place collector_place_as(struct collector *c, struct collector_place place,
                                          enum collector_where where)
{
    place.node = where == COLLECTOR_IN_KERNEL
                     ? tally_node(&c->tally, place.stack, c->kernel, RECORDING_KERNEL_FAULT)
                     : tally_node(&c->tally, place.stack, c->wait, sample_wait_place(where, -1));
    return place;
}

/* ---- branches */

/* An address in a file; false: the code is in none. */
static bool sample_place(struct sample_walk *w, uint64_t address, uint32_t *object, uint64_t *link)
{
    const struct mapping *m = sample_mapping(w, address);
    struct images *images = &w->c->images;
    *object = RECORDING_NONE;
    *link = 0;
    if (!m || images->all.at[m->image]->object.kind != RECORDING_OBJECT_FILE)
        return false;
    *object = m->image;
    *link = images_link_address(images, m->image, address - m->start + m->offset);
    return true;
}

/* Between one branch and the next one that was taken, code ran straight through, if it is in one
 * file and not longer than LONGEST: beyond, what the CPU noted is not whole. Equal ones are added
 * up whenever there are twice as many as the last time, so that there are never more than twice the
 * different ones, but for the first few. */
void collector_branches(struct collector *c, const struct collector_sample *s,
                        const struct collector_branch *branches, size_t len)
{
    enum { LONGEST = 1 << 16, FEW = 1 << 16 };
    struct sample_walk w = {.c = c, .sample = s};
    uint32_t next_object = RECORDING_NONE;
    uint64_t next_from = 0;
    uint32_t thread = collector_thread(c, s->pid, s->tid, s->at_ns); /* it may move the list */
    w.process = c->threads.at[thread].process;
    if (!collector_counts(c, w.process, s->at_ns))
        return;
    for (size_t i = 0; i < len; i++) {
        struct recording_branch b = {.count = 1, .missed = branches[i].is_missed};
        bool has_from = sample_place(&w, branches[i].from, &b.from_object, &b.from);
        bool has_to = sample_place(&w, branches[i].to, &b.to_object, &b.to);
        if (has_to && b.to_object == next_object && next_from >= b.to && next_from - b.to < LONGEST)
            b.end = next_from;
        next_object = b.from_object;
        next_from = b.from;
        if (has_from || has_to)
            vec_push(&c->branches, b);
    }
    if (c->branches.len > FEW && c->branches.len > 2 * c->branches_summed)
        c->branches.len = c->branches_summed =
            recording_sum_branches(c->branches.at, c->branches.len);
}

/* What fell into a time in which the process had recording switched off. */
static void sample_lose(struct collector *c, uint32_t event, uint64_t weight)
{
    c->left_out.at[event] += weight;
    collector_lose(c, RECORDING_LOST_STOPPED, COLLECTOR_STOPPED_TEXT, 1,
                   c->events.at[event].unit == RECORDING_UNIT_NS ? weight : 0);
}

/* A sample of a moment counts once; one that lasted is spread, and cut where recording was off. */
void collector_sample_at(struct collector *c, const struct collector_sample *s,
                         struct collector_place place)
{
    uint32_t thread = collector_thread(c, s->pid, s->tid, s->at_ns);
    uint32_t process = c->threads.at[thread].process;
    struct recording_sample row = {.thread = thread,
                                   .event =
                                       s->event | (s->is_first_period ? TALLY_FIRST_PERIOD : 0),
                                   .node = place.node,
                                   .labels = s->labels,
                                   .weight = s->weight};
    bool is_counted = false;
    if (!s->lasted_ns) {
        is_counted = collector_counts(c, process, s->at_ns);
        if (is_counted)
            tally_add(&c->tally, collector_since_start(c, s->at_ns), &row);
        else
            sample_lose(c, s->event, s->weight);
    }
    /* What lasted is cut where recording was switched off and on. `given` is the weight so far: the
     * parts are differences of it, so that their sum is exact. */
    uint64_t lasted_ns = s->lasted_ns < s->at_ns ? s->lasted_ns : s->at_ns;
    uint64_t from = s->at_ns - lasted_ns, given = 0;
    for (uint64_t at = from, until; at < s->at_ns; at = until) {
        until = collector_counts_until(c, process, at);
        until = until < s->at_ns ? until : s->at_ns;
        double part = (double)(until - from) / (double)lasted_ns;
        uint64_t so_far = until < s->at_ns ? (uint64_t)((double)s->weight * part) : s->weight;
        if (collector_counts(c, process, at)) {
            row.event = s->event;
            row.weight = so_far - given;
            tally_add_over(&c->tally, collector_since_start(c, at), collector_since_start(c, until),
                           &row);
            is_counted = true;
        } else {
            sample_lose(c, s->event, so_far - given);
        }
        given = so_far;
    }
    if (!is_counted)
        return;
    if (c->inner.at[process].rank_tries)
        collector_read_rank(c, process);
    c->inner.at[process].has_samples = true;
    c->stacks += place.has_stack ? 1 + (uint64_t)s->others : 0;
    c->whole += place.is_whole ? 1 + (uint64_t)s->others : 0;
}

/* Probes of user code need no stack: only their number matters. */
bool collector_probe(struct collector *c, const struct collector_sample *s,
                     enum collector_probe kind)
{
    uint32_t thread = collector_thread(c, s->pid, s->tid, s->at_ns);
    if (!collector_counts(c, c->threads.at[thread].process, s->at_ns))
        return false;
    struct collector_place place = {.node = RECORDING_ROOT};
    if (kind != COLLECTOR_PROBE_USER)
        place = collector_place(c, s);
    c->stacks += place.has_stack;
    c->whole += place.is_whole;
    tally_add(&c->tally, collector_since_start(c, s->at_ns),
              &(struct recording_sample){.thread = thread,
                                         .event = COLLECTOR_PROBE_EVENT + kind,
                                         .node = place.node,
                                         .labels = s->labels,
                                         .weight = s->weight});
    return place.is_deep && !place.is_whole;
}

void collector_sample(struct collector *c, const struct collector_sample *s)
{
    collector_sample_at(c, s, collector_place(c, s));
}

/* ---- What threads wait for, chains of threads that wait for each other, and what they transfer.
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

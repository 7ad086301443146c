/* Coverage of a program as it is: a breakpoint at the start of each basic block, which is taken
 * away when it is hit for the first time.
 *
 *     exec, dlopen ─► /proc/PID/maps ─► objects with lines ─► object_blocks() ─► breakpoints
 *     trap at A    ─► block of A: it ran; the byte that was there comes back; A runs again
 *
 * What keeps the program as it is:
 *   - breakpoints stand at starts of instructions only (objfile/blocks.c), and only where memory
 *     holds what the file holds;
 *   - one byte changes, and changes back before anything else is decided, so threads need not stop:
 *     each either traps and is set back to the instruction, or runs it. A thread that trapped
 *     before another one took the breakpoint away finds a block of ours there, and runs it again;
 *   - memory is told by address and mapping, not by who set what: a forked child has its parent's
 *     breakpoints, a vforked one its parent's memory, and both are found in the child's own maps;
 *   - a mapping that is shared with other processes or with the file is never written to.
 *
 * A block that ran in any process is not set again in another, so a build of thousands of compiler
 * runs soon runs at full speed. Objects that are loaded later are found when the dynamic linker
 * calls `_dl_debug_state`, as it does for debuggers: a breakpoint there stays.
 *
 * Costs a stop, some 10 microseconds, for each block that runs, once for each time that its code is
 * mapped before. Not seen: code without lines, code that is made at run time, and what a program
 * reads of its own code while a breakpoint stands in it. */
#include "record/cover_blocks.h"

#include "arch/arch.h"
#include "base/bytes.h"
#include "base/sort.h"
#include "record/follow.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_conflict.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

enum { LONGEST_BREAKPOINT = 4 };

/* An object in a process. */
struct covered_image {
    uint32_t object;
    uint64_t start, end, bias; /* of its code */
    uint64_t debug_state;      /* address of the linker's function; 0: it has none */
};

struct covered_process {
    pid_t pid;
    VEC(struct covered_image) images;
};

struct covering {
    const struct arch *arch;
    struct covered_blocks *out;
    VEC(struct covered_process) processes;
    struct intern paths; /* of objects, by number */
    bool takes_all;      /* the system's, too */
    bool has_program;    /* the first one has been executed */
};

/* --- objects -----------------------------------------------------------------------------------
 */

/* What a distribution installs is nobody's to test, unless it is the program itself. */
static bool path_is_of_system(const char *path)
{
    static const char *const FOLDERS[] = {"/usr/", "/lib", "/bin/", "/sbin/"};
    bool is_found = false;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++)
        is_found |= !strncmp(path, FOLDERS[i], strlen(FOLDERS[i]));
    return is_found && strncmp(path, "/usr/local/", 11);
}

/* Read when a process first has it. The first one is the program. */
static uint32_t covering_object(struct covering *c, const char *path)
{
    uint32_t number = intern(&c->paths, path, strlen(path));
    if (number < c->out->objects.len)
        return number;
    struct covered_object o = {.path = strdup(path)};
    if (!o.path)
        memory_exhausted(strlen(path));
    o.object = object_open(path, NULL, NULL, NULL);
    o.is_left_out = number && !c->takes_all && path_is_of_system(path);
    if (!o.object)
        o.why = "cannot be read";
    else if (o.is_left_out)
        o.why = "is the system's";
    else if (object_blocks(o.object, &o.blocks, &o.why) && !o.blocks.all.len)
        o.why = "has no lines of its code in its debug information";
    o.has_run = calloc(o.blocks.all.len + 1, sizeof *o.has_run);
    if (!o.has_run)
        memory_exhausted(o.blocks.all.len);
    vec_push(&c->out->objects, o);
    return number;
}

/* The block that begins at a link-time address; SIZE_MAX: none does. */
static size_t object_block_at(const struct covered_object *o, uint64_t address)
{
    size_t i = PARTITION_POINT(o->blocks.all.len, at, o->blocks.all.at[at].start < address);
    return i < o->blocks.all.len && o->blocks.all.at[i].start == address ? i : SIZE_MAX;
}

/* --- memory of a process -----------------------------------------------------------------------
 */

/* Sets a breakpoint at each block that has not run, page by page. */
static void image_set(struct covering *c, int memory, const struct covered_image *image)
{
    enum { PAGE = 4096 };
    struct covered_object *o = &c->out->objects.at[image->object];
    size_t len = c->arch->breakpoint_len, count = o->blocks.all.len;
    uint8_t page[PAGE];
    for (size_t i = 0; i < count;) {
        uint64_t first = o->blocks.all.at[i].start + image->bias;
        uint64_t base = first & ~(uint64_t)(PAGE - 1);
        bool is_here = first >= image->start && first < image->end; /* code may have two segments */
        bool is_read = is_here && pread(memory, page, PAGE, (off_t)base) == PAGE;
        bool is_changed = false;
        for (; i < count; i++) {
            const struct code_block *b = &o->blocks.all.at[i];
            uint64_t offset = b->start + image->bias - base;
            if (offset >= PAGE)
                break;
            struct bytes own = object_code(o->object, b->start, len);
            if (o->has_run[i] || !is_here)
                continue;
            if (!is_read || offset + len > PAGE || own.len < len || b->end - b->start < len ||
                memcmp(own.at, page + offset, len) || !memcmp(own.at, c->arch->breakpoint, len)) {
                o->unset++;
                continue;
            }
            memcpy(page + offset, c->arch->breakpoint, len);
            is_changed = true;
        }
        if (is_changed)
            (void)follow_memory_write(memory, base, page, PAGE);
    }
}

/* How far the object is from where it was linked. */
static bool image_bias(struct object *o, uint64_t start, uint64_t offset, uint64_t *bias)
{
    const struct object_facts *facts = object_facts(o);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
    for (size_t i = 0; i < facts->code_len; i++) {
        const struct object_segment *s = &facts->code[i];
        *bias = start - offset - (s->address - s->offset);
        if ((s->offset & ~page) == offset)
            return true;
    }
    return false;
}

/* --- processes ---------------------------------------------------------------------------------
 */

static struct covered_process *covering_process(struct covering *c, pid_t pid)
{
    for (size_t i = 0; i < c->processes.len; i++)
        if (c->processes.at[i].pid == pid)
            return &c->processes.at[i];
    vec_push(&c->processes, (struct covered_process){.pid = pid});
    c->out->processes++;
    return &c->processes.at[c->processes.len - 1];
}

/* Lists what of files a process has mapped as code, and sets breakpoints in what it had not before.
 * `sets`: else they are there already, as in a forked child. */
static void process_look(struct covering *c, struct covered_process *p, bool sets)
{
    char path[64], line[4400];
    struct covered_process now = {.pid = p->pid};
    snprintf(path, sizeof path, "/proc/%d/maps", p->pid);
    FILE *maps = fopen(path, "re");
    int memory = follow_memory_open(p->pid);
    while (maps && memory >= 0 && fgets(line, sizeof line, maps)) {
        struct proc_mapping m;
        if (!proc_parse_mapping(line, &m) || m.rights[2] != 'x' || m.rights[3] != 'p' ||
            *m.path != '/')
            continue;
        struct covered_image image = {covering_object(c, m.path), m.start, m.end, 0, 0};
        struct covered_object *o = &c->out->objects.at[image.object];
        const struct covered_image *old = NULL;
        for (size_t i = 0; i < p->images.len && !old; i++)
            if (p->images.at[i].object == image.object && p->images.at[i].start == m.start)
                old = &p->images.at[i];
        if (!o->object || !image_bias(o->object, m.start, m.offset, &image.bias))
            continue;
        image.debug_state = old ? old->debug_state : follow_linker_place(o->object, image.bias);
        if (!old && sets) {
            image_set(c, memory, &image);
            if (image.debug_state >= m.start && image.debug_state < m.end)
                (void)follow_memory_write(memory, image.debug_state, c->arch->breakpoint,
                                          c->arch->breakpoint_len);
        }
        vec_push(&now.images, image);
    }
    if (maps)
        fclose(maps);
    if (memory >= 0)
        close(memory);
    vec_free(&p->images);
    *p = now;
}

static const struct covered_image *process_image(const struct covered_process *p, uint64_t at)
{
    for (size_t i = 0; i < p->images.len; i++)
        if (at >= p->images.at[i].start && at < p->images.at[i].end)
            return &p->images.at[i];
    return NULL;
}

static void covering_begin(void *context, pid_t pid, bool is_in_parent, bool is_forked)
{
    (void)is_in_parent;
    if (is_forked)
        process_look(context, covering_process(context, pid), false);
}

/* A program that would not work is let go while nothing of it is changed. Debuggers without lines
 * of their own are left to their work; others are followed, though they cannot trace. */
static bool covering_exec(void *context, pid_t pid, bool *lets_go, struct err *e)
{
    struct covering *c = context;
    struct covered_process *p = covering_process(c, pid);
    char path[64];
    (void)e;
    vec_free(&p->images);
    *p = (struct covered_process){.pid = pid};
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    bool may_trace;
    const char *why = ptrace_conflict_text(path, c->has_program, &may_trace);
    c->out->tracers += may_trace;
    c->has_program = true;
    if (why) {
        c->out->left_alone++;
        c->out->left_why = why;
        *lets_go = true;
        return true;
    }
    process_look(c, p, true);
    return true;
}

/* A trap of ours is one at which a block begins. Whoever took the breakpoint away, the instruction
 * is run again. */
static bool covering_trap(void *context, pid_t pid, pid_t tid)
{
    struct covering *c = context;
    struct covered_process *p = covering_process(c, pid);
    long pc = c->arch->calls->pc * (long)sizeof(long);
    errno = 0;
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, pc, 0) - c->arch->breakpoint_back;
    if (errno)
        return false;
    if (!process_image(p, at)) /* a child whose beginning we have not been told yet */
        process_look(c, p, false);
    const struct covered_image *image = process_image(p, at);
    if (!image)
        return false;
    struct covered_object *o = &c->out->objects.at[image->object];
    if (at == image->debug_state) {
        bool ok = follow_linker_return(pid, tid, at, object_code(o->object, at - image->bias, 4),
                                       object_word(o->object));
        process_look(c, p, true);
        return ok;
    }
    size_t block = object_block_at(o, at - image->bias);
    if (block == SIZE_MAX)
        return false;
    struct bytes own = object_code(o->object, at - image->bias, c->arch->breakpoint_len);
    if (!own.len || !memcmp(own.at, c->arch->breakpoint, own.len))
        return false; /* the program's own */
    int memory = follow_memory_open(pid);
    bool ok = memory >= 0 && follow_memory_write(memory, at, own.at, own.len) &&
              !ptrace(PTRACE_POKEUSER, tid, pc, at);
    if (memory >= 0)
        close(memory);
    o->has_run[block] |= ok;
    return ok;
}

static bool covering_end(void *context, pid_t pid, int status, struct err *e)
{
    struct covering *c = context;
    (void)status, (void)e;
    for (size_t i = 0; i < c->processes.len; i++) {
        if (c->processes.at[i].pid != pid)
            continue;
        vec_free(&c->processes.at[i].images);
        c->processes.at[i] = c->processes.at[--c->processes.len];
    }
    return true;
}

bool cover_blocks_run(char **argv, bool takes_all, struct covered_blocks *out, struct err *e)
{
    struct covering c = {.arch = arch_own(), .out = out, .takes_all = takes_all};
    const struct follow_calls calls = {.context = &c,
                                       .began = covering_begin,
                                       .executed = covering_exec,
                                       .trapped = covering_trap,
                                       .ended = covering_end};
    *out = (struct covered_blocks){0};
    if (!c.arch || !c.arch->breakpoint_len || !c.arch->calls)
        return err_set(e, "--cover-blocks is not there on this machine (%s)",
                       c.arch ? c.arch->name : "unknown");
    bool ok = follow_program(argv, &calls, &out->status, e);
    for (size_t i = 0; i < c.processes.len; i++)
        vec_free(&c.processes.at[i].images);
    vec_free(&c.processes);
    intern_deinit(&c.paths);
    return ok;
}

void covered_blocks_deinit(struct covered_blocks *b)
{
    for (size_t i = 0; i < b->objects.len; i++) {
        struct covered_object *o = &b->objects.at[i];
        code_blocks_deinit(&o->blocks);
        object_close(o->object);
        free(o->has_run);
        free(o->path);
    }
    vec_free(&b->objects);
}

/* Coverage of a program as it is: a breakpoint at the start of each basic block, which is taken
 * away when it is hit for the first time.
 *
 *     exec, dlopen ─► maps (space.c) ─► objects with lines ─► object_blocks() ─► breakpoints
 *     trap at A    ─► block of A: it ran; the byte that was there comes back; A runs again
 *
 * What keeps the program as it is:
 *   - breakpoints stand at starts of instructions only (objfile/blocks.c), and only where memory
 *     holds what the file holds;
 *   - one byte changes, and changes back before anything else is decided, so threads need not stop:
 *     each either traps and is set back to the instruction, or runs it. A thread that trapped
 *     before another one took the breakpoint away finds a block of ours there, and runs it again;
 *   - memory is known by address and mapping, not by who set what: a forked child has its parent's
 *     breakpoints, which are found in its own maps, and a vforked one its parent's memory
 * (space.h);
 *   - that memory stays open, so a breakpoint can be taken away though the first thread has ended,
 *     or the process has made itself undumpable;
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
#include "record/ptrace/ptrace_conflict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

enum { LONGEST_BREAKPOINT = 4 };

/* An object's code in a space in which its breakpoints were set. */
struct covered_image {
    const struct space_file *file;
    uint64_t start;
};

/* Of a space. */
struct covered_space {
    VEC(struct covered_image) images;
};

struct covering {
    const struct arch *arch;
    struct covered_blocks *out;
    bool takes_all;   /* the system's, too */
    bool has_program; /* the first one has been executed */
};

/* --- objects -----------------------------------------------------------------------------------
 */

/* Read when a process first has it; only its number plus one is kept. The first one is the
 * program. */
static void *covering_file(void *context, struct object *opened, const char *path, bool *keeps)
{
    struct covering *c = context;
    struct covered_object o = {.path = strdup(path), .object = opened};
    if (!o.path)
        memory_exhausted(strlen(path));
    *keeps = true;
    o.is_left_out = c->out->objects.len && !c->takes_all && object_is_system(path);
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
    return (void *)c->out->objects.len; // NOLINT
}

/* What covering_file() has kept. */
static struct covered_object *covering_object(struct covering *c, const struct space_file *file)
{
    return &c->out->objects.at[(uintptr_t)file->facts - 1];
}

/* The block that begins at a link-time address; SIZE_MAX: none does. */
static size_t object_block_at(const struct covered_object *o, uint64_t address)
{
    size_t i = PARTITION_POINT(o->blocks.all.len, at, o->blocks.all.at[at].start < address);
    return i < o->blocks.all.len && o->blocks.all.at[i].start == address ? i : SIZE_MAX;
}

/* --- memory of a space -------------------------------------------------------------------------
 */

/* Sets a breakpoint at each block that has not run, page by page. */
static void image_set(struct covering *c, const struct space *s, const struct space_image *image)
{
    enum { PAGE = 4096 };
    struct covered_object *o = covering_object(c, image->file);
    size_t len = c->arch->breakpoint_len, count = o->blocks.all.len;
    uint8_t page[PAGE];
    for (size_t i = 0; i < count;) {
        uint64_t first = o->blocks.all.at[i].start + image->bias;
        uint64_t base = first & ~(uint64_t)(PAGE - 1);
        bool is_here = first >= image->start && first < image->end; /* code may have two segments */
        bool is_read = is_here && space_read(s, base, page, PAGE);
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
            (void)space_write(s, base, page, PAGE);
    }
}

/* Sets breakpoints in what the space had not before. `sets`: else they are there already, as in a
 * copy. */
static void space_cover(struct covering *c, struct space *s, bool sets)
{
    struct covered_space *old = s->state, *now = calloc(1, sizeof *now);
    if (!now)
        memory_exhausted(sizeof *now);
    for (size_t k = 0; k < s->images.len; k++) {
        const struct space_image *m = &s->images.at[k];
        bool is_known = !sets || !m->is_private || !covering_object(c, m->file)->object;
        for (size_t i = 0; old && i < old->images.len && !is_known; i++)
            is_known = old->images.at[i].file == m->file && old->images.at[i].start == m->start;
        if (!is_known)
            image_set(c, s, m);
        vec_push(&now->images, (struct covered_image){m->file, m->start});
    }
    if (old)
        vec_free(&old->images);
    free(old);
    s->state = now;
}

/* --- what follow_program() asks ----------------------------------------------------------------
 */

/* A copy has the breakpoints of what it is a copy of. */
static void covering_begin(void *context, struct space *s, const struct space *from, pid_t tid)
{
    (void)from, (void)tid;
    space_cover(context, s, false);
}

/* What was mapped by an exec or the linker. */
static void covering_mapped(void *context, struct space *s, pid_t tid)
{
    (void)tid;
    space_cover(context, s, true);
}

/* A program that would not work is let go while nothing of it is changed. Debuggers without lines
 * of their own are left to their work; others are followed, though they cannot trace. */
static bool covering_lets_go(void *context, pid_t pid)
{
    struct covering *c = context;
    char path[64];
    bool may_trace;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    const char *why = ptrace_conflict_text(path, c->has_program, &may_trace);
    c->out->tracers += may_trace;
    c->has_program = true;
    if (!why)
        return false;
    c->out->left_alone++;
    c->out->left_why = why;
    return true;
}

/* The block that begins at an address; SIZE_MAX: none does. */
static size_t covering_block(struct covering *c, const struct space *s, uint64_t at,
                             struct covered_object **o, uint64_t *address)
{
    for (size_t i = 0; i < s->images.len; i++) {
        const struct space_image *m = &s->images.at[i];
        if (at < m->start || at >= m->end || !covering_object(c, m->file)->object)
            continue;
        *o = covering_object(c, m->file);
        *address = at - m->bias;
        return object_block_at(*o, *address);
    }
    return SIZE_MAX;
}

/* A trap of ours is one at which a block begins. Whoever took the breakpoint away, the instruction
 * is run again. */
static bool covering_trap(void *context, struct space *s, pid_t tid, uint64_t at)
{
    struct covering *c = context;
    struct covered_object *o;
    uint64_t address;
    size_t block = covering_block(c, s, at, &o, &address);
    if (block == SIZE_MAX)
        return false;
    struct bytes own = object_code(o->object, address, c->arch->breakpoint_len);
    if (!own.len || !memcmp(own.at, c->arch->breakpoint, own.len))
        return false; /* the program's own */
    bool ok = space_write(s, at, own.at, own.len) &&
              !ptrace(PTRACE_POKEUSER, tid, c->arch->calls->pc * (long)sizeof(long), at);
    o->has_run[block] |= ok;
    return ok;
}

/* A breakpoint of space.h stands where a block begins, and was hit. */
static void covering_passed(void *context, struct space *s, uint64_t at)
{
    struct covered_object *o;
    uint64_t address;
    size_t block = covering_block(context, s, at, &o, &address);
    if (block != SIZE_MAX)
        o->has_run[block] = true;
}

static bool covering_left(void *context, struct space *s, pid_t pid, int status, struct err *e)
{
    struct covered_space *state = s->state;
    (void)context, (void)pid, (void)status, (void)e;
    if (state)
        vec_free(&state->images);
    free(state);
    s->state = NULL;
    return true;
}

bool cover_blocks_run(char **argv, bool takes_all, struct covered_blocks *out, struct err *e)
{
    struct covering c = {.arch = arch_own(), .out = out, .takes_all = takes_all};
    const struct follow_calls calls = {.context = &c,
                                       .began = covering_begin,
                                       .lets_go = covering_lets_go,
                                       .executed = covering_mapped,
                                       .mapped = covering_mapped,
                                       .trapped = covering_trap,
                                       .passed = covering_passed,
                                       .left = covering_left,
                                       .read_file = covering_file};
    struct follow_result followed;
    *out = (struct covered_blocks){0};
    if (!c.arch || !c.arch->breakpoint_len || !c.arch->calls)
        return err_set(e, "--cover-blocks is not there on this machine (%s)",
                       c.arch ? c.arch->name : "unknown");
    bool ok = follow_program(argv, &calls, &followed, e);
    out->status = followed.status;
    out->processes = followed.processes;
    if (followed.with_rights) {
        out->left_alone += out->with_rights = followed.with_rights;
        out->left_why = PTRACE_KEEPS_RIGHTS;
    }
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

/* Coverage of a program that need not write it: the counters of clang and rustc are read from
 * outside, out of the living process (`monarc run --coverage`).
 *
 * What a runtime would write lies in memory as it is written: descriptions, counters and names are
 * sections of the program and of each shared object, and a raw profile is a header in front of
 * them. So nothing is linked or called, and it does not matter how a process ends:
 *
 *     exit, _exit, abort, fatal signal   read while the last thread is stopped in its exit (ptrace)
 *     SIGKILL, the machine's OOM killer  as of the last reading, at most an interval ago
 *     exec                               likewise: the kernel has replaced the memory when it stops
 *     fork                               what the parent had counted is taken off the child's
 *     vfork                              the child counts in the parent's memory until it execs
 *     dlclose                            read when the linker says so, by a breakpoint as debuggers
 *                                        set it; elsewhere than on x86 as of the last reading
 *
 * All processes are followed (follow.c). The program's own writing goes to /dev/null, or all would
 * be counted twice. Costs a copy of the counters an interval, one at the end of each thread, and
 * two at each dlopen and dlclose. An object that is gone keeps its last reading; loaded again, it
 * begins at 0, and both add up. Not read: counters of the optimiser; objects that are stripped of
 * the symbol which says their version. */
#include "record/live_counters.h"

#include "arch/arch.h"
#include "base/file.h"
#include "base/path.h"
#include "coverage/format/llvm.h"
#include "objfile/object.h"
#include "record/follow.h"
#include "record/gcc_counters.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Addresses of a section, in the process. */
struct range {
    uint64_t at, len;
};

/* An object that a process has mapped. Without counters all lengths are 0. */
struct image {
    char *path;
    uint64_t start, bias; /* where its code is mapped; how far from where it was linked */
    bool is_mapped;       /* still */
    struct range data, counters, bitmap, names;
    uint64_t version_at; /* of the word that says the version */
    uint8_t word;
    bool is_big_endian, is_stripped;
    VEC(uint8_t) id;
    /* As last read; `before` is what was counted before this process began. */
    VEC(uint8_t) data_bytes, counter_bytes, bitmap_bytes, name_bytes, before;
    uint64_t version;
    struct gcc_counters gcc;
};

struct process {
    pid_t pid;
    VEC(struct image) images;
    bool is_in_parent; /* vfork: its memory is the parent's */
    bool is_over;
    unsigned programs;  /* that it ran before, by exec, and that were written */
    uint64_t linker_at; /* where the linker's breakpoint is; 0: none */
    uint8_t linker_code[4], linker_word;
};

struct watching {
    const struct live_counters_request *request;
    struct live_counters_result *result;
    VEC(struct process) processes;
};

/* --- memory ----------------------------------------------------------------------------------- */

static bool memory_read(pid_t pid, uint64_t at, void *to, size_t len)
{
    return proc_read_memory(pid, at, to, len) == len;
}

/* Into bytes that are kept if it fails: a process that is gone leaves its last reading. */
#define READ_RANGE(PID, RANGE, BYTES)                                         \
    __extension__({                                                           \
        vec_reserve(&(BYTES), (RANGE).len + 1);                               \
        bool is_read = memory_read(PID, (RANGE).at, (BYTES).at, (RANGE).len); \
        if (is_read)                                                          \
            (BYTES).len = (RANGE).len;                                        \
        is_read;                                                              \
    })

/* A breakpoint where the linker says that it maps or unmaps. What the file has there is kept, to go
 * on from it. */
static void process_watch_linker(struct process *p, struct object *o, uint64_t bias)
{
    const struct arch *arch = arch_own();
    uint64_t at = follow_linker_place(o, bias);
    if (!at || !arch || !arch->breakpoint_len || !arch->calls)
        return;
    struct bytes code = object_code(o, at - bias, sizeof p->linker_code);
    int memory = code.len == sizeof p->linker_code ? follow_memory_open(p->pid) : -1;
    if (memory < 0)
        return;
    memcpy(p->linker_code, code.at, code.len);
    p->linker_word = object_word(o);
    if (follow_memory_write(memory, at, arch->breakpoint, arch->breakpoint_len))
        p->linker_at = at;
    close(memory);
}

/* What of the object is in memory where. */
static void image_look(struct process *p, struct image *i)
{
    struct object *o = object_open(i->path, NULL, NULL, NULL);
    size_t len = 0;
    if (!o)
        return;
    process_watch_linker(p, o, i->bias);
    const struct object_section *sections = object_sections(o, &len);
    struct range *const ranges[] = {&i->data, &i->counters, &i->bitmap, &i->names};
    static const char *const NAMES[] = {"__llvm_prf_data", "__llvm_prf_cnts", "__llvm_prf_bits",
                                        "__llvm_prf_names"};
    for (size_t k = 0; k < len; k++)
        for (int n = 0; n < 4; n++)
            if (!strcmp(sections[k].name, NAMES[n]))
                *ranges[n] = (struct range){i->bias + sections[k].address, sections[k].size};
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t k = 0; i->counters.len && k < len; k++)
        if (!strcmp(symbols[k].name, "__llvm_profile_raw_version"))
            i->version_at = i->bias + symbols[k].address;
    for (size_t k = 0; k < len; k++)
        if (!strcmp(symbols[k].name, "__gcov_root"))
            i->gcc.root = i->bias + symbols[k].address;
    i->is_stripped = i->counters.len && !i->version_at;
    struct bytes texts = object_section_bytes(o, ".rodata", NULL);
    i->is_stripped |= object_facts(o)->is_stripped && !i->gcc.root && texts.len &&
                      memmem(texts.at, texts.len, ".gcda", sizeof ".gcda");
    i->word = i->gcc.word = object_word(o);
    i->is_big_endian = object_is_big_endian(o);
    struct bytes id = object_build_id(o);
    for (size_t k = 0; k < id.len; k++)
        vec_push(&i->id, id.at[k]);
    object_close(o);
}

/* How far the object is from where it was linked: by its code, which is mapped from the file. */
static bool bias_of(const char *path, uint64_t start, uint64_t offset, uint64_t *bias)
{
    struct object *o = object_open(path, NULL, NULL, NULL);
    bool is_found = false;
    if (!o)
        return false;
    const struct object_facts *facts = object_facts(o);
    for (size_t i = 0; i < facts->code_len && !is_found; i++) {
        const struct object_segment *s = &facts->code[i];
        is_found = (s->offset & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1)) == offset;
        *bias = start - offset - (s->address - s->offset);
    }
    object_close(o);
    return is_found;
}

/* Adds what a mapping of the object that is gone had counted to what another one has, in the bytes
 * that were read. */
static void image_add(struct image *into, const struct image *from)
{
    bool is_single = into->version >> 60 & 1, is_big = into->is_big_endian;
    for (size_t k = 0; k < into->counter_bytes.len && is_single; k++)
        into->counter_bytes.at[k] &= from->counter_bytes.at[k];
    for (size_t k = 0; k + 8 <= into->counter_bytes.len && !is_single; k += 8) {
        uint64_t sum = bytes_u64(into->counter_bytes.at + k, is_big) +
                       bytes_u64(from->counter_bytes.at + k, is_big);
        sum = is_big ? __builtin_bswap64(sum) : sum;
        memcpy(into->counter_bytes.at + k, &sum, 8);
    }
    for (size_t k = 0; k < into->bitmap_bytes.len; k++)
        into->bitmap_bytes.at[k] |= from->bitmap_bytes.at[k];
}

static void image_deinit(struct image *i)
{
    free(i->path);
    vec_free(&i->id);
    vec_free(&i->data_bytes);
    vec_free(&i->counter_bytes);
    vec_free(&i->bitmap_bytes);
    vec_free(&i->name_bytes);
    vec_free(&i->before);
    gcc_counters_deinit(&i->gcc);
}

/* What is no longer mapped keeps what was read of it. Of an object that comes and goes often one
 * is kept, with the sum; one that was inherited by fork stays by itself. */
static void process_part(struct process *p)
{
    for (size_t k = p->images.len; k-- > 0;) {
        struct image *i = &p->images.at[k];
        for (size_t n = 0; n < k && !i->is_mapped && i->version && !i->gcc.root; n++) {
            struct image *other = &p->images.at[n];
            if (other->is_mapped || strcmp(other->path, i->path) || other->before.len ||
                i->before.len || other->version != i->version ||
                other->counter_bytes.len != i->counter_bytes.len ||
                other->bitmap_bytes.len != i->bitmap_bytes.len)
                continue;
            image_add(other, i);
            image_deinit(i);
            p->images.at[k] = p->images.at[--p->images.len];
            break;
        }
    }
}

/* Objects that were mapped since the last look, and those that are gone. Names of files may have
 * blanks in them. */
static void process_find_images(struct process *p)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", p->pid);
    FILE *maps = fopen(path, "re");
    size_t before = p->images.len;
    bool has_any = false, has_gone = false;
    VEC(bool) seen = {0};
    for (size_t i = 0; i < before; i++)
        vec_push(&seen, false);
    while (maps && fgets(line, sizeof line, maps)) {
        struct proc_mapping m;
        if (!proc_parse_mapping(line, &m) || m.rights[2] != 'x' || *m.path != '/')
            continue;
        bool is_known = false;
        has_any = true;
        for (size_t i = 0; i < p->images.len && !is_known; i++) {
            struct image *old = &p->images.at[i];
            is_known = old->is_mapped && !strcmp(old->path, m.path);
            if (is_known && i < before && old->start == m.start)
                seen.at[i] = true;
            else if (is_known && i < before && !seen.at[i])
                is_known = false; /* the same file elsewhere: a second part of it, or anew */
        }
        struct image image = {.start = m.start, .is_mapped = true};
        if (is_known || !bias_of(m.path, m.start, m.offset, &image.bias))
            continue;
        image.path = strdup(m.path);
        if (!image.path)
            memory_exhausted(strlen(m.path));
        image_look(p, &image);
        vec_push(&p->images, image);
    }
    if (maps)
        fclose(maps);
    for (size_t i = 0; i < before && has_any; i++) {
        has_gone |= p->images.at[i].is_mapped && !seen.at[i];
        p->images.at[i].is_mapped &= seen.at[i];
    }
    if (has_gone)
        process_part(p);
    vec_free(&seen);
}

/* Reads all that the process has counted by now. */
static void process_read(struct process *p)
{
    if (p->is_in_parent || p->is_over)
        return;
    process_find_images(p);
    for (size_t k = 0; k < p->images.len; k++) {
        struct image *i = &p->images.at[k];
        if (!i->is_mapped)
            continue;
        gcc_counters_read(&i->gcc, p->pid);
        if (!i->counters.len || i->is_stripped)
            continue;
        if (!i->version && !(memory_read(p->pid, i->version_at, &i->version, 8) &&
                             READ_RANGE(p->pid, i->names, i->name_bytes)))
            i->version = 0;
        (void)READ_RANGE(p->pid, i->data, i->data_bytes);
        (void)READ_RANGE(p->pid, i->counters, i->counter_bytes);
        (void)READ_RANGE(p->pid, i->bitmap, i->bitmap_bytes);
    }
}

static void process_forget_images(struct process *p)
{
    for (size_t k = 0; k < p->images.len; k++)
        image_deinit(&p->images.at[k]);
    vec_free(&p->images);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Takes off what was counted before the fork. Single bytes are 0 where code ran: what ran before
 * did not run here, as far as can be told. */
static void image_take_off(struct image *i)
{
    bool is_single = i->version >> 60 & 1;
    for (size_t k = 0; k < i->before.len && k < i->counter_bytes.len && is_single; k++)
        i->counter_bytes.at[k] |= i->before.at[k] ? 0 : 0xff;
    for (size_t k = 0; k + 8 <= i->before.len && k + 8 <= i->counter_bytes.len && !is_single;
         k += 8) {
        uint64_t now = bytes_u64(i->counter_bytes.at + k, i->is_big_endian);
        uint64_t then = bytes_u64(i->before.at + k, i->is_big_endian);
        now = now > then ? now - then : 0;
        now = i->is_big_endian ? __builtin_bswap64(now) : now;
        memcpy(i->counter_bytes.at + k, &now, 8);
    }
}

/* One raw profile for each object, behind each other, as a runtime would have written them. */
static bool process_write(struct watching *w, struct process *p, struct err *e)
{
    struct writer out = {0};
    bool ok = true;
    for (size_t k = 0; k < p->images.len && ok; k++) {
        struct image *i = &p->images.at[k];
        struct err why = {0};
        w->result->stripped += i->is_stripped;
        if (!i->version || !i->counter_bytes.len || i->data_bytes.len != i->data.len)
            continue;
        image_take_off(i);
        struct llvm_memory m = {.version = i->version,
                                .word = i->word,
                                .is_big_endian = i->is_big_endian,
                                .id = {i->id.at, i->id.len},
                                .data = {i->data_bytes.at, i->data_bytes.len},
                                .counters = {i->counter_bytes.at, i->counter_bytes.len},
                                .bitmap = {i->bitmap_bytes.at, i->bitmap_bytes.len},
                                .names = {i->name_bytes.at, i->name_bytes.len},
                                .data_at = i->data.at,
                                .counters_at = i->counters.at,
                                .bitmap_at = i->bitmap.at,
                                .names_at = i->names.at};
        if (!llvm_raw_from_memory(&out, &m, &why))
            ok = err_in(e, i->path, "%s", why.line);
    }
    if (ok && out.out.len) {
        char *path;
        char again[16] = "";
        if (p->programs++)
            snprintf(again, sizeof again, "-%u", p->programs);
        if (asprintf(&path, "%s.%d%s.profraw", w->request->output, p->pid, again) < 0)
            memory_exhausted(strlen(w->request->output));
        ok = file_replace(path, (struct bytes){out.out.at, out.out.len}, e);
        if (!w->result->example)
            w->result->example = path;
        else
            free(path);
        w->result->written += ok;
    }
    w->result->without += !out.out.len;
    writer_deinit(&out);
    return ok;
}

/* --- processes -------------------------------------------------------------------------------- */

static struct process *watching_process(struct watching *w, pid_t pid)
{
    for (size_t i = 0; i < w->processes.len; i++)
        if (w->processes.at[i].pid == pid && !w->processes.at[i].is_over)
            return &w->processes.at[i];
    return NULL;
}

/* Whether anything of it could be lost. */
static bool process_counts(const struct process *p, bool is_gcc)
{
    bool does = false;
    for (size_t k = 0; k < p->images.len; k++)
        does |= p->images.at[k].counters.len || (is_gcc && p->images.at[k].gcc.root);
    return does && !p->is_in_parent;
}

/* A child begins with what its parent has counted. */
static void watching_begin(void *context, pid_t pid, bool is_in_parent, bool is_forked)
{
    struct watching *w = context;
    struct process p = {.pid = pid, .is_in_parent = is_in_parent};
    if (watching_process(w, pid))
        return;
    if (is_forked && !is_in_parent) {
        process_read(&p);
        for (size_t k = 0; k < p.images.len; k++) {
            struct image *i = &p.images.at[k];
            for (size_t n = 0; n < i->counter_bytes.len; n++)
                vec_push(&i->before, i->counter_bytes.at[n]);
        }
    }
    vec_push(&w->processes, p);
    w->result->processes++;
}

/* What follow_program() asks: a process that ends or replaces its program is read once more, or
 * written. */
static bool watching_exec(void *context, pid_t pid, bool *lets_go, struct err *e)
{
    struct watching *w = context;
    struct process *p = watching_process(w, pid);
    (void)lets_go;
    if (!p)
        return true;
    bool ok = p->is_in_parent || process_write(w, p, e);
    bool is_gcc = false; /* libgcov writes before an exec */
    for (size_t k = 0; k < p->images.len; k++)
        is_gcc |= p->images.at[k].gcc.root != 0;
    w->result->gcc_written += is_gcc && !p->is_in_parent;
    w->result->replaced += process_counts(p, false) && !is_gcc;
    process_forget_images(p);
    p->is_in_parent = false;
    p->linker_at = 0;
    process_find_images(p); /* the program itself: it may not live until the next reading */
    return ok;
}

static void watching_leave(void *context, pid_t pid)
{
    struct process *p = watching_process(context, pid);
    if (p)
        process_read(p);
}

/* The linker's breakpoint: what is about to be unmapped is read, what is new is found. A child may
 * come here before its beginning is told. */
static bool watching_trap(void *context, pid_t pid, pid_t tid)
{
    struct process *p = watching_process(context, pid);
    const struct arch *arch = arch_own();
    if (!arch || !arch->breakpoint_len || !arch->calls)
        return false;
    if (!p) {
        watching_begin(context, pid, false, true);
        p = watching_process(context, pid);
    }
    if (!p->linker_at)
        process_find_images(p);
    errno = 0;
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, arch->calls->pc * (long)sizeof(long), 0) -
                  arch->breakpoint_back;
    if (errno || !p->linker_at || at != p->linker_at)
        return false;
    bool ok = follow_linker_return(pid, tid, at, (struct bytes){p->linker_code, 4}, p->linker_word);
    process_read(p);
    return ok;
}

/* The leader's end is the process's: other threads have ended before it. */
static bool watching_end(void *context, pid_t pid, int status, struct err *e)
{
    struct watching *w = context;
    struct process *p = watching_process(w, pid);
    if (!p)
        return true;
    w->result->killed +=
        WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && process_counts(p, true);
    bool ok = p->is_in_parent || process_write(w, p, e);
    for (size_t k = 0; k < p->images.len && ok && !p->is_in_parent; k++) {
        struct gcc_counters *g = &p->images.at[k].gcc;
        w->result->gcc_written += g->is_written;
        w->result->gcc_foreign += g->is_foreign;
        ok = gcc_counters_write(g, &w->result->gcc_files, e);
    }
    process_forget_images(p);
    p->is_over = true;
    return ok;
}

static void watching_look(void *context)
{
    struct watching *w = context;
    for (size_t i = 0; i < w->processes.len; i++)
        process_read(&w->processes.at[i]);
}

bool live_counters_run(const struct live_counters_request *request,
                       struct live_counters_result *result, struct err *e)
{
    struct watching w = {.request = request, .result = result};
    *result = (struct live_counters_result){0};
    const struct follow_calls calls = {.context = &w,
                                       .began = watching_begin,
                                       .executed = watching_exec,
                                       .trapped = watching_trap,
                                       .leaving = watching_leave,
                                       .ended = watching_end,
                                       .interval = watching_look,
                                       .interval_ms = request->interval_ms,
                                       .variable = "LLVM_PROFILE_FILE",
                                       .value = "/dev/null"};
    bool ok = follow_program(request->argv, &calls, &result->status, e);
    vec_free(&w.processes);
    return ok;
}

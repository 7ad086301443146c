/* Processes, threads and their mappings, as sources report them.
 *
 * A process here is a program that runs under a pid: an exec makes a new one, unless the old one
 * has no sample yet. Processes, threads and events have numbers, in the order of their reports,
 * that go into the recording as they are. Maps from pid and tid lead to the newest owner of the
 * number; the kernel uses numbers again.
 *
 * What holds throughout: each process has a list of mappings, shared with its parent until one of
 * the two changes it; a thread's process is known before its first sample. Numbers of processes and
 * threads are bounded (MOST_...): what comes after counts for the first process, or for one thread
 * without a name.
 *
 * Pointers into the lists are valid until the next one is added: what follows takes numbers. */
#include "record/collector.h"

#include "base/path.h"
#include "record/arguments.h"
#include "record/collector_private.h"
#include "record/proc_threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 50000, MOST_PROCESSES = 200000 };

struct collector *collector_new(const struct collector_options *o)
{
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->options = *o;
    c->first_period_factor = 1;
    tally_init(&c->tally, o->slice_ns);
    images_init(&c->images, o->arch);
    c->images.is_replayed = o->is_replayed;
    c->images.opens_nothing = o->opens_no_files;
    c->images.vdso_id = o->vdso_id;
    c->kernel = images_other(&c->images, RECORDING_OBJECT_KERNEL, RECORDING_NONE);
    c->wait = images_other(&c->images, RECORDING_OBJECT_WAIT, RECORDING_NONE);
    c->cut = images_other(&c->images, RECORDING_OBJECT_CUT, RECORDING_NONE);
    c->kernel_code = mappings_new();
    return c;
}

/* Call it before any report: times that were converted already stay. */
void collector_set_start(struct collector *c, uint64_t start_ns)
{
    c->options.start_ns = start_ns;
}

void collector_free(struct collector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->inner.len; i++)
        mappings_release(c->inner.at[i].mappings);
    for (uint32_t i = 0; i < c->inner.len; i++)
        collector_code_free(c, i);
    mappings_release(c->kernel_code);
    vec_free(&c->processes);
    vec_free(&c->inner);
    vec_free(&c->threads);
    vec_free(&c->events);
    vec_free(&c->totals);
    vec_free(&c->left_out);
    vec_free(&c->losses);
    vec_free(&c->stops);
    vec_free(&c->marks);
    vec_free(&c->delays);
    vec_free(&c->pauses);
    vec_free(&c->waits);
    vec_free(&c->creators);
    vec_free(&c->branches);
    map_deinit(&c->process_of);
    map_deinit(&c->thread_of);
    collector_waits_free(c);
    collector_labels_free(c);
    tally_deinit(&c->tally);
    images_deinit(&c->images);
    arena_deinit(&c->arena);
    free(c);
}

uint32_t collector_add_event(struct collector *c, const char *name, enum recording_event_unit unit,
                             uint64_t period, bool user_only)
{
    vec_push(&c->events, (struct recording_event){.name = arena_copy(&c->arena, name, strlen(name)),
                                                  .unit = unit,
                                                  .period = period,
                                                  .user_only = user_only});
    vec_push(&c->totals, 0);
    vec_push(&c->left_out, 0);
    return (uint32_t)c->events.len - 1;
}

void collector_event_total(struct collector *c, uint32_t event, uint64_t total)
{
    c->totals.at[event] = total;
}

/* --- processes ------------------------------------------------------------------------------- */

/* An entry in both lists. Its mappings are the caller's to set. */
static uint32_t collector_add_process(struct collector *c, pid_t pid, pid_t parent, uint64_t at_ns)
{
    uint32_t number = (uint32_t)c->processes.len;
    vec_push(&c->processes, (struct recording_process){.pid = (uint32_t)pid,
                                                       .parent_pid = (uint32_t)parent,
                                                       .program = RECORDING_NONE,
                                                       .start_ns = collector_since_start(c, at_ns),
                                                       .name = ""});
    vec_push(&c->inner, (struct collected_process){.generated = RECORDING_NONE,
                                                   .forked_from = RECORDING_NONE,
                                                   .other_threads = RECORDING_NONE});
    if (!number && c->options.is_started)
        c->inner.at[0].has_rank = rank_of_own(&c->inner.at[0].rank);
    return number;
}

/* What cannot be read any more stays what it was. In the middle of an exec a process has no
 * environment yet: it is asked again with its first samples, when it runs. */
void collector_read_rank(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    struct rank_told told;
    bool is_read = false;
    if (!c->options.reads_ranks)
        return;
    if (rank_of_process((pid_t)c->processes.at[process].pid, &told, &is_read)) {
        p->rank = told;
        p->has_rank = true;
    }
    p->rank_tries = is_read ? 0 : p->rank_tries ? p->rank_tries - 1 : COLLECTOR_RANK_TRIES;
}

/* A process that was not announced is made, and waits for its program. */
uint32_t collector_process(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t *found = map_find(&c->process_of, pid, 0);
    if (found)
        return *found;
    if (c->processes.len >= MOST_PROCESSES)
        return 0;
    uint32_t number = collector_add_process(c, pid, 0, at_ns);
    c->inner.at[number].mappings = mappings_new();
    c->inner.at[number].awaits_program = true;
    map_set(&c->process_of, pid, 0, number);
    collector_read_rank(c, number);
    return number;
}

bool collector_has_process(const struct collector *c, pid_t pid)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    return found && collector_goes_on(c, *found);
}

size_t collector_running(const struct collector *c)
{
    size_t running = 0;
    for (size_t i = 0; i < c->processes.len; i++)
        running += collector_goes_on(c, i);
    return running;
}

/* A child is its parent's copy; one whose parent is not known waits for its program. */
void collector_fork(struct collector *c, pid_t pid, pid_t tid, pid_t parent_pid, uint64_t at_ns)
{
    uint32_t *thread = map_find(&c->thread_of, tid, 0);
    if (thread)
        *thread = RECORDING_NONE; /* the number had another owner */
    if (pid != parent_pid && c->processes.len < MOST_PROCESSES) {
        const uint32_t *found = map_find(&c->process_of, parent_pid, 0);
        uint32_t parent = found ? *found : RECORDING_NONE;
        uint32_t number = collector_add_process(c, pid, parent_pid, at_ns);
        if (parent == RECORDING_NONE) {
            c->inner.at[number].mappings = mappings_new();
            c->inner.at[number].awaits_program = true;
        } else {
            c->inner.at[number].mappings = mappings_share(c->inner.at[parent].mappings);
            c->inner.at[number].forked_from = parent;
            c->inner.at[number].rank = c->inner.at[parent].rank;
            c->inner.at[number].has_rank = c->inner.at[parent].has_rank;
            c->processes.at[number].program = c->processes.at[parent].program;
            c->processes.at[number].name = c->processes.at[parent].name;
            c->processes.at[number].command = c->processes.at[parent].command;
        }
        map_set(&c->process_of, pid, 0, number);
    }
    collector_thread(c, pid, tid, at_ns);
}

/* Of all programs of the process, up to now. */
static void collector_process_used(struct recording_process *p,
                                   const struct collected_process *inner, uint64_t user_ns,
                                   uint64_t system_ns)
{
    p->user_ns = user_ns > inner->user_before_ns ? user_ns - inner->user_before_ns : 0;
    p->system_ns = system_ns > inner->system_before_ns ? system_ns - inner->system_before_ns : 0;
    p->has_cpu = true;
}

/* One thread is left: that which executes, with the number of the first one, whatever became of
 * that. */
static void collector_revive(struct collector *c, uint32_t process, const uint32_t *thread)
{
    bool is_known = thread && *thread != RECORDING_NONE;
    c->processes.at[process].end_ns = 0;
    c->inner.at[process].living = is_known;
    if (is_known)
        c->threads.at[*thread].end_ns = 0;
}

/* The entry of the next program of a process, whose other threads are gone. Where nothing was
 * sampled under the old program, its entry is used again: a shell that only executes something
 * leaves no trace. */
static uint32_t collector_next_program(struct collector *c, uint32_t old, uint64_t at_ns)
{
    pid_t pid = (pid_t)c->processes.at[old].pid;
    uint32_t *thread = map_find(&c->thread_of, pid, 0);
    if (!c->inner.at[old].has_samples || c->processes.len >= MOST_PROCESSES) {
        collector_code_free(c, old);
        c->inner.at[old].forked_from = RECORDING_NONE;
        collector_revive(c, old, thread);
        return old;
    }
    collector_code_ends(c, old);
    c->inner.at[old].living = 0;
    c->processes.at[old].end_ns = collector_since_start(c, at_ns);
    if (thread)
        *thread = RECORDING_NONE;
    uint32_t number = collector_add_process(c, pid, (pid_t)c->processes.at[old].parent_pid, at_ns);
    map_set(&c->process_of, pid, 0, number);
    return number;
}

/* What a process has used when it executes a program is the old one's: the kernel does not
 * distinguish programs. */
static void collector_split_cpu(struct collector *c, uint32_t old, uint32_t number)
{
    uint64_t user, system;
    const struct collected_process *before = &c->inner.at[old];
    if (!c->options.is_started ||
        !proc_process_cpu_split((pid_t)c->processes.at[old].pid, &user, &system))
        return;
    collector_process_used(&c->processes.at[old], before, user, system);
    c->inner.at[number].user_before_ns = user;
    c->inner.at[number].system_before_ns = system;
}

/* The name is what the kernel keeps of the command: 15 bytes. */
void collector_exec(struct collector *c, pid_t pid, const char *name, uint64_t at_ns)
{
    uint32_t old = collector_process(c, pid, at_ns), number = collector_next_program(c, old, at_ns);
    mappings_release(c->inner.at[old].mappings);
    c->inner.at[old].mappings = mappings_new();
    if (number != old) {
        c->inner.at[number].mappings = mappings_new();
        collector_split_cpu(c, old, number);
    }
    c->inner.at[number].rank = c->inner.at[old].rank;
    c->inner.at[number].has_rank = c->inner.at[old].has_rank;
    c->inner.at[number].rank_tries = 0;
    collector_read_rank(c, number);
    c->inner.at[number].awaits_program = true;
    c->processes.at[number].program = RECORDING_NONE;
    c->processes.at[number].name = arena_copy(&c->arena, name, strlen(name));
    if (c->options.reads_commands)
        c->processes.at[number].command = arguments_of_process(pid, name, &c->arena);
    collector_name(c, pid, pid, name, at_ns);
}

void collector_process_cpu(struct collector *c, pid_t pid, uint64_t user_ns, uint64_t system_ns)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (!found)
        return;
    collector_process_used(&c->processes.at[*found], &c->inner.at[*found], user_ns, system_ns);
}

void collector_account(struct collector *c, struct collector_accounts accounts)
{
    c->accounts = accounts;
}

struct collector_accounts collector_accounts(const struct collector *c)
{
    return c->accounts;
}

void collector_process_peak(struct collector *c, pid_t pid, uint64_t bytes)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (found)
        c->processes.at[*found].peak_bytes = bytes;
}

void collector_process_status(struct collector *c, pid_t pid, int status)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (!found)
        return;
    c->processes.at[*found].status = status;
    c->processes.at[*found].has_ended = true;
    c->inner.at[*found].living = 0; /* some exits may not have been reported */
}

/* --- threads --------------------------------------------------------------------------------- */

/* With the process's name, until its own name is reported. */
static uint32_t collector_add_thread(struct collector *c, uint32_t process, pid_t tid,
                                     uint64_t at_ns)
{
    vec_push(&c->threads, (struct recording_thread){.process = process,
                                                    .tid = (uint32_t)tid,
                                                    .start_ns = collector_since_start(c, at_ns)});
    const char *name = c->processes.at[process].name;
    struct recording_thread *t = &c->threads.at[c->threads.len - 1];
    snprintf(t->name, sizeof t->name, "%s", name);
    c->inner.at[process].living++;
    return (uint32_t)c->threads.len - 1;
}

/* A tid that was another process's thread before is a new thread. */
uint32_t collector_thread(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint32_t *found = map_find(&c->thread_of, tid, 0);
    uint32_t process = collector_process(c, pid, at_ns);
    if (found && *found != RECORDING_NONE && c->threads.at[*found].process == process)
        return *found;
    uint32_t number;
    if (c->threads.len < MOST_THREADS) {
        number = collector_add_thread(c, process, tid, at_ns);
    } else { /* one stands for all further threads of the process */
        struct collected_process *p = &c->inner.at[process];
        if (p->other_threads == RECORDING_NONE)
            p->other_threads = collector_add_thread(c, process, 0, at_ns);
        number = p->other_threads;
    }
    map_set(&c->thread_of, tid, 0, number);
    return number;
}

void collector_name(struct collector *c, pid_t pid, pid_t tid, const char *name, uint64_t at_ns)
{
    uint32_t number = collector_thread(c, pid, tid, at_ns); /* which may move the list */
    struct recording_thread *t = &c->threads.at[number];
    if (t->tid)
        snprintf(t->name, sizeof t->name, "%s", name);
}

/* Of a thread. A process ends with its last one, when its first one has ended as well: all others
 * may be threads that were not reported. */
void collector_exit(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint64_t end_ns = collector_since_start(c, at_ns);
    end_ns = end_ns ? end_ns : 1; /* before recording started */
    const uint32_t *process = map_find(&c->process_of, pid, 0);
    const uint32_t *thread = map_find(&c->thread_of, tid, 0);
    if (thread && *thread != RECORDING_NONE) {
        struct recording_thread *t = &c->threads.at[*thread];
        struct collected_process *of = &c->inner.at[t->process];
        of->living -= !t->end_ns && of->living;
        t->end_ns = end_ns;
    }
    if (!process)
        return;
    struct recording_process *p = &c->processes.at[*process];
    if (pid != tid && !p->end_ns)
        return;
    if (p->end_ns) /* threads have outlived the first one */
        collector_code_goes_on(c, *process);
    p->end_ns = end_ns;
    if (!c->inner.at[*process].living)
        collector_code_ends(c, *process);
}

/* A thread that was not reported before is left out: it has no samples either. */
void collector_thread_cpu(struct collector *c, pid_t pid, pid_t tid, uint64_t cpu_ns)
{
    const uint32_t *found = map_find(&c->thread_of, tid, 0);
    (void)pid;
    if (!found || *found == RECORDING_NONE)
        return;
    c->threads.at[*found].cpu_ns = cpu_ns;
    c->threads.at[*found].has_cpu = true;
}

void collector_scale_threads(struct collector *c, double factor)
{
    for (size_t i = 0; i < c->threads.len; i++)
        c->threads.at[i].cpu_ns = (uint64_t)((double)c->threads.at[i].cpu_ns * factor + 0.5);
}

void collector_scale_first_periods(struct collector *c, double factor)
{
    c->first_period_factor = factor;
}

/* --- mappings -------------------------------------------------------------------------------- */

/* Mappings that have a path and are no files: the kernel's names for other memory. */
static bool collector_is_file(const char *path)
{
    static const char *const others[] = {"/dev/", "/SYSV", "/anon_hugepage", NULL};
    return path[0] == '/' && path[1] != '/' && !path_begins_with(path, others) &&
           !collector_is_jitdump(path);
}

/* Memory with a name, and files in memory that shm_open() makes as well as compilers, may hold a
 * program, or a library, as well as code that was generated. */
static bool collector_is_program(const struct collector *c, const struct image_identity *id)
{
    static const char memfd[] = "/memfd:", shm[] = "/dev/shm/";
    if (strncmp(id->path, memfd, strlen(memfd)) != 0 && strncmp(id->path, shm, strlen(shm)) != 0)
        return collector_is_file(id->path);
    return id->build_id.len || (!c->images.is_replayed && images_is_elf(id));
}

/* The image of a mapping. Where maps are read again (`old`), the file that was there is there
 * still, unless another has taken its path: the kernel's report of it had more than maps say.
 */
static uint32_t collector_image_of(struct collector *c, uint32_t process,
                                   const struct mappings *old, const struct collector_mapping *m)
{
    const struct mapping *found = old ? mappings_find(old, m->start) : NULL;
    const struct image *image = found ? c->images.all.at[found->image] : NULL;
    bool is_replaced = image && image->inode && m->inode &&
                       (image->inode != m->inode || image->device != m->device);
    if (collector_is_file(m->path) && image && !is_replaced && !strcmp(image->object.path, m->path))
        return found->image;
    if (!strcmp(m->path, "[vdso]"))
        return images_other(&c->images, RECORDING_OBJECT_VDSO, RECORDING_NONE);
    struct image_identity id = {.path = m->path,
                                .build_id = m->build_id,
                                .device = m->device,
                                .inode = m->inode,
                                .pid = m->pid,
                                .start = m->start,
                                .end = m->end,
                                .offset = m->offset};
    return collector_is_program(c, &id) ? images_file(&c->images, &id)
                                        : collector_generated(c, process);
}

/* Addresses are distinguished by their offset in the image: in the file's bytes for a file, from
 * the start of the mapping for the vDSO and the kernel, as they are for generated code. */
static void collector_put_mapping(struct collector *c, uint32_t process, const struct mappings *old,
                                  const struct collector_mapping *m)
{
    uint32_t image = collector_image_of(c, process, old, m);
    if (collector_is_jitdump(m->path))
        collector_jitdump(c, process, m);
    enum recording_object_kind kind = c->images.all.at[image]->object.kind;
    struct mapping one = {m->start, m->end, m->offset, image};
    if (kind == RECORDING_OBJECT_VDSO)
        one.offset = 0;
    else if (kind == RECORDING_OBJECT_GENERATED)
        one.offset = m->start;
    mappings_put(&c->inner.at[process].mappings, &one);
    /* One that was found running may have a library first: its own text can lie in memory without a
     * file. */
    if (kind == RECORDING_OBJECT_FILE && c->inner.at[process].awaits_program &&
        !path_is_library(m->path)) {
        c->inner.at[process].awaits_program = false;
        c->processes.at[process].program = image;
    }
}

/* Memory without code is not kept. */
void collector_map(struct collector *c, const struct collector_mapping *m, uint64_t at_ns)
{
    if (m->is_executable)
        collector_put_mapping(c, collector_process(c, m->pid, at_ns), NULL, m);
}

void collector_map_kernel(struct collector *c, const struct collector_mapping *m)
{
    uint32_t image = images_listed(
        &c->images, &(struct image_identity){.path = m->path, .build_id = m->build_id});
    mappings_put(&c->kernel_code, &(struct mapping){m->start, m->end, 0, image});
}

/* Whether memory has the bytes that a file has from `offset` on, judged by a few pieces: its first,
 * its last and some between. The last page of a file is zero after its end; a file of zeros there
 * proves nothing. */
static bool collector_has_text(const struct collector_mapping *m, const char *path, uint64_t offset)
{
    enum { PIECES = 4, PIECE_BYTES = 256 };
    uint8_t memory[PIECE_BYTES], text[PIECE_BYTES];
    char name[PATH_MAX + sizeof "/proc/4294967295/root"];
    snprintf(name, sizeof name, "/proc/%d/root%s", (int)proc_living(m->pid), path);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_same = fd >= 0, has_any = false;
    for (uint64_t i = 0; i < PIECES && is_same; i++) {
        uint64_t at = (m->end - m->start - PIECE_BYTES) * i / (PIECES - 1);
        ssize_t len = pread(fd, text, sizeof text, (off_t)(offset + at));
        is_same = len >= 0 &&
                  proc_read_memory(m->pid, m->start + at, memory, (size_t)len) == (size_t)len &&
                  !memcmp(memory, text, (size_t)len);
        for (ssize_t k = 0; k < len; k++)
            has_any |= text[k] != 0;
    }
    if (fd >= 0)
        close(fd);
    return is_same && has_any;
}

/* Code in memory without a file, where text was or would go on: programs copy theirs to have it on
 * large pages, as node, HHVM and ClickHouse do. The kernel moves memory without a word to perf, and
 * its maps have no name for it. Where it has the file's bytes it is the file still; code that was
 * generated in the place of a library that is gone has others.
 *
 * `beside` is the mapping before: what does not adjoin it is skipped, as just-in-time compilers
 * have many such mappings. */
static void collector_find_copied(const struct collector *c, const struct mappings *old,
                                  const struct collector_mapping *beside,
                                  struct collector_mapping *m)
{
    const struct mapping *found = old ? mappings_find(old, m->start) : NULL;
    const struct image *image = found ? c->images.all.at[found->image] : NULL;
    struct collector_mapping was = *beside;
    if (image && image->object.kind == RECORDING_OBJECT_FILE)
        was = (struct collector_mapping){.start = found->start,
                                         .offset = found->offset,
                                         .path = image->object.path,
                                         .device = image->device,
                                         .inode = image->inode};
    else if (beside->end != m->start)
        return;
    uint64_t offset = m->start - was.start + was.offset;
    if (!was.path || !collector_is_file(was.path) || !collector_has_text(m, was.path, offset))
        return;
    m->path = was.path;
    m->offset = offset;
    m->device = was.device;
    m->inode = was.inode;
}

/* Puts the executable mappings that a file in /proc lists. Returns whether the process has any. */
static bool collector_read_maps_at(struct collector *c, uint32_t process,
                                   const struct mappings *old, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    char beside_path[PATH_MAX];
    struct collector_mapping beside = {0};
    while (file && getline(&line, &room, file) > 0) {
        struct proc_mapping found;
        if (!proc_parse_mapping(line, &found))
            continue;
        struct collector_mapping one = {.pid = (pid_t)c->processes.at[process].pid,
                                        .start = found.start,
                                        .end = found.end,
                                        .offset = found.offset,
                                        .device = found.device,
                                        .inode = found.inode,
                                        .path = found.path,
                                        .is_executable = found.rights[2] == 'x'};
        if (one.is_executable && !*one.path)
            collector_find_copied(c, old, &beside, &one);
        if (one.is_executable)
            collector_put_mapping(c, process, old, &one);
        if (one.path != beside_path) /* the line is read over by the next */
            snprintf(beside_path, sizeof beside_path, "%s", one.path);
        beside = one;
        beside.path = beside_path;
    }
    free(line);
    if (file)
        fclose(file);
    return c->inner.at[process].mappings->all.len;
}

/* The old list is kept until the new one is whole, for what the kernel had reported about files;
 * and if there is none, for good. */
bool collector_read_maps(struct collector *c, pid_t pid, uint64_t at_ns)
{
    char path[64];
    uint32_t process = collector_process(c, pid, at_ns), number = c->processes.at[process].pid;
    struct mappings *old = c->inner.at[process].mappings;
    c->inner.at[process].mappings = mappings_new();
    snprintf(path, sizeof path, "/proc/%d/maps", (int)proc_living((pid_t)number));
    if (!collector_read_maps_at(c, process, old, path)) { /* a process that is ending has none */
        mappings_release(c->inner.at[process].mappings);
        c->inner.at[process].mappings = old;
        return false;
    }
    mappings_release(old);
    return true;
}

/* --- losses, and what programs publish about themselves -------------------------------------- */

/* There are few kinds of text: looking through all of them is cheap. */
void collector_lose(struct collector *c, enum recording_loss_kind kind, const char *text,
                    uint64_t count, uint64_t ns)
{
    struct collected_loss *loss = NULL;
    for (size_t i = 0; i < c->losses.len && !loss; i++)
        if (c->losses.at[i].kind == kind && !strcmp(c->losses.at[i].text, text))
            loss = &c->losses.at[i];
    if (!loss) {
        text = arena_copy(&c->arena, text, strlen(text));
        vec_push(&c->losses, (struct collected_loss){.kind = kind, .text = text});
        loss = &c->losses.at[c->losses.len - 1];
    }
    loss->count += count;
    loss->ns += ns;
}

/* One that is stopped already stays so: the first time counts. */
void collector_stop(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            return;
    vec_push(&c->stops, (struct collected_stop){process, at_ns, UINT64_MAX});
    c->inner.at[process].has_stops = true;
}

void collector_resume(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            c->stops.at[i].to_ns = at_ns;
}

/* Stops of all processes are in one list, in the order of time. */
bool collector_counts(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    if (at_ns < p->not_before_ns)
        return false;
    /* A program that stops and resumes all the time makes the list long: the newest come first. */
    for (size_t i = p->has_stops ? c->stops.len : 0; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process == process && s->to_ns <= at_ns)
            return true;
        if (s->process == process && s->from_ns <= at_ns)
            return false;
    }
    return true;
}

uint64_t collector_counts_until(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    uint64_t until = p->not_before_ns > at_ns ? p->not_before_ns : UINT64_MAX;
    for (size_t i = p->has_stops ? c->stops.len : 0; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process != process)
            continue;
        if (s->to_ns <= at_ns)
            break;
        until = s->to_ns < until ? s->to_ns : until;
        until = s->from_ns > at_ns && s->from_ns < until ? s->from_ns : until;
    }
    return until;
}

/* What tally_forget() is to forget. */
struct forgotten_process {
    const struct collector *c;
    uint32_t process;
};

static bool forgotten_is_of(uint32_t thread, void *context)
{
    const struct forgotten_process *of = context;
    return of->c->threads.at[thread].process == of->process;
}

/* What was sampled so far is lost at the program's request; what comes late of the time before is
 * forgotten as well. */
void collector_reset(struct collector *c, pid_t pid, uint64_t at_ns)
{
    struct forgotten_process of = {c, collector_process(c, pid, at_ns)};
    uint64_t before = c->left_out.len ? c->left_out.at[0] : 0;
    tally_forget(&c->tally, forgotten_is_of, &of, c->left_out.at, c->left_out.len);
    uint64_t forgotten = c->left_out.len ? c->left_out.at[0] - before : 0;
    if (forgotten && c->events.at[0].unit == RECORDING_UNIT_NS)
        collector_lose(c, RECORDING_LOST_STOPPED, COLLECTOR_STOPPED_TEXT, 1, forgotten);
    collector_waits_forget(c, of.process);
    c->inner.at[of.process].not_before_ns = at_ns;
}

/* Beyond a bound, marks are left out: a program may set one in a loop. */
void collector_mark(struct collector *c, uint32_t kind, pid_t pid, pid_t tid, const char *name,
                    uint64_t at_ns)
{
    enum { MOST_MARKS = 100000 };
    if (c->marks.len >= MOST_MARKS)
        return;
    vec_push(&c->marks, (struct recording_mark){.at_ns = collector_since_start(c, at_ns),
                                                .kind = kind,
                                                .process = collector_process(c, pid, at_ns),
                                                .tid = (uint32_t)tid,
                                                .name = arena_copy(&c->arena, name, strlen(name))});
}

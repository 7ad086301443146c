/* From the records of a perf.data file, in the order of time, to the collector of our own
 * recordings.
 *
 * The collector keeps processes and mappings, opens the files that were mapped and unwinds stacks
 * that were copied, exactly as when it records; what perf recorded as addresses of callers is taken
 * as it is. So a file that perf made and one that monarc made say the same of the same run.
 * Samples that have no place in a recording are counted as lost, each with the reason: what comes
 * in comes out, or is named.
 *
 *     FORK, COMM, EXIT       processes, their programs and threads
 *     MMAP, MMAP2            objects, of the process or of the kernel
 *     SAMPLE                 a stack: copied (user registers and memory), or addresses
 *     LOST, THROTTLE         losses
 *
 * Cost: what the collector's is, which for copied stacks is unwinding them. */
#include "profile/import/perf.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KERNEL_PID UINT32_MAX

/* Younger than the headers that we may be compiled with. */
enum { MISC_MODE = 7, CONTEXT_MOST = 4095 };

#define LOST \
    "samples that perf lost: the kernel's buffer was full ('perf record -m' makes it larger)"
#define LOST_CHUNKS "records that perf lost: the kernel's buffer was full"
#define THROTTLED   "times that the kernel slowed sampling down"
#define UNKNOWN     "samples of events that the file does not describe"
#define CUT_SHORT   "samples that are shorter than their fields"
#define GUESTS      "samples of a hypervisor or its guests"
#define WEIGHTLESS  "samples without weight"
#define NO_IDS      "the file has no build-ids: files were taken as they are under their paths now"

void perf_replay_deinit(struct perf_replay *p)
{
    collector_free(p->collector);
    vec_free(&p->kinds.all);
    map_deinit(&p->kinds.of_id);
    intern_deinit(&p->build_ids.paths);
    vec_free(&p->build_ids.ids);
    vec_free(&p->kernel.modules);
    arena_deinit(&p->arena);
}

/* --- files ----------------------------------------------------------------------------------- */

void perf_replay_build_id(struct perf_replay *p, const char *path, struct bytes id)
{
    uint32_t number = intern(&p->build_ids.paths, path, strlen(path));
    while (id.len > 1 && !id.at[id.len - 1] && id.len > 16) /* older files pad to 20 bytes */
        id.len--;
    struct bytes kept = {(const uint8_t *)arena_copy(&p->arena, (const char *)id.at, id.len),
                         id.len};
    if (number == p->build_ids.ids.len)
        vec_push(&p->build_ids.ids, kept);
    else
        p->build_ids.ids.at[number] = kept;
    p->has_ids = true;
}

struct bytes perf_replay_known_id(const struct perf_replay *p, const char *path)
{
    uint32_t number = intern_find(&p->build_ids.paths, path, strlen(path));
    return number == INTERN_NONE ? (struct bytes){0} : p->build_ids.ids.at[number];
}

/* "/lib/modules/6.1/kernel/net/nf-x.ko.xz": [nf_x]. A name that is in brackets already stays, up
 * to the bracket. */
static const char *replay_module_name(struct perf_replay *p, const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    if (*path == '[')
        return arena_printf(&p->arena, "%.*s", (int)strcspn(path, "]") + 1, path);
    char *name = arena_printf(&p->arena, "[%.*s]", (int)strcspn(base, "."), base);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return name;
}

/* "[kernel.kallsyms]_text": the kernel itself; the offset is the address of that symbol. */
static void replay_map_kernel(struct perf_replay *p, const struct perf_record *r)
{
    struct perf_kernel *k = &p->kernel;
    const char *name = replay_module_name(p, r->text), *behind = strchr(r->text, ']');
    if (!r->length || r->start + r->length < r->start || !strncmp(name, "[guest", 6))
        return;
    if (!strcmp(name, "[kernel.kallsyms]") && !k->is_told) {
        k->is_told = true;
        k->start = r->start;
        k->anchor = r->offset;
        snprintf(k->symbol, sizeof k->symbol, "%s", behind ? behind + 1 : "");
    } else
        vec_push(&k->modules, (struct perf_module){name, r->start});
    struct bytes id = perf_replay_known_id(p, name);
    collector_map_kernel(p->collector,
                         &(struct collector_mapping){
                             .start = r->start,
                             .end = r->start + r->length,
                             .path = name,
                             .build_id = id.len ? id : perf_replay_known_id(p, r->text),
                         });
}

/* A mapping of the kernel's, or a file's in a process. The build-id of the record counts more than
 * that of the file's table. */
static void replay_mapped(struct perf_replay *p, const struct perf_record *r)
{
    if ((r->misc & MISC_MODE) == PERF_RECORD_MISC_KERNEL || r->pid == KERNEL_PID) {
        replay_map_kernel(p, r);
        return;
    }
    struct bytes id = r->build_id.len ? r->build_id : perf_replay_known_id(p, r->text);
    struct collector_mapping m = {.pid = (pid_t)r->pid,
                                  .start = r->start,
                                  .end = r->start + r->length,
                                  .offset = r->offset,
                                  .path = r->text,
                                  .build_id = id,
                                  .is_executable = r->protection & PROT_EXEC};
    p->has_ids |= r->build_id.len > 0;
    if (m.end > m.start)
        collector_map(p->collector, &m, r->time);
}

/* --- processes ------------------------------------------------------------------------------- */

/* What perf has found running when it began it tells as names alone. */
static void replay_named(struct perf_replay *p, const struct perf_record *r)
{
    pid_t pid = (pid_t)r->pid, tid = (pid_t)r->tid;
    if (r->misc & PERF_RECORD_MISC_COMM_EXEC ||
        (pid == tid && !collector_has_process(p->collector, pid)))
        collector_exec(p->collector, pid, r->text, r->time);
    else
        collector_name(p->collector, pid, tid, r->text, r->time);
}

/* A new thread, or a new process if both pids differ. */
static void replay_forked(struct perf_replay *p, const struct perf_record *r)
{
    if (r->pid != r->parent_pid && collector_has_process(p->collector, (pid_t)r->pid))
        return; /* it was found running, and is told again */
    collector_fork(p->collector, (pid_t)r->pid, (pid_t)r->tid, (pid_t)r->parent_pid, r->time);
}

/* --- samples --------------------------------------------------------------------------------- */

enum { MOST_FRAMES = 2048 };

/* Addresses of a stack, innermost first, as the collector wants them: the kernel's and the
 * program's apart. */
struct replay_frames {
    uint64_t user[MOST_FRAMES], kernel[MOST_FRAMES];
    struct collector_chain chain;
};

/* Words of the kernel that say of what kind the frames behind them are. */
static bool replay_is_context(uint64_t word)
{
    return word >= (uint64_t)-CONTEXT_MOST;
}

static void replay_put_frame(struct replay_frames *f, bool is_kernel, uint64_t address)
{
    uint32_t *len = is_kernel ? &f->chain.kernel_len : &f->chain.user_len;
    if (*len < MOST_FRAMES)
        (is_kernel ? f->kernel : f->user)[(*len)++] = address;
    else
        f->chain.is_cut = true;
}

/* The chain of the kernel's making, apart. Where the sample is, it says itself. A chain as long
 * as was allowed is taken to be cut off. One that lacks the place of the sample gets it in
 * front.
 *
 *     CONTEXT_KERNEL, ip, ret, ret, CONTEXT_USER, ip, ret, ... */
static void replay_read_chain(struct replay_frames *f, const struct perf_event_kind *kind,
                              const struct perf_record *r, bool in_kernel)
{
    uint32_t frames = 0;
    bool is_kernel = in_kernel;
    for (size_t at = 0; at + 8 <= r->chain.len; at += 8) {
        uint64_t word = bytes_u64(r->chain.at + at, kind->layout.is_big_endian);
        if (replay_is_context(word)) {
            is_kernel = word == (uint64_t)PERF_CONTEXT_KERNEL;
            continue;
        }
        frames++;
        replay_put_frame(f, is_kernel, word);
    }
    f->chain.is_cut |= frames >= kind->most_frames;
    if (in_kernel && (!f->chain.kernel_len || f->kernel[0] != r->ip)) {
        f->chain.kernel_len += f->chain.kernel_len < MOST_FRAMES;
        memmove(f->kernel + 1, f->kernel, (f->chain.kernel_len - 1) * sizeof *f->kernel);
        f->kernel[0] = r->ip;
    }
    if (!in_kernel && !f->chain.user_len && !r->has_user_code)
        replay_put_frame(f, false, r->ip);
}

/* Why a sample cannot be in the run, or NULL. */
static const char *replay_refusal(const struct perf_record *r)
{
    unsigned mode = r->misc & MISC_MODE;
    bool is_known = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER;
    if (!is_known)
        return GUESTS;
    return r->period ? NULL : WEIGHTLESS;
}

static void replay_lose(struct perf_replay *p, enum recording_loss_kind kind, const char *text,
                        uint64_t count)
{
    collector_lose(p->collector, kind, text, count, 0);
}

/* A sample to the collector. Without a period of its own it weighs what the event's period is;
 * where only a rate was asked for, it counts as one. */
static void replay_sampled(struct perf_replay *p, uint32_t event, struct perf_record *r)
{
    const struct perf_event_kind *kind = &p->kinds.all.at[event];
    uint64_t type = kind->layout.sample_type;
    bool in_kernel = (r->misc & MISC_MODE) == PERF_RECORD_MISC_KERNEL;
    struct replay_frames f;
    if (!(type & PERF_SAMPLE_PERIOD))
        r->period = kind->is_rate ? 1 : kind->period;
    const char *refusal = replay_refusal(r);
    if (refusal) {
        replay_lose(p, RECORDING_LOST_OTHER, refusal, 1);
        return;
    }
    bool unwinds = type & PERF_SAMPLE_REGS_USER && type & PERF_SAMPLE_STACK_USER;
    f.chain = (struct collector_chain){
        .user = f.user, .kernel = f.kernel, .is_leaf = !(type & PERF_SAMPLE_CALLCHAIN)};
    r->has_user_code &= unwinds;
    replay_read_chain(&f, kind, r, in_kernel);
    p->has_stacks |= !f.chain.is_leaf || unwinds;
    p->taken++;
    collector_sample(p->collector, &(struct collector_sample){
                                       .pid = (pid_t)r->pid,
                                       .tid = (pid_t)r->tid,
                                       .at_ns = r->time,
                                       .weight = r->period,
                                       .event = event,
                                       .where = in_kernel ? COLLECTOR_IN_KERNEL : COLLECTOR_IN_USER,
                                       .syscall = -1,
                                       .registers = r->has_user_code ? &r->registers : NULL,
                                       .stack = r->stack,
                                       .chain = &f.chain,
                                   });
}

/* --- all records ----------------------------------------------------------------------------- */

/* Makes the collector with the first record, when attributes and features are all known: events are
 * then added in the order of the kinds, so that both have the same numbers. */
static void replay_start(struct perf_replay *p)
{
    p->collector =
        collector_new(&(struct collector_options){.start_ns = p->start_ns,
                                                  .arch = p->arch,
                                                  .is_replayed = true,
                                                  .opens_no_files = p->opens_no_files,
                                                  .vdso_id = perf_replay_known_id(p, "[vdso]")});
    for (uint32_t i = 0; i < p->kinds.all.len; i++) {
        const struct perf_event_kind *k = &p->kinds.all.at[i];
        bool is_clock = perf_kind_is_clock(k);
        uint64_t rate = k->period ? k->period : 1;
        uint64_t period = !k->is_rate ? k->period : is_clock ? UINT64_C(1000000000) / rate : 0;
        p->kinds.all.at[i].layout.arch = p->arch;
        collector_add_event(p->collector, perf_kind_name(&p->kinds, i),
                            is_clock ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT, period,
                            k->excludes_kernel);
    }
}

static void replay_happened(struct perf_replay *p, uint32_t kind, struct perf_record *r)
{
    switch (r->type) {
    case PERF_RECORD_SAMPLE: replay_sampled(p, kind, r); break;
    case PERF_RECORD_FORK: replay_forked(p, r); break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: replay_mapped(p, r); break;
    case PERF_RECORD_EXIT:
        collector_exit(p->collector, (pid_t)r->pid, (pid_t)r->tid, r->time);
        break;
    case PERF_RECORD_COMM: replay_named(p, r); break;
    case PERF_RECORD_LOST: replay_lose(p, RECORDING_LOST_RECORDS, LOST_CHUNKS, r->value); break;
    case PERF_RECORD_LOST_SAMPLES: replay_lose(p, RECORDING_LOST_RECORDS, LOST, r->value); break;
    case PERF_RECORD_THROTTLE: replay_lose(p, RECORDING_LOST_THROTTLED, THROTTLED, 1); break;
    default: break; /* switches, unthrottling, namespaces, groups: nothing of a profile */
    }
}

/* Without a time told by the file, the run begins with the first record that has one. */
void perf_replay_record(struct perf_replay *p, struct bytes record)
{
    bool big_endian = p->kinds.all.len && p->kinds.all.at[0].layout.is_big_endian;
    bool is_sample = bytes_u32(record.at, big_endian) == PERF_RECORD_SAMPLE;
    uint32_t kind = perf_kinds_of(&p->kinds, record, big_endian);
    struct perf_record r;
    if (!p->collector)
        replay_start(p);
    p->samples += is_sample;
    if (kind == RECORDING_NONE || kind >= p->kinds.all.len) {
        replay_lose(p, RECORDING_LOST_OTHER, is_sample ? UNKNOWN : LOST_CHUNKS, 1);
        return;
    }
    if (!perf_record_read(&p->kinds.all.at[kind].layout, record, &r)) {
        replay_lose(p, RECORDING_LOST_OTHER, is_sample ? CUT_SHORT : "records that are damaged", 1);
        return;
    }
    if (r.time && !p->start_ns) {
        p->start_ns = r.time;
        collector_set_start(p->collector, r.time);
    }
    p->end_ns = r.time > p->end_ns ? r.time : p->end_ns;
    replay_happened(p, kind, &r);
}

/* --- the end --------------------------------------------------------------------------------- */

static int replay_by_place(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

/* The first event says how it was recorded: in user code alone, and at which rate. */
void perf_replay_finish(struct perf_replay *p, struct recording *out)
{
    if (!p->collector)
        replay_start(p);
    if (!p->has_ids && p->taken)
        replay_lose(p, RECORDING_LOST_OTHER, NO_IDS, 1);
    collector_finish(p->collector, p->end_ns, out);
    perf_kernel_names(p, out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, replay_by_place);
    bool user_only = p->kinds.all.len && p->kinds.all.at[0].excludes_kernel;
    out->method = user_only ? RECORDING_METHOD_PERF_USER : RECORDING_METHOD_PERF;
    if (p->kinds.all.len && p->kinds.all.at[0].is_rate)
        out->rate = (uint32_t)(p->kinds.all.at[0].period & UINT32_MAX);
}

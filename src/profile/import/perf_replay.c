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
 *     SAMPLE                 a stack: copied (user registers and memory), or addresses; branches
 *     CALLCHAIN_DEFERRED     the user's part of the stacks of samples before it
 *     LOST, THROTTLE         losses
 *
 * Cost: what the collector's is, which for copied stacks is unwinding them. */
#include "profile/import/perf.h"

#include "base/path.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KERNEL_PID UINT32_MAX

/* Younger than the headers that we may be compiled with. */
enum { MISC_MODE = 7, CONTEXT_MOST = 4095 };
static const uint64_t CONTEXT_USER_DEFERRED = (uint64_t)-640; /* a cookie follows */

#define LOST \
    "samples that perf lost: the kernel's buffer was full ('perf record -m' makes it larger)"
#define LOST_CHUNKS "records that perf lost: the kernel's buffer was full"
#define THROTTLED   "times that the kernel throttled sampling"
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
    for (size_t i = 0; i < p->waiting.len; i++) {
        for (size_t k = 0; k < p->waiting.at[i].all.len; k++)
            memory_free((void *)p->waiting.at[i].all.at[k].chain.kernel);
        vec_free(&p->waiting.at[i].all);
    }
    vec_free(&p->waiting);
    map_deinit(&p->waiting_of);
    vec_free(&p->counts);
    map_deinit(&p->count_of);
    arena_deinit(&p->arena);
}

/* --- files ----------------------------------------------------------------------------------- */

void perf_replay_build_id(struct perf_replay *p, const char *path, struct bytes id)
{
    uint32_t number = intern(&p->build_ids.paths, path, strlen(path));
    struct bytes kept = {(const uint8_t *)arena_copy(&p->arena, (const char *)id.at, id.len),
                         id.len};
    if (number == p->build_ids.ids.len)
        vec_push(&p->build_ids.ids, kept);
    else
        p->build_ids.ids.at[number] = kept;
    p->has_ids = true;
}

/* Empty where none is known. */
static struct bytes perf_replay_known_id(const struct perf_replay *p, const char *path)
{
    uint32_t number = intern_find(&p->build_ids.paths, path, strlen(path));
    return number == INTERN_NONE ? (struct bytes){0} : p->build_ids.ids.at[number];
}

/* "/lib/modules/6.1/kernel/net/nf-x.ko.xz": [nf_x]. A name that is in brackets already stays, up
 * to the bracket. */
static const char *replay_module_name(struct perf_replay *p, const char *path)
{
    const char *base = path_base_name(path);
    if (!strncmp(base + strspn(base, "["), "kernel.kallsyms", 15))
        return "[kernel.kallsyms]";
    if (*path == '[')
        return arena_printf(&p->arena, "%.*s", (int)strcspn(path, "]") + 1, path);
    char *name = arena_printf(&p->arena, "[%.*s]", (int)strcspn(base, "."), base);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return name;
}

/* "[kernel.kallsyms]_text": the kernel itself; the offset is the address of that symbol. perf 3.2
 * to 3.8 say that it reaches from 0 to the first module, [0(0xffffffff9fffffff); it begins at the
 * symbol then. Before 3.0 the symbol is in the brackets: "[kernel.kallsyms._text]". */
static void replay_map_kernel(struct perf_replay *p, const struct perf_record *r)
{
    struct perf_kernel *k = &p->kernel;
    const char *name = replay_module_name(p, r->text);
    uint64_t start = r->start, end = r->start + r->length;
    if (!r->length || end < start || !strncmp(name, "[guest", 6))
        return;
    bool is_kernel = !strcmp(name, "[kernel.kallsyms]");
    if (is_kernel && !start && r->offset < end)
        start = r->offset;
    if (is_kernel && !k->is_told) {
        const char *symbol = strstr(r->text, "kallsyms") + strlen("kallsyms");
        symbol += strspn(symbol, "].");
        k->is_told = true;
        k->start = start;
        k->anchor = r->offset;
        snprintf(k->symbol, sizeof k->symbol, "%.*s", (int)strcspn(symbol, "]"), symbol);
    } else
        vec_push(&k->modules, (struct perf_module){name, start});
    struct bytes id = perf_replay_known_id(p, name);
    collector_map_kernel(p->collector,
                         &(struct collector_mapping){
                             .start = start,
                             .end = end,
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

/* A new thread, or a new process if both pids differ. */
static void replay_forked(struct perf_replay *p, const struct perf_record *r)
{
    if (r->pid != r->parent_pid && collector_has_process(p->collector, (pid_t)r->pid))
        return; /* it was found running, and is reported again */
    collector_fork(p->collector, (pid_t)r->pid, (pid_t)r->tid, (pid_t)r->parent_pid, r->time);
}

/* --- samples --------------------------------------------------------------------------------- */

enum { MOST_FRAMES = 2048 };

/* Addresses of a stack, innermost first, as the collector wants them: the kernel's and the
 * program's apart. */
struct replay_frames {
    uint64_t user[MOST_FRAMES], kernel[MOST_FRAMES];
    struct collector_chain chain;
    bool is_deferred; /* the user's part comes later, with this cookie */
    uint64_t cookie;
};

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
 *     CONTEXT_KERNEL, ip, ret, ret, CONTEXT_USER, ip, ret, ...
 *     CONTEXT_KERNEL, ip, ret, ret, CONTEXT_USER_DEFERRED, cookie */
static void replay_read_chain(struct replay_frames *f, const struct perf_event_kind *kind,
                              const struct perf_record *r, bool in_kernel)
{
    uint32_t frames = 0;
    bool is_kernel = in_kernel;
    for (size_t at = 0; at + 8 <= r->chain.len; at += 8) {
        uint64_t word = bytes_u64(r->chain.at + at, kind->layout.is_big_endian);
        /* Words of the kernel that give the kind of the frames after them. */
        if (word >= (uint64_t)-CONTEXT_MOST) {
            is_kernel = word == (uint64_t)PERF_CONTEXT_KERNEL;
            if (word == CONTEXT_USER_DEFERRED && at + 16 <= r->chain.len) {
                at += 8;
                f->is_deferred = true;
                f->cookie = bytes_u64(r->chain.at + at, kind->layout.is_big_endian);
            }
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
    if (!in_kernel && !f->chain.user_len && !r->has_user_code && !f->is_deferred)
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

/* ---- Deferred stacks: Linux from 6.19 on can walk the user's part of a stack when it returns to
 * user code, once for all samples that it took meanwhile. These say so by a cookie, and wait by
 * thread for the record with the same one. A record with another one, the end of the thread or that
 * of the file ends the wait: the stack is cut then. */

static void replay_wait(struct perf_replay *p, const struct collector_sample *s,
                        const struct replay_frames *f, uint64_t ip)
{
    bool is_new;
    uint32_t at =
        map_index(&p->waiting_of, (uint64_t)s->pid, (uint64_t)s->tid, p->waiting.len, &is_new);
    if (is_new)
        vec_push(&p->waiting, (struct perf_waiting_thread){0});
    struct perf_waiting w = {.sample = *s, .chain = f->chain, .cookie = f->cookie, .ip = ip};
    uint64_t *kernel = memory_zeroed(f->chain.kernel_len + 1, sizeof *kernel);
    memcpy(kernel, f->kernel, f->chain.kernel_len * sizeof *kernel);
    w.chain.kernel = kernel;
    vec_push(&p->waiting.at[at].all, w);
}

/* Ends the wait of a thread's samples. `user`: what came, NULL for nothing. */
static void replay_end_wait(struct perf_replay *p, struct perf_waiting_thread *t, uint64_t cookie,
                            const struct replay_frames *user)
{
    for (size_t i = 0; i < t->all.len; i++) {
        struct perf_waiting *w = &t->all.at[i];
        bool is_it = user && w->cookie == cookie;
        w->chain.user = is_it ? user->user : &w->ip;
        w->chain.user_len = is_it ? user->chain.user_len : w->ip != 0;
        w->chain.is_cut |= is_it ? user->chain.is_cut : true;
        w->sample.chain = &w->chain;
        collector_sample(p->collector, &w->sample);
        memory_free((void *)w->chain.kernel);
    }
    t->all.len = 0;
}

static void replay_deferred(struct perf_replay *p, const struct perf_event_kind *kind,
                            const struct perf_record *r)
{
    struct replay_frames f = {.is_deferred = true}; /* has no place of its own */
    const uint32_t *at = map_find(&p->waiting_of, r->pid, r->tid);
    if (!at)
        return;
    replay_read_chain(&f, kind, r, false);
    replay_end_wait(p, &p->waiting.at[*at], r->value, &f);
}

/* Branches that the CPU noted before a sample, also of one without a place of its own. Some CPUs
 * leave entries at the end empty. */
static void replay_branches(struct perf_replay *p, const struct perf_event_kind *kind,
                            const struct collector_sample *s, struct bytes entries)
{
    enum { MOST = 1024 };
    struct collector_branch all[MOST];
    size_t len = 0;
    bool is_big = kind->layout.is_big_endian;
    for (size_t at = 0; at + PERF_BRANCH_BYTES <= entries.len && len < MOST;
         at += PERF_BRANCH_BYTES) {
        const uint8_t *entry = entries.at + at;
        uint64_t flags = bytes_u64(entry + 16, is_big);
        struct collector_branch b = {bytes_u64(entry, is_big), bytes_u64(entry + 8, is_big),
                                     is_big ? flags >> 63 : flags & 1};
        if (!b.from && !b.to)
            break;
        all[len++] = b;
    }
    collector_branches(p->collector, s, all, len);
}

static void replay_give(struct perf_replay *p, const struct collector_sample *s,
                        const struct replay_frames *f, uint64_t ip)
{
    if (f->is_deferred && !s->registers)
        replay_wait(p, s, f, ip);
    else
        collector_sample(p->collector, s);
}

/* Members of a group have no samples: their counts are read with each of the first one. What a
 * counter has counted since it was last read belongs to this place. Those that threads inherit have
 * one id, and count for each thread. */
static void replay_counts(struct perf_replay *p, uint32_t event, const struct collector_sample *s,
                          const struct replay_frames *f, uint64_t ip, struct bytes entries)
{
    const struct perf_event_kind *kind = &p->kinds.all.at[event];
    struct collector_sample member = *s;
    bool is_big = kind->layout.is_big_endian, is_new;
    size_t each = perf_count_bytes(&kind->layout);
    for (size_t at = 0; at + each <= entries.len; at += each) {
        uint64_t count = bytes_u64(entries.at + at, is_big);
        uint64_t id = bytes_u64(entries.at + at + 8, is_big);
        const uint32_t *of = map_find(&p->kinds.of_id, id, 0);
        if (!of || *of == event || p->kinds.all.at[*of].period) /* it has samples of its own */
            continue;
        uint64_t thread = kind->inherits ? (uint64_t)s->tid : 0;
        uint32_t number = map_index(&p->count_of, id, thread, p->counts.len, &is_new);
        if (is_new)
            vec_push(&p->counts, 0);
        uint64_t before = p->counts.at[number];
        member.event = *of;
        member.weight = count > before ? count - before : 0;
        p->counts.at[number] = count;
        if (member.weight)
            replay_give(p, &member, f, ip);
    }
}

/* A sample to the collector. Without a period of its own it weighs what the event's period is;
 * where only a rate was requested, it counts as one. */
static void replay_sampled(struct perf_replay *p, uint32_t event, struct perf_record *r)
{
    const struct perf_event_kind *kind = &p->kinds.all.at[event];
    uint64_t type = kind->layout.sample_type;
    bool in_kernel = (r->misc & MISC_MODE) == PERF_RECORD_MISC_KERNEL;
    struct replay_frames f = {.is_deferred = false};
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
    struct collector_sample s = {
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
    };
    if (r->branches.len)
        replay_branches(p, kind, &s, r->branches);
    replay_give(p, &s, &f, in_kernel ? 0 : r->ip);
    if (r->counts.len)
        replay_counts(p, event, &s, &f, in_kernel ? 0 : r->ip, r->counts);
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
    case RECORD_CALLCHAIN_DEFERRED: replay_deferred(p, &p->kinds.all.at[kind], r); break;
    case PERF_RECORD_EXIT: {
        const uint32_t *waiting = map_find(&p->waiting_of, r->pid, r->tid);
        if (waiting)
            replay_end_wait(p, &p->waiting.at[*waiting], 0, NULL);
        collector_exit(p->collector, (pid_t)r->pid, (pid_t)r->tid, r->time);
        break;
    }
    case PERF_RECORD_COMM: {
        /* Programs that ran before perf are known by name alone. */
        pid_t pid = (pid_t)r->pid, tid = (pid_t)r->tid;
        if (r->misc & PERF_RECORD_MISC_COMM_EXEC ||
            (pid == tid && !collector_has_process(p->collector, pid)))
            collector_exec(p->collector, pid, r->text, r->time);
        else
            collector_name(p->collector, pid, tid, r->text, r->time);
        break;
    }
    case PERF_RECORD_LOST: replay_lose(p, RECORDING_LOST_RECORDS, LOST_CHUNKS, r->value); break;
    case PERF_RECORD_LOST_SAMPLES: replay_lose(p, RECORDING_LOST_RECORDS, LOST, r->value); break;
    case PERF_RECORD_THROTTLE: replay_lose(p, RECORDING_LOST_THROTTLED, THROTTLED, 1); break;
    default: break; /* switches, unthrottling, namespaces, groups: nothing of a profile */
    }
}

/* Without a time in the file, the run begins with the first record that has one. */
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
    for (size_t i = 0; i < p->waiting.len; i++)
        replay_end_wait(p, &p->waiting.at[i], 0, NULL);
    if (!p->has_ids && p->taken)
        replay_lose(p, RECORDING_LOST_OTHER, NO_IDS, 1);
    collector_finish(p->collector, p->end_ns, out);
    perf_kernel_names(p, perf_replay_known_id(p, "[kernel.kallsyms]"), out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, replay_by_place);
    bool user_only = p->kinds.all.len && p->kinds.all.at[0].excludes_kernel;
    out->method = user_only ? RECORDING_METHOD_PERF_USER : RECORDING_METHOD_PERF;
    if (p->kinds.all.len && p->kinds.all.at[0].is_rate)
        out->rate = (uint32_t)(p->kinds.all.at[0].period & UINT32_MAX);
}

/* What threads read and write: bytes by file and by calling stack, from outside.
 *
 *     /proc/PID/task/TID/io      bytes and calls of a thread so far, exact
 *     a sample in a call         its descriptor, out of the registers, and its stack
 *     a look at a wait           the same, and how much the call requested
 *
 * What a thread transferred between two readings of its account is shared out among the calls that
 * were seen in between. Each wait is one call: of a file it gets what it requested. A pipe or
 * terminal returns what there is, so that a wait there gets bytes only if the thread made no other
 * call, and then it is exact. The rest is shared out by the CPU time that was sampled in calls,
 * because that is what copying takes. Where no call of the kind was seen, bytes have no place. So
 * sums are exact, and what has no place is known:
 *
 *     read 1: 10 MB      read < parse of a.txt: 3 samples      6 MB
 *                        read < load of b.txt:  2 samples      4 MB
 *     read 2: 12 MB      (none)                                2 MB without a place
 *
 * Bytes of disks go to waits at files, if there were any, else like all others: a thread that waits
 * for some milliseconds to read a file was not served by the page cache.
 *
 * The account of a thread that has ended cannot be read any more. Its calls are kept, and share
 * what is left of the whole job's account, which is read when its first process ends.
 *
 * Cost: a reading takes some 10 us; of a thread whose calls are seen, one in PAUSE_NS. */
#include "record/waits/waits_private.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAUSE_NS = 10 * 1000 * 1000, /* between readings of a thread ... */
    IO_TO_COST = 100,            /* ... longer if that would take more than a hundredth of a CPU */
    MOST_LEFT = 1 << 18,         /* calls of threads that ended */
    MOST_CALLS = 4096,           /* of a thread, between readings */
};

/* Which arguments are descriptors, -1: none; and which says how much, -1: none does. Sockets are
 * not in the account unless read() or write() are used, so recv() and its like are not here. */
static const struct io_call {
    const char *name;
    int8_t read, write, wanted;
} CALLS[] = {
    {"read", 0, -1, 2},      {"pread64", 0, -1, 2},  {"readv", 0, -1, -1},
    {"preadv", 0, -1, -1},   {"preadv2", 0, -1, -1}, {"write", -1, 0, 2},
    {"pwrite64", -1, 0, 2},  {"writev", -1, 0, -1},  {"pwritev", -1, 0, -1},
    {"pwritev2", -1, 0, -1}, {"sendfile", 1, 0, 3},  {"copy_file_range", 0, 2, 4},
};

static const struct io_call *io_call_of(const struct waits *w, int64_t number)
{
    const struct arch *a = w->options.arch;
    bool is_known = a && number >= 0 && (uint64_t)number < a->syscalls_len && a->syscalls[number];
    for (size_t i = 0; is_known && i < sizeof CALLS / sizeof *CALLS; i++)
        if (!strcmp(CALLS[i].name, a->syscalls[number]))
            return &CALLS[i];
    return NULL;
}

/* --- sharing out ------------------------------------------------------------------------------ */

static uint64_t io_part(uint64_t whole, double part, double of)
{
    double share = of > 0 ? (double)whole * part / of : 0;
    return share < (double)whole ? (uint64_t)share : whole;
}

/* What a call's bytes add to their uncertainty: those of a wait are known. */
static uint64_t io_square(const struct waits_call *call, uint64_t bytes)
{
    const uint64_t kilo = 1000, most = UINT32_MAX;
    uint64_t size = bytes / kilo < most ? bytes / kilo : most;
    return call->is_wait ? 0 : size * size;
}

/* What one direction's account grew by, among the calls of that direction; `made`: how many these
 * were, 0: other threads' are among them. */
static void io_share_one(struct waits *w, const struct waits_call *calls, size_t len, bool is_write,
                         uint64_t bytes, uint64_t made, uint64_t *disk, uint64_t at_ns)
{
    struct arena scratch = {0};
    uint64_t *given = ARENA_NEW(&scratch, uint64_t, len + 1), left = bytes, waits = 0;
    for (size_t i = 0; i < len; i++)
        waits += calls[i].is_write == is_write && calls[i].is_wait;
    double weights = 0, waited = 0, sampled = 0;
    for (size_t i = 0; i < len; i++) {
        const struct waits_call *call = &calls[i];
        if (call->is_write != is_write)
            continue;
        weights += call->is_wait ? 0 : (double)call->weight;
        if (!call->is_wait)
            continue;
        uint64_t most = call->is_file ? call->wanted : made == waits ? bytes / made : 0;
        given[i] = most < left ? most : left;
        left -= given[i];
        waited += call->is_file ? (double)given[i] : 0;
    }
    uint64_t whole = left;
    double so_far = 0;
    for (size_t i = 0; i < len && weights > 0; i++) {
        const struct waits_call *call = &calls[i];
        if (call->is_write != is_write || call->is_wait)
            continue;
        so_far += (double)call->weight;
        uint64_t until = so_far >= weights ? whole : io_part(whole, so_far, weights);
        given[i] = until - (whole - left);
        left = whole - until;
        sampled += call->is_file ? (double)given[i] : 0;
    }
    uint64_t disk_left = *disk;
    for (size_t i = 0; i < len; i++) {
        const struct waits_call *call = &calls[i];
        if (call->is_write != is_write)
            continue;
        bool has_disk = call->is_file && (waited > 0 ? call->is_wait : true);
        uint64_t of_disk =
            has_disk ? io_part(*disk, (double)given[i], waited > 0 ? waited : sampled) : 0;
        of_disk = of_disk < disk_left ? of_disk : disk_left;
        disk_left -= of_disk;
        collector_transfer(w->collector, call->pid, call->tid,
                           (struct recording_transfer){.resource = call->resource,
                                                       .node = call->node,
                                                       .is_write = is_write,
                                                       .calls = 1,
                                                       .bytes = given[i],
                                                       .squares = io_square(call, given[i]),
                                                       .disk_bytes = of_disk},
                           at_ns);
    }
    arena_deinit(&scratch);
}

static void io_share(struct waits *w, const struct waits_call *calls, size_t len,
                     struct recording_transferred grown, uint64_t at_ns)
{
    w->io_told.read += grown.read;
    w->io_told.written += grown.written;
    w->io_told.disk_read += grown.disk_read;
    w->io_told.disk_written += grown.disk_written;
    w->io_told.read_calls += grown.read_calls;
    w->io_told.write_calls += grown.write_calls;
    io_share_one(w, calls, len, false, grown.read, grown.read_calls, &grown.disk_read, at_ns);
    io_share_one(w, calls, len, true, grown.written, grown.write_calls, &grown.disk_written, at_ns);
}

static uint64_t io_grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static struct recording_transferred io_growth(const struct recording_transferred *now,
                                              const struct recording_transferred *before)
{
    return (struct recording_transferred){
        .read = io_grown(now->read, before->read),
        .written = io_grown(now->written, before->written),
        .read_calls = io_grown(now->read_calls, before->read_calls),
        .write_calls = io_grown(now->write_calls, before->write_calls),
        .disk_read = io_grown(now->disk_read, before->disk_read),
        .disk_written = io_grown(now->disk_written, before->disk_written)};
}

/* --- accounts --------------------------------------------------------------------------------- */

static struct waits_io *io_of(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (!t->io && !(t->io = calloc(1, sizeof *t->io)))
        memory_exhausted(sizeof *t->io);
    return t->io;
}

/* Reads a thread's account, and shares out what it grew by. false: it is gone. */
static bool io_settle(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_io *io = io_of(w, slot);
    struct recording_transferred now;
    if (!proc_transferred(t->pid, t->tid, &now))
        return false;
    io_share(w, io->calls.at, io->calls.len, io_growth(&now, &io->account), clock_now());
    io->account = now;
    io->calls.len = 0;
    io->read_ns = clock_now();
    return true;
}

void waits_io_found(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_io *io = w->options.no_looking ? NULL : io_of(w, slot);
    if (io && !proc_transferred(t->pid, t->tid, &io->account))
        io->account = (struct recording_transferred){0};
}

void waits_io_end(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (!t->io)
        return;
    if (t->io->calls.len && !io_settle(w, slot))
        for (size_t i = 0; i < t->io->calls.len && w->io_left.len < MOST_LEFT; i++)
            vec_push(&w->io_left, t->io->calls.at[i]);
    vec_free(&t->io->calls);
    free(t->io);
    t->io = NULL;
}

/* A thread that is in a call that was seen waiting has nothing of it in its account yet. */
uint64_t waits_io_poll(struct waits *w, uint64_t now_ns)
{
    uint64_t begin = clock_own_cpu();
    size_t kept = 0, i = 0;
    if (now_ns < w->io_again_ns || !w->io_slots.len)
        return w->io_slots.len ? w->io_again_ns - now_ns : UINT64_MAX;
    for (; i < w->io_slots.len; i++) {
        int32_t slot = w->io_slots.at[i];
        struct waiting_thread *t = &w->threads.at[slot];
        if (t->state == WAITS_THREAD_NONE || !t->io || !t->io->calls.len) {
            if (t->io)
                t->io->is_listed = false;
            continue;
        }
        bool is_in_call = t->state == WAITS_THREAD_WAITS && t->has_look;
        if (is_in_call || now_ns < t->io->read_ns + PAUSE_NS)
            w->io_slots.at[kept++] = slot;
        else if (io_settle(w, slot))
            t->io->is_listed = false;
        else
            w->io_slots.at[kept++] = slot; /* its end will be reported */
    }
    w->io_slots.len = kept;
    uint64_t paid = (clock_own_cpu() - begin) * IO_TO_COST;
    w->io_again_ns = now_ns + (paid > PAUSE_NS ? paid : PAUSE_NS);
    return PAUSE_NS;
}

void waits_io_finish(struct waits *w, uint64_t now_ns)
{
    for (size_t i = 0; i < w->threads.len; i++)
        if (w->threads.at[i].state != WAITS_THREAD_NONE)
            waits_io_end(w, (int32_t)i);
    struct recording_transferred all = collector_transferred_so_far(w->collector);
    if (!(all.read_calls + all.write_calls)) /* its first process is not our child */
        return;
    struct recording_transferred rest = io_growth(&all, &w->io_told);
    rest.read_calls = rest.write_calls = 0;
    io_share(w, w->io_left.at, w->io_left.len, rest, now_ns);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A descriptor of a call that a thread is in: what it is may be known. */
static void io_add(struct waits *w, int32_t slot, int fd, struct waits_call call, uint64_t at_ns)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_io *io = io_of(w, slot);
    struct waits_resource r;
    call.pid = t->pid;
    call.tid = t->tid;
    call.resource = RECORDING_NONE;
    if (waits_resource_of_descriptor(t->pid, fd, &r)) {
        call.resource = collector_resource(w->collector, t->pid, r.kind, r.address, r.name, at_ns);
        call.is_file = r.is_stored;
    }
    if (io->calls.len < MOST_CALLS)
        vec_push(&io->calls, call);
    if (!io->is_listed)
        vec_push(&w->io_slots, slot);
    io->is_listed = true;
}

static void io_add_both(struct waits *w, int32_t slot, const struct io_call *of,
                        const uint64_t *arguments, struct waits_call call, uint64_t at_ns)
{
    if (of->read >= 0)
        io_add(w, slot, (int)arguments[of->read], call, at_ns);
    call.is_write = true;
    if (of->write >= 0)
        io_add(w, slot, (int)arguments[of->write], call, at_ns);
}

void waits_io_waiting(struct waits *w, int32_t slot, const struct waits_look *look)
{
    const struct io_call *of = io_call_of(w, look->syscall);
    struct waits_call call = {.node = w->threads.at[slot].look.node, .is_wait = true};
    if (!of)
        return;
    io_settle(w, slot); /* what was before this call */
    call.wanted = of->wanted >= 0 ? look->arguments[of->wanted] : UINT64_MAX;
    io_add_both(w, slot, of, look->arguments, call, clock_now());
}

void waits_io_sampled(struct waits *w, const struct collector_sample *s,
                      struct collector_place place)
{
    enum { ARGUMENTS = 3 };
    const struct arch *a = w->options.arch;
    uint64_t arguments[WAITS_ARGUMENTS] = {0};
    if (w->options.no_looking || s->event != 0 || s->where != COLLECTOR_IN_KERNEL ||
        !s->registers || !a || !a->syscall_arguments[0])
        return;
    const struct io_call *of = io_call_of(w, collector_call_of(w->collector, place));
    int32_t slot = of ? waits_find(w, s->tid) : NO_THREAD;
    if (slot == NO_THREAD)
        return;
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (!(s->registers->known >> a->syscall_arguments[i] & 1))
            return;
        arguments[i] = s->registers->at[a->syscall_arguments[i]];
    }
    io_add_both(w, slot, of, arguments,
                (struct waits_call){.node = place.node, .weight = s->weight}, s->at_ns);
}

/* Keeping, for each thread, since when it is off the CPU and where.
 *
 * Threads that are off stand in one of two queues in the order in which they left: those that may
 * still be looked at, and those that were, or that are only short of a CPU. So a poll takes the
 * longest waits first and touches nothing else. */
#include "record/waits.h"

#include "base/map.h"
#include "base/vec.h"
#include "record/waits_look.h"

#include <stdlib.h>
#include <time.h>

enum {
    LOOK_AFTER_NS = 2 * 1000 * 1000,
    LOOKING_NS = 1000 * 1000,         /* in one poll */
    LEAST_PAUSE_NS = 2 * 1000 * 1000, /* between polls */
    LONG_PAUSE_NS = 10 * 1000 * 1000, /* after one that could not look at all */
    PIECE_NS = 100 * 1000 * 1000,     /* after which a wait that goes on is counted so far */
    PIECES = 1000,                    /* of a run, at most */
    STACK_BYTES = 16 << 10,
    NO_THREAD = -1,
    MAP_SLACK = 1024,
};

#define LOST_SWITCHES                                                                     \
    "when threads waited was lost, because the kernel's buffers were full: this machine " \
    "was busy, or kernel.perf_event_mlock_kb is small"

enum thread_state {
    THREAD_NONE, /* the slot is free */
    THREAD_RUNS,
    THREAD_WAITS,
    THREAD_READY,
    THREAD_UNKNOWN /* something was lost */
};

/* The leaf of a queue is a slot; slots refer to each other by number. */
struct waiting_queue {
    int32_t first, last;
};

struct waiting_thread {
    pid_t pid, tid;
    enum thread_state state;
    int32_t previous, next;      /* in `queue`; of free slots: the next free one */
    struct waiting_queue *queue; /* NULL: in none */
    uint64_t left_ns;            /* when it left the CPU */
    uint64_t counted_ns;         /* up to where its time is counted */
    bool is_leaving;             /* `place` is told for what comes */
    bool has_place, has_look;
    struct collector_place place;       /* where it left, as the source saw it */
    struct collector_place look;        /* where it was seen from outside ... */
    uint64_t looked_ns;                 /* ... until then */
    struct unwind_registers *registers; /* as it left; NULL: never known */
    uint64_t unknown_ns, ready_ns;      /* not yet given to the collector */
    uint64_t first_kept_ns;             /* since when these are kept */
};

struct waits {
    struct collector *collector;
    struct waits_options options;
    VEC(struct waiting_thread) threads;
    struct map slot_of; /* tid -> slot; slots of other tids are out of date */
    int32_t free;
    size_t living;
    struct waiting_queue fresh, known; /* may be looked at; all others that are off */
    uint64_t start_ns, piece_ns;       /* the first time that was told; of the last pieces */
    uint64_t pause_ns;                 /* until then nothing is looked at */
    struct waits_sums sums;
    uint64_t losses;
    uint8_t stack[STACK_BYTES];
};

struct waits *waits_new(struct collector *c, const struct waits_options *o)
{
    struct waits *w = calloc(1, sizeof *w);
    if (!w)
        memory_exhausted(sizeof *w);
    w->collector = c;
    w->options = *o;
    if (!w->options.look_after_ns)
        w->options.look_after_ns = LOOK_AFTER_NS;
    w->free = NO_THREAD;
    w->fresh = w->known = (struct waiting_queue){NO_THREAD, NO_THREAD};
    return w;
}

void waits_free(struct waits *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->threads.len; i++)
        free(w->threads.at[i].registers);
    vec_free(&w->threads);
    map_deinit(&w->slot_of);
    free(w);
}

struct waits_sums waits_sums(const struct waits *w)
{
    return w->sums;
}

/* --- queues ---------------------------------------------------------------------------------- */

static void waits_unqueue(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (!t->queue)
        return;
    if (t->previous == NO_THREAD)
        t->queue->first = t->next;
    else
        w->threads.at[t->previous].next = t->next;
    if (t->next == NO_THREAD)
        t->queue->last = t->previous;
    else
        w->threads.at[t->next].previous = t->previous;
    t->queue = NULL;
}

static void waits_queue(struct waits *w, int32_t slot, struct waiting_queue *queue)
{
    struct waiting_thread *t = &w->threads.at[slot];
    waits_unqueue(w, slot);
    t->queue = queue;
    t->next = NO_THREAD;
    t->previous = queue->last;
    if (queue->last == NO_THREAD)
        queue->first = slot;
    else
        w->threads.at[queue->last].next = slot;
    queue->last = slot;
}

/* --- threads --------------------------------------------------------------------------------- */

/* The slot of a thread that lives, or NO_THREAD. */
static int32_t waits_find(const struct waits *w, pid_t tid)
{
    const uint32_t *found = map_find(&w->slot_of, (uint64_t)tid, 0);
    bool is_valid =
        found && w->threads.at[*found].state != THREAD_NONE && w->threads.at[*found].tid == tid;
    return is_valid ? (int32_t)*found : NO_THREAD;
}

/* The map cannot forget: it is made anew when most of it is out of date. */
static void waits_renew_map(struct waits *w)
{
    if (w->slot_of.len < 2 * w->living + MAP_SLACK)
        return;
    map_deinit(&w->slot_of);
    w->slot_of = (struct map){0};
    for (size_t i = 0; i < w->threads.len; i++)
        if (w->threads.at[i].state != THREAD_NONE)
            map_at(&w->slot_of, (uint64_t)w->threads.at[i].tid, 0, (uint32_t)i, NULL);
}

static int32_t waits_begin(struct waits *w, pid_t pid, pid_t tid, enum thread_state state,
                           uint64_t at_ns)
{
    int32_t slot = w->free;
    if (slot == NO_THREAD) {
        slot = (int32_t)w->threads.len;
        vec_push(&w->threads, (struct waiting_thread){0});
    } else {
        w->free = w->threads.at[slot].next;
    }
    w->threads.at[slot] = (struct waiting_thread){
        .pid = pid, .tid = tid, .state = state, .left_ns = at_ns, .counted_ns = at_ns};
    w->living++;
    waits_renew_map(w);
    *map_at(&w->slot_of, (uint64_t)tid, 0, 0, NULL) = (uint32_t)slot;
    if (!w->start_ns)
        w->start_ns = w->piece_ns = at_ns;
    if (state == THREAD_READY)
        waits_queue(w, slot, &w->known);
    return slot;
}

static void waits_remove(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    waits_unqueue(w, slot);
    free(t->registers);
    *t = (struct waiting_thread){.next = w->free};
    w->free = slot;
    w->living--;
}

/* --- counting -------------------------------------------------------------------------------- */

static struct collector_sample waits_sample(const struct waits *w, const struct waiting_thread *t,
                                            uint64_t weight)
{
    return (struct collector_sample){.pid = t->pid,
                                     .tid = t->tid,
                                     .at_ns = t->counted_ns,
                                     .weight = weight,
                                     .event = w->options.event,
                                     .where = COLLECTOR_WAITING,
                                     .syscall = -1};
}

/* Gives the collector what was kept of a thread's short waits without a place. */
static void waits_give(struct waits *w, struct waiting_thread *t)
{
    struct collector_sample unknown = waits_sample(w, t, t->unknown_ns);
    struct collector_sample ready = waits_sample(w, t, t->ready_ns);
    ready.where = COLLECTOR_READY;
    if (unknown.weight)
        collector_sample(w->collector, &unknown);
    if (ready.weight)
        collector_sample(w->collector, &ready);
    t->unknown_ns = t->ready_ns = 0;
}

static void waits_keep(struct waits *w, struct waiting_thread *t, uint64_t *kept, uint64_t ns)
{
    if (!t->unknown_ns && !t->ready_ns)
        t->first_kept_ns = t->counted_ns - ns;
    *kept += ns;
    if (t->counted_ns - t->first_kept_ns >= PIECE_NS)
        waits_give(w, t);
}

/* Counts what a thread has been off the CPU since that was last done. */
static void waits_count(struct waits *w, struct waiting_thread *t, uint64_t until_ns)
{
    uint64_t ns = until_ns > t->counted_ns ? until_ns - t->counted_ns : 0;
    bool is_looked = t->has_look && t->looked_ns <= until_ns, is_ready = t->state == THREAD_READY;
    t->counted_ns += ns;
    if (!ns)
        return;
    w->sums.ready_ns += is_ready ? ns : 0;
    if (t->has_place || is_looked) {
        struct collector_sample s = waits_sample(w, t, ns);
        collector_sample_at(w->collector, &s, is_looked ? t->look : t->place);
        w->sums.placed_ns += is_ready ? 0 : ns;
        return;
    }
    w->sums.unknown_ns += is_ready ? 0 : ns;
    waits_keep(w, t, is_ready ? &t->ready_ns : &t->unknown_ns, ns);
}

static void waits_lose(struct waits *w, struct waiting_thread *t, uint64_t until_ns)
{
    uint64_t ns = until_ns > t->counted_ns ? until_ns - t->counted_ns : 0;
    t->counted_ns += ns;
    w->sums.lost_ns += ns;
    w->losses++;
}

/* Ends what a thread did until now. */
static void waits_end(struct waits *w, int32_t slot, uint64_t at_ns)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (t->state == THREAD_WAITS || t->state == THREAD_READY)
        waits_count(w, t, at_ns);
    else if (t->state == THREAD_UNKNOWN)
        waits_lose(w, t, at_ns);
    w->sums.stale_looks += t->has_look && t->looked_ns > at_ns;
    waits_unqueue(w, slot);
    t->has_look = false;
    if (at_ns > t->counted_ns)
        t->counted_ns = at_ns;
}

/* --- what the source tells ------------------------------------------------------------------- */

void waits_exit(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns)
{
    int32_t slot = waits_find(w, tid);
    (void)pid;
    if (slot == NO_THREAD)
        return;
    waits_end(w, slot, at_ns);
    waits_give(w, &w->threads.at[slot]);
    waits_remove(w, slot);
}

void waits_fork(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns)
{
    int32_t slot = waits_find(w, tid);
    if (slot != NO_THREAD) { /* its end was lost */
        w->threads.at[slot].state = THREAD_UNKNOWN;
        waits_exit(w, pid, tid, at_ns);
    }
    waits_begin(w, pid, tid, THREAD_READY, at_ns);
}

void waits_exec(struct waits *w, pid_t pid, uint64_t at_ns)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        const struct waiting_thread *t = &w->threads.at[i];
        if (t->state != THREAD_NONE && t->pid == pid && t->tid != pid)
            waits_exit(w, pid, t->tid, at_ns);
    }
    int32_t slot = waits_find(w, pid);
    if (slot == NO_THREAD) {
        waits_begin(w, pid, pid, THREAD_RUNS, at_ns);
        return;
    }
    waits_end(w, slot, at_ns);
    w->threads.at[slot].state = THREAD_RUNS;
    w->threads.at[slot].has_place = w->threads.at[slot].is_leaving = false;
}

static void waits_keep_registers(struct waiting_thread *t, const struct unwind_registers *registers)
{
    if (!t->registers)
        t->registers = malloc(sizeof *t->registers);
    if (!t->registers)
        memory_exhausted(sizeof *t->registers);
    *t->registers = *registers;
}

void waits_leaving(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct unwind_registers *registers, struct bytes stack)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, THREAD_RUNS, at_ns);
    struct waiting_thread *t = &w->threads.at[slot];
    struct collector_sample s = waits_sample(w, t, 0);
    s.at_ns = at_ns;
    s.registers = registers;
    s.stack = stack;
    waits_keep_registers(t, registers);
    t->place = collector_place(w->collector, &s);
    t->is_leaving = true;
}

static void waits_leave(struct waits *w, int32_t slot, uint64_t at_ns, bool is_ready)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (t->state == THREAD_WAITS || t->state == THREAD_READY)
        t->state = THREAD_UNKNOWN; /* it was back, and nobody said so */
    waits_end(w, slot, at_ns);
    t->state = is_ready ? THREAD_READY : THREAD_WAITS;
    t->left_ns = at_ns;
    t->has_place = t->is_leaving;
    t->is_leaving = false;
    if (t->has_place && is_ready)
        t->place = collector_place_as(w->collector, t->place, COLLECTOR_READY);
    waits_queue(w, slot, is_ready || w->options.no_looking ? &w->known : &w->fresh);
}

void waits_switch(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns, bool is_out, bool is_ready)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, THREAD_RUNS, at_ns);
    if (is_out) {
        waits_leave(w, slot, at_ns, is_ready);
        return;
    }
    struct waiting_thread *t = &w->threads.at[slot];
    waits_end(w, slot, at_ns);
    t->state = THREAD_RUNS;
    t->has_place = t->is_leaving = false;
}

void waits_lost(struct waits *w, uint64_t at_ns)
{
    (void)at_ns; /* from when on is not known: from the last time that was told of each */
    for (size_t i = 0; i < w->threads.len; i++) {
        struct waiting_thread *t = &w->threads.at[i];
        if (t->state == THREAD_NONE)
            continue;
        waits_unqueue(w, (int32_t)i);
        t->state = THREAD_UNKNOWN;
        t->has_place = t->has_look = false;
    }
}

/* --- polling --------------------------------------------------------------------------------- */

static uint64_t waits_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static unsigned waits_stack_register(enum unwind_machine machine)
{
    return machine == UNWIND_X86_64 ? 7 : machine == UNWIND_AARCH64 ? 31 : 2;
}

/* The registers as far as they are known: all, if the source saw the thread leave at this place. */
static struct unwind_registers waits_registers(const struct waits *w,
                                               const struct waiting_thread *t,
                                               const struct waits_look *look)
{
    unsigned sp = waits_stack_register(w->options.machine);
    struct unwind_registers r = {.pc = look->pc, .known = UINT32_C(1) << sp};
    r.at[sp] = look->sp;
    if (t->has_place && t->registers->pc == look->pc && t->registers->at[sp] == look->sp)
        r = *t->registers;
    return r;
}

static void waits_look(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_look look;
    waits_queue(w, slot, &w->known);
    waits_look_at(t->pid, t->tid, &look);
    w->sums.looks++;
    w->sums.refused_looks += look.state == WAITS_REFUSED;
    if (look.state != WAITS_BLOCKED && look.state != WAITS_STOPPED)
        return;
    struct unwind_registers registers = waits_registers(w, t, &look);
    struct collector_sample s = waits_sample(w, t, 0);
    s.where = look.state == WAITS_STOPPED ? COLLECTOR_STOPPED : COLLECTOR_WAITING;
    s.syscall = look.syscall;
    s.registers = &registers;
    s.stack = (struct bytes){w->stack, waits_look_stack(t->pid, look.sp, w->stack, STACK_BYTES)};
    s.is_live = true;
    t->look = collector_place(w->collector, &s);
    t->has_look = true;
    t->looked_ns = waits_now();
}

/* Looks at the threads that have been off long enough, the longest first; returns in how long the
 * next one will have been. */
static uint64_t waits_look_at_all(struct waits *w, uint64_t now_ns)
{
    uint64_t now = now_ns;
    if (now_ns < w->pause_ns)
        return w->pause_ns - now_ns;
    while (w->fresh.first != NO_THREAD) {
        uint64_t due = w->threads.at[w->fresh.first].left_ns + w->options.look_after_ns;
        if (due > now)
            return due - now;
        if (now > now_ns + LOOKING_NS) {
            w->pause_ns = now + LONG_PAUSE_NS;
            return LONG_PAUSE_NS;
        }
        waits_look(w, w->fresh.first);
        now = waits_now();
    }
    return UINT64_MAX;
}

static uint64_t waits_piece(const struct waits *w, uint64_t now_ns)
{
    uint64_t piece = now_ns > w->start_ns ? (now_ns - w->start_ns) / PIECES : 0;
    return piece > PIECE_NS ? piece : PIECE_NS;
}

/* So that a wait counts in the slices of time in which it was, and a recording that is cut off has
 * it. Waits that were not looked at yet have no place so far. */
static void waits_count_pieces(struct waits *w, uint64_t told_ns)
{
    if (told_ns < w->piece_ns + waits_piece(w, told_ns))
        return;
    w->piece_ns = told_ns;
    for (int32_t slot = w->known.first; slot != NO_THREAD; slot = w->threads.at[slot].next) {
        struct waiting_thread *t = &w->threads.at[slot];
        if (!t->has_look || t->looked_ns <= told_ns)
            waits_count(w, t, told_ns);
    }
}

uint64_t waits_poll(struct waits *w, uint64_t now_ns, uint64_t told_ns)
{
    uint64_t due = waits_look_at_all(w, now_ns), piece = waits_piece(w, now_ns);
    waits_count_pieces(w, told_ns);
    due = due < piece ? due : piece;
    return due > LEAST_PAUSE_NS ? due : LEAST_PAUSE_NS;
}

void waits_finish(struct waits *w, uint64_t now_ns)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        struct waiting_thread *t = &w->threads.at[i];
        if (t->state == THREAD_NONE)
            continue;
        waits_end(w, (int32_t)i, now_ns);
        waits_give(w, t);
        t->state = THREAD_UNKNOWN;
    }
    if (w->losses)
        collector_lose(w->collector, RUN_LOST_OTHER, LOST_SWITCHES, w->losses, w->sums.lost_ns);
    w->losses = 0;
}

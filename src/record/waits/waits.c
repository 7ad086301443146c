/* Keeping, for each thread, since when it is off the CPU and where, from what a source reports.
 *
 * A thread is a state machine. What it did until now is counted when it changes its state, up to
 * `counted_ns`, so that no time counts twice and none is left out:
 *
 *     RUNS ──switched out──► WAITS or READY ──switched in──► RUNS
 *     FOUND (was there before) ──seen or inspected──► RUNS or WAITS
 *     any ──something was lost──► UNKNOWN: the time until it is seen again is lost
 *
 * The place of a wait is what the source saw as the thread left, or what a look from outside has
 * found meanwhile (waits_look.c); a look after the thread was back does not count. Where switches
 * are not reported, waits_observe.c makes do with what clocks show now and then.
 *
 * Threads live in slots, which are used again; free slots form a list. Each step costs one look-up
 * by tid and the ends of a queue. */
#include "record/waits/waits.h"

#include "record/clocks.h"
#include "record/proc_threads.h"
#include "record/waits/waits_private.h"

#include <stdlib.h>

enum {
    LOOK_AFTER_NS = 2 * 1000 * 1000,
    MAP_SLACK = 1024,
    THERE_NS = 1000 * 1000 * 1000, /* so often it is looked whether a thread is still there */
    PART_UNLOOKED = 100,           /* less than a hundredth is not worth a note */
};

#define LOST_SWITCHES                                                                    \
    "wait times were lost: the kernel's buffers were full, as this machine was busy or " \
    "kernel.perf_event_mlock_kb is small"

#define NOT_LOOKED                                                                             \
    "waits of 2 ms and more whose place nobody saw, because many threads waited at a time or " \
    "this machine was busy: they are in [waiting]"

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
    w->fresh = w->known = w->held = (struct waiting_queue){NO_THREAD, NO_THREAD};
    return w;
}

void waits_free(struct waits *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->threads.len; i++) {
        if (w->threads.at[i].io)
            vec_free(&w->threads.at[i].io->calls);
        free(w->threads.at[i].io);
        free(w->threads.at[i].registers);
        free(w->threads.at[i].observed);
        waits_chain_free(&w->threads.at[i]);
    }
    vec_free(&w->asked);
    vec_free(&w->io_slots);
    vec_free(&w->io_left);
    vec_free(&w->threads);
    vec_free(&w->running);
    vec_free(&w->parallel);
    map_deinit(&w->slot_of);
    free(w);
}

struct waits_sums waits_sums(const struct waits *w)
{
    return w->sums;
}

/* --- queues ---------------------------------------------------------------------------------- */

void waits_unqueue(struct waits *w, int32_t slot)
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

void waits_queue(struct waits *w, int32_t slot, struct waiting_queue *queue)
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

int32_t waits_find(const struct waits *w, pid_t tid)
{
    const uint32_t *found = map_find(&w->slot_of, tid, 0);
    bool is_valid = found && w->threads.at[*found].state != WAITS_THREAD_NONE &&
                    w->threads.at[*found].tid == tid;
    return is_valid ? (int32_t)*found : NO_THREAD;
}

int32_t waits_begin(struct waits *w, pid_t pid, pid_t tid, enum waits_thread_state state,
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
    if (w->slot_of.len >= 2 * w->living + MAP_SLACK) { /* it cannot forget: it is made anew */
        map_deinit(&w->slot_of);
        w->slot_of = (struct map){0};
        for (size_t i = 0; i < w->threads.len; i++)
            if (w->threads.at[i].state != WAITS_THREAD_NONE)
                map_index(&w->slot_of, w->threads.at[i].tid, 0, i, NULL);
    }
    map_set(&w->slot_of, tid, 0, slot);
    if (!w->start_ns)
        w->start_ns = w->piece_ns = at_ns;
    if (state == WAITS_THREAD_READY)
        waits_queue(w, slot, &w->known);
    if (state == WAITS_THREAD_RUNS)
        waits_run(w, slot, true, at_ns);
    return slot;
}

static void waits_remove(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    waits_unqueue(w, slot);
    waits_io_end(w, slot);
    free(t->registers);
    free(t->observed);
    waits_chain_free(t);
    *t = (struct waiting_thread){.next = w->free};
    w->free = slot;
    w->living--;
}

/* --- counting -------------------------------------------------------------------------------- */

struct collector_sample waits_sample(const struct waits *w, const struct waiting_thread *t,
                                     uint64_t weight, uint64_t from_ns)
{
    return (struct collector_sample){.pid = t->pid,
                                     .tid = t->tid,
                                     .at_ns = t->counted_ns,
                                     .weight = weight,
                                     .lasted_ns = t->counted_ns - from_ns,
                                     .event = w->options.event,
                                     .where = COLLECTOR_WAITING,
                                     .syscall = -1};
}

/* Gives the collector a thread's short waits without a place. */
static void waits_give(struct waits *w, struct waiting_thread *t)
{
    struct collector_sample unknown = waits_sample(w, t, t->unknown_ns, t->first_kept_ns);
    struct collector_sample ready = waits_sample(w, t, t->ready_ns, t->first_kept_ns);
    ready.where = COLLECTOR_READY;
    if (unknown.weight)
        collector_sample(w->collector, &unknown);
    if (ready.weight)
        collector_sample(w->collector, &ready);
    t->unknown_ns = t->ready_ns = 0;
}

void waits_keep(struct waits *w, struct waiting_thread *t, uint64_t *kept, uint64_t ns)
{
    if (!t->unknown_ns && !t->ready_ns)
        t->first_kept_ns = t->counted_ns - ns;
    *kept += ns;
    if (t->counted_ns - t->first_kept_ns >= WAITS_PIECE_NS)
        waits_give(w, t);
}

void waits_count(struct waits *w, struct waiting_thread *t, uint64_t until_ns)
{
    uint64_t ns = until_ns > t->counted_ns ? until_ns - t->counted_ns : 0;
    bool is_looked = t->has_look && t->looked_ns <= until_ns,
         is_ready = t->state == WAITS_THREAD_READY;
    t->counted_ns += ns;
    if (!ns)
        return;
    w->sums.ready_ns += is_ready ? ns : 0;
    t->preempted_ns += is_ready ? ns : 0;
    if (t->has_place || is_looked) {
        struct collector_sample s = waits_sample(w, t, ns, t->counted_ns - ns);
        s.labels = is_looked ? t->labels : 0;
        collector_sample_at(w->collector, &s, is_looked ? t->look : t->place);
        if (is_looked)
            waits_chain_count(w, t, t->counted_ns - ns, t->counted_ns);
        w->sums.placed_ns += is_ready ? 0 : ns;
        return;
    }
    w->sums.unknown_ns += is_ready ? 0 : ns;
    waits_keep(w, t, is_ready ? &t->ready_ns : &t->unknown_ns, ns);
}

/* A wait that was long enough for a look and got none: how much there was of them is said. */
static void waits_count_unlooked(struct waits *w, const struct waiting_thread *t, uint64_t at_ns)
{
    bool is_looked = t->has_look && t->looked_ns <= at_ns;
    if (t->state != WAITS_THREAD_WAITS || t->has_place || is_looked || w->options.no_looking ||
        at_ns < t->left_ns + w->options.look_after_ns)
        return;
    w->sums.unlooked++;
    w->sums.unlooked_ns += at_ns - t->left_ns;
}

/* Ends what a thread did until now. */
static void waits_end(struct waits *w, int32_t slot, uint64_t at_ns)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (t->state == WAITS_THREAD_WAITS || t->state == WAITS_THREAD_READY) {
        waits_count(w, t, at_ns);
        waits_count_unlooked(w, t, at_ns);
        waits_keep_wait(w, t, at_ns);
    } else if (t->state == WAITS_THREAD_UNKNOWN) {
        uint64_t lost_ns = at_ns > t->counted_ns ? at_ns - t->counted_ns : 0;
        t->counted_ns += lost_ns;
        w->sums.lost_ns += lost_ns;
        w->losses++;
    }
    if (t->observed)
        waits_observed_end(w, t, at_ns);
    w->sums.stale_looks += t->has_look && t->looked_ns > at_ns;
    waits_unqueue(w, slot);
    waits_chain_end(w, t);
    t->has_look = false;
    if (at_ns > t->counted_ns)
        t->counted_ns = at_ns;
}

/* --- reports of the source -------------------------------------------------------------------- */

void waits_exit(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns)
{
    int32_t slot = waits_find(w, tid);
    (void)pid;
    if (slot == NO_THREAD)
        return;
    waits_end(w, slot, at_ns);
    waits_run(w, slot, false, at_ns);
    waits_read_delay(w, &w->threads.at[slot], true);
    waits_give(w, &w->threads.at[slot]);
    waits_remove(w, slot);
}

void waits_fork(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns)
{
    int32_t slot = waits_find(w, tid);
    if (slot != NO_THREAD) { /* its end was lost */
        w->threads.at[slot].state = WAITS_THREAD_UNKNOWN;
        waits_exit(w, pid, tid, at_ns);
    }
    waits_begin(w, pid, tid, WAITS_THREAD_READY, at_ns);
}

void waits_found(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns)
{
    if (waits_find(w, tid) != NO_THREAD)
        return;
    int32_t slot = waits_begin(w, pid, tid, WAITS_THREAD_FOUND, at_ns);
    waits_queue(w, slot, &w->fresh);
    waits_io_found(w, slot);
}

void waits_exec(struct waits *w, pid_t pid, uint64_t at_ns)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        const struct waiting_thread *t = &w->threads.at[i];
        if (t->state != WAITS_THREAD_NONE && t->pid == pid && t->tid != pid)
            waits_exit(w, pid, t->tid, at_ns);
    }
    int32_t slot = waits_find(w, pid);
    if (slot == NO_THREAD) {
        waits_begin(w, pid, pid, WAITS_THREAD_RUNS, at_ns);
        return;
    }
    waits_end(w, slot, at_ns);
    waits_run(w, slot, false, at_ns); /* of the program before it */
    waits_run(w, slot, true, at_ns);
    w->threads.at[slot].state = WAITS_THREAD_RUNS;
    w->threads.at[slot].has_place = w->threads.at[slot].is_leaving = false;
}

void waits_leaving(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns,
                   const struct unwind_registers *registers, struct bytes stack)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, WAITS_THREAD_RUNS, at_ns);
    struct waiting_thread *t = &w->threads.at[slot];
    struct collector_sample s = waits_sample(w, t, 0, t->counted_ns);
    s.at_ns = at_ns;
    s.registers = registers;
    s.stack = stack;
    if (!t->registers)
        t->registers = malloc(sizeof *t->registers);
    if (!t->registers)
        memory_exhausted(sizeof *t->registers);
    *t->registers = *registers;
    t->place = collector_place(w->collector, &s);
    t->is_leaving = true;
}

void waits_switch(struct waits *w, pid_t pid, pid_t tid, uint64_t at_ns, bool is_out, bool is_ready)
{
    int32_t slot = waits_find(w, tid);
    if (slot == NO_THREAD)
        slot = waits_begin(w, pid, tid, WAITS_THREAD_RUNS, at_ns);
    struct waiting_thread *t = &w->threads.at[slot];
    if (!is_out) {
        if (t->state == WAITS_THREAD_FOUND)
            t->state = WAITS_THREAD_WAITS; /* all the time so far */
        waits_end(w, slot, at_ns);
        t->state = WAITS_THREAD_RUNS;
        t->has_place = t->is_leaving = false;
        waits_run(w, slot, true, at_ns);
        return;
    }
    if (t->state == WAITS_THREAD_WAITS || t->state == WAITS_THREAD_READY)
        t->state = WAITS_THREAD_UNKNOWN; /* it was back, and that was not reported */
    waits_end(w, slot, at_ns);
    waits_run(w, slot, false, at_ns);
    t->state = is_ready ? WAITS_THREAD_READY : WAITS_THREAD_WAITS;
    t->left_ns = at_ns;
    t->wake.at_ns = 0;
    t->has_place = t->is_leaving;
    t->is_leaving = false;
    if (t->has_place && is_ready)
        t->place = collector_place_as(w->collector, t->place, COLLECTOR_READY);
    waits_queue(w, slot, is_ready || w->options.no_looking ? &w->known : &w->fresh);
}

void waits_woken(struct waits *w, pid_t tid, const struct collector_wake *wake)
{
    int32_t slot = waits_find(w, tid);
    bool waits = slot != NO_THREAD && (w->threads.at[slot].state == WAITS_THREAD_WAITS ||
                                       w->threads.at[slot].state == WAITS_THREAD_FOUND);
    if (waits)
        w->threads.at[slot].wake = *wake;
}

void waits_lost(struct waits *w, uint64_t at_ns)
{
    (void)at_ns; /* from when on is not known: from the last reported time of each */
    waits_run_none(w);
    for (size_t i = 0; i < w->threads.len; i++) {
        struct waiting_thread *t = &w->threads.at[i];
        if (t->state == WAITS_THREAD_NONE)
            continue;
        waits_unqueue(w, (int32_t)i);
        t->state = WAITS_THREAD_UNKNOWN;
        t->has_place = t->has_look = false;
        waits_chain_end(w, t);
    }
}

/* --- the end --------------------------------------------------------------------------------- */

bool waits_drop_if_gone(struct waits *w, int32_t slot, uint64_t told_ns)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (w->options.no_looking || (!t->gone_ns && told_ns < t->there_ns + THERE_NS))
        return false;
    if (!t->gone_ns && proc_has_thread(t->pid, t->tid)) {
        t->there_ns = told_ns;
        return false;
    }
    if (!t->gone_ns)
        t->gone_ns = clock_now();
    if (told_ns <= t->gone_ns) /* its end may not be reported yet */
        return true;
    w->losses += t->state != WAITS_THREAD_UNKNOWN;
    waits_give(w, t);
    waits_remove(w, slot);
    return true;
}

void waits_finish(struct waits *w, uint64_t now_ns)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        struct waiting_thread *t = &w->threads.at[i];
        if (t->state == WAITS_THREAD_NONE || waits_drop_if_gone(w, (int32_t)i, UINT64_MAX))
            continue;
        waits_end(w, (int32_t)i, now_ns);
        waits_run(w, (int32_t)i, false, now_ns);
        waits_read_delay(w, t, true);
        waits_give(w, t);
        t->state = WAITS_THREAD_UNKNOWN;
    }
    waits_io_finish(w, now_ns);
    if (w->losses)
        collector_lose(w->collector, RECORDING_LOST_OTHER, LOST_SWITCHES, w->losses,
                       w->sums.lost_ns);
    uint64_t waited_ns = w->sums.placed_ns + w->sums.unknown_ns;
    if (w->sums.unlooked && w->sums.unlooked_ns >= waited_ns / PART_UNLOOKED)
        collector_lose(w->collector, RECORDING_LOST_OTHER, NOT_LOOKED, w->sums.unlooked,
                       w->sums.unlooked_ns);
    w->losses = 0;
}

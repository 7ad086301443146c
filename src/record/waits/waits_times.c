/* How many threads run at a time, and the whole waits.
 *
 * Switches show when each thread runs. Between two of them the number n of those that do is fixed,
 * so the integral of 1/n over time grows evenly, and a thread's part of a stretch is what the
 * integral has grown by: one subtraction a switch, however many threads there are. Stretches and
 * the time at each n are reported at the end of each slice, so that a slice has its own.
 *
 *     A  ────────────────        ran 4, part 1 + 1/2 + 1/2 + 1 = 3
 *     B      ────────            ran 2, part 1/2 + 1/2 = 1
 *     n  1   2   2   1           their sum is the time in which any ran
 *
 * The account of what woken threads wait for a CPU is read in waits_look.c. */
#include "record/waits/waits_private.h"

#include <stdlib.h>

/* What is kept of a thread for it (struct waiting_thread):
 *
 *     is_on              it is in `running`, which has as many slots as CPUs at most
 *     on_ns, on_shared   the unreported part of its stretch begins there
 *     preempted_ns       reported ready time, by switches
 *     delayed_ns         reported ready time, by its account
 *     first_delay_ns     what the account had before recording; 0 for threads that are new
 *
 * so that account = first + preempted + delayed + news. */

/* --- how many run ---------------------------------------------------------------------------- */

/* Reports how long each number of threads ran since the last report, up to `at_ns`. */
static void times_tell_parallel(struct waits *w, uint64_t at_ns)
{
    for (size_t n = 1; n < w->parallel.len; n++) {
        if (w->parallel.at[n])
            collector_parallel(w->collector, (uint32_t)n, at_ns, w->parallel.at[n]);
        w->parallel.at[n] = 0;
    }
}

/* Reports what a thread ran since the last report. */
static void times_tell_turn(struct waits *w, struct waiting_thread *t, uint64_t at_ns)
{
    double shared = w->shared - t->on_shared;
    if (at_ns > t->on_ns)
        collector_turn(w->collector, t->pid, t->tid, t->on_ns, at_ns, (uint64_t)(shared + 0.5));
    t->on_ns = at_ns > t->on_ns ? at_ns : t->on_ns;
    t->on_shared = w->shared;
}

/* Brings the integral up to a time, between two switches. */
static void times_advance(struct waits *w, uint64_t at_ns)
{
    size_t n = w->running.len;
    if (at_ns <= w->shared_ns)
        return;
    if (n) {
        w->shared += (double)(at_ns - w->shared_ns) / (double)n;
        while (w->parallel.len <= n)
            vec_push(&w->parallel, 0);
        w->parallel.at[n] += at_ns - w->shared_ns;
    }
    w->shared_ns = at_ns;
}

/* Ends the slices that are over. After a time in which nothing ran, there is nothing to report. */
static void times_end_slices(struct waits *w, uint64_t at_ns)
{
    uint64_t length = collector_slice_ns(w->collector);
    while (w->running.len && w->shared_ns && at_ns / length > w->shared_ns / length) {
        uint64_t end = (w->shared_ns / length + 1) * length;
        times_advance(w, end);
        times_tell_parallel(w, end - 1);
        for (size_t i = 0; i < w->running.len; i++)
            times_tell_turn(w, &w->threads.at[w->running.at[i]], end);
    }
    if (at_ns / length > w->shared_ns / length)
        times_tell_parallel(w, w->shared_ns);
}

void waits_run(struct waits *w, int32_t slot, bool is_on, uint64_t at_ns)
{
    struct waiting_thread *t = &w->threads.at[slot];
    if (t->is_on == is_on || t->observed)
        return;
    times_end_slices(w, at_ns);
    times_advance(w, at_ns);
    t->is_on = is_on;
    if (is_on) {
        vec_push(&w->running, slot);
        t->on_ns = at_ns;
        t->on_shared = w->shared;
        return;
    }
    times_tell_turn(w, t, at_ns);
    for (size_t i = 0; i < w->running.len; i++)
        if (w->running.at[i] == slot)
            w->running.at[i] = w->running.at[--w->running.len];
    if (!w->running.len)
        times_tell_parallel(w, w->shared_ns ? w->shared_ns - 1 : 0);
}

void waits_run_none(struct waits *w)
{
    for (size_t i = 0; i < w->running.len; i++)
        w->threads.at[w->running.at[i]].is_on = false;
    w->running.len = 0;
}

void waits_keep_wait(struct waits *w, const struct waiting_thread *t, uint64_t at_ns)
{
    bool is_looked = t->has_look && t->looked_ns <= at_ns;
    const struct collector_place *place = is_looked ? &t->look : t->has_place ? &t->place : NULL;
    bool is_ready = t->state == WAITS_THREAD_READY;
    if (!t->observed)
        collector_waited(w->collector, t->pid, t->tid, t->left_ns, at_ns, is_ready, place);
    if (!t->observed && t->wake.at_ns)
        collector_woken(w->collector, at_ns, &t->wake);
}

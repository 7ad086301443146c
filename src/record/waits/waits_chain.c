/* Who holds what a thread waits for, and what that one does meanwhile: chains of waiting threads.
 *
 * When a wait is looked at, the holder is looked at in the same breath, and if it waits itself,
 * whoever holds that, and so on:
 *
 *     A waits for g_cache_lock ──► B, which waits in fsync          two steps
 *     A waits for m ──► B waits for n ──► C, which runs             three; C's place is that of its
 *                                                                   next sample
 *
 * What a holder does changes while it is waited for, so waits that have a holder are looked at
 * again every LOOK_AGAIN_NS. Each look speaks for the time around it, up to the middle between it
 * and its neighbours: looks are independent of what the holder does, so shares come out right on
 * average. A lock that changed hands while the holder was looked at says nothing of it.
 *
 * Cost: looking again takes at most one part in AGAIN_TO_COST of a CPU, however many threads wait:
 * each is then looked at less often. */
#include "record/waits/waits_private.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_STEPS = 8, /* of a chain */
    LOOK_AGAIN_NS = 10 * 1000 * 1000,
    AGAIN_TO_COST = 100,
    MOST_ASKED = 4096,
    ASKED_NS = 50 * 1000 * 1000, /* a sample after that says nothing */
};

/* A step of which all but the thread is still to be said. */
static struct recording_link chain_step(const struct waits *w, uint32_t parent, pid_t pid,
                                        pid_t tid, uint64_t at_ns)
{
    return (struct recording_link){.parent = parent,
                                   .thread = collector_thread_number(w->collector, pid, tid, at_ns),
                                   .node = RECORDING_ROOT,
                                   .resource = RECORDING_NONE,
                                   .doing = RECORDING_DOING_WAIT};
}

/* --- looks ----------------------------------------------------------------------------------- */

/* Whether a thread still waits where it was seen: one that was woken may have the lock already, and
 * would seem to wait for itself. */
static bool chain_still_waits(pid_t pid, pid_t tid, const struct waits_look *seen)
{
    struct waits_look now;
    waits_look_at(pid, tid, &now);
    return now.state == WAITS_BLOCKED && now.syscall == seen->syscall && now.sp == seen->sp &&
           now.arguments[0] == seen->arguments[0];
}

/* The chain behind `step`, of a thread that waits for `r`: returns its last step. `asked`: that
 * one runs, and its next sample says where. */
static uint32_t chain_follow(struct waits *w, uint32_t step, const struct waiting_thread *t,
                             struct waits_resource r, uint64_t at_ns, struct waits_asked *asked)
{
    pid_t pid = t->pid, tid = t->tid;
    pid_t seen[MOST_STEPS + 1] = {tid};
    for (size_t len = 1; len <= MOST_STEPS && r.holder; len++) {
        struct waits_look look = {.state = WAITS_GONE};
        struct waits_resource next = {0};
        struct collector_place place = {.node = RECORDING_ROOT};
        pid_t holder = r.holder, holder_pid = r.holder_pid;
        bool is_recorded = !r.is_gone && collector_has_process(w->collector, holder_pid);
        bool is_circle = false, has_next = false;
        pid_t of, parent;
        /* A child that was just forked will be told of; it is not one that is left out. */
        if (!is_recorded && !r.is_gone && proc_of_thread(holder_pid, &of, &parent) &&
            collector_has_process(w->collector, parent))
            return step;
        if (!r.is_gone)
            waits_look_at(holder_pid, holder, &look);
        for (size_t i = 0; i < len; i++)
            is_circle |= seen[i] == holder;
        seen[len] = holder;
        /* The kernel gives a PI mutex to whom it wakes before that one runs. */
        bool is_given = r.kind == RECORDING_RESOURCE_PI && seen[len - 1] == holder;
        if (is_given || (holder == tid && !chain_still_waits(t->pid, tid, &t->chain->look)))
            return step;
        if (is_recorded && (look.state == WAITS_BLOCKED || look.state == WAITS_STOPPED)) {
            place = waits_look_place(w, holder_pid, holder, &look, NULL, at_ns);
            has_next =
                look.state == WAITS_BLOCKED && waits_resource(w, holder_pid, holder, &look, &next);
        }
        /* It was let go meanwhile: what was seen may be of after that. */
        if (!waits_resource_is_same(pid, &r))
            return step;
        struct recording_link s = chain_step(w, step, is_recorded ? holder_pid : 0, holder, at_ns);
        s.node = place.node;
        if (has_next)
            s.resource = collector_resource(w->collector, holder_pid, next.kind, next.address,
                                            next.name[0] ? next.name : NULL, at_ns);
        switch (look.state) {
        case WAITS_BLOCKED: s.doing = RECORDING_DOING_WAIT; break;
        case WAITS_STOPPED: s.doing = RECORDING_DOING_STOPPED; break;
        case WAITS_RUNNING: s.doing = RECORDING_DOING_RUN; break;
        case WAITS_REFUSED: s.doing = RECORDING_DOING_UNSEEN; break;
        case WAITS_GONE: s.doing = RECORDING_DOING_ENDED; break;
        }
        if (!is_recorded && look.state != WAITS_GONE)
            s.doing = RECORDING_DOING_UNSEEN;
        if (is_circle)
            s.doing = RECORDING_DOING_CIRCLE;
        if (s.doing == RECORDING_DOING_RUN)
            *asked = (struct waits_asked){holder, at_ns, step, s.thread, NO_THREAD};
        step = collector_wait_step(w->collector, &s);
        if (is_circle || !has_next)
            return step;
        r = next;
        pid = holder_pid;
    }
    return step;
}

/* A look at the holder of what a thread waits for. */
static void chain_look(struct waits *w, int32_t slot, const struct waits_resource *r)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_chain *chain = t->chain;
    struct waits_asked asked = {0};
    uint64_t now = clock_now();
    uint32_t last = chain_follow(w, chain->first, t, *r, now, &asked);
    vec_push(&chain->looks, (struct waits_seen){now, last});
    if (asked.tid && w->asked.len < MOST_ASKED) {
        asked.slot = slot;
        vec_push(&w->asked, asked);
    }
}

/* What nobody holds, as far as can be told, is not looked at again. */
void waits_chain_begin(struct waits *w, int32_t slot, const struct waits_look *look, uint32_t node)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_resource r;
    waits_chain_end(t);
    if (look->state != WAITS_BLOCKED || !waits_resource(w, t->pid, t->tid, look, &r))
        return;
    if (!t->chain)
        t->chain = calloc(1, sizeof *t->chain);
    if (!t->chain)
        memory_exhausted(sizeof *t->chain);
    uint64_t now = clock_now();
    struct recording_link first = chain_step(w, RECORDING_NONE, t->pid, t->tid, now);
    first.node = node;
    first.resource =
        collector_resource(w->collector, t->pid, r.kind, r.address, r.name[0] ? r.name : NULL, now);
    if (first.thread == RECORDING_NONE || first.resource == RECORDING_NONE)
        return;
    t->chain->look = *look;
    t->chain->first = collector_wait_step(w->collector, &first);
    t->chain->is_on = t->chain->is_new = true;
    chain_look(w, slot, &r);
    if (r.holder)
        waits_queue(w, slot, &w->held);
}

void waits_chain_end(struct waiting_thread *t)
{
    if (t->chain) {
        t->chain->looks.len = 0;
        t->chain->is_on = false;
    }
}

void waits_chain_free(struct waiting_thread *t)
{
    if (t->chain)
        vec_free(&t->chain->looks);
    free(t->chain);
    t->chain = NULL;
}

/* The queue is in the order of looks; what was paid for is paid back by pausing. */
uint64_t waits_chain_again(struct waits *w, uint64_t now_ns)
{
    uint64_t begin = clock_own_cpu(), cost = 0, now = clock_now();
    if (now_ns < w->again_ns)
        return w->again_ns - now_ns;
    while (w->held.first != NO_THREAD) {
        int32_t slot = w->held.first;
        struct waiting_thread *t = &w->threads.at[slot];
        struct waits_chain *chain = t->chain;
        uint64_t looked = chain->looks.len ? chain->looks.at[chain->looks.len - 1].at_ns : 0;
        if (looked + LOOK_AGAIN_NS > now)
            break;
        /* The call is the same as long as it waits: only the lock is read again. */
        struct waits_resource r;
        waits_queue(w, slot, &w->held);
        if (waits_resource(w, t->pid, t->tid, &chain->look, &r))
            chain_look(w, slot, &r);
        now = clock_now();
        cost = clock_own_cpu() - begin;
        if (cost > LOOK_AGAIN_NS / AGAIN_TO_COST)
            break;
    }
    /* Never in step with the program: the pause varies by a quarter. */
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t pause = LOOK_AGAIN_NS / 8 * 7 + (w->random >> 33) % (LOOK_AGAIN_NS / 4);
    uint64_t paid = cost * AGAIN_TO_COST;
    w->again_ns = now + (paid > pause ? paid : pause);
    return w->held.first == NO_THREAD ? UINT64_MAX : w->again_ns - now;
}

/* --- what was asked of samples ---------------------------------------------------------------- */

void waits_ran(struct waits *w, pid_t tid, uint64_t at_ns, uint32_t node)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->asked.len; i++) {
        const struct waits_asked *asked = &w->asked.at[i];
        bool is_it = asked->tid == tid && asked->at_ns <= at_ns;
        bool is_over = at_ns > asked->at_ns + ASKED_NS;
        if (!is_it && !is_over) {
            w->asked.at[kept++] = *asked;
            continue;
        }
        struct waits_chain *chain = w->threads.at[asked->slot].chain;
        for (size_t k = 0; is_it && !is_over && chain && k < chain->looks.len; k++)
            if (chain->looks.at[k].at_ns == asked->at_ns)
                chain->looks.at[k].step = collector_wait_step(
                    w->collector, &(struct recording_link){.parent = asked->parent,
                                                           .thread = asked->thread,
                                                           .node = node,
                                                           .resource = RECORDING_NONE,
                                                           .doing = RECORDING_DOING_RUN});
    }
    w->asked.len = kept;
}

/* --- counting -------------------------------------------------------------------------------- */

/* Shares the time of [from, until) out among the looks, each up to the middle between it and the
 * next; of looks before that only the last is kept. */
void waits_chain_count(struct waits *w, struct waiting_thread *t, uint64_t from_ns,
                       uint64_t until_ns)
{
    struct waits_chain *chain = t->chain;
    if (!chain || !chain->is_on || !chain->looks.len || from_ns >= until_ns)
        return;
    /* What is counted may end before looks that are there already: they are for later. */
    size_t len = chain->looks.len, done = 0;
    uint64_t at = from_ns;
    for (size_t i = 0; i < len && at < until_ns; i++) {
        const struct waits_seen *s = &chain->looks.at[i];
        bool is_last = i + 1 == len || s[1].at_ns > until_ns;
        uint64_t end = is_last ? until_ns : s->at_ns + (s[1].at_ns - s->at_ns) / 2;
        end = end < until_ns ? end : until_ns;
        if (end <= at)
            continue;
        collector_wait(w->collector, s->step, chain->is_new, end - at, until_ns);
        chain->is_new = false;
        at = end;
        done = i;
    }
    memmove(chain->looks.at, chain->looks.at + done, (len - done) * sizeof *chain->looks.at);
    chain->looks.len = len - done;
}

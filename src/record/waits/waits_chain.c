/* Who holds what a thread waits for, and what that one does meanwhile: chains of waiting threads.
 *
 * When a wait is inspected, so is the holder at once, and if it waits itself, whoever holds that,
 * and so on:
 *
 *     A waits for g_cache_lock ──► B, which waits in fsync          two steps
 *     A waits for m ──► B waits for n ──► C, which runs             three; C's place is that of its
 *                                                                   next sample
 *
 * What a holder does changes while it is waited for, so waits that have a holder are inspected
 * again every LOOK_AGAIN_NS. Each look speaks for the time around it, up to the middle between it
 * and its neighbours: looks are independent of what the holder does, so shares come out right on
 * average. A lock that changed hands while the holder was inspected says nothing about it.
 *
 * Threads that wait at the same word wait for the same: one look at the holder serves all of them
 * that are due within GLANCE_NS. As long as it sees the same as before, a waiter costs a
 * comparison.
 *
 * Cost: looking again takes at most one part in AGAIN_TO_COST of a CPU, however many threads wait:
 * each is then inspected less often. */
#include "record/waits/waits_private.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_AGAIN_NS = 10 * 1000 * 1000,
    AGAIN_TO_COST = 100,
    MOST_CREDIT_NS = 2 * 1000 * 1000,
    GLANCE_NS = 1000 * 1000,
    MOST_ASKED = 4096,
    ASKED_NS = 50 * 1000 * 1000, /* a sample after that says nothing */
    UNIFORM = 12,
    ONE_SIDED = 3, /* a length's square to the mean square of an error within it */
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

/* --- how sure -------------------------------------------------------------------------------- */

/* Between two looks that saw different things, the one became the other at some moment, as likely
 * at one as at another: with g between them, the middle is off by a variance of g^2/12, for both.
 *
 *     asleep     asleep     runs       asleep     asleep
 *     ──┼──────────┼────?─────┼─────?────┼──────────┼──
 *                  |--- g ----|--- g ----|
 *
 * What one look alone has seen may have lasted next to no time: whether a look meets it is chance,
 * and if one does it counts for g. Then the variance is g^2, as if each look had been drawn; for
 * what changes quickly, that makes the binomial g^2 n p (1 - p). A wait of one look is such a draw
 * as a whole: reports, which know the share p, make that of the squares (part_errors.c).
 *
 * What was before the first look and after the last one counts as what that look saw, though a
 * holder that waited must have run before it let the lock go. That is an error to one side, of up
 * to all the time that is left: the mean square is a third of its square. */

static uint64_t chain_square(uint64_t ns, uint64_t numerator, uint64_t denominator)
{
    const uint64_t us = 1000, most = 1000 * 1000 * 1000; /* so that nothing overflows: 1,000 s */
    uint64_t length = ns / us < most ? ns / us : most;
    return length * length / denominator * numerator;
}

/* Adds a variance to all steps of a chain that the other one has not; RECORDING_NONE: to all after
 * the first. */
static void chain_add_error(struct waits *w, uint32_t step, uint32_t other, uint64_t error)
{
    for (uint32_t at = step, before;
         (before = collector_step_before(w->collector, at)) != RECORDING_NONE; at = before) {
        bool is_shared = false;
        for (uint32_t of = other; of != RECORDING_NONE && !is_shared;
             of = collector_step_before(w->collector, of))
            is_shared = collector_steps_are_alike(w->collector, of, at, false);
        if (is_shared)
            return; /* and so is all before it */
        collector_wait_error(w->collector, at, error, 0);
    }
}

/* A look after another one, of the same wait. */
static void chain_turn(struct waits *w, struct waits_chain *chain, const struct waits_seen *from,
                       const struct waits_seen *to)
{
    uint64_t gap = to->at_ns - from->at_ns;
    chain->seen++;
    if (collector_steps_are_alike(w->collector, from->step, to->step, false)) {
        chain->alike = 2;
        return;
    }
    uint64_t error = chain_square(gap, 1, UNIFORM);
    chain_add_error(w, from->step, to->step, error);
    chain_add_error(w, to->step, from->step, error);
    /* g^2 in all: two turns have 2/12 of that; the rest is halved between both sides. For what a
     * thread does that does not run, it is one stretch in which this one runs here and there. */
    uint64_t rest = chain_square((chain->turn_ns + gap) / 2, UNIFORM / 2 - 1, UNIFORM);
    const uint32_t sides[] = {chain->before, to->step};
    for (size_t i = 0; i < 2 && chain->alike == 1 && chain->before != RECORDING_NONE; i++) {
        if (collector_steps_are_alike(w->collector, from->step, sides[1 - i], true))
            continue;
        chain_add_error(w, from->step, sides[i], rest);
        chain_add_error(w, sides[i], from->step, rest);
    }
    chain->alike = 1;
    chain->before = from->step;
    chain->turn_ns = gap;
}

/* A wait ends: its last look, or its only one. */
static void chain_close(struct waits *w, const struct waits_chain *chain)
{
    if (!chain->is_on || !chain->whole_ns || !chain->looks.len)
        return;
    const struct waits_seen *last = &chain->looks.at[0]; /* what is before was taken out */
    uint64_t open = chain->until_ns > last->at_ns ? chain->until_ns - last->at_ns : 0;
    chain_add_error(w, last->step, RECORDING_NONE, chain_square(open, 1, ONE_SIDED));
    if (chain->seen == 1)
        collector_wait_error(w->collector, last->step, 0, chain_square(chain->whole_ns, 1, 1));
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

/* Looks at who holds what a thread waits for, and so on, into out->steps. Returns whether others
 * who wait there would see the same: not if what was seen is about this thread. */
static bool chain_follow(struct waits *w, const struct waiting_thread *t, struct waits_resource r,
                         struct waits_glance *out)
{
    pid_t pid = t->pid, tid = t->tid;
    pid_t seen[WAITS_MOST_STEPS + 1] = {tid};
    uint64_t at_ns = out->at_ns;
    for (size_t len = 1; len <= WAITS_MOST_STEPS && r.holder; len++) {
        struct waits_look look = {.state = WAITS_GONE};
        struct waits_resource next = {0};
        struct collector_place place = {.node = RECORDING_ROOT};
        pid_t holder = r.holder, holder_pid = r.holder_pid;
        bool is_recorded = !r.is_gone && collector_has_process(w->collector, holder_pid);
        bool is_circle = false, has_next = false;
        pid_t of, parent;
        /* A child that was just forked will be reported; it is not left out. */
        if (!is_recorded && !r.is_gone && proc_of_thread(holder_pid, &of, &parent) &&
            collector_has_process(w->collector, parent))
            return false;
        if (!r.is_gone)
            waits_look_at(holder_pid, holder, &look);
        for (size_t i = 0; i < len; i++)
            is_circle |= seen[i] == holder;
        seen[len] = holder;
        /* The kernel gives a PI mutex to whom it wakes before that one runs. */
        bool is_given = r.kind == RECORDING_RESOURCE_PI && seen[len - 1] == holder;
        if (is_given || (holder == tid && !chain_still_waits(t->pid, tid, &t->chain->look)))
            return false;
        if (is_recorded && (look.state == WAITS_BLOCKED || look.state == WAITS_STOPPED)) {
            place = waits_look_place(w, holder_pid, holder, &look, NULL, at_ns);
            has_next =
                look.state == WAITS_BLOCKED && waits_resource(w, holder_pid, holder, &look, &next);
        }
        /* It was let go meanwhile: what was seen may be of after that. */
        if (!waits_resource_is_same(pid, &r))
            return false;
        struct recording_link s =
            chain_step(w, RECORDING_NONE, is_recorded ? holder_pid : 0, holder, at_ns);
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
        out->asked = s.doing == RECORDING_DOING_RUN ? holder : 0;
        out->tids[out->len] = holder;
        out->steps[out->len++] = s;
        if (is_circle || !has_next)
            return !is_circle;
        r = next;
        pid = holder_pid;
    }
    return true;
}

/* --- looks that are shared -------------------------------------------------------------------- */

static struct waits_glance *chain_glance_of(struct waits *w, uint64_t waited_at)
{
    return &w->glances[(waited_at / sizeof(uint32_t) * UINT64_C(0x9e3779b97f4a7c15)) >> 60];
}
_Static_assert(WAITS_GLANCES == 16, "four bits of a hash");

/* The recent look at the holder of what this thread waits for; NULL: inspect it. */
static const struct waits_glance *chain_shared(struct waits *w, const struct waiting_thread *t,
                                               uint64_t now_ns)
{
    const struct waits_look *look = &t->chain->look;
    const struct waits_glance *g = chain_glance_of(w, look->arguments[0]);
    if (g->pid != t->pid || g->waited_at != look->arguments[0] ||
        g->operation != look->arguments[1] || g->value != look->arguments[2] ||
        now_ns > g->at_ns + GLANCE_NS)
        return NULL;
    for (uint32_t i = 0; i < g->len; i++)
        if (g->tids[i] == t->tid)
            return NULL;
    return g;
}

static bool chain_steps_are_equal(const struct recording_link *a, const struct recording_link *b)
{
    return a->thread == b->thread && a->node == b->node && a->resource == b->resource &&
           a->doing == b->doing;
}

/* Keeps what was seen for others. It has the number of what was seen before if it is the same. */
static void chain_share(struct waits *w, const struct waiting_thread *t, struct waits_glance *seen)
{
    const struct waits_look *look = &t->chain->look;
    struct waits_glance *g = chain_glance_of(w, look->arguments[0]);
    seen->pid = t->pid;
    seen->waited_at = look->arguments[0];
    seen->operation = look->arguments[1];
    seen->value = look->arguments[2];
    bool is_same = g->pid == seen->pid && g->waited_at == seen->waited_at &&
                   g->operation == seen->operation && g->value == seen->value &&
                   g->len == seen->len && !seen->asked && !g->asked;
    for (uint32_t i = 0; i < seen->len && is_same; i++)
        is_same = chain_steps_are_equal(&g->steps[i], &seen->steps[i]);
    seen->number = is_same ? g->number : ++w->glance_number;
    *g = *seen;
}

/* A look at a wait: what was seen, after its own step. */
static void chain_add(struct waits *w, int32_t slot, const struct waits_glance *g)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_chain *chain = t->chain;
    size_t len = chain->looks.len;
    if (len > 1 && g->number && chain->glance == g->number &&
        chain->looks.at[len - 2].step == chain->looks.at[len - 1].step) {
        chain->looks.at[len - 1].at_ns = g->at_ns; /* of three that are alike, two say it all */
        return;
    }
    uint32_t step = chain->first, before = step;
    if (len && g->number && chain->glance == g->number) {
        step = chain->looks.at[len - 1].step;
    } else {
        for (uint32_t i = 0; i < g->len; i++) {
            struct recording_link s = g->steps[i];
            s.parent = before = step;
            step = collector_wait_step(w->collector, &s);
        }
    }
    chain->glance = g->number;
    vec_push(&chain->looks, (struct waits_seen){g->at_ns, step});
    if (!g->asked || w->asked.len >= MOST_ASKED)
        return;
    int32_t runs = waits_find(w, g->asked);
    if (runs == NO_THREAD)
        return;
    w->threads.at[runs].asked++;
    vec_push(&w->asked, (struct waits_asked){.tid = g->asked,
                                             .at_ns = g->at_ns,
                                             .parent = before,
                                             .thread = g->steps[g->len - 1].thread,
                                             .slot = slot});
}

/* A look at the holder of what a thread waits for. */
static void chain_look(struct waits *w, int32_t slot, const struct waits_resource *r)
{
    const struct waiting_thread *t = &w->threads.at[slot];
    struct waits_glance seen = {.at_ns = clock_now()};
    if (chain_follow(w, t, *r, &seen) && seen.len && r->kind <= RECORDING_RESOURCE_RWLOCK)
        chain_share(w, t, &seen);
    chain_add(w, slot, &seen);
}

/* What has no known holder is not inspected again. */
void waits_chain_begin(struct waits *w, int32_t slot, const struct waits_look *look, uint32_t node)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_resource r;
    waits_chain_end(w, t);
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
    if (t->chain->first == RECORDING_NONE) /* there are too many */
        return;
    t->chain->is_on = t->chain->is_new = true;
    t->chain->glance = 0;
    t->chain->seen = t->chain->alike = 0;
    t->chain->before = RECORDING_NONE;
    t->chain->whole_ns = 0;
    const struct waits_glance *shared = chain_shared(w, t, now);
    if (shared && shared->len && shared->tids[0] == r.holder)
        chain_add(w, slot, shared);
    else
        chain_look(w, slot, &r);
    if (r.holder)
        waits_queue(w, slot, &w->held);
}

void waits_chain_end(struct waits *w, struct waiting_thread *t)
{
    if (t->chain) {
        chain_close(w, t->chain);
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
    uint64_t begin = clock_own_cpu(), now = clock_now();
    int64_t cost = 0;
    if (now_ns < w->again_ns)
        return w->again_ns - now_ns;
    /* CPU time that may be spent: looks take longer now and then, and need not be paid for at once.
     */
    w->credit_ns += (int64_t)(now - w->credited_ns) / AGAIN_TO_COST;
    w->credited_ns = now;
    if (w->credit_ns > MOST_CREDIT_NS)
        w->credit_ns = MOST_CREDIT_NS;
    while (w->held.first != NO_THREAD) {
        int32_t slot = w->held.first;
        struct waiting_thread *t = &w->threads.at[slot];
        struct waits_chain *chain = t->chain;
        uint64_t looked = chain->looks.len ? chain->looks.at[chain->looks.len - 1].at_ns : 0;
        if (looked + LOOK_AGAIN_NS > now)
            break;
        /* The call is the same as long as it waits: only the lock is read again. */
        struct waits_resource r;
        const struct waits_glance *shared = chain_shared(w, t, now);
        waits_queue(w, slot, &w->held);
        if (shared)
            chain_add(w, slot, shared);
        else if (waits_resource(w, t->pid, t->tid, &chain->look, &r))
            chain_look(w, slot, &r);
        now = clock_now();
        cost = (int64_t)(clock_own_cpu() - begin);
        if (cost > LOOK_AGAIN_NS / AGAIN_TO_COST && cost > w->credit_ns)
            break;
    }
    /* Never in step with the program: the pause varies by a quarter. */
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t pause = LOOK_AGAIN_NS / 8 * 7 + (w->random >> 33) % (LOOK_AGAIN_NS / 4);
    w->credit_ns -= cost;
    uint64_t debt = w->credit_ns < 0 ? (uint64_t)-w->credit_ns * AGAIN_TO_COST : 0;
    w->again_ns = now + (debt > pause ? debt : pause);
    return w->held.first == NO_THREAD ? UINT64_MAX : w->again_ns - now;
}

/* --- questions to samples --------------------------------------------------------------------- */

/* Those that are too old are in front, as they are in the order of looks; most samples are of
 * threads without a question. */
static void chain_forget_asked(struct waits *w, uint64_t before_ns)
{
    size_t old = 0;
    for (; old < w->asked.len && w->asked.at[old].at_ns + ASKED_NS < before_ns; old++) {
        int32_t slot = waits_find(w, w->asked.at[old].tid);
        if (slot != NO_THREAD && w->threads.at[slot].asked)
            w->threads.at[slot].asked--;
    }
    if (old) {
        memmove(w->asked.at, w->asked.at + old, (w->asked.len - old) * sizeof *w->asked.at);
        w->asked.len -= old;
    }
}

void waits_ran(struct waits *w, const struct collector_sample *s, struct collector_place place)
{
    pid_t tid = s->tid;
    uint64_t at_ns = s->at_ns;
    uint32_t node = place.node;
    size_t kept = 0;
    waits_io_sampled(w, s, place);
    chain_forget_asked(w, at_ns);
    int32_t runs = w->asked.len ? waits_find(w, tid) : NO_THREAD;
    if (runs == NO_THREAD || !w->threads.at[runs].asked)
        return;
    for (size_t i = 0; i < w->asked.len; i++) {
        const struct waits_asked *asked = &w->asked.at[i];
        if (asked->tid != tid || asked->at_ns > at_ns) {
            w->asked.at[kept++] = *asked;
            continue;
        }
        w->threads.at[runs].asked--;
        struct waits_chain *chain = w->threads.at[asked->slot].chain;
        for (size_t k = 0; chain && k < chain->looks.len; k++)
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
        if (!chain->seen) {
            uint64_t open = s->at_ns > from_ns ? s->at_ns - from_ns : 0;
            chain_add_error(w, s->step, RECORDING_NONE, chain_square(open, 1, ONE_SIDED));
            chain->seen = chain->alike = 1;
        }
        if (end > at) {
            collector_wait(w->collector, s->step, chain->is_new, end - at, until_ns);
            chain->is_new = false;
            at = end;
            done = i;
        }
        if (at < until_ns)
            chain_turn(w, chain, s, s + 1);
    }
    chain->whole_ns += until_ns - from_ns;
    chain->until_ns = until_ns;
    memmove(chain->looks.at, chain->looks.at + done, (len - done) * sizeof *chain->looks.at);
    chain->looks.len = len - done;
}

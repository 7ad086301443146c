/* The recording that comes out of what was collected.
 *
 * Most of it is copied as it stands. Three things are made here, because nothing else could later:
 *
 *   1. Names of functions of files that cannot be found again: the vDSO, and files that were
 * deleted while they were mapped. Only functions in which an address was sampled are named.
 *   2. Weights of events that the kernel counted exactly: the samples share the counter's sum out.
 *   3. Time in the kernel where a user may sample user code alone.
 *
 * The amount of that time is known: what the kernel's counters have of each process, less what
 * samples of user code say, and samples of these that were lost; it is no more than the kernel's
 * own accounts allow. Its places are estimated from probes, all that is known of them:
 *
 *   - Threads that ran were met in user code or in system calls. The share of the latter in the CPU
 *     time is the share of these probes, and it is divided as they are.
 *   - Page faults were counted, with their stacks. What is left belongs to them, as far as a fault
 *     may reasonably take so long, in proportion to their numbers.
 *
 * Both are taken by program, as many processes are too short to be met. What neither of the two
 * explains has no place, and is reported as such. No program gets more than the known amount. All
 * steps are linear in samples, threads and processes. */
#include "record/collector_private.h"

#include "base/sort.h"
#include "objfile/object.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- When threads ran, waited and were made: what a recording knows beside its samples.
 *
 *   turns      how long each thread ran in each slice, and its part of the time in which any did
 *   parallel   how long exactly so many threads ran, by slice
 *   waits      each time off the CPU of some length, with where that was
 *   delays     how long woken threads had to wait for a CPU: they go into the samples
 *   pauses     when the recorder stopped a thread, which is no wait
 *   creators   who made each thread
 *
 * The first two stand in the tally as events of their own, beside those of samples, so that they
 * follow when slices get longer, and are taken out here. Waits are bounded by their number: when
 * there are too many, the shorter half goes, and so do all of that length from then on.
 *
 * A delay is known by amount, for a stretch of a thread's life; a wait has no more of it than its
 * length. Each wait that ended in the stretch is followed by one wake-up, so the amount is shared
 * out by the number of waits that ended in a row of samples, and moved from there to a row of the
 * same stack that ends in [ready to run]: sums of stacks and threads stay what they are. What finds
 * no wait is left out. Linear in samples and delays, but for a search of each delay's first row. */

enum {
    SHORTEST_WAIT_NS = 100 * 1000,
    MOST_WAITS = 1 << 17,
    MOST_DELAYS = 1 << 18,
    MOST_PAUSES = 1 << 20,          /* over an hour of them */
    LONGEST_PAUSE_NS = 5 * 1000000, /* on a busy machine */
    MOST_PARALLEL = 4096,           /* threads that run at a time */
};

void collector_creator(struct collector *c, pid_t tid, pid_t creator)
{
    const uint32_t *new = map_find(&c->thread_of, tid, 0);
    const uint32_t *old = map_find(&c->thread_of, creator, 0);
    if (new &&old &&*new != RECORDING_NONE &&*old != RECORDING_NONE &&*new != *old)
        vec_push(&c->creators, (struct recording_creator){*new, *old});
}

uint64_t collector_slice_ns(const struct collector *c)
{
    return c->tally.slice_ns;
}

void collector_turn(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                    uint64_t shared_ns)
{
    uint32_t thread = collector_thread(c, pid, tid, to_ns);
    uint64_t from = collector_since_start(c, from_ns), to = collector_since_start(c, to_ns);
    if (to <= from)
        return;
    struct recording_sample ran = {
        .thread = thread, .event = COLLECTOR_RAN_EVENT, .weight = to - from};
    struct recording_sample shared = {
        .thread = thread, .event = COLLECTOR_SHARED_EVENT, .weight = shared_ns};
    tally_add_over(&c->tally, from, to, &ran);
    tally_add_over(&c->tally, from, to, &shared);
}

void collector_parallel(struct collector *c, uint32_t threads, uint64_t at_ns, uint64_t ns)
{
    threads = threads < MOST_PARALLEL ? threads : MOST_PARALLEL;
    if (ns && threads && c->threads.len)
        tally_add_over(
            &c->tally, collector_since_start(c, at_ns), collector_since_start(c, at_ns),
            &(struct recording_sample){.event = COLLECTOR_PARALLEL_EVENT + threads, .weight = ns});
}

void collector_waited(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                      bool is_ready, const struct collector_place *place)
{
    if (!c->shortest_wait_ns)
        c->shortest_wait_ns = SHORTEST_WAIT_NS;
    if (to_ns < from_ns + c->shortest_wait_ns)
        return;
    uint32_t node = RECORDING_NONE, thread = collector_thread(c, pid, tid, to_ns);
    if (place)
        node = place->node;
    else if (is_ready)
        node = tally_node(&c->tally, RECORDING_ROOT, c->wait, RECORDING_WAIT_READY);
    /* Without what was waited while recording was switched off. */
    uint32_t process = c->threads.at[thread].process;
    for (uint64_t at = from_ns, until; at < to_ns; at = until) {
        until = collector_counts_until(c, process, at);
        until = until < to_ns ? until : to_ns;
        if (collector_counts(c, process, at) && until - at >= c->shortest_wait_ns)
            vec_push(&c->waits, (struct recording_wait){.thread = thread,
                                                        .node = node,
                                                        .from_ns = collector_since_start(c, at),
                                                        .length_ns = until - at});
    }
    while (c->waits.len >= MOST_WAITS) {
        size_t kept = 0;
        c->shortest_wait_ns *= 2;
        for (size_t i = 0; i < c->waits.len; i++)
            if (c->waits.at[i].length_ns >= c->shortest_wait_ns)
                c->waits.at[kept++] = c->waits.at[i];
        c->waits.len = kept;
    }
}

/* Of what was recorded in pieces, the last one ended so. */
void collector_woken(struct collector *c, uint64_t until_ns, const struct collector_wake *wake)
{
    struct recording_wait *w = c->waits.len ? &c->waits.at[c->waits.len - 1] : NULL;
    uint64_t at_ns = collector_since_start(c, wake->at_ns);
    if (!w || w->from_ns + w->length_ns != collector_since_start(c, until_ns) ||
        at_ns < w->from_ns || at_ns > w->from_ns + w->length_ns)
        return;
    const uint32_t *waker = wake->tid ? map_find(&c->thread_of, (uint32_t)wake->tid, 0) : NULL;
    bool is_known = waker && *waker != RECORDING_NONE && !wake->is_interrupt;
    w->woke_ns = at_ns - w->from_ns;
    w->waker = is_known ? *waker : 0;
    if (is_known)
        w->woken = wake->is_soft_interrupt ? RECORDING_WAKER_SOFT : RECORDING_WAKER_THREAD;
    else if (wake->is_interrupt || wake->is_soft_interrupt || !wake->tid)
        w->woken = RECORDING_WAKER_INTERRUPT;
    else
        w->woken = RECORDING_WAKER_OUTSIDE;
}

void collector_reports_wakes(struct collector *c)
{
    c->reports_wakes = true;
}

void collector_delayed(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                       uint64_t ns)
{
    uint32_t thread = collector_thread(c, pid, tid, to_ns);
    if (ns && c->delays.len < MOST_DELAYS)
        vec_push(&c->delays, (struct collected_delay){thread, collector_since_start(c, from_ns),
                                                      collector_since_start(c, to_ns), ns});
}

void collector_paused(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint32_t thread = collector_thread(c, pid, tid, at_ns);
    if (c->pauses.len < MOST_PAUSES)
        vec_push(&c->pauses, (struct collected_pause){thread, collector_since_start(c, at_ns)});
}

/* --- at the end ------------------------------------------------------------------------------ */

/* By slice and thread, as they come: the two events of a turn are adjacent. */
static void times_take_out(struct recording *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct recording_sample s = out->samples.at[i];
        struct recording_turn *last = out->turns.len ? &out->turns.at[out->turns.len - 1] : NULL;
        if (s.event < COLLECTOR_RAN_EVENT) {
            out->samples.at[kept++] = s;
        } else if (s.event >= COLLECTOR_PARALLEL_EVENT) {
            vec_push(&out->parallel, (struct recording_parallel){
                                         s.slice, s.event - COLLECTOR_PARALLEL_EVENT, s.weight});
        } else if (s.event == COLLECTOR_RAN_EVENT) {
            vec_push(&out->turns, (struct recording_turn){s.slice, s.thread, .ran_ns = s.weight});
        } else if (last && last->slice == s.slice && last->thread == s.thread) {
            last->shared_ns = s.weight;
        }
    }
    out->samples.len = kept;
}

/* Rows of samples in which a thread waited, by thread and slice. */
struct waited_rows {
    uint32_t *at;    /* rows */
    uint32_t *first; /* of each thread, and one more */
};

static bool times_is_wait(const struct collector *c, const struct recording_sample *s)
{
    const struct recording_node *n = &c->tally.nodes.at[s->node];
    return n->object == c->wait && n->address != RECORDING_WAIT_READY &&
           n->address != RECORDING_WAIT_STOPPED;
}

/* Two passes: how many each thread has, and which. Samples are in the order of slices. */
static struct waited_rows times_rows(const struct collector *c, const struct recording *out,
                                     struct arena *a)
{
    struct waited_rows rows = {.first = ARENA_NEW(a, uint32_t, c->threads.len + 2)};
    for (size_t i = 0; i < out->samples.len; i++)
        if (times_is_wait(c, &out->samples.at[i]))
            rows.first[out->samples.at[i].thread + 2]++;
    for (size_t i = 2; i < c->threads.len + 2; i++)
        rows.first[i] += rows.first[i - 1];
    rows.at = ARENA_NEW(a, uint32_t, rows.first[c->threads.len + 1]);
    for (size_t i = 0; i < out->samples.len; i++)
        if (times_is_wait(c, &out->samples.at[i]))
            rows.at[rows.first[out->samples.at[i].thread + 1]++] = (uint32_t)i;
    return rows;
}

/* Moves a part of a row's time to [ready to run] of the same stack; returns how much it was. */
static uint64_t times_move(struct collector *c, struct recording *out, uint32_t row, uint64_t ns)
{
    struct recording_sample *s = &out->samples.at[row], moved = *s;
    ns = ns < s->weight ? ns : s->weight;
    if (!ns)
        return 0;
    s->weight -= ns;
    moved.node =
        tally_node(&c->tally, c->tally.nodes.at[s->node].parent, c->wait, RECORDING_WAIT_READY);
    moved.weight = ns;
    moved.count = 0;
    vec_push(&out->samples, moved); /* which may move the list */
    return ns;
}

/* Shares a delay out over the rows of its stretch: by the number of waits that ended in them, and
 * what finds no room there by their order, from the last one on. */
static void times_delay(struct collector *c, struct recording *out, const struct waited_rows *rows,
                        const struct collected_delay *d)
{
    const uint32_t *at = rows->at + rows->first[d->thread];
    size_t len = rows->first[d->thread + 1] - rows->first[d->thread];
    uint64_t from = d->from_ns / out->slice_ns, to = d->to_ns / out->slice_ns, ends = 0;
    size_t begin = PARTITION_POINT(len, k, out->samples.at[at[k]].slice < from), end = begin;
    for (; end < len && out->samples.at[at[end]].slice <= to; end++)
        ends += out->samples.at[at[end]].count;
    uint64_t left = d->ns, passed = 0, given = 0;
    for (size_t i = begin; i < end && ends; i++) {
        passed += out->samples.at[at[i]].count;
        uint64_t so_far = (uint64_t)((double)d->ns * (double)passed / (double)ends);
        left -= times_move(c, out, at[i], so_far - given);
        given = so_far;
    }
    for (size_t i = end; i-- > begin && left;)
        left -= times_move(c, out, at[i], left);
}

static int times_by_thread(const void *left, const void *right)
{
    const struct recording_wait *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return l->from_ns < r->from_ns ? -1 : l->from_ns > r->from_ns;
}

static int times_pauses(const void *left, const void *right)
{
    const struct collected_pause *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return l->at_ns < r->at_ns ? -1 : l->at_ns > r->at_ns;
}

/* Whether the recorder stopped the thread in a wait of which nothing else is known. */
static bool times_is_pause(const struct collector *c, const struct recording_wait *w)
{
    const struct collected_pause *at = c->pauses.at;
    if (w->node != RECORDING_NONE || w->length_ns > LONGEST_PAUSE_NS)
        return false;
    size_t k = PARTITION_POINT(c->pauses.len, i,
                               at[i].thread < w->thread ||
                                   (at[i].thread == w->thread && at[i].at_ns < w->from_ns));
    return k < c->pauses.len && at[k].thread == w->thread &&
           at[k].at_ns <= w->from_ns + w->length_ns;
}

static int times_by_new(const void *left, const void *right)
{
    const struct recording_creator *l = left, *r = right;
    return l->thread < r->thread ? -1 : l->thread > r->thread;
}

/* Takes these out of the samples, moves what threads waited for a CPU to where that stands, and
 * gives waits and creators to the run. May add nodes: call it before nodes are read. */
static void collector_times_finish(struct collector *c, struct recording *out)
{
    struct arena scratch = {0};
    times_take_out(out);
    if (c->delays.len) {
        struct waited_rows rows = times_rows(c, out, &scratch);
        for (size_t i = 0; i < c->delays.len; i++)
            times_delay(c, out, &rows, &c->delays.at[i]);
        tally_sum_up(out, false);
        for (size_t i = out->nodes.len; i < c->tally.nodes.len; i++)
            vec_push(&out->nodes, c->tally.nodes.at[i]);
    }
    out->reports_wakes = c->reports_wakes;
    if (c->pauses.len)
        qsort(c->pauses.at, c->pauses.len, sizeof *c->pauses.at, times_pauses);
    for (size_t i = 0; i < c->waits.len; i++)
        if (!times_is_pause(c, &c->waits.at[i]))
            vec_push(&out->waits, c->waits.at[i]);
    if (out->waits.len)
        qsort(out->waits.at, out->waits.len, sizeof *out->waits.at, times_by_thread);
    vec_copy(&out->creators, &c->creators);
    if (out->creators.len)
        qsort(out->creators.at, out->creators.len, sizeof *out->creators.at, times_by_new);
    size_t kept = 0;
    for (size_t i = 0; i < out->creators.len; i++)
        if (!kept || out->creators.at[kept - 1].thread != out->creators.at[i].thread)
            out->creators.at[kept++] = out->creators.at[i];
    out->creators.len = kept;
    arena_deinit(&scratch);
}

/* A copy that lives as long as the recording. */
static const char *finish_text(struct recording *out, const char *text)
{
    return arena_copy(&out->arena, text, strlen(text));
}

/* --- objects and their names ----------------------------------------------------------------- */

/* Names the functions of an open file in which an address was sampled. */
static void finish_name_functions(struct collector *c, uint32_t image, struct recording *out)
{
    VEC(uint64_t) sampled = {0};
    for (size_t i = 1; i < c->tally.nodes.len; i++)
        if (c->tally.nodes.at[i].object == image)
            vec_push(&sampled, c->tally.nodes.at[i].address);
    sampled.len = collector_sort_addresses(sampled.at, sampled.len);
    size_t len;
    const struct object_symbol *symbols = object_symbols(c->images.all.at[image]->file, &len, NULL);
    for (size_t i = 0; i < len && sampled.len; i++) {
        const struct object_symbol *s = &symbols[i];
        size_t first = PARTITION_POINT(sampled.len, k, sampled.at[k] < s->address);
        if ((s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC) && first < sampled.len &&
            sampled.at[first] - s->address < s->size)
            vec_push(&out->symbols, (struct recording_symbol){image, s->address, s->size,
                                                              finish_text(out, s->name)});
    }
    vec_free(&sampled);
}

/* Objects have the numbers of images. Their ranges are what was sampled and what files load. */
static void finish_objects(struct collector *c, struct recording *out)
{
    const uint64_t MOST_MAPPED = UINT64_C(1) << 32; /* more is a claim that nothing bears out */
    /* Reports compare build-ids of programs, also of those of which no code was sampled. */
    for (size_t i = 0; i < c->processes.len; i++) {
        uint32_t program = c->processes.at[i].program;
        if (program != RECORDING_NONE && !c->images.all.at[program]->object.build_id_bytes)
            images_open(&c->images, program);
    }
    for (uint32_t i = 0; i < c->images.all.len; i++) {
        images_look_again(&c->images, i);
        const struct image *image = c->images.all.at[i];
        struct recording_object o = image->object;
        o.path = finish_text(out, o.path);
        vec_push(&out->objects, o);
        bool is_lost =
            o.kind == RECORDING_OBJECT_VDSO || (o.kind == RECORDING_OBJECT_FILE && o.is_deleted);
        if (is_lost && image->file)
            finish_name_functions(c, i, out);
    }
    /* Each object's range: all addresses that were sampled, and all that its file loads. */
    for (size_t i = 1; i < out->nodes.len; i++) {
        struct recording_object *o = &out->objects.at[out->nodes.at[i].object];
        uint64_t address = out->nodes.at[i].address;
        o->low = address < o->low ? address : o->low;
        o->high = address + 1 > o->high ? address + 1 : o->high;
    }
    for (size_t i = 0; i < c->images.all.len; i++) {
        struct recording_object *o = &out->objects.at[i];
        const struct image *image = c->images.all.at[i];
        for (size_t k = 0; k < image->segments.len; k++) {
            const struct image_segment *s = &image->segments.at[k];
            o->low = s->address < o->low ? s->address : o->low;
            o->high = s->address + s->size > o->high ? s->address + s->size : o->high;
        }
        /* Without a file, functions begin before their first sampled address. */
        uint64_t mapped = image->end - image->start;
        if (o->kind == RECORDING_OBJECT_FILE && !image->segments.len && o->low < o->high &&
            mapped < MOST_MAPPED) {
            uint64_t at = images_link_address(&c->images, (uint32_t)i, image->offset);
            o->low = at < o->low ? at : o->low;
            o->high = at + mapped > o->high ? at + mapped : o->high;
        }
        if (o->low > o->high)
            o->low = o->high = 0;
    }
}

/* The order that the model wants symbols in. */
static int finish_by_place(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

/* --- events that the kernel counted ---------------------------------------------------------- */

#define TOO_FEW "too few for a sample, so that nothing says where they were"

/* Samples say where, the counter how many: each sample stands for its part of the sum. The counter
 * goes on while recording is off; what samples weigh that fell into such times is no part. */
static void finish_totals(struct collector *c, struct recording *out)
{
    struct arena scratch = {0};
    uint64_t *sampled = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *passed = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *given = ARENA_NEW(&scratch, uint64_t, c->events.len);
    for (size_t i = 0; i < out->samples.len; i++)
        if (out->samples.at[i].event < c->events.len)
            sampled[out->samples.at[i].event] += out->samples.at[i].weight;
    for (size_t i = 0; i < c->events.len; i++)
        if (c->left_out.at[i])
            c->totals.at[i] = (uint64_t)((double)c->totals.at[i] * (double)sampled[i] /
                                             (double)(sampled[i] + c->left_out.at[i]) +
                                         0.5);
    /* A sample gets the difference of two sums, so that rounding does not change the last one. */
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        uint64_t total = s->event < c->events.len ? c->totals.at[s->event] : 0;
        if (!total || !s->weight)
            continue;
        passed[s->event] += s->weight;
        double part = (double)passed[s->event] / (double)sampled[s->event];
        uint64_t so_far =
            passed[s->event] == sampled[s->event] ? total : (uint64_t)((double)total * part);
        s->weight = so_far - given[s->event];
        given[s->event] = so_far;
    }
    for (uint32_t i = 0; i < c->events.len; i++)
        if (c->totals.at[i] && !sampled[i])
            vec_push(&out->losses,
                     (struct recording_loss){
                         RECORDING_LOST_OTHER, c->totals.at[i], 0,
                         arena_printf(&out->arena, "%s: %s", c->events.at[i].name, TOO_FEW)});
    arena_deinit(&scratch);
}

/* --- time in the kernel ---------------------------------------------------------------------- */

enum {
    SHORTEST_FAULT_NS = 100,
    LONGEST_FAULT_NS = 5000,
    TICK_NS = 10 * 1000 * 1000, /* at most: how often the kernel asks whose time it is */
    TICK_ERRORS = 3,            /* standard errors of that */
    ERRORS = 2                  /* standard errors of the looks that are chance */
};

#define KERNEL_UNSEEN                                                                              \
    "time in the kernel, by amount: this user may sample user code only; 'setcap cap_perfmon=ep' " \
    "on monarc, or the sysctl kernel.perf_event_paranoid=1, shows which code caused it"

#define KERNEL_PLACED                                                                          \
    "time in the kernel, which this user may not sample: the amount is the kernel's own, its " \
    "places are estimated from probes"

#define KERNEL_FAULTS ", and from page faults"

/* What the threads of a pid had by the kernel's counters, less what samples of user code say. */
struct kernel_left {
    double ns, user_ns;
    uint32_t thread; /* RECORDING_NONE: none has reported */
    uint32_t last;   /* entry of the pid: programs that it executed share its threads */
};

/* The time of its threads, in the last entry of each pid. `told` has the threads whose CPU time is
 * known. The counters run on while the machine's host runs something else: only a share of what
 * they say is CPU time, by the kernel's accounts. */
static struct kernel_left *kernel_left(struct collector *c, const struct recording *out,
                                       struct arena *a)
{
    struct kernel_left *left = ARENA_NEW(a, struct kernel_left, out->processes.len);
    struct map last = {0}, told = {0};
    uint64_t accounted = c->accounts.user_ns + c->accounts.system_ns;
    uint64_t counted = recording_cpu(out).others_ns;
    double running = accounted && accounted < counted ? (double)accounted / (double)counted : 1;
    for (uint32_t i = 0; i < out->processes.len; i++)
        map_set(&last, out->processes.at[i].pid, 0, i);
    for (uint32_t i = 0; i < out->processes.len; i++) {
        left[i].thread = RECORDING_NONE;
        left[i].last = *map_find(&last, out->processes.at[i].pid, 0);
    }
    for (uint32_t i = 0; i < out->threads.len; i++) {
        const struct recording_thread *t = &out->threads.at[i];
        struct kernel_left *l = &left[left[t->process].last];
        if (!t->has_cpu)
            continue;
        map_at(&told, t->tid, out->processes.at[t->process].pid, i, NULL);
        l->ns += (double)t->cpu_ns * running;
        l->thread = l->thread == RECORDING_NONE ? i : l->thread;
    }
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct recording_sample *s = &out->samples.at[i];
        const struct recording_thread *t = &out->threads.at[s->thread];
        if (s->event == 0 && out->nodes.at[s->node].object != c->wait &&
            map_find(&told, t->tid, out->processes.at[t->process].pid)) {
            left[left[t->process].last].ns -= (double)s->weight;
            left[left[t->process].last].user_ns += (double)s->weight;
        }
    }
    map_deinit(&last);
    map_deinit(&told);
    /* Not the kernel's are samples of user code that were lost, whose time has its own line; and
     * what the kernel does not have in its own accounts, which a lack of samples is the cause of.
     * In which processes that was is not known: all give the same share. */
    double all = 0, rest = 0;
    for (size_t i = 0; i < out->processes.len; i++)
        all += left[i].ns;
    rest = all;
    for (size_t i = 0; i < c->losses.len; i++)
        rest -= (double)c->losses.at[i].ns;
    if (accounted && recording_cpu(out).orphans_ns == 0) {
        double system = (double)c->accounts.system_ns;
        rest = fmin(rest, system + TICK_ERRORS * sqrt((system + TICK_NS) * TICK_NS));
    }
    for (size_t i = 0; i < out->processes.len && all > 0 && rest < all; i++)
        left[i].ns *= fmax(rest, 0) / all;
    return left;
}

/* Of all processes that ran a program; row 0 is of processes without one. */
struct kernel_program {
    double ns;    /* in the kernel: chance makes what is left of a short process too much or too
                     little; only of all processes that ran a program it means something */
    double above; /* what is left of those that have something left */
    double user_ns;
    double looks[COLLECTOR_PROBES]; /* their weights */
    uint64_t counts[COLLECTOR_PROBES];
    double placed[COLLECTOR_PROBES]; /* of `ns`, at the places of such looks */
};

/* The row of the program in which a sample was taken. */
static struct kernel_program *kernel_program_of(struct kernel_program *all,
                                                const struct recording *out,
                                                const struct recording_sample *s)
{
    return &all[out->processes.at[out->threads.at[s->thread].process].program + 1];
}

/* How much of a program's time is at the places of either kind: calls get the share of their probes
 * in all of its CPU time, page faults the rest, as far as a fault takes from SHORTEST_FAULT_NS to
 * LONGEST_FAULT_NS. If what is then left over is within the error of the probes, it was calls. */
static void kernel_divide(struct kernel_program *p)
{
    double seen = p->looks[COLLECTOR_PROBE_CALL] + p->looks[COLLECTOR_PROBE_USER];
    double n = (double)(p->counts[COLLECTOR_PROBE_CALL] + p->counts[COLLECTOR_PROBE_USER]);
    double faults = p->looks[COLLECTOR_PROBE_FAULTS], all_ns = p->ns + p->user_ns;
    if (p->ns <= 0)
        return;
    double share = seen > 0 ? p->looks[COLLECTOR_PROBE_CALL] / seen : 0;
    double chance = n > 0 ? ERRORS * sqrt((share * (1 - share) + 1 / n) / n) * all_ns : 0;
    double calls_ns = fmin(share * all_ns, p->ns);
    double faults_ns = fmax(p->ns - calls_ns, faults * SHORTEST_FAULT_NS);
    faults_ns = fmin(fmin(faults_ns, faults * LONGEST_FAULT_NS), p->ns);
    if (calls_ns > 0 && p->ns - faults_ns <= calls_ns + chance)
        calls_ns = p->ns - faults_ns;
    p->placed[COLLECTOR_PROBE_CALL] = fmin(calls_ns, p->ns - faults_ns);
    p->placed[COLLECTOR_PROBE_FAULTS] = faults_ns;
}

/* Of what has no place, each process gets its part. */
static double kernel_leave(struct collector *c, struct recording *out,
                           const struct kernel_left *left, const struct kernel_program *all,
                           uint32_t slice)
{
    double sum = 0;
    for (size_t i = 0; i < out->processes.len; i++) {
        const struct kernel_program *p = &all[out->processes.at[i].program + 1];
        double unplaced = p->ns;
        for (int kind = 0; kind < COLLECTOR_PROBES; kind++)
            unplaced -= p->placed[kind];
        if (left[i].ns <= 0 || unplaced <= 0 || left[i].thread == RECORDING_NONE)
            continue;
        double ns = left[i].ns * unplaced / p->above;
        sum += ns;
        if (ns >= 1)
            vec_push(&out->samples, (struct recording_sample){.slice = slice,
                                                              .thread = left[i].thread,
                                                              .node = c->kernel_unseen,
                                                              .weight = (uint64_t)ns,
                                                              .count = 1});
    }
    return sum;
}

/* Probes were counted as events of their own and are taken out of the samples here, whether or not
 * they are needed. The rest follows the head of this file: what is left of each process, by
 * program; its division; probes as samples. */
static void finish_kernel_time(struct collector *c, struct recording *out)
{
    VEC(struct recording_sample) probes = {0}; /* taken out; `event` is enum collector_probe */
    struct arena scratch = {0};
    size_t kept = 0;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample s = out->samples.at[i];
        if (s.event < COLLECTOR_PROBE_EVENT) {
            out->samples.at[kept++] = s;
        } else {
            s.event -= COLLECTOR_PROBE_EVENT;
            vec_push(&probes, s);
        }
    }
    out->samples.len = kept;
    if (!c->events.len || !c->events.at[0].user_only || c->events.at[0].unit != RECORDING_UNIT_NS) {
        vec_free(&probes);
        return;
    }
    uint32_t slice = kept ? out->samples.at[kept - 1].slice : 0;
    struct kernel_left *left = kernel_left(c, out, &scratch);
    struct kernel_program *all = ARENA_NEW(&scratch, struct kernel_program, out->objects.len + 1);
    for (size_t i = 0; i < out->processes.len; i++) {
        struct kernel_program *p = &all[out->processes.at[i].program + 1];
        p->ns += left[i].ns;
        p->above += left[i].ns > 0 ? left[i].ns : 0;
        p->user_ns += left[i].user_ns;
    }
    for (size_t i = 0; i < probes.len; i++) {
        const struct recording_sample *s = &probes.at[i];
        struct kernel_program *p = kernel_program_of(all, out, s);
        p->looks[s->event] += (double)s->weight;
        p->counts[s->event] += s->count;
    }
    for (size_t i = 0; i < out->objects.len + 1; i++)
        kernel_divide(&all[i]);

    /* Probes become samples, each with its part of the program's time. */
    uint64_t counts[COLLECTOR_PROBES] = {0}, placed = 0;
    for (size_t i = 0; i < probes.len; i++) {
        struct recording_sample s = probes.at[i];
        const struct kernel_program *p = kernel_program_of(all, out, &s);
        counts[s.event] += s.count;
        if (s.event == COLLECTOR_PROBE_USER || !p->looks[s.event])
            continue;
        double ns = (double)s.weight * p->placed[s.event] / p->looks[s.event];
        s.event = 0;
        s.weight = (uint64_t)(ns + 0.5);
        placed += s.weight;
        if (s.weight)
            vec_push(&out->samples, s);
    }
    uint64_t met = counts[COLLECTOR_PROBE_USER] + counts[COLLECTOR_PROBE_CALL];
    if (placed) {
        const char *text = finish_text(
            out, counts[COLLECTOR_PROBE_FAULTS] ? KERNEL_PLACED KERNEL_FAULTS : KERNEL_PLACED);
        vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_KERNEL, met, placed, text});
    }
    double unplaced = kernel_leave(c, out, left, all, slice);
    if (unplaced >= 1)
        vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_KERNEL, 0, (uint64_t)unplaced,
                                                       finish_text(out, KERNEL_UNSEEN)});
    tally_sum_up(out, false);
    vec_free(&probes);
    arena_deinit(&scratch);
}

/* --- all of it ------------------------------------------------------------------------------- */

/* Copies all lists, so that the collector can go on: a program may request the recording so far. */
#define TOO_FEW_DESCRIPTORS                                                                     \
    "files whose code could not be looked into, as too few descriptors may be open (ulimit -n " \
    "256): stacks end in them, and their functions may have no names"

/* Where launchers were nested, as an mpirun within a step of Slurm's, the ranks of the innermost
 * count: the others are those of the launcher itself, which is no rank of the job. */
static void finish_ranks(const struct collector *c, struct recording *out)
{
    unsigned order = UINT_MAX;
    const char *host = NULL;
    for (size_t i = 0; i < c->inner.len; i++)
        if (c->inner.at[i].has_rank && c->inner.at[i].rank.order < order)
            order = c->inner.at[i].rank.order;
    for (uint32_t i = 0; i < c->inner.len; i++) {
        struct recording_rank rank = c->inner.at[i].rank.rank;
        if (!c->inner.at[i].has_rank || c->inner.at[i].rank.order != order)
            continue;
        rank.process = i;
        rank.host = host = host ? host : rank_host(&out->arena);
        rank.launcher = finish_text(out, rank.launcher);
        vec_push(&out->ranks, rank);
    }
}

void collector_finish(struct collector *c, uint64_t end_ns, struct recording *out)
{
    c->kernel_unseen =
        tally_node(&c->tally, tally_node(&c->tally, RECORDING_ROOT, c->cut, RECORDING_CUT_NO_STACK),
                   c->kernel, RECORDING_KERNEL_UNKNOWN);
    tally_copy(&c->tally, c->first_period_factor, out);
    collector_times_finish(c, out);
    if (c->images.too_few_descriptors)
        collector_lose(c, RECORDING_LOST_OTHER, TOO_FEW_DESCRIPTORS, c->images.too_few_descriptors,
                       0);
    finish_totals(c, out);
    finish_objects(c, out);
    collector_code_finish(c, out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, finish_by_place);
    for (size_t i = 0; i < c->processes.len; i++) {
        struct recording_process p = c->processes.at[i];
        p.name = finish_text(out, p.name);
        p.command = p.command ? finish_text(out, p.command) : NULL;
        if (collector_goes_on(c, i))
            p.end_ns = 0;
        vec_push(&out->processes, p);
    }
    finish_ranks(c, out);
    for (size_t i = 0; i < c->threads.len; i++)
        vec_push(&out->threads, c->threads.at[i]);
    for (size_t i = 0; i < c->events.len; i++) {
        struct recording_event event = c->events.at[i];
        event.name = finish_text(out, event.name);
        vec_push(&out->events, event);
    }
    for (size_t i = 0; i < c->marks.len; i++) {
        struct recording_mark mark = c->marks.at[i];
        mark.name = finish_text(out, mark.name);
        vec_push(&out->marks, mark);
    }
    for (size_t i = 0; i < c->losses.len; i++)
        vec_push(&out->losses, (struct recording_loss){c->losses.at[i].kind, c->losses.at[i].count,
                                                       c->losses.at[i].ns,
                                                       finish_text(out, c->losses.at[i].text)});
    collector_waits_finish(c, out);
    vec_copy(&out->branches, &c->branches);
    out->branches.len = recording_sum_branches(out->branches.at, out->branches.len);
    finish_kernel_time(c, out);
    collector_labels_finish(c, out);
    out->stacks = c->stacks;
    out->whole = c->whole;
    out->length_ns = end_ns > c->options.start_ns ? end_ns - c->options.start_ns : 0;
}

struct object **collector_take_files(struct collector *c, size_t *len)
{
    *len = c->images.all.len;
    struct object **files = memory_zeroed(*len, sizeof *files);
    for (uint32_t i = 0; i < *len; i++)
        if (c->images.all.at[i]->object.kind == RECORDING_OBJECT_FILE)
            files[i] = images_take_file(&c->images, i);
    return files;
}

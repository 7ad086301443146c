/* Samples that wait for a look at the rest of their stack.
 *
 *     sample, cut -> waiting, by thread    thread is wanted -> look: whole stack -> queue, by time
 *                        |                                                             |
 *                        +--- of one kind, event, labels: one sample <--- walked ------+
 *
 * A look and a sample are of one kind if they were in the same function, and there in user code or
 * in the same system call. So each function keeps the time that samples say it has, though looks
 * are fewer, and only what called it comes from looks. A look is one observation, however many
 * samples it stands for: their weights are added up and counted once, so that reports know how sure
 * it is.
 *
 * What has waited for too long, or until the thread's end, takes the last look of its kind that was
 * before, and not too long before. Waiting is bounded in number and time. A thread of which several
 * looks in a row had no outer end either (deeper than is read, or than frames are counted) is left
 * for a pause, each twice as long as the one before. */
#include "record/perf/deep_stacks.h"

#include "base/map.h"
#include "base/vec.h"
#include "record/clocks.h"

#include <stdlib.h>

/* That a sample waits. */
static const uint64_t LONGEST_NS = UINT64_C(2000000000);

/* The first room has to do for most: that it was too little is known a round of the monitor later,
 * and by then a program of 0.2 s may have ended, with no whole stack at all. */
enum {
    MOST_WAITING = 2048,  /* samples of one thread */
    LEAST_ROOM = 1 << 20, /* bytes of a stack that are read, at first */
    MOST_ROOM = 16 << 20,
    ROOM_GROWS = 16, /* times, where it was too little */
    MISSES = 3,      /* looks in a row without an outer end, for a pause */
    FIRST_PAUSE_NS = 500 * 1000 * 1000,
    MOST_PAUSES = 6, /* times that a pause is longer than the one before */
    /* Of `call`. */
    IN_USER = -1,
    IN_FAULT = -2,
    IN_SOME_CALL = -3, /* which one is not known */
};

/* A sample that waits. Its registers and the copy of its stack are gone by then: its place says
 * what they said. */
struct deep_sample {
    struct collector_sample sample; /* without registers and stack */
    struct collector_place place;   /* as it was sampled */
    int64_t call;                   /* the system call it is in; IN_USER ... */
    uint64_t function;              /* that it is in, or that is in the kernel */
};

/* What a look has shown: a place, for whatever sample of its kind has none of its own. */
struct deep_seen {
    struct collector_place place;
    uint64_t at_ns;
};

struct deep_thread {
    VEC(struct deep_sample) waiting; /* the oldest first, after those that are ... */
    size_t gone;
    VEC(struct deep_seen) seen; /* the last look of each kind */
    struct map seen_of;         /* function and call -> index of `seen` */
    uint64_t pause_ns;          /* no looks are wanted before */
    uint8_t misses, pauses;
};

struct deep_stacks {
    struct collector *collector;
    struct deep_looks *source;
    size_t copied, room;
    struct map thread_of; /* tid -> index of `threads` */
    VEC(struct deep_thread) threads;
    VEC(struct deep_look) looks; /* not counted yet */
};

/* --- samples --------------------------------------------------------------------------------- */

/* The state of a thread, begun now if there is none. Pointers are good until the next one
 * begins. */
static struct deep_thread *deep_thread(struct deep_stacks *d, pid_t tid)
{
    bool is_new;
    uint32_t at = map_index(&d->thread_of, (uint64_t)tid, 0, d->threads.len, &is_new);
    if (is_new)
        vec_push(&d->threads, (struct deep_thread){0});
    return &d->threads.at[at];
}

static void deep_thread_deinit(struct deep_thread *t)
{
    vec_free(&t->waiting);
    vec_free(&t->seen);
    map_deinit(&t->seen_of);
}

/* How many wait: of those in front that have gone, only the room is left, as moving all others up
 * for each would take longer than counting it. */
static size_t deep_waiting(const struct deep_thread *t)
{
    return t->waiting.len - t->gone;
}

/* Remembers a look as the last of its kind. Threads forget theirs when they end, so that what is
 * kept is in proportion to the functions in which deep stacks were seen. */
static void deep_saw(struct deep_thread *t, uint64_t function, int64_t call,
                     const struct deep_seen *seen)
{
    bool is_new;
    uint32_t at = map_index(&t->seen_of, function, (uint64_t)call, t->seen.len, &is_new);
    if (is_new)
        vec_push(&t->seen, *seen);
    t->seen.at[at] = *seen;
}

/* The place of the last look of the kind; NULL: there is none, or it is too long ago. */
static const struct collector_place *deep_last(const struct deep_thread *t,
                                               const struct deep_sample *s)
{
    int64_t call = s->call == IN_FAULT ? IN_USER : s->call;
    const uint32_t *at = map_find(&t->seen_of, s->function, (uint64_t)call);
    const struct deep_seen *seen = at ? &t->seen.at[*at] : NULL;
    return seen && seen->at_ns + LONGEST_NS > s->sample.at_ns ? &seen->place : NULL;
}

/* Counts one or several, at a place that a look has shown. */
static void deep_count_at(struct deep_stacks *d, const struct deep_sample *s,
                          struct collector_place place)
{
    if (s->call == IN_FAULT)
        place = collector_place_as(d->collector, place, COLLECTOR_IN_KERNEL);
    else if (s->call == IN_USER)
        place.node = place.stack;
    collector_sample_at(d->collector, &s->sample, place);
}

/* Counts the first `len`, to which no look will come any more: as the last one before, if there is
 * one, or else as they were sampled. */
static void deep_give_up(struct deep_stacks *d, struct deep_thread *t, size_t len)
{
    for (size_t i = t->gone; len; i++, len--, t->gone++) {
        const struct deep_sample *s = &t->waiting.at[i];
        const struct collector_place *last = deep_last(t, s);
        if (last)
            deep_count_at(d, s, *last);
        else
            collector_sample_at(d->collector, &s->sample, s->place);
    }
    if (t->gone == t->waiting.len)
        t->gone = t->waiting.len = 0;
}

/* Those that have waited too long by then. */
static void deep_expire(struct deep_stacks *d, struct deep_thread *t, uint64_t now_ns)
{
    size_t old = 0;
    while (old < deep_waiting(t) && t->waiting.at[t->gone + old].sample.at_ns + LONGEST_NS < now_ns)
        old++;
    deep_give_up(d, t, old);
}

/* Forgets the room of those that are gone. */
static void deep_close_up(struct deep_thread *t)
{
    size_t len = deep_waiting(t);
    if (len && t->gone)
        memmove(t->waiting.at, t->waiting.at + t->gone, len * sizeof *t->waiting.at);
    t->waiting.len = len;
    t->gone = 0;
}

/* Of which kind a sample is. No look meets a fault or an interrupt: these take one of user code. */
static void deep_kind(const struct deep_stacks *d, struct deep_sample *s)
{
    s->function = collector_function_of(d->collector, s->place);
    s->call = IN_USER;
    if (s->sample.where == COLLECTOR_IN_USER)
        return;
    s->call = collector_call_of(d->collector, s->place);
    if (s->call < 0)
        s->call = collector_is_fault(d->collector, s->place) ? IN_FAULT : IN_SOME_CALL;
}

/* Whether a look at such a place, in user code or in a call, is of the kind that a sample waits
 * for. Of code that is in no file, it is not known whether that makes a call. */
static bool deep_is_kind(const struct deep_sample *s, int64_t call, bool may_be_call,
                         uint64_t function)
{
    if (s->function != function)
        return false;
    return s->call == IN_FAULT       ? call == IN_USER
           : s->call == IN_SOME_CALL ? may_be_call
                                     : s->call == call;
}

bool deep_stacks_sampled(struct deep_stacks *d, const struct collector_sample *s,
                         struct collector_place place)
{
    if (place.is_whole || !place.is_deep)
        return false;
    struct deep_thread *t = deep_thread(d, s->tid);
    struct deep_sample waits = {.sample = *s, .place = place};
    /* Requested with each sample: a thread without a deep stack is no longer inspected. */
    if (s->at_ns < t->pause_ns || !deep_looks_want(d->source, s->pid, s->tid, d->room))
        return false;
    deep_kind(d, &waits);
    deep_expire(d, t, s->at_ns);
    if (deep_waiting(t) == MOST_WAITING)
        deep_give_up(d, t, 1);
    if (t->gone > MOST_WAITING)
        deep_close_up(t);
    waits.sample.registers = NULL;
    waits.sample.stack = (struct bytes){0};
    vec_push(&t->waiting, waits);
    return true;
}

/* Whether a stack had too little room; the next ones get more. */
static bool deep_room_was_small(struct deep_stacks *d, size_t len, size_t room)
{
    if (len < room || room >= MOST_ROOM)
        return false;
    if (room >= d->room)
        d->room = room * ROOM_GROWS < MOST_ROOM ? room * ROOM_GROWS : MOST_ROOM;
    return true;
}

void deep_stacks_cut(struct deep_stacks *d, pid_t pid, pid_t tid, size_t len)
{
    deep_room_was_small(d, len, d->room);
    if (deep_thread(d, tid)->pause_ns <= clock_now())
        deep_looks_want(d->source, pid, tid, d->room);
}

/* --- looks ----------------------------------------------------------------------------------- */

/* The weights of one look are one row of the recording: samples that it stands for are not seen
 * apart from each other, as they say nothing of their callers that the look does not.
 *
 * Adds up what waits and is of the kind of `of`, which it is the first of; the place is the look's.
 */
static void deep_count_like(struct deep_stacks *d, struct deep_thread *t, size_t first,
                            struct collector_place place)
{
    struct deep_sample sum = t->waiting.at[first];
    size_t kept = first;
    for (size_t i = first + 1; i < t->waiting.len; i++) {
        const struct deep_sample *next = &t->waiting.at[i];
        bool is_alike = next->call == sum.call && next->function == sum.function &&
                        next->sample.event == sum.sample.event &&
                        next->sample.labels == sum.sample.labels &&
                        next->sample.is_first_period == sum.sample.is_first_period;
        if (!is_alike) {
            t->waiting.at[kept++] = *next;
            continue;
        }
        sum.sample.weight += next->sample.weight;
        sum.sample.at_ns = next->sample.at_ns;
        sum.sample.others++;
    }
    t->waiting.len = kept;
    deep_count_at(d, &sum, place);
}

/* A look at a stack that has no outer end either. Where room was not what it lacked, looks at this
 * thread are in vain, and pause. */
static void deep_missed(struct deep_stacks *d, struct deep_thread *t, const struct deep_look *look)
{
    if (deep_room_was_small(d, look->stack.len, look->room) || ++t->misses < MISSES)
        return;
    t->misses = 0;
    t->pause_ns = look->at_ns + ((uint64_t)FIRST_PAUSE_NS << t->pauses);
    t->pauses += t->pauses < MOST_PAUSES;
    deep_give_up(d, t, deep_waiting(t));
}

/* One look: its place counts for what waits, if it is one that samples would not have had. The walk
 * is over the bytes that a sample would have had, and the rest apart from them: so the collector
 * says whether that was needed. */
static void deep_count(struct deep_stacks *d, const struct deep_look *look)
{
    struct deep_thread *t = deep_thread(d, look->tid);
    deep_expire(d, t, look->at_ns);
    deep_close_up(t);
    if (!t->waiting.len || t->waiting.at[0].sample.pid != look->pid)
        return;
    size_t copied = look->stack.len < d->copied ? look->stack.len : d->copied;
    struct collector_sample s = {
        .pid = look->pid,
        .tid = look->tid,
        .at_ns = look->at_ns,
        .where = COLLECTOR_IN_KERNEL,
        .syscall = -1, /* whether it is in one, its code says */
        .registers = &look->registers,
        .stack = {look->stack.at, copied},
        .beyond = {look->stack.at + copied, look->stack.len - copied},
        .is_live = true,
    };
    struct collector_place place = collector_place(d->collector, &s);
    if (!place.is_deep)
        return;
    if (!place.is_whole) {
        deep_missed(d, t, look);
        return;
    }
    t->misses = t->pauses = 0;
    int64_t call = collector_call_of(d->collector, place);
    bool may_be_call = call >= 0 || !collector_is_fault(d->collector, place);
    if (call < 0)
        call = IN_USER;
    uint64_t function = collector_function_of(d->collector, place);
    const struct deep_seen seen = {place, look->at_ns};
    deep_saw(t, function, call, &seen);
    if (may_be_call)
        deep_saw(t, function, IN_SOME_CALL, &seen);
    for (size_t i = 0; i < t->waiting.len;)
        if (deep_is_kind(&t->waiting.at[i], call, may_be_call, function))
            deep_count_like(d, t, i, place);
        else
            i++;
}

/* Looks wait as well: records of what happened before them may not have been reported yet. */
static void deep_queue(void *context, const struct deep_look *look)
{
    struct deep_stacks *d = context;
    vec_push(&d->looks, *look);
}

void deep_stacks_take(struct deep_stacks *d)
{
    deep_looks_take(d->source, deep_queue, d);
}

void deep_stacks_until(struct deep_stacks *d, uint64_t until_ns)
{
    size_t counted = 0;
    for (; counted < d->looks.len && d->looks.at[counted].at_ns <= until_ns; counted++) {
        deep_count(d, &d->looks.at[counted]);
        deep_looks_give_back(d->source, &d->looks.at[counted]);
    }
    if (!counted)
        return;
    d->looks.len -= counted;
    memmove(d->looks.at, d->looks.at + counted, d->looks.len * sizeof *d->looks.at);
}

/* --- the end --------------------------------------------------------------------------------- */

void deep_stacks_end(struct deep_stacks *d, pid_t tid)
{
    const uint32_t *at = map_find(&d->thread_of, (uint64_t)tid, 0);
    if (!at || *at >= d->threads.len)
        return;
    struct deep_thread *t = &d->threads.at[*at];
    deep_give_up(d, t, deep_waiting(t));
    deep_thread_deinit(t);
    *t = (struct deep_thread){0}; /* the number may come again */
}

void deep_stacks_finish(struct deep_stacks *d)
{
    for (size_t i = 0; i < d->threads.len; i++)
        deep_give_up(d, &d->threads.at[i], deep_waiting(&d->threads.at[i]));
}

void deep_stacks_free(struct deep_stacks *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->looks.len; i++)
        deep_looks_give_back(d->source, &d->looks.at[i]);
    for (size_t i = 0; i < d->threads.len; i++)
        deep_thread_deinit(&d->threads.at[i]);
    vec_free(&d->looks);
    vec_free(&d->threads);
    map_deinit(&d->thread_of);
    free(d);
}

struct deep_stacks *deep_stacks_new(struct collector *c, struct deep_looks *p, size_t copied)
{
    struct deep_stacks *d = calloc(1, sizeof *d);
    if (!d)
        memory_exhausted(sizeof *d);
    d->collector = c;
    d->source = p;
    d->copied = copied;
    d->room = LEAST_ROOM;
    return d;
}

/* Stands in for the collector in tests: keeps what it is told.
 *
 * A stack's place is the function of the test whose code the stack returns into: functions that
 * wait stand in sections of their own. */
#ifndef TESTS_RECORD_TOY_COLLECTOR_H
#define TESTS_RECORD_TOY_COLLECTOR_H

#include "base/bytes.h"
#include "base/vec.h"
#include "record/collector.h"
#include "silent_collector.h"

enum { NOWHERE = -1 };

struct toy_place {
    int function; /* of `collector`'s list; NOWHERE */
    int64_t syscall;
    enum collector_where where;
};

struct toy_wait {
    pid_t pid, tid;
    struct toy_place place;
    uint64_t at_ns, weight;
};

struct toy_period {
    pid_t tid;
    uint64_t from_ns, to_ns;
};

enum { TOY_TIDS = 16 };

struct toy_function {
    const char *name;
    const uint8_t *start, *end;
};

struct collector {
    const struct toy_function *functions;
    size_t functions_len;
    VEC(struct toy_place) places;
    VEC(struct toy_wait) waits;
    VEC(struct recording_resource) resources;
    VEC(struct recording_link) steps;
    uint64_t lost_ns, lost;
    uint64_t ran_ns[TOY_TIDS], shared_ns[TOY_TIDS]; /* by tid */
    uint64_t parallel_ns[TOY_TIDS];                 /* by number of threads */
    VEC(struct toy_period) periods;                 /* off the CPU, from begin to end */
    uint64_t delayed_ns;
};

static inline int toy_function_at(const struct collector *c, uint64_t address)
{
    for (size_t i = 0; i < c->functions_len; i++)
        if (address > (uintptr_t)c->functions[i].start && address <= (uintptr_t)c->functions[i].end)
            return (int)i;
    return NOWHERE;
}

/* The innermost function whose return address lies on the stack. */
static inline int toy_function_of(const struct collector *c, struct bytes stack)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= stack.len; at += sizeof(uint64_t)) {
        int found = toy_function_at(c, bytes_u64(stack.at + at, false));
        if (found != NOWHERE)
            return found;
    }
    return NOWHERE;
}

struct collector_place collector_place(struct collector *c, const struct collector_sample *s)
{
    struct toy_place place = {toy_function_of(c, s->stack), s->syscall, s->where};
    vec_push(&c->places, place);
    return (struct collector_place){.node = (uint32_t)c->places.len - 1};
}

struct collector_place collector_place_as(struct collector *c, struct collector_place place,
                                          enum collector_where where)
{
    struct toy_place other = c->places.at[place.node];
    other.where = where;
    vec_push(&c->places, other);
    return (struct collector_place){.node = (uint32_t)c->places.len - 1};
}

void collector_sample_at(struct collector *c, const struct collector_sample *s,
                         struct collector_place place)
{
    struct toy_wait wait = {s->pid, s->tid, c->places.at[place.node], s->at_ns, s->weight};
    vec_push(&c->waits, wait);
}

void collector_sample(struct collector *c, const struct collector_sample *s)
{
    struct toy_wait wait = {s->pid, s->tid, {NOWHERE, s->syscall, s->where}, s->at_ns, s->weight};
    vec_push(&c->waits, wait);
}

void collector_lose(struct collector *c, enum recording_loss_kind kind, const char *text,
                    uint64_t count, uint64_t ns)
{
    (void)kind;
    (void)text;
    c->lost += count;
    c->lost_ns += ns;
}

/* Threads are numbers of the kernel's here, and every process is recorded. */
uint32_t collector_thread_number(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    (void)c, (void)at_ns;
    return pid ? (uint32_t)tid : RECORDING_NONE;
}

bool collector_has_process(const struct collector *c, pid_t pid)
{
    (void)c;
    return pid > 0;
}

uint32_t collector_resource(struct collector *c, pid_t pid, enum recording_resource_kind kind,
                            uint64_t address, const char *name, uint64_t at_ns)
{
    (void)at_ns, (void)name;
    for (size_t i = 0; i < c->resources.len; i++)
        if (c->resources.at[i].kind == (uint32_t)kind && c->resources.at[i].address == address)
            return (uint32_t)i;
    vec_push(&c->resources, (struct recording_resource){kind, (uint32_t)pid, address, NULL});
    return (uint32_t)c->resources.len - 1;
}

uint32_t collector_wait_step(struct collector *c, const struct recording_link *step)
{
    vec_push(&c->steps, *step);
    return (uint32_t)c->steps.len - 1;
}

void collector_wait(struct collector *c, uint32_t step, bool is_new, uint64_t ns, uint64_t at_ns)
{
    (void)at_ns;
    c->steps.at[step].ns += ns;
    c->steps.at[step].waits += is_new;
}

void collector_wait_error(struct collector *c, uint32_t step, uint64_t error, uint64_t single)
{
    c->steps.at[step].error += error;
    c->steps.at[step].single += single;
}

uint32_t collector_step_before(const struct collector *c, uint32_t step)
{
    return c->steps.at[step].parent;
}

bool collector_steps_are_alike(const struct collector *c, uint32_t one, uint32_t other,
                               bool anywhere)
{
    const struct recording_link *a = &c->steps.at[one], *b = &c->steps.at[other];
    return one == other ||
           (a->parent == b->parent && a->thread == b->thread && a->doing == b->doing &&
            (anywhere ? a->doing == RECORDING_DOING_RUN : a->node == b->node));
}

static inline void toy_free(struct collector *c)
{
    vec_free(&c->resources);
    vec_free(&c->steps);
    vec_free(&c->places);
    vec_free(&c->waits);
    vec_free(&c->periods);
}

/* The time of all waits that fit; tid 0, syscall INT64_MIN: any. */
static inline uint64_t toy_sum(const struct collector *c, pid_t tid, int function, int64_t call,
                               enum collector_where where)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->waits.len; i++) {
        const struct toy_wait *w = &c->waits.at[i];
        if ((!tid || w->tid == tid) && w->place.function == function &&
            (call == INT64_MIN || w->place.syscall == call) && w->place.where == where)
            sum += w->weight;
    }
    return sum;
}

static inline uint64_t toy_sum_of_thread(const struct collector *c, pid_t tid)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->waits.len; i++)
        sum += c->waits.at[i].tid == tid ? c->waits.at[i].weight : 0;
    return sum;
}

void collector_creator(struct collector *c, pid_t tid, pid_t creator)
{
    (void)c, (void)tid, (void)creator;
}

uint64_t collector_slice_ns(const struct collector *c)
{
    (void)c;
    return 1000 * 1000 * 1000;
}

void collector_turn(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                    uint64_t shared_ns)
{
    (void)pid;
    if (tid < TOY_TIDS) {
        c->ran_ns[tid] += to_ns - from_ns;
        c->shared_ns[tid] += shared_ns;
    }
}

void collector_parallel(struct collector *c, uint32_t threads, uint64_t at_ns, uint64_t ns)
{
    (void)at_ns;
    if (threads < TOY_TIDS)
        c->parallel_ns[threads] += ns;
}

void collector_waited(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                      bool is_ready, const struct collector_place *place)
{
    (void)is_ready;
    (void)pid, (void)place;
    vec_push(&c->periods, (struct toy_period){tid, from_ns, to_ns});
}

void collector_woken(struct collector *c, uint64_t until_ns, const struct collector_wake *wake)
{
    (void)c, (void)until_ns, (void)wake;
}

void collector_delayed(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                       uint64_t ns)
{
    (void)pid, (void)tid, (void)from_ns, (void)to_ns;
    c->delayed_ns += ns;
}

#endif

/* A small monitor for tests: runs a function in a child, feeds what the kernel tells of it to
 * waits, and keeps what they tell the collector, which this file stands in for.
 *
 * A stack's place is the function of the test whose code the stack returns into: functions that
 * wait stand in sections of their own. */
#ifndef TESTS_RECORD_WATCHING_H
#define TESTS_RECORD_WATCHING_H

#include "base/cursor.h"
#include "base/vec.h"
#include "record/collector.h"
#include "record/perf_record.h"
#include "record/perf_ring.h"
#include "record/waits.h"

#include <linux/perf_event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the collector --------------------------------------------------------------------------- */

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

struct toy_function {
    const char *name;
    const uint8_t *start, *end;
};

struct collector {
    const struct toy_function *functions;
    size_t functions_len;
    VEC(struct toy_place) places;
    VEC(struct toy_wait) waits;
    uint64_t lost_ns, lost;
};

static int toy_function_at(const struct collector *c, uint64_t address)
{
    for (size_t i = 0; i < c->functions_len; i++)
        if (address > (uintptr_t)c->functions[i].start && address <= (uintptr_t)c->functions[i].end)
            return (int)i;
    return NOWHERE;
}

/* The innermost function whose return address lies on the stack. */
static int toy_function_of(const struct collector *c, struct bytes stack)
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

void collector_lose(struct collector *c, enum run_loss_kind kind, const char *text, uint64_t count,
                    uint64_t ns)
{
    (void)kind;
    (void)text;
    c->lost += count;
    c->lost_ns += ns;
}

static void toy_free(struct collector *c)
{
    vec_free(&c->places);
    vec_free(&c->waits);
}

/* The time of all waits that fit; tid 0, syscall INT64_MIN: any. */
static uint64_t toy_sum(const struct collector *c, pid_t tid, int function, int64_t call,
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

static uint64_t toy_sum_of_thread(const struct collector *c, pid_t tid)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->waits.len; i++)
        sum += c->waits.at[i].tid == tid ? c->waits.at[i].weight : 0;
    return sum;
}

/* --- the monitor ----------------------------------------------------------------------------- */

enum { MOST_CPUS = 256, BUFFER_BYTES = 256 << 10, STACK_COPY = 4096 };

struct toy_life {
    pid_t tid;
    uint64_t start_ns, end_ns;
};

struct watching {
    struct collector collector;
    struct waits *waits;
    struct waits_sums sums;
    struct perf_layout layout;
    struct perf_ring rings[MOST_CPUS];
    int fds[2 * MOST_CPUS], fds_len;
    long cpus;
    VEC(struct toy_life) lives;
    uint64_t lost;
    bool sees_switches; /* with registers and stack */
};

static uint64_t watching_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* One event on one CPU; the first has the buffer. */
static bool watching_open(struct watching *w, pid_t pid, int cpu, bool is_first)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = is_first ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_CONTEXT_SWITCHES,
        .sample_period = 1,
        .sample_type = perf_layout_sample_type(&w->layout),
        .sample_regs_user = perf_layout_registers(&w->layout),
        .sample_stack_user = w->layout.has_stacks ? STACK_COPY : 0,
        .inherit = 1,
        .task = is_first,
        .context_switch = is_first,
        .exclude_kernel = geteuid() != 0,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return false;
    if (!is_first && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, w->fds[w->fds_len - 1]))
        return false;
    w->fds[w->fds_len++] = fd;
    return !is_first || perf_ring_map(&w->rings[cpu], fd, BUFFER_BYTES);
}

static bool watching_begin(struct watching *w, pid_t pid)
{
    w->cpus = sysconf(_SC_NPROCESSORS_CONF);
    w->cpus = w->cpus < MOST_CPUS ? w->cpus : MOST_CPUS;
    w->layout = (struct perf_layout){UNWIND_X86_64, w->sees_switches};
    for (int cpu = 0; cpu < w->cpus; cpu++)
        if (!watching_open(w, pid, cpu, true) ||
            (w->sees_switches && !watching_open(w, pid, cpu, false)))
            return false;
    return true;
}

static void watching_life(struct watching *w, const struct perf_record *r)
{
    if (r->type == PERF_RECORD_FORK)
        vec_push(&w->lives, (struct toy_life){(pid_t)r->tid, r->time, 0});
    for (size_t i = 0; r->type == PERF_RECORD_EXIT && i < w->lives.len; i++)
        if (w->lives.at[i].tid == (pid_t)r->tid)
            w->lives.at[i].end_ns = r->time;
}

static void watching_take(struct watching *w, const struct perf_record *r)
{
    pid_t pid = (pid_t)r->pid, tid = (pid_t)r->tid;
    watching_life(w, r);
    switch (r->type) {
    case PERF_RECORD_FORK: waits_fork(w->waits, pid, tid, r->time); break;
    case PERF_RECORD_EXIT: waits_exit(w->waits, pid, tid, r->time); break;
    case PERF_RECORD_SAMPLE:
        if (r->has_user_code)
            waits_leaving(w->waits, pid, tid, r->time, &r->registers, r->stack);
        break;
    case PERF_RECORD_SWITCH:
        waits_switch(w->waits, pid, tid, r->time, r->misc & PERF_RECORD_MISC_SWITCH_OUT,
                     r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
        break;
    case PERF_RECORD_LOST:
        w->lost++;
        waits_lost(w->waits, r->time);
        break;
    default: break;
    }
}

/* Everything up to a time, the oldest first. */
static void watching_round(struct watching *w, uint64_t until_ns)
{
    for (int cpu = 0; cpu < w->cpus; cpu++)
        perf_ring_look(&w->rings[cpu]);
    for (;;) {
        struct perf_ring *oldest = NULL;
        struct perf_record first = {0};
        size_t len = 0;
        for (int cpu = 0; cpu < w->cpus; cpu++) {
            struct perf_record r;
            struct bytes bytes = perf_ring_first(&w->rings[cpu]);
            if (!bytes.len || !perf_record_read(&w->layout, bytes, &r) || r.time > until_ns ||
                (oldest && r.time >= first.time))
                continue;
            oldest = &w->rings[cpu];
            first = r;
            len = bytes.len;
        }
        if (!oldest)
            return;
        watching_take(w, &first);
        perf_ring_take(oldest, len);
        perf_ring_release(oldest);
    }
}

static void watching_end(struct watching *w)
{
    for (int i = 0; i < w->fds_len; i++)
        close(w->fds[i]);
    for (int cpu = 0; cpu < w->cpus; cpu++)
        perf_ring_unmap(&w->rings[cpu]);
    vec_free(&w->lives);
    toy_free(&w->collector);
}

/* Runs `program` in a child and watches it to its end. The first thread's life begins when it is
 * let go. false: there are no perf events here. */
static bool watching_run(struct watching *w, void (*program)(void *), void *context,
                         const struct waits_options *options, pid_t *child)
{
    enum { SETTLED_NS = 500 * 1000 };
    int go[2], status;
    if (pipe(go))
        abort();
    *child = fork();
    if (!*child) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) == 1)
            program(context);
        _exit(0);
    }
    close(go[0]);
    bool is_watched = watching_begin(w, *child);
    w->waits = waits_new(&w->collector, options);
    waits_exec(w->waits, *child, watching_now());
    if (is_watched && write(go[1], "", 1) != 1)
        abort();
    close(go[1]);
    while (is_watched && waitpid(*child, &status, WNOHANG) != *child) {
        uint64_t now = watching_now();
        watching_round(w, now - SETTLED_NS);
        uint64_t pause = waits_poll(w->waits, now, now - SETTLED_NS);
        usleep((useconds_t)(pause < 4000000 ? pause / 1000 : 4000));
    }
    uint64_t end = watching_now();
    if (is_watched)
        watching_round(w, UINT64_MAX);
    else
        waitpid(*child, &status, 0);
    waits_finish(w->waits, end);
    w->sums = waits_sums(w->waits);
    waits_free(w->waits);
    return is_watched && WIFEXITED(status) && !WEXITSTATUS(status);
}

#endif

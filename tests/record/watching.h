/* A small monitor for tests: runs a function in a child, and feeds waits with what the kernel tells
 * of it. */
#ifndef TESTS_RECORD_WATCHING_H
#define TESTS_RECORD_WATCHING_H

#include "toy_collector.h"

#include "record/perf/perf_record.h"
#include "record/waits/waits.h"

#include <linux/perf_event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the monitor ----------------------------------------------------------------------------- */

/* With stacks, buffers hold all switches of a test: on a machine that has other work, the monitor
 * may not get a CPU before the program has ended. */
enum { MOST_CPUS = 256, BUFFER_BYTES = 256 << 10, STACK_BUFFER_BYTES = 4 << 20, STACK_COPY = 4096 };

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
    uint64_t lost, begun_ns;
    uint64_t cpu_ns;    /* of all threads and processes, between their switches */
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
        .config = is_first ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CONTEXT_SWITCHES,
        .sample_period = !is_first, /* the clock counts only */
        .sample_type = w->layout.sample_type,
        .sample_regs_user = w->layout.registers,
        .sample_stack_user = w->layout.sample_type & PERF_SAMPLE_STACK_USER ? STACK_COPY : 0,
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
    return !is_first ||
           perf_ring_map(&w->rings[cpu], fd, w->sees_switches ? STACK_BUFFER_BYTES : BUFFER_BYTES);
}

static bool watching_begin(struct watching *w, pid_t pid)
{
    w->cpus = sysconf(_SC_NPROCESSORS_CONF);
    w->cpus = w->cpus < MOST_CPUS ? w->cpus : MOST_CPUS;
    w->layout = perf_layout_live(&arch_x86_64, w->sees_switches);
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

/* How long a thread lived, as the kernel has it. */
static uint64_t watching_life_of(const struct watching *w, pid_t tid)
{
    uint64_t life = 0;
    for (size_t i = 0; i < w->lives.len; i++)
        if (w->lives.at[i].tid == tid)
            life = w->lives.at[i].end_ns - w->lives.at[i].start_ns;
    return life;
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
    uint64_t start = w->begun_ns = watching_now();
    waits_exec(w->waits, *child, start);
    waits_switch(w->waits, *child, *child, start, true, false); /* it waits to be let go */
    vec_push(&w->lives, (struct toy_life){*child, start, 0});
    if (is_watched && write(go[1], "", 1) != 1)
        abort();
    close(go[1]);
    while (is_watched && waitpid(*child, &status, WNOHANG) != *child) {
        uint64_t now = watching_now();
        watching_round(w, now - SETTLED_NS);
        uint64_t pause = waits_poll(w->waits, now, now - SETTLED_NS);
        usleep((useconds_t)(pause < 4000000 ? pause / 1000 : 4000));
    }
    uint64_t end = watching_now(), count;
    for (int i = 0; i < w->fds_len; i += 1 + w->sees_switches)
        w->cpu_ns += read(w->fds[i], &count, sizeof count) == sizeof count ? count : 0;
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

/* The clocks that tick for one thread. See clocks.h, perf_event_open(2), timer_create(2).
 *
 * A perf clock has the kernel collect its samples (ring.h). Where that is not possible it signals
 * each, and is a descriptor in the program's table, so: few of them, with high numbers, closed on
 * exec, and never closed by us unless it is still ours, since programs close and reuse descriptors
 * they do not know. */
#include "clocks.h"
#include "../../common/sys.h"
#include "../../common/text.h"
#include "ring.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#ifndef sigev_notify_thread_id /* musl's name; glibc has none */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define MOST_PERF 256 /* more threads than this have POSIX timers */

/* Descriptors in use, plus one; ordinary memory, so that a forked child can close them. */
static int perf_in_use[MOST_PERF];

struct perf_kind {
    uint32_t type;
    uint64_t event;
};

static const struct perf_kind perf_kinds[EVENTS] = {
    [EVENT_CPU] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [EVENT_WALL] = {PERF_TYPE_MAX, 0}, /* perf clocks stand still while a thread sleeps */
    [EVENT_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [EVENT_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    [EVENT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [EVENT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [EVENT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [EVENT_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};

/* A filter may answer perf_event_open with death, so with one in place it is not asked, unless
 * MONARC_CLOCK=perf insists. */
static bool may_ask(void)
{
    if (config.clock == CLOCK_PERF || SYS3(SYS_prctl, PR_GET_SECCOMP, 0, 0) != 2)
        return true;
    lost_add(LOST_SECCOMP, 1);
    return false;
}

/* What an event is for: a signal for each sample; a ring of samples; a signal for each so many. */
enum use { FOR_SIGNALS, FOR_RING, FOR_ALARM };

static long open_event(const struct perf_kind *kind, bool with_kernel, enum use use)
{
    struct perf_event_attr a;
    bytes_zero(&a, sizeof a);
    a.size = sizeof a;
    a.type = kind->type;
    a.config = kind->event;
    a.sample_period = event_rows[config.event].is_clock ? 1000000000u / config.rate : config.rate;
    a.sample_type = PERF_SAMPLE_IP;
    a.wakeup_events = 1;
    a.disabled = 1;
    a.exclude_kernel = !with_kernel;
    a.exclude_hv = 1;
    if (use == FOR_RING)
        ring_attributes(&a);
    if (use == FOR_ALARM)
        a.sample_period *= RING_EVERY;
    return SYS5(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Page faults and switches happen in the kernel; where that may not be looked at, do what can. */
static long open_best(enum use use)
{
    const struct perf_kind *kind = &perf_kinds[config.event];
    bool in_kernel = config.event == EVENT_PAGE_FAULTS || config.event == EVENT_CONTEXT_SWITCHES;
    long fd = open_event(kind, in_kernel, use);
    return sys_failed(fd) && in_kernel ? open_event(kind, false, use) : fd;
}

/* Out of the way of programs that count on the lowest free number. */
static long move_high(long fd)
{
    uint64_t limit = sys_limit(RLIMIT_NOFILE);
    long low = limit > 4 * MOST_PERF ? (long)(limit < 65536 ? limit : 65536) - 2 * MOST_PERF : 64;
    long high = SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, low);
    if (sys_failed(high))
        return fd;
    sys_close((int)fd);
    return high;
}

static int *slot_of(int value)
{
    for (int i = 0; i < MOST_PERF; i++) {
        int expected = value;
        if (__atomic_compare_exchange_n(&perf_in_use[i], &expected, value ? 0 : -1, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return &perf_in_use[i];
    }
    return NULL;
}

static bool signals_to(long fd, int tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    return SYS3(SYS_fcntl, fd, F_SETFL, O_ASYNC) == 0 &&
           SYS3(SYS_fcntl, fd, F_SETSIG, SAMPLE_SIGNAL) == 0 &&
           SYS3(SYS_fcntl, fd, F_SETOWN_EX, &owner) == 0 &&
           SYS3(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

/* Without a descriptor: the mapping keeps the events. */
static bool start_ring(struct process *p, struct thread *t)
{
    long fd = open_best(FOR_RING), alarm = sys_failed(fd) ? -1 : open_best(FOR_ALARM);
    bool ok = !sys_failed(alarm) && ring_map(p, t, (int)fd, (int)alarm);
    if (ok && !(signals_to(alarm, t->tid) && SYS3(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0) == 0)) {
        ring_unmap(p, t);
        ok = false;
    }
    if (!sys_failed(fd))
        sys_close((int)fd);
    if (!sys_failed(alarm))
        sys_close((int)alarm);
    return ok;
}

bool clock_perf_start(struct process *p, struct thread *t)
{
    if (config.event == EVENT_WALL || !may_ask())
        return false;
    if (HAVE_RINGS && !t->is_deep && start_ring(p, t))
        return true;
    int *slot = slot_of(0);
    if (!slot) {
        if (config.event == EVENT_CPU)
            lost_add(LOST_CLOCKS, 1);
        return false;
    }
    long fd = open_best(FOR_SIGNALS);
    if (!sys_failed(fd))
        fd = move_high(fd);
    if (sys_failed(fd) || !signals_to(fd, t->tid)) {
        if (!sys_failed(fd))
            sys_close((int)fd);
        __atomic_store_n(slot, 0, __ATOMIC_RELAXED);
        if (config.event == EVENT_CPU)
            lost_add(LOST_PERF, 1);
        return false;
    }
    __atomic_store_n(slot, (int)fd + 1, __ATOMIC_RELAXED);
    t->perf_fd = (int)fd;
    return true;
}

/* The program may have closed the descriptor and opened something else under its number. */
static bool is_ours(int fd)
{
    struct f_owner_ex owner = {0, 0};
    return SYS3(SYS_fcntl, fd, F_GETSIG, 0) == SAMPLE_SIGNAL &&
           SYS3(SYS_fcntl, fd, F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_TID;
}

void clock_perf_stop(struct process *p, struct thread *t)
{
    int fd = t->perf_fd;
    ring_unmap(p, t);
    if (fd < 0)
        return;
    t->perf_fd = -1;
    if (is_ours(fd))
        sys_close(fd);
    else
        lost_add(LOST_DESCRIPTOR, 1);
    slot_of(fd + 1);
}

void clock_perf_forget(void)
{
    for (int i = 0; i < MOST_PERF; i++) {
        if (perf_in_use[i] > 0 && is_ours(perf_in_use[i] - 1))
            sys_close(perf_in_use[i] - 1);
        perf_in_use[i] = 0;
    }
}

bool clock_timer_start(struct thread *t)
{
    long every = 1000000000L / (event_rows[config.event].is_clock ? (long)config.rate : 1000);
    struct itimerspec when = {{every / 1000000000L, every % 1000000000L},
                              {every / 1000000000L, every % 1000000000L}};
    struct sigevent how;
    bytes_zero(&how, sizeof how);
    how.sigev_notify = SIGEV_THREAD_ID;
    how.sigev_signo = SAMPLE_SIGNAL;
    how.sigev_notify_thread_id = t->tid;
    int id, clock = config.event == EVENT_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    if (SYS3(SYS_timer_create, clock, &how, &id) != 0)
        return false;
    t->timer_id = id;
    return SYS4(SYS_timer_settime, id, 0, &when, 0) == 0;
}

void clock_timer_stop(struct thread *t)
{
    if (t->timer_id >= 0)
        SYS3(SYS_timer_delete, t->timer_id, 0, 0);
    t->timer_id = -1;
}

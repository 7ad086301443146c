/* The clocks that tick for one thread. See clocks.h, perf_event_open(2), timer_create(2).
 *
 * A perf clock has the kernel collect its samples (ring.h). Where that is not possible it signals
 * each, and is a descriptor in the program's table, so: few of them, with high numbers, closed on
 * exec, and never closed by us unless it is still ours, since programs close and reuse descriptors
 * they do not know.
 *
 * A clock that kept its period could keep step with the program, and see the same code at each
 * tick. So periods are drawn at random, on a quarter to seven quarters of the nominal one by a
 * triangular law, whatever the program does: each moment has the same chance then, and samples need
 * no weights. Clocks that signal each sample draw at each. One with a ring is opened anew for it,
 * for each REDRAW_SAMPLES samples or so, which takes 0.1 % of the time. A descriptor is open
 * meanwhile, for some 50 microseconds, which may surprise other threads. So in a process that ever
 * had several, each keeps a period of its own, at most 2 % off the nominal one: all have the same
 * weight, and none is in step for long. Clocks begin with such a period, as the threads of short
 * processes should have the same weight, too.
 */
#include "clocks.h"
#include "../../common/sys.h"
#include "../../common/text.h"
#include "ring.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#ifndef sigev_notify_thread_id /* musl's name; glibc has none */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define MOST_PERF      256 /* more threads than this have POSIX timers */
#define REDRAW_SAMPLES 32  /* at up to REDRAW_RATE; as long a time at higher rates */
#define REDRAW_RATE    1000
#define NARROW         2 /* hundredths of the nominal period */
#define WIDE           75

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

/* In nanoseconds, up to so many hundredths off the nominal one. Safe in any context. The generator
 * is splitmix64, by Vigna; the halves of a number are two draws, whose sum has the triangular law.
 */
static uint64_t draw_period(unsigned hundredths)
{
    static uint64_t state;
    uint64_t nominal = 1000000000u / config.rate, most = nominal * hundredths / 100, z;
    if (!__atomic_load_n(&state, __ATOMIC_RELAXED))
        __atomic_fetch_add(&state, sys_clock(CLOCK_MONOTONIC) ^ (uint64_t)sys_pid() << 32,
                           __ATOMIC_RELAXED);
    z = __atomic_add_fetch(&state, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return nominal - most + ((most * ((z >> 32) + (z & 0xffffffff))) >> 32);
}

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

/* `period` is that of the samples. The alarm comes between two of them. */
static long open_event(const struct perf_kind *kind, bool with_kernel, enum use use,
                       uint64_t period)
{
    struct perf_event_attr a;
    bytes_zero(&a, sizeof a);
    a.size = sizeof a;
    a.type = kind->type;
    a.config = kind->event;
    a.sample_period = period;
    a.sample_type = PERF_SAMPLE_IP;
    a.wakeup_events = 1;
    a.disabled = 1;
    a.exclude_kernel = !with_kernel;
    a.exclude_hv = 1;
    if (use == FOR_RING)
        ring_attributes(&a);
    if (use == FOR_ALARM)
        a.sample_period = period * RING_EVERY + period / 2;
    return SYS5(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Page faults and switches happen in the kernel; where it may not be sampled, user code alone is.
 */
static long open_best(enum use use, uint64_t period)
{
    const struct perf_kind *kind = &perf_kinds[config.event];
    bool in_kernel = config.event == EVENT_PAGE_FAULTS || config.event == EVENT_CONTEXT_SWITCHES;
    long fd = open_event(kind, in_kernel, use, period);
    return sys_failed(fd) && in_kernel ? open_event(kind, false, use, period) : fd;
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

static bool is_clock(void)
{
    return event_rows[config.event].is_clock;
}

static bool signals_to(long fd, int tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    return SYS3(SYS_fcntl, fd, F_SETFL, O_ASYNC) == 0 &&
           SYS3(SYS_fcntl, fd, F_SETSIG, SAMPLE_SIGNAL) == 0 &&
           SYS3(SYS_fcntl, fd, F_SETOWN_EX, &owner) == 0 &&
           SYS3(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

/* Without a descriptor: the mapping keeps the events. A ring that was there goes on if this fails.
 */
static bool start_ring(struct process *p, struct thread *t, bool is_wide)
{
    uint64_t period = is_clock() ? draw_period(is_wide ? WIDE : NARROW) : config.rate;
    long fd = open_best(FOR_RING, period);
    long alarm = sys_failed(fd) ? -1 : open_best(FOR_ALARM, period);
    bool ok = !sys_failed(alarm) && signals_to(alarm, t->tid) &&
              ring_map(p, t, (int)fd, (int)alarm) &&
              SYS3(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
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
    if (HAVE_RINGS && !t->is_deep && start_ring(p, t, false))
        return true;
    int *slot = slot_of(0);
    if (!slot) {
        if (config.event == EVENT_CPU)
            lost_add(LOST_CLOCKS, 1);
        return false;
    }
    long fd = open_best(FOR_SIGNALS, is_clock() ? draw_period(WIDE) : config.rate);
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

/* It goes on with the nominal period where a tick finds no thread that draws the next. */
static bool set_timer(int id)
{
    long every = 1000000000L / (is_clock() ? (long)config.rate : 1000);
    uint64_t first = is_clock() ? draw_period(WIDE) : (uint64_t)every;
    struct itimerspec when = {
        {every / 1000000000L, every % 1000000000L},
        {(long)(first / 1000000000u), (long)(first % 1000000000u)},
    };
    return SYS4(SYS_timer_settime, id, 0, &when, 0) == 0;
}

bool clock_timer_start(struct thread *t)
{
    struct sigevent how;
    bytes_zero(&how, sizeof how);
    how.sigev_notify = SIGEV_THREAD_ID;
    how.sigev_signo = SAMPLE_SIGNAL;
    how.sigev_notify_thread_id = t->tid;
    int id, clock = config.event == EVENT_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    if (SYS3(SYS_timer_create, clock, &how, &id) != 0)
        return false;
    t->timer_id = id;
    return set_timer(id);
}

bool clock_itimer_start(void)
{
    uint64_t first = draw_period(WIDE) / 1000;
    struct itimerval when = {
        {0, 1000000 / (long)(config.rate + (config.rate < 2))},
        {(long)(first / 1000000u), (long)(first % 1000000u)},
    };
    return SYS3(SYS_setitimer, ITIMER_PROF, &when, 0) == 0;
}

/* The descriptor of a signal is that of the event that sent it, which was there then. The process's
 * timer may have been set by the program: then it is left as it is. */
void clock_redraw(struct thread *t, const siginfo_t *info)
{
    struct itimerval now;
    if (!is_clock())
        return;
    if (info->si_code == SI_TIMER) {
        if (t->timer_id >= 0)
            set_timer(t->timer_id);
    } else if (info->si_code == SI_KERNEL) {
        if (SYS3(SYS_getitimer, ITIMER_PROF, &now, 0) == 0 && now.it_interval.tv_sec == 0 &&
            now.it_interval.tv_usec == 1000000 / (long)(config.rate + (config.rate < 2)))
            clock_itimer_start();
    } else if (t->perf_fd >= 0 && info->si_fd == t->perf_fd) {
        uint64_t period = draw_period(WIDE);
        SYS3(SYS_ioctl, t->perf_fd, PERF_EVENT_IOC_PERIOD, &period);
    }
}

/* Here a seccomp filter that has come since then is no loss: the period stays. */
void clock_redraw_ring(struct process *p, struct thread *t)
{
    bool is_wide = !thread_were_many();
    uint32_t samples = !t->is_redrawn               ? 1
                       : config.rate <= REDRAW_RATE ? REDRAW_SAMPLES
                                                    : REDRAW_SAMPLES * config.rate / REDRAW_RATE;
    bool is_due = is_wide ? ring_samples(t) >= samples : t->is_redrawn;
    if (is_clock() && is_due && SYS3(SYS_prctl, PR_GET_SECCOMP, 0, 0) == 0)
        t->is_redrawn = start_ring(p, t, is_wide) ? is_wide : t->is_redrawn;
}

void clock_timer_stop(struct thread *t)
{
    if (t->timer_id >= 0)
        SYS3(SYS_timer_delete, t->timer_id, 0, 0);
    t->timer_id = -1;
}

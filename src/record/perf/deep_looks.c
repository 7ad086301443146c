/* Reading the stack of a thread that has lost its CPU, and proving that it stood still meanwhile.
 *
 *     timer, on the thread's CPU --> we run there, and the thread does not
 *     the kernel, into its ring:  newest  [out, preempted][sample: registers of user code] ...
 *     we:                         read head, records --> stack --> head again: has not moved
 *
 * A thread that is wanted has an event of its own: it writes a sample each time that the thread
 * leaves a CPU, and a record each time that it leaves or gets one. The kernel writes these before
 * the thread runs any code of the program. So if the newest record says that it has left, and none
 * has come by the time that its stack is read, then the registers of the sample and all bytes of
 * the stack are of one moment. If the ring has moved, the look is nothing.
 *
 * The ring is written from its end backwards, and over what is old: the newest record is where
 * data_head points. Nothing in it is ours to write.
 *
 * A user who may not have such events has looks from ptrace_places.c, which stops threads that run
 * and has their registers: here the list of those that are wanted and the reading are the same, but
 * there is neither a ring nor a thread of ours.
 *
 * Looks come at random times, by a timer on a CPU on which such a thread was seen last. A thread
 * that loses its CPU then is at a place that nothing but chance has chosen, or at the end of the
 * call that it was in, as the kernel gives way there. Looks at threads that wait for a CPU, or in a
 * call, are as true: a look stands for samples of its own kind alone (deep_stacks.c), so that it
 * says who called, and not how often it was seen.
 *
 * The list of threads and that of looks are shared with the monitor, under one lock. */
#include "record/perf/deep_looks.h"

#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"
#include "record/clocks.h"
#include "record/perf/perf_record.h"
#include "record/proc_threads.h"

#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum {
    MOST_RATE = 1000,
    MOST_THREADS = 64, /* that are wanted at a time */
    LEAST_SLEEP_NS = 20000,
    LONGEST_PERIODS = 8,           /* between two looks */
    WANTED_NS = 100 * 1000 * 1000, /* after the last request */
    MOST_KEPT = 64 << 20,          /* bytes that were not taken yet; more is forgotten */
    MOST_SPARE = 16,               /* rooms for stacks, to be used again */
    PART = 64 << 10,               /* read at once */
    PARTS = 64,
    MEAN = 8,                      /* looks, of what they take */
    SHARE = 64,                    /* of the time between looks, one part in so many is for them */
    UNUSED_NS = 100 * 1000 * 1000, /* of that time, at most, for looks that come close together */
    MOST_RECORD = 1024,
};

struct looked_thread {
    pid_t pid, tid;
    int fd;        /* -1: others stop it */
    uint8_t *ring; /* a page of the kernel's, and one of records */
    uint64_t until_ns;
    uint64_t seen_head; /* of the ring, at the last look */
    uint32_t cpu;       /* that it was seen on last */
    bool is_on;         /* the event */
};

struct looks_seen {
    VEC(struct deep_look) at;
};

/* Memory for a stack. */
struct looks_room {
    uint8_t *at;
    size_t size;
};

struct deep_looks {
    pthread_t thread;
    pthread_mutex_t lock; /* of all that the monitor sees as well */
    VEC(struct looked_thread) threads;
    struct looks_seen seen;
    VEC(struct looks_room) spare;
    size_t kept, wanted_room; /* bytes */
    bool is_idle;             /* until `wake` is written */
    bool is_stopping;         /* others stop the threads, and look */
    int end, wake;            /* eventfds */
    struct perf_layout layout;
    size_t page;
    /* Of the looker alone. */
    struct looks_room room;
    size_t read_len; /* of the last stack */
    uint64_t random, next_ns, full_period_ns;
    double cost_ns; /* CPU time of a look, on average */
    cpu_set_t cpus; /* that we may run on */
    /* Of the monitor alone. */
    bool is_ended;
};

/* --- a thread's ring ------------------------------------------------------------------------- */

static int looks_open(const struct deep_looks *l, pid_t tid)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                   .sample_period = 1,
                                   .sample_type = l->layout.sample_type,
                                   .sample_regs_user = l->layout.registers,
                                   .sample_id_all = 1,
                                   .context_switch = 1,
                                   .write_backward = 1,
                                   .disabled = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC,
                                   .watermark = 1,
                                   .wakeup_watermark = UINT32_MAX};
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void looks_close(const struct deep_looks *l, const struct looked_thread *t)
{
    if (t->fd < 0)
        return;
    munmap(t->ring, 2 * l->page);
    close(t->fd);
}

static uint64_t looks_head(const struct looked_thread *t)
{
    const struct perf_event_mmap_page *header = (const void *)t->ring;
    return __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE);
}

/* The record `at` bytes after the newest one's start; returns its length; 0: there is none, or it
 * makes no sense. */
static size_t looks_record(const struct deep_looks *l, const struct looked_thread *t, uint64_t at,
                           uint8_t room[MOST_RECORD], struct perf_record *out)
{
    struct perf_event_header header;
    const uint8_t *data = t->ring + l->page;
    size_t mask = l->page - 1;
    if (!at) /* nothing was written yet */
        return 0;
    for (size_t i = 0; i < sizeof header; i++)
        room[i] = data[(at + i) & mask];
    memcpy(&header, room, sizeof header);
    if (header.size < sizeof header || header.size > MOST_RECORD)
        return 0;
    for (size_t i = sizeof header; i < header.size; i++)
        room[i] = data[(at + i) & mask];
    return perf_record_read(&l->layout, (struct bytes){room, header.size}, out) ? header.size : 0;
}

/* Whether the thread has left its CPU, and what its registers were. since_ns: not before, and while
 * it could go on; 0: whenever. */
static bool looks_is_out(const struct deep_looks *l, struct looked_thread *t, uint64_t head,
                         uint64_t since_ns, struct perf_record *sample)
{
    const uint16_t left =
        PERF_RECORD_MISC_SWITCH_OUT | (since_ns ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0);
    uint8_t room[MOST_RECORD];
    struct perf_record out;
    size_t len = looks_record(l, t, head, room, &out);
    if (!len)
        return false;
    t->cpu = out.cpu;
    return out.type == PERF_RECORD_SWITCH && (out.misc & left) == left &&
           out.tid == (uint32_t)t->tid && out.time >= since_ns &&
           looks_record(l, t, head + len, room, sample) && sample->type == PERF_RECORD_SAMPLE &&
           sample->tid == (uint32_t)t->tid && sample->has_user_code && sample->registers.pc;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Copies a stack from `sp` on as far as it goes; returns how much there is. Parts of 64 kB are one
 * call for each 4 MB; the end of a stack falls into one of them, of which the kernel copies
 * nothing, and is read by pages. */
static size_t looks_read_stack(pid_t tid, uint64_t sp, struct looks_room room)
{
    size_t len = 0, asked, got;
    do {
        struct iovec parts[PARTS], into;
        size_t n = 0;
        asked = 0;
        for (; n < PARTS && asked < room.size - len; n++) {
            size_t left = room.size - len - asked, size = left < PART ? left : PART;
            parts[n] = (struct iovec){(void *)(uintptr_t)(sp + len + asked), size}; // NOLINT
            asked += size;
        }
        into = (struct iovec){room.at + len, asked};
        ssize_t copied = process_vm_readv(tid, &into, 1, parts, n, 0);
        got = copied > 0 ? (size_t)copied : 0;
        len += got;
    } while (got == asked && len < room.size);
    size_t left = room.size - len;
    return len + proc_read_stack(tid, sp + len, room.at + len, left < PART ? left : PART);
}

/* Adds what was read into our room to the list. */
static void looks_keep(struct deep_looks *l, const struct looked_thread *t, uint64_t at_ns,
                       const struct unwind_registers *registers, size_t len)
{
    struct deep_look look = {.pid = t->pid,
                             .tid = t->tid,
                             .at_ns = at_ns,
                             .registers = *registers,
                             .stack = {l->room.at, len},
                             .room = l->room.size};
    vec_push(&l->seen.at, look);
    l->kept += look.room;
    l->read_len = len;
    l->room = (struct looks_room){0};
}

/* With the lock held. */
static bool looks_look_at(struct deep_looks *l, struct looked_thread *t, uint64_t since_ns)
{
    struct perf_record sample;
    uint64_t head = looks_head(t), now = clock_now();
    if (!l->room.size || l->kept >= MOST_KEPT || head == t->seen_head ||
        !looks_is_out(l, t, head, since_ns, &sample))
        return false;
    uint64_t sp = sample.registers.at[l->layout.arch->sp];
    size_t len = looks_read_stack(t->tid, sp, l->room);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!len || looks_head(t) != head)
        return false;
    t->seen_head = head;
    looks_keep(l, t, now, &sample.registers, len);
    return true;
}

/* Room for a stack: one that was given back, as new pages cost more than the reading. A new one
 * gets its pages here, so that no thread stands meanwhile, as far as they are likely to be needed.
 */
static void looks_make_room(struct deep_looks *l, size_t room)
{
    struct looks_room *mine = &l->room;
    if (mine->size >= room)
        return;
    pthread_mutex_lock(&l->lock);
    if (l->spare.len) {
        free(mine->at);
        *mine = l->spare.at[--l->spare.len];
    }
    pthread_mutex_unlock(&l->lock);
    if (mine->size >= room)
        return;
    free(mine->at);
    *mine = (struct looks_room){malloc(room), 0};
    if (!mine->at)
        return;
    mine->size = room;
    memory_prefer_large_pages(mine->at, room);
    memset(mine->at, 0, l->read_len < room ? l->read_len : room);
}

/* --- when and where -------------------------------------------------------------------------- */

/* Switches events of threads off that are not wanted any more, which costs them nothing then.
 * Chooses the CPU of one that is; returns how many are. With the lock held. */
static size_t looks_wanted(struct deep_looks *l, uint32_t *cpu)
{
    uint64_t now = clock_now();
    size_t wanted = 0;
    for (size_t i = 0; i < l->threads.len; i++) {
        struct looked_thread *t = &l->threads.at[i];
        if (t->is_on && t->until_ns < now)
            t->is_on = t->fd >= 0 && ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0);
        if (!t->is_on)
            continue;
        wanted++;
        if (random_part(&l->random) * (double)wanted <= 1)
            *cpu = t->cpu;
    }
    return wanted;
}

/* Moves us to the CPU of a thread that is wanted, which takes it from that or from another one
 * there; false: none is. With the lock held. */
static bool looks_choose(struct deep_looks *l)
{
    uint32_t cpu = 0;
    size_t wanted = looks_wanted(l, &cpu);
    if (wanted && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &l->cpus)) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    return wanted;
}

/* In how many nanoseconds the next look is. Each takes the thread's CPU for as long as ours runs
 * there. */
static uint64_t looks_plan(struct deep_looks *l)
{
    uint64_t least = (uint64_t)(l->cost_ns * SHARE), now = clock_now();
    double period = (double)(l->full_period_ns > least ? l->full_period_ns : least);
    double periods = -log(random_part(&l->random));
    uint64_t wait = (uint64_t)(period * (periods < LONGEST_PERIODS ? periods : LONGEST_PERIODS));
    l->next_ns += wait;
    if (l->next_ns < now + LEAST_SLEEP_NS)
        l->next_ns = now + LEAST_SLEEP_NS + wait;
    return l->next_ns - now;
}

/* Sleeps for so long, or until it is woken; true: looking is to end. */
static bool looks_sleep(const struct deep_looks *l, const uint64_t *wait_ns)
{
    uint64_t ignored;
    struct pollfd fds[] = {{l->end, POLLIN, 0}, {l->wake, POLLIN, 0}};
    struct timespec time = {0};
    if (wait_ns)
        time = (struct timespec){(time_t)(*wait_ns / SECOND), (long)(*wait_ns % SECOND)};
    ppoll(fds, wait_ns ? 1 : 2, wait_ns ? &time : NULL, NULL);
    if (!wait_ns)
        (void)!read(l->wake, &ignored, sizeof ignored); /* none: it is to end */
    return fds[0].revents;
}

/* One look, right after the timer: at a thread that has lost its CPU to us, or else at one that
 * stands for another reason, once. */
static void looks_look(struct deep_looks *l)
{
    uint64_t begin = clock_own_cpu();
    bool is_done = false;
    pthread_mutex_lock(&l->lock);
    size_t len = l->threads.len, first = (size_t)(random_part(&l->random) * (double)len);
    for (size_t i = 0; i < 2 * len && !is_done; i++) {
        struct looked_thread *t = &l->threads.at[(first + i) % len];
        is_done = t->is_on && looks_look_at(l, t, i < len ? l->next_ns : 0);
    }
    pthread_mutex_unlock(&l->lock);
    if (is_done)
        l->cost_ns += ((double)(clock_own_cpu() - begin) - l->cost_ns) / MEAN;
}

/* The thread. */
static void *looks_run(void *context)
{
    struct deep_looks *l = context;
    sched_getaffinity(0, sizeof l->cpus, &l->cpus);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    request_short_slice();
    for (;;) {
        pthread_mutex_lock(&l->lock);
        bool is_wanted = looks_choose(l);
        size_t room = l->wanted_room;
        l->is_idle = !is_wanted;
        pthread_mutex_unlock(&l->lock);
        if (!is_wanted) {
            if (looks_sleep(l, NULL))
                break;
            l->next_ns = clock_now();
            continue;
        }
        looks_make_room(l, room);
        uint64_t wait = looks_plan(l);
        if (looks_sleep(l, &wait))
            break;
        looks_look(l);
    }
    return NULL;
}

static struct looked_thread *looks_find(struct deep_looks *l, pid_t tid)
{
    for (size_t i = 0; i < l->threads.len; i++)
        if (l->threads.at[i].tid == tid)
            return &l->threads.at[i];
    return NULL;
}

/* --- for those who stop threads --------------------------------------------------------------- */

/* The room is made before the thread stands. */
bool deep_looks_prepare(struct deep_looks *l)
{
    uint32_t cpu;
    pthread_mutex_lock(&l->lock);
    bool is_wanted = looks_wanted(l, &cpu);
    size_t room = l->wanted_room;
    pthread_mutex_unlock(&l->lock);
    if (is_wanted)
        looks_make_room(l, room);
    return is_wanted;
}

/* Looks are further apart where stacks take long to read, as a thread stands meanwhile: what was
 * not used up of late may be used now. */
size_t deep_looks_stopped(struct deep_looks *l, pid_t tid, const struct unwind_registers *registers)
{
    uint64_t now = clock_now(), begin = clock_own_cpu();
    size_t len = 0;
    pthread_mutex_lock(&l->lock);
    const struct looked_thread *t = looks_find(l, tid);
    if (l->next_ns + UNUSED_NS < now)
        l->next_ns = now - UNUSED_NS;
    if (t && t->is_on && l->room.size && l->kept < MOST_KEPT && now >= l->next_ns) {
        len = looks_read_stack(tid, registers->at[arch_own()->sp], l->room);
        if (len)
            looks_keep(l, t, now, registers, len);
        l->next_ns += (clock_own_cpu() - begin) * SHARE;
    }
    pthread_mutex_unlock(&l->lock);
    return len;
}

/* --- for the monitor ------------------------------------------------------------------------- */

static struct deep_looks *looks_new(const struct arch *arch)
{
    struct deep_looks *l = calloc(1, sizeof *l);
    if (!l)
        memory_exhausted(sizeof *l);
    l->layout = (struct perf_layout){.arch = arch,
                                     .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                    PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER,
                                     .registers = arch->perf_registers,
                                     .has_trailer = true};
    l->page = (size_t)sysconf(_SC_PAGESIZE);
    l->random = clock_now() | 1;
    l->end = l->wake = -1;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

struct deep_looks *deep_looks_new_stopping(void)
{
    if (!arch_has_stacks(arch_own()))
        return NULL;
    struct deep_looks *l = looks_new(arch_own());
    l->is_stopping = l->is_ended = true;
    return l;
}

struct deep_looks *deep_looks_new(uint32_t rate)
{
    if (!arch_has_stacks(arch_own()) || !rate)
        return NULL;
    struct deep_looks *l = looks_new(arch_own());
    l->full_period_ns = SECOND / (rate < MOST_RATE ? rate : MOST_RATE);
    l->is_idle = true;
    l->end = eventfd(0, EFD_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->end >= 0 && l->wake >= 0) {
        sigset_t all, before; /* signals are for the monitor */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        bool ok = !pthread_create(&l->thread, NULL, looks_run, l);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (ok)
            return l;
    }
    l->is_ended = true;
    deep_looks_free(l);
    return NULL;
}

static void looks_remove(struct deep_looks *l, struct looked_thread *t)
{
    looks_close(l, t);
    *t = l->threads.at[--l->threads.len];
}

/* Opens the thread's event; false: it cannot. */
static bool looks_watch(const struct deep_looks *l, struct looked_thread *t)
{
    if ((t->fd = looks_open(l, t->tid)) < 0)
        return false;
    void *ring = mmap(NULL, 2 * l->page, PROT_READ, MAP_SHARED, t->fd, 0);
    if (ring == MAP_FAILED) {
        close(t->fd);
        return false;
    }
    int cpu = proc_thread_place(t->pid, t->tid);
    t->ring = ring;
    t->cpu = cpu > 0 ? (uint32_t)cpu : 0;
    return true;
}

/* Makes place for a thread; NULL: it cannot be watched, or too many are wanted. */
static struct looked_thread *looks_add(struct deep_looks *l, pid_t pid, pid_t tid)
{
    struct looked_thread t = {.pid = pid, .tid = tid, .fd = -1};
    for (size_t i = 0; i < l->threads.len && l->threads.len == MOST_THREADS; i++)
        if (!l->threads.at[i].is_on)
            looks_remove(l, &l->threads.at[i]);
    if (l->threads.len == MOST_THREADS || !(l->is_stopping || looks_watch(l, &t)))
        return NULL;
    vec_push(&l->threads, t);
    return &l->threads.at[l->threads.len - 1];
}

bool deep_looks_want(struct deep_looks *l, pid_t pid, pid_t tid, size_t room)
{
    uint64_t one = 1;
    bool is_on = false;
    pthread_mutex_lock(&l->lock);
    struct looked_thread *t = looks_find(l, tid);
    if (!t)
        t = looks_add(l, pid, tid);
    if (t) {
        t->until_ns = clock_now() + WANTED_NS;
        t->is_on = t->is_on || t->fd < 0 || !ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0);
        is_on = t->is_on;
    }
    l->wanted_room = room > l->wanted_room ? room : l->wanted_room;
    bool is_idle = l->is_idle && is_on;
    l->is_idle &= !is_idle;
    pthread_mutex_unlock(&l->lock);
    if (is_idle)
        (void)!write(l->wake, &one, sizeof one); /* cannot fail: the count is small */
    return is_on;
}

void deep_looks_gone(struct deep_looks *l, pid_t tid)
{
    pthread_mutex_lock(&l->lock);
    struct looked_thread *t = looks_find(l, tid);
    if (t)
        looks_remove(l, t);
    pthread_mutex_unlock(&l->lock);
}

void deep_looks_take(struct deep_looks *l,
                     void (*take)(void *context, const struct deep_look *look), void *context)
{
    pthread_mutex_lock(&l->lock);
    struct looks_seen seen = l->seen;
    l->seen = (struct looks_seen){0};
    l->kept = 0;
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < seen.at.len; i++)
        take(context, &seen.at.at[i]);
    vec_free(&seen.at);
}

void deep_looks_give_back(struct deep_looks *l, const struct deep_look *look)
{
    struct looks_room room = {(uint8_t *)(uintptr_t)look->stack.at, look->room};
    pthread_mutex_lock(&l->lock);
    bool is_kept = l->spare.len < MOST_SPARE;
    if (is_kept)
        vec_push(&l->spare, room);
    pthread_mutex_unlock(&l->lock);
    if (!is_kept)
        free(room.at);
}

void deep_looks_end(struct deep_looks *l)
{
    uint64_t one = 1;
    if (!l || l->is_ended)
        return;
    l->is_ended = true;
    (void)!write(l->end, &one, sizeof one); /* cannot fail: the count is 0 */
    pthread_join(l->thread, NULL);
}

void deep_looks_free(struct deep_looks *l)
{
    if (!l)
        return;
    deep_looks_end(l);
    while (l->threads.len)
        looks_remove(l, &l->threads.at[l->threads.len - 1]);
    for (size_t i = 0; i < l->seen.at.len; i++)
        free((void *)(uintptr_t)l->seen.at.at[i].stack.at);
    for (size_t i = 0; i < l->spare.len; i++)
        free(l->spare.at[i].at);
    if (l->end >= 0)
        close(l->end);
    if (l->wake >= 0)
        close(l->wake);
    vec_free(&l->threads);
    vec_free(&l->seen.at);
    vec_free(&l->spare);
    free(l->room.at);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* A thread that looks, and a list of what it saw.
 *
 *     plan the next look ─ sleep ─ choose a thread that runs ─ seize, interrupt ─ it stops
 *                                        registers, stack ─ rest of a call that was cut ─ detach
 *
 * The thread is traced only in between, some 50 microseconds, and signals that arrive meanwhile are
 * passed on as they came. What was seen stands in a list until the monitor takes it: the list of
 * threads and that of looks are shared with it, under one lock, which is never held while waiting.
 *
 * The rate follows what is found: looks are rare where few of them meet a thread in the kernel.
 * It never stops what sleeps, and gives up where it may not trace. */
#include "record/ptrace/ptrace_places.h"

#include "record/clocks.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_continue.h"
#include "record/ptrace/ptrace_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FIRST_WAIT_NS = 10 * 1000, /* for an answer: most have come by then */
    LONGEST_WAIT_NS = 250 * 1000,
    LAST_WAITS = 100,
    MOST_REFUSALS = 20,
    MOST_KEPT = 4000,      /* looks that were not taken yet; more are forgotten */
    MOST_BYTES = 64 << 20, /* of their stacks, before deep ones are cut */
    LOOKS_AT_FULL_RATE = 64,
    LEAST_RATE = 10, /* the lowest rate: one part in so many of the highest */
};

/* A share of looks in the kernel from which on they come at full rate. */
#define MUCH_KERNEL 0.2

/* One thread, seen once. */
struct places_look {
    pid_t pid, tid;
    uint64_t at_ns, weight;
    int64_t syscall; /* -1: it was in user code, and there is nothing else */
    struct unwind_registers registers;
    size_t stack, stack_len; /* in `stacks`, */
    size_t beyond_len;       /* and after that what is deeper */
};

/* Stacks stand one after the other: a look has its place among them. */
struct places_looks {
    VEC(struct places_look) at;
    VEC(uint8_t) stacks;
};

struct ptrace_places {
    struct ptrace_source looker; /* its list of threads is guarded by `lock`, the rest its own */
    pthread_t thread;
    pthread_mutex_t lock; /* of the looker's threads, and `seen` */
    struct places_looks seen;
    struct ptrace_reader reader;
    bool is_wanted; /* by the reader: whole stacks, at the last look */
    int end;        /* eventfd: readable when looking is to end */
    _Atomic pid_t child;
    uint64_t full_period_ns;
    struct ptrace_rest rest; /* of a call that a stop has cut short */
    bool is_last;            /* no rest goes on: looking ends */
    double in_kernel;        /* share of looks, of late */
    uint32_t looks, refusals;
    /* Of the monitor alone. */
    struct traced_files files;
    struct map left_alone; /* processes that are never stopped */
};

/* --- what was seen --------------------------------------------------------------------------- */

/* Rare where little is found: a program without system calls is hardly ever stopped, and one that
 * sleeps hardly ever inspected, unless its stacks are wanted. */
static uint64_t places_period(const struct ptrace_places *p)
{
    if (p->is_wanted)
        return p->full_period_ns;
    double rate = p->looks < LOOKS_AT_FULL_RATE ? 1 : p->in_kernel / MUCH_KERNEL;
    if (!p->looker.active || rate < 1.0 / LEAST_RATE)
        rate = 1.0 / LEAST_RATE;
    return (uint64_t)((double)p->full_period_ns / (rate > 1 ? 1 : rate));
}

/* Reads the stack of a thread in a call: as much as a sample has, and, where a reader has found it
 * to be longer, the rest as well, as far as not too much is kept. */
static void places_read(struct ptrace_places *p, pid_t tid, uint64_t sp, size_t whole,
                        struct places_look *look)
{
    struct places_looks *seen = &p->seen;
    uint8_t *copy = p->looker.stack;
    size_t len = proc_read_stack(tid, sp, copy, sizeof p->looker.stack), beyond = 0;
    if (whole > len && len == sizeof p->looker.stack && seen->stacks.len + whole < MOST_BYTES)
        beyond = whole - len;
    vec_reserve(&seen->stacks, seen->stacks.len + len + beyond);
    uint8_t *to = seen->stacks.at + seen->stacks.len;
    if (len)
        memcpy(to, copy, len);
    if (beyond)
        beyond = proc_read_memory(tid, sp + len, to + len, beyond);
    look->stack_len = len;
    look->beyond_len = beyond;
    seen->stacks.len += len + beyond;
}

/* Keeps what a stopped thread shows. Called with the lock held. */
static void places_sample(struct ptrace_places *p, struct ptrace_thread *t)
{
    struct ptrace_source *s = &p->looker;
    struct ptrace_registers r;
    if (t->is_moot || !ptrace_registers_read(t->tid, &r))
        return;
    struct places_look look = {.pid = t->process->pid,
                               .tid = t->tid,
                               .at_ns = clock_now(),
                               .weight = s->look_weight_ns,
                               .syscall = r.syscall,
                               .registers = r.user};
    bool is_kernel = r.syscall >= 0;
    size_t whole = p->is_wanted ? p->reader.stopped(p->reader.context, t->tid, &r.user) : 0;
    struct places_looks *seen = &p->seen;
    if (seen->at.len < MOST_KEPT) {
        look.stack = seen->stacks.len;
        if (is_kernel)
            places_read(p, t->tid, r.sp, whole, &look);
        vec_push(&seen->at, look);
    }
    p->in_kernel += ((is_kernel ? 1 : 0) - p->in_kernel) / LOOKS_AT_FULL_RATE;
    p->looks++;
}

/* --- stopping -------------------------------------------------------------------------------- */

/* Sleeps for so long; true: looking is to end. */
static bool places_is_ended(const struct ptrace_places *p, uint64_t wait_ns)
{
    struct pollfd end = {p->end, POLLIN, 0};
    struct timespec time = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};
    return ppoll(&end, 1, &time, NULL) > 0;
}

enum places_answer { PLACES_NOTHING_YET, PLACES_DONE };

/* Answers a stop of a thread that was asked to: takes what it shows, and lets go, at once or when
 * the rest of a call is made. */
static enum places_answer places_stopped(struct ptrace_places *p, pid_t tid, int status)
{
    pthread_mutex_lock(&p->lock);
    struct ptrace_thread *t = ptrace_threads_find(&p->looker.threads, tid);
    pid_t pid = t ? t->process->pid : 0;
    pthread_mutex_unlock(&p->lock);
    const struct ptrace_cut cut = {pid, tid, 0, true};
    if (tid == p->rest.tid && ptrace_rest_stopped(&p->rest, status)) {
        /* A signal has cut the rest in turn. If that is for no thread, there is one more. */
        bool is_cut = !p->rest.tid && !p->is_last && pid && proc_has_signal(tid);
        if (p->rest.tid || (is_cut && ptrace_rest_begin(&p->rest, &cut))) {
            ptrace(PTRACE_SYSCALL, tid, 0, 0);
            return PLACES_NOTHING_YET;
        }
        ptrace(PTRACE_DETACH, tid, 0, 0);
        return PLACES_DONE;
    }
    int event = status >> 16, number = event ? 0 : WSTOPSIG(status);
    pthread_mutex_lock(&p->lock);
    t = ptrace_threads_find(&p->looker.threads, tid); /* others may have been removed */
    if (t && t->is_asked)
        places_sample(p, t);
    if (t)
        t->is_asked = false;
    pthread_mutex_unlock(&p->lock);
    bool is_ignored = number && proc_ignores_signal(tid, number);
    bool is_group_stop = event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    bool is_nothing = is_ignored || (!number && !is_group_stop); /* for the program */
    if (p->rest.tid && is_nothing && !p->is_last) {
        ptrace(PTRACE_SYSCALL, tid, 0, (long)number);
        return PLACES_NOTHING_YET;
    }
    if (p->rest.tid)
        ptrace_rest_undo(&p->rest);
    else if (is_nothing && pid && ptrace_rest_begin(&p->rest, &cut)) {
        ptrace(PTRACE_SYSCALL, tid, 0, (long)number);
        return PLACES_NOTHING_YET;
    }
    ptrace(PTRACE_DETACH, tid, 0, (long)number);
    return PLACES_DONE;
}

/* Takes what a traced thread has to say. Its end comes to us first, too. */
static enum places_answer places_answer(struct ptrace_places *p)
{
    siginfo_t info = {0};
    int status;
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD))
        return PLACES_DONE; /* nothing is traced */
    if (!info.si_pid)
        return PLACES_NOTHING_YET;
    bool is_end =
        info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (is_end && info.si_pid == atomic_load(&p->child))
        return PLACES_DONE; /* the monitor's to see */
    if (waitpid(info.si_pid, &status, __WALL | __WNOTHREAD | WNOHANG) == info.si_pid && !is_end &&
        WIFSTOPPED(status))
        return places_stopped(p, info.si_pid, status);
    return PLACES_DONE;
}

/* One that waits in vfork() for its child answers when that is gone. Whatever is still traced when
 * this thread ends goes on by itself. */
static void places_await(struct ptrace_places *p)
{
    uint64_t wait_ns = FIRST_WAIT_NS;
    while (!places_is_ended(p, wait_ns)) {
        if (places_answer(p) == PLACES_DONE)
            return;
        if (wait_ns < LONGEST_WAIT_NS)
            wait_ns *= 2;
    }
    p->is_last = true;
    if (p->rest.tid) /* ends it with what it has done */
        ptrace(PTRACE_INTERRUPT, p->rest.tid, 0, 0);
    for (int i = 0; i < LAST_WAITS && places_answer(p) == PLACES_NOTHING_YET; i++)
        nanosleep(&(struct timespec){0, LONGEST_WAIT_NS}, NULL);
}

/* --- looking --------------------------------------------------------------------------------- */

/* One look: asks a thread to stop, and waits for its answer without the lock. */
static void places_look(struct ptrace_places *p, bool by_timer)
{
    struct ptrace_source *s = &p->looker;
    pthread_mutex_lock(&p->lock);
    enum ptrace_asked asked = ptrace_look(s, by_timer);
    pthread_mutex_unlock(&p->lock);
    p->refusals = asked == PTRACE_REFUSED ? p->refusals + 1 : asked ? 0 : p->refusals;
    if (asked == PTRACE_ASKED)
        places_await(p);
}

/* The thread. It ends on request, or when it may trace nothing. */
static void *places_run(void *context)
{
    struct ptrace_places *p = context;
    struct ptrace_source *s = &p->looker;
    ptrace_prepare_looks(s);
    request_short_slice();
    while (p->refusals < MOST_REFUSALS) {
        p->is_wanted = p->reader.prepare && p->reader.prepare(p->reader.context);
        s->period_ns = places_period(p);
        uint64_t wait = ptrace_plan_next(s);
        s->asleep_cpu_ns = clock_own_cpu();
        if (places_is_ended(p, wait))
            break;
        places_look(p, ptrace_is_prompt(s, clock_now()));
    }
    return NULL;
}

/* --- for the monitor ------------------------------------------------------------------------- */

struct ptrace_places *ptrace_places_new(uint32_t rate, const struct ptrace_reader *reader)
{
    struct ptrace_places *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    ptrace_init_looks(&p->looker, rate);
    p->looker.is_passing = true;
    p->reader = *reader;
    p->full_period_ns = p->looker.period_ns;
    p->in_kernel = MUCH_KERNEL;
    p->end = eventfd(0, EFD_CLOEXEC);
    if (arch_has_stacks(arch_own()) && p->end >= 0) {
        sigset_t all, before; /* signals are for the monitor */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        bool ok = !pthread_create(&p->thread, NULL, places_run, p);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (ok)
            return p;
    }
    if (p->end >= 0)
        close(p->end);
    free(p);
    return NULL;
}

void ptrace_places_child(struct ptrace_places *p, pid_t child)
{
    atomic_store(&p->child, child);
}

static bool places_is_left_alone(const struct ptrace_places *p, pid_t pid)
{
    const uint32_t *known = map_find(&p->left_alone, (uint64_t)pid, 0);
    return known && *known;
}

/* Decides about a process that begins, or executes another program. What a program that may trace
 * has started is its to trace, and is left alone, too. */
static void places_decide(struct ptrace_places *p, pid_t pid, pid_t before)
{
    bool is_left =
        places_is_left_alone(p, before) || ptrace_conflict_of(&p->files, pid) != TRACED_WELL;
    *map_at(&p->left_alone, (uint64_t)pid, 0, 0, NULL) = is_left;
}

void ptrace_places_begin(struct ptrace_places *p, pid_t pid, pid_t tid, pid_t parent)
{
    struct ptrace_threads *threads = &p->looker.threads;
    if (pid == tid || !map_find(&p->left_alone, (uint64_t)pid, 0)) /* the first may have ended */
        places_decide(p, pid, parent);
    if (places_is_left_alone(p, pid))
        return;
    pthread_mutex_lock(&p->lock);
    struct ptrace_thread *t = ptrace_threads_find(threads, tid);
    if (t) /* the number has come again */
        ptrace_threads_remove(threads, t);
    struct ptrace_thread *first = tid == pid ? NULL : ptrace_threads_of(threads, pid);
    t = ptrace_threads_add(threads, tid, first ? first->process : NULL);
    t->process->pid = pid;
    t->process->has_executed = true;
    pthread_mutex_unlock(&p->lock);
}

void ptrace_places_exec(struct ptrace_places *p, pid_t pid)
{
    pthread_mutex_lock(&p->lock);
    ptrace_threads_remove_others(&p->looker.threads, pid, 0);
    pthread_mutex_unlock(&p->lock);
    ptrace_places_begin(p, pid, pid, pid);
}

void ptrace_places_end(struct ptrace_places *p, pid_t tid)
{
    pthread_mutex_lock(&p->lock);
    struct ptrace_thread *t = ptrace_threads_find(&p->looker.threads, tid);
    if (t)
        ptrace_threads_remove(&p->looker.threads, t);
    pthread_mutex_unlock(&p->lock);
}

void ptrace_places_tell(struct ptrace_places *p, struct collector *c)
{
    pthread_mutex_lock(&p->lock);
    struct places_looks seen = p->seen;
    p->seen = (struct places_looks){0};
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < seen.at.len; i++) {
        const struct places_look *look = &seen.at.at[i];
        bool is_call = look->syscall >= 0;
        collector_paused(c, look->pid, look->tid, look->at_ns);
        struct collector_sample sample = {
            .pid = look->pid,
            .tid = look->tid,
            .at_ns = look->at_ns,
            .weight = look->weight,
            .where = is_call ? COLLECTOR_IN_KERNEL : COLLECTOR_IN_USER,
            .syscall = look->syscall,
            .registers = is_call ? &look->registers : NULL,
            .stack = {is_call ? seen.stacks.at + look->stack : NULL, look->stack_len},
            .beyond = {is_call ? seen.stacks.at + look->stack + look->stack_len : NULL,
                       look->beyond_len},
            .is_live = true,
        };
        if (collector_probe(c, &sample, is_call ? COLLECTOR_PROBE_CALL : COLLECTOR_PROBE_USER) &&
            p->reader.cut)
            p->reader.cut(p->reader.context, look->pid, look->tid,
                          look->stack_len + look->beyond_len);
    }
    vec_free(&seen.at);
    vec_free(&seen.stacks);
}

void ptrace_places_free(struct ptrace_places *p)
{
    if (!p)
        return;
    uint64_t one = 1;
    (void)!write(p->end, &one, sizeof one); /* cannot fail: the count is 0 */
    pthread_join(p->thread, NULL);
    close(p->end);
    traced_files_deinit(&p->files);
    map_deinit(&p->left_alone);
    ptrace_threads_deinit(&p->looker.threads);
    vec_free(&p->looker.running);
    vec_free(&p->seen.at);
    vec_free(&p->seen.stacks);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Statistical samples. See sample.h.
 *
 * A clock per thread that ticks while the thread runs and signals that very thread: a perf task
 * clock (any rate, as an ordinary user), or a POSIX timer on the thread's CPU clock (at most the
 * kernel's tick), or as the last resort the process's ITIMER_PROF. The signal is SIGSTKFLT, which
 * Linux never sends and programs do not use, so SIGPROF stays the program's own; it is not a
 * real-time signal, because those overflow into SIGIO, which kills.
 *
 * perf_event_open(2), timer_create(2), setitimer(2). */
#include "sample.h"
#include "../../common/sys.h"
#include "../../common/text.h"
#include "clocks.h"
#include "entered.h"
#include "ring.h"
#include "stack.h"
#include "../thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static bool installed;                  /* the handler is in place; survives a fork */
static struct sigaction programs[NSIG]; /* see sample_programs_action */
static bool is_ours[NSIG];
static enum sample_clock clock_used;

static void registers_of(const ucontext_t *u, uintptr_t *pc, uintptr_t *sp, uintptr_t *fp)
{
#if defined(__x86_64__)
    *pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    *sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
    *fp = (uintptr_t)u->uc_mcontext.gregs[REG_RBP];
#elif defined(__i386__)
    *pc = (uintptr_t)u->uc_mcontext.gregs[REG_EIP];
    *sp = (uintptr_t)u->uc_mcontext.gregs[REG_ESP];
    *fp = (uintptr_t)u->uc_mcontext.gregs[REG_EBP];
#elif defined(__arm__)
    *pc = u->uc_mcontext.arm_pc;
    *sp = u->uc_mcontext.arm_sp;
    *fp = u->uc_mcontext.arm_fp;
#elif defined(__aarch64__)
    *pc = u->uc_mcontext.pc;
    *sp = u->uc_mcontext.sp;
    *fp = u->uc_mcontext.regs[29];
#else
    *pc = u->uc_mcontext.__gregs[REG_PC];
    *sp = u->uc_mcontext.__gregs[REG_SP];
    *fp = u->uc_mcontext.__gregs[REG_S0];
#endif
}

/* From here on stacks are walked here, at a signal for each sample. */
static void leave_ring(struct process *p, struct thread *t)
{
    t->is_deep = true;
    ring_unmap(p, t);
    clock_perf_start(p, t);
}

/* Stacks deeper than the kernel follows them are left to us. */
static void empty_ring(struct process *p, struct thread *t)
{
    if (!ring_drain(p, t) || t->is_deep)
        clock_redraw_ring(p, t);
    else
        leave_ring(p, t);
}

void sample_entered(struct process *p, struct thread *t)
{
    uint64_t mask;
    if (!t->sampled || t->is_deep || monarc_sealed || !entered_is_used(t) || !ring_is_mapped(t))
        return;
    process_block(&mask);
    if (ring_is_mapped(t))
        leave_ring(p, t);
    sys_unblock(&mask);
}

struct sigaction *sample_programs_action(int signal)
{
    bool is_one = signal > 0 && signal < NSIG;
    return is_one && __atomic_load_n(&is_ours[signal], __ATOMIC_RELAXED) ? &programs[signal] : NULL;
}

/* Sent by a process, not by a clock: it does what it would have done without us. */
static void forward(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *a = &programs[signal];
    uint64_t one = (uint64_t)1 << (signal - 1);
    if (a->sa_flags & SA_SIGINFO) {
        a->sa_sigaction(signal, info, context);
    } else if (a->sa_handler == SIG_DFL) {
        __atomic_store_n(&is_ours[signal], false, __ATOMIC_RELAXED);
        sigaction(signal, a, NULL);
        SYS3(SYS_tgkill, sys_pid(), sys_tid(), signal);
        SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, 0, 8);
    } else if (a->sa_handler != SIG_IGN) {
        a->sa_handler(signal);
    }
}

static void on_tick(int signal, siginfo_t *info, void *context)
{
    struct process *p = process_if_started();
    uintptr_t pc, sp, fp;
    if (info->si_code <= 0 && info->si_code != SI_TIMER) {
        forward(signal, info, context);
        return;
    }
    if (monarc_sealed)
        return;
    if (p && p->pid == sys_pid() && monarc_slot.thread && ring_is_mapped(monarc_slot.thread)) {
        empty_ring(p, monarc_slot.thread);
        return;
    }
    if (!p || !monarc_recording || p->pid != sys_pid())
        return;
    struct thread *t = thread_attach(p);
    if (t)
        clock_redraw(t, info);
    registers_of(context, &pc, &sp, &fp);
    if (t)
        stack_record(p, t, pc, sp, fp);
    else
        lost_add(LOST_SAMPLES, 1);
}

static bool install(int signal)
{
    struct sigaction old,
        new = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (sigaction(signal, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
        old.sa_handler != SIG_DFL)
        return false;
    sigfillset(&new.sa_mask);
    sigdelset(&new.sa_mask, SIGBUS); /* see sigbus.h */
    if (sigaction(signal, &new, NULL) != 0)
        return false;
    __atomic_store_n(&is_ours[signal], true, __ATOMIC_RELAXED);
    return true;
}

static uint64_t now(const struct thread *t)
{
    return sys_clock(config.event == EVENT_WALL ? CLOCK_MONOTONIC : sys_thread_clock(t->tid));
}

static uint64_t sampled_ns_of(const struct thread *t)
{
    uint64_t at = t->paused_at ? t->paused_at : now(t);
    return at > t->clock_start ? at - t->clock_start : 0;
}

/* The process-wide timer of old: where no thread can have a clock of its own. */
static bool start_itimer(void)
{
    if (clock_used == CLOCK_ITIMER)
        return true;
    if (config.event != EVENT_CPU || !install(SIGPROF))
        return false;
    return clock_itimer_start();
}

static bool is_clock(void)
{
    return event_rows[config.event].is_clock;
}

static enum sample_clock start_clock(struct process *p, struct thread *t)
{
    if (config.clock == CLOCK_ANY || config.clock == CLOCK_PERF || !is_clock())
        if (clock_perf_start(p, t))
            return CLOCK_PERF;
    if (!is_clock()) {
        if (clock_used != CLOCK_ANY) /* started for an earlier thread, not for this one */
            lost_add(LOST_TIMER, 1);
        return CLOCK_ANY;
    }
    if (config.clock != CLOCK_ITIMER && clock_timer_start(t))
        return CLOCK_TIMER;
    if (config.clock == CLOCK_ANY || config.clock == CLOCK_ITIMER)
        if (start_itimer())
            return CLOCK_ITIMER;
    lost_add(LOST_TIMER, 1);
    return CLOCK_ANY;
}

void sample_thread_start(struct process *p, struct thread *t)
{
    uint64_t mask, ours = (uint64_t)1 << (SAMPLE_SIGNAL - 1);
    if (!installed || !t || t->sampled || monarc_sealed)
        return;
    if (config.stacks && !t->frames) {
        process_lock(p, &mask);
        if (!t->frames)
            t->frames = process_control(p, (MOST_FRAMES + 1) * sizeof *t->frames);
        process_unlock(p, &mask);
    }
    entered_start(p, t);
    t->clock_start = now(t);
    t->paused_at = monarc_recording ? 0 : t->clock_start;
    t->sampled = true;
    SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, 0, 8);
    enum sample_clock used = start_clock(p, t);
    if (used != CLOCK_ANY)
        __atomic_store_n(&clock_used, used, __ATOMIC_RELAXED);
}

void sample_thread_stop(struct process *p, struct thread *t)
{
    if (!t->sampled)
        return;
    entered_stop();
    clock_perf_stop(p, t);
    t->is_deep = t->is_redrawn = false;
    clock_timer_stop(t);
    __atomic_fetch_add(&p->sampled_ns, sampled_ns_of(t), __ATOMIC_RELAXED);
    t->sampled = false;
}

/* The event in MONARC_EVENT will not be sampled: the only message that is printed, as no user would
 * expect the figures of another event. The sidecar and the dimension of gmon.out say what was
 * sampled. A pipe that is full does not stop the program. */
static void say_other_event(const char *why)
{
    char line[160];
    struct text t = text_in(line, sizeof line - 1);
    text_add(&t, "libmonarc_rt: MONARC_EVENT=");
    text_add(&t, config_variable("MONARC_EVENT"));
    text_add(&t, why);
    text_add(&t, ": CPU time is sampled\n");
    sys_write_quietly(2, t.at, t.used);
}

void sample_init(struct process *p)
{
    const char *event = config_variable("MONARC_EVENT");
    if (config.rate == 0)
        return;
    if (event && *event && config.event == EVENT_CPU && !text_equal(event, "cpu") &&
        !config.monitored)
        say_other_event(" is no event that the recorder knows");
    if (!install(SAMPLE_SIGNAL)) {
        lost_add(LOST_SIGNAL, 1);
        return;
    }
    static const struct thread_watcher watcher = {sample_thread_start, sample_thread_stop};
    installed = true;
    thread_watch(&watcher);
    sample_thread_start(p, monarc_slot.thread);
    if (!is_clock() && clock_used == CLOCK_ANY) { /* say what is sampled instead, sample that */
        lost_add(LOST_EVENT, 1);
        say_other_event(" is not available here");
        config.event = EVENT_CPU;
        config.rate = 1000;
        if (monarc_slot.thread)
            monarc_slot.thread->sampled = false;
        sample_thread_start(p, monarc_slot.thread);
    }
}

/* Of all clocks only ITIMER_PROF goes on in the new program, where nothing handles it. */
void sample_suspend(void)
{
    static const struct itimerval never;
    if (clock_used == CLOCK_ITIMER)
        SYS3(SYS_setitimer, ITIMER_PROF, &never, 0);
}

void sample_resume(void)
{
    if (clock_used == CLOCK_ITIMER)
        clock_itimer_start();
}

void sample_forget(void)
{
    clock_perf_forget();
    if (clock_used == CLOCK_ITIMER && config.follow_fork)
        sample_resume(); /* timers are not inherited */
}

static uint64_t sampled_ns(struct process *p)
{
    uint64_t ns = __atomic_load_n(&p->sampled_ns, __ATOMIC_RELAXED);
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->tid && t->sampled)
            ns += sampled_ns_of(t);
    return ns;
}

bool sample_pause(struct thread *t)
{
    if (!t || !t->sampled || t->paused_at)
        return false;
    t->paused_at = now(t);
    return true;
}

void sample_continue(struct thread *t)
{
    if (t->paused_at)
        t->clock_start += now(t) - t->paused_at;
    t->paused_at = 0;
}

void sample_pause_all(struct process *p)
{
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->tid)
            sample_pause(t);
}

void sample_continue_all(struct process *p)
{
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->tid && t->sampled)
            sample_continue(t);
}

struct sample_totals sample_totals(struct process *p)
{
    struct sample_totals s = {.samples = __atomic_load_n(&p->samples, __ATOMIC_RELAXED),
                              .ns = sampled_ns(p),
                              .rate = config.rate ? config.rate : 100,
                              .clock = clock_used};
    if (!event_rows[config.event].is_clock) {
        s.rate = 1;
        return s;
    }
    if (s.samples && s.ns >= 1000) {
        s.millihertz = s.samples * 1000000000u / (s.ns / 1000);
        s.rate = (uint32_t)((s.millihertz + 500) / 1000);
        s.rate += s.rate == 0;
    }
    return s;
}

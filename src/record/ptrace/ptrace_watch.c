/* Programs with ptrace() in their code: recorded until they use it.
 *
 * A thread has one tracer. A debugger cannot have the threads that we have, and nothing tells us in
 * time that it wants them but its call. So the threads of such programs, and of what they fork, are
 * stopped at each system call, before it begins (PTRACE_SYSCALL in place of PTRACE_CONT). At a call
 * of ptrace() that asks for a thread of ours, that one is let go first, and for good; the caller
 * waits in its stop until it is. Most such programs only have the call, for a crash that does not
 * come: they are recorded whole, at the cost of two stops a call, which is said.
 *
 * One that makes more than a few calls is let go, with all others that are watched, as it might ask
 * for their threads: where stops wake us all the time, looks do not come by chance, and find calls.
 *
 * Where the kernel does not tell what a stop is at (before Linux 5.3), the program is let go. */
#include "record/ptrace/ptrace_watch.h"

#include "record/clocks.h"
#include "record/ptrace/ptrace_leave.h"

#include <linux/audit.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { PTRACE_OF_I386 = 26, NOBODY = -1 };

/* Lets a stopped thread go, with a signal or none, and whoever waits for that. */
static void watch_let_go(struct ptrace_source *s, struct ptrace_thread *t, int number)
{
    pid_t caller = t->wanted_by;
    t->wanted_by = 0;
    ptrace_leave_now(s, t, TRACED_TRACER, number);
    if (caller > 0)
        ptrace(PTRACE_SYSCALL, caller, 0, 0);
}

bool ptrace_watch_wanted(struct ptrace_source *s, struct ptrace_thread *t, int event, int number)
{
    bool is_signal = event == 0 && number != (SIGTRAP | 0x80);
    if (!t->wanted_by || (event && event != PTRACE_EVENT_STOP))
        return false;
    watch_let_go(s, t, is_signal ? number : 0);
    return true;
}

void ptrace_watch_ended(struct ptrace_thread *t)
{
    if (t->wanted_by > 0)
        ptrace(PTRACE_SYSCALL, t->wanted_by, 0, 0);
    t->wanted_by = 0;
}

/* Starting takes some calls in any program; behind them, more than 200 a second. */
static bool watch_is_flood(struct ptrace_process *p)
{
    enum { STARTING = 500, MANY_CALLS = 50, SHORT_NS = 250 * 1000 * 1000 };
    uint64_t now = clock_now();
    if (p->calls++ == STARTING)
        p->first_call_ns = now;
    if (p->calls < STARTING + MANY_CALLS)
        return false;
    p->calls = STARTING;
    return now - p->first_call_ns < SHORT_NS;
}

/* All other threads of watched processes, each at its next stop. */
static void watch_let_all_go(struct ptrace_source *s, pid_t but)
{
    for (size_t i = 0; i < s->threads.at.len; i++) {
        struct ptrace_thread *t = &s->threads.at.at[i];
        if (t->process->is_watched && t->tid != but && !t->is_ending && !t->wanted_by &&
            !ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
            t->wanted_by = NOBODY;
    }
}

bool ptrace_watch_call(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct __ptrace_syscall_info call;
    if (!t->process->is_watched || s->is_finished)
        return false;
    if (watch_is_flood(t->process)) {
        watch_let_all_go(s, t->tid);
        watch_let_go(s, t, 0);
        return true;
    }
    if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof call, &call) <= 0) {
        watch_let_go(s, t, 0);
        return true;
    }
    uint64_t traces = call.arch == AUDIT_ARCH_I386 ? PTRACE_OF_I386 : SYS_ptrace;
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY || call.entry.nr != traces)
        return false;
    if (call.entry.args[0] == PTRACE_TRACEME) {
        watch_let_go(s, t, 0);
        return true;
    }
    bool wants = call.entry.args[0] == PTRACE_ATTACH || call.entry.args[0] == PTRACE_SEIZE;
    struct ptrace_thread *other =
        wants ? ptrace_threads_find(&s->threads, (pid_t)call.entry.args[1]) : NULL;
    if (!other || other == t || other->is_ending || other->wanted_by ||
        ptrace(PTRACE_INTERRUPT, other->tid, 0, 0))
        return false;
    other->wanted_by = t->tid;
    return true;
}

/* Following a program and all that it starts, by ptrace.
 *
 * The program is seized before it executes, so that its children are followed from their first
 * instruction. What is known is three lists, which say who runs in which memory:
 *
 *     threads ─► processes ─► spaces (space.h)
 *
 * Stops come in no order that could be relied on: a child's first one may be taken before the fork
 * of its parent, and its end as well. So whichever reports a thread first puts it into the lists,
 * and before that nothing of it has run:
 *
 *     first stop; fork, vfork, clone  a thread of a process, or a process. Whether that has its
 *                        maker's memory is asked of the kernel (kcmp), or read from the call
 *     exec               a process has another program, and a space of its own; its other threads
 *                        are gone, and whichever executed has the first one's number
 *     exit               a thread runs no more; with the last one of a space the caller looks
 *     end                of the first thread: the kernel says so once all others have ended
 *     SIGTRAP of a trap  the linker's, the C library's exec, or asked of the caller; one that was
 *                        sent is the program's
 *     other signals      go on to the program
 *     job control        the thread stays stopped, as it would without us
 *
 * A program whose file gives it rights that we lack would not get them while it is followed. So it
 * is let go before it is executed, at a breakpoint in the C library; how a program that makes the
 * call itself fares, cannot be known before.
 *
 * The kernel's report of a signal distinguishes a trap from a sent one. It finds SIGTRAP blocked at
 * times, in a program that blocked all signals for a while, and then unblocks it for good. That is
 * undone where all other signals of errors are blocked, as is then the case.
 *
 * Signals that end programs are passed on, but for the terminal's, which the program gets as well.
 * Should we be killed, so are all that we follow. */
#include "record/follow.h"

#include "arch/arch.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_conflict.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum sharing { SHARING_COPY, SHARING_SAME, SHARING_UNKNOWN };
enum { KCMP_MEMORY = 1 /* KCMP_VM of <linux/kcmp.h> */, STATUS_EXEC = -1 };

struct follow_process {
    pid_t pid;
    unsigned threads;
    struct space *space;
};

struct follow_thread {
    pid_t tid;
    bool is_leaving;
    struct follow_process *process;
};

/* An end that was taken while something else was waited for. */
struct follow_taken {
    pid_t tid;
    int status;
};

struct following {
    const struct follow_calls *calls;
    struct follow_result *result;
    struct space_files files;
    VEC(struct follow_thread) threads;
    struct map places; /* thread -> place in the list, and one; 0: not there */
    VEC(struct follow_process *) processes;
    VEC(struct follow_taken) taken;
    pid_t first;
    bool has_ended, is_stopping;
    bool lacks_rights; /* we are not the superuser, whose programs lose nothing */
};

/* --- lists ----------------------------------------------------------------------------------- */

/* Valid until a thread is added or removed. */
static struct follow_thread *thread_find(const struct following *f, pid_t tid)
{
    const uint32_t *place = map_find(&f->places, (uint64_t)tid, 0);
    return place && *place ? &f->threads.at[*place - 1] : NULL;
}

/* A thread that runs from now on in its process's space. */
static void thread_add(struct following *f, pid_t tid, struct follow_process *p)
{
    vec_push(&f->threads, (struct follow_thread){.tid = tid, .process = p});
    map_set(&f->places, (uint64_t)tid, 0, f->threads.len);
    p->threads++;
    p->space->running++;
}

/* The last one of the list takes its place. */
static void thread_remove(struct following *f, struct follow_thread *t)
{
    const struct follow_thread *last = &f->threads.at[f->threads.len - 1];
    size_t place = (size_t)(t - f->threads.at) + 1;
    t->process->threads--;
    t->process->space->running -= !t->is_leaving;
    map_set(&f->places, (uint64_t)t->tid, 0, 0);
    if (last != t)
        map_set(&f->places, (uint64_t)last->tid, 0, place);
    *t = *last;
    f->threads.len--;
}

/* After an exec, and with the end of the first thread, when the kernel no longer reports the
 * others. */
static void threads_remove_of(struct following *f, const struct follow_process *p)
{
    for (size_t i = f->threads.len; i-- > 0;)
        if (f->threads.at[i].process == p)
            thread_remove(f, &f->threads.at[i]);
}

/* The newest one: a number is free again once the end of its process was taken, and its entry with
 * it, so there is one at most. */
static struct follow_process *process_find(const struct following *f, pid_t pid)
{
    for (size_t i = f->processes.len; i-- > 0;)
        if (f->processes.at[i]->pid == pid)
            return f->processes.at[i];
    return NULL;
}

/* A process leaves its space, for good or for another one. */
static bool process_leave(struct following *f, struct follow_process *p, int status, struct err *e)
{
    const struct follow_calls *c = f->calls;
    struct space *s = p->space;
    bool ok = true;
    p->space = NULL;
    if (--s->users)
        return true;
    if (c->left)
        ok = c->left(c->context, s, p->pid, status, e);
    space_close(s);
    return ok;
}

/* A process that has ended, or is followed no more. */
static bool process_remove(struct following *f, struct follow_process *p, int status, struct err *e)
{
    threads_remove_of(f, p);
    bool ok = process_leave(f, p, status, e);
    for (size_t i = 0; i < f->processes.len; i++)
        if (f->processes.at[i] == p)
            f->processes.at[i] = f->processes.at[--f->processes.len];
    free(p);
    return ok;
}

/* --- who has which memory -------------------------------------------------------------------- */

/* A thread of it that has not come to its end; 0: there is none. */
static pid_t process_thread(const struct following *f, const struct follow_process *p)
{
    for (size_t i = 0; i < f->threads.len; i++)
        if (f->threads.at[i].process == p && !f->threads.at[i].is_leaving)
            return f->threads.at[i].tid;
    return 0;
}

/* What the call says that made a thread: whether that has its maker's memory. `tid`: of either, as
 * both are stopped in the call. */
static enum sharing call_sharing(pid_t tid, const struct space *s)
{
    const struct arch *arch = arch_own();
    long word = sizeof(long);
    if (!arch || !arch->calls)
        return SHARING_UNKNOWN;
    const struct call_convention *of = &arch->calls->of[0];
    errno = 0;
    uint64_t mode = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, arch->mode_word * word, 0);
    long number = ptrace(PTRACE_PEEKUSER, tid, arch->syscall_word * word, 0);
    uint64_t flags = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, of->arguments[0] * word, 0);
    if (errno || (arch->mode_word && mode != of->mode))
        return SHARING_UNKNOWN;
#ifdef SYS_vfork
    if (number == SYS_vfork)
        return SHARING_SAME;
#endif
    if (number == SYS_clone3 && !space_read(s, flags, &flags, sizeof flags))
        return SHARING_UNKNOWN;
    return (number == SYS_clone || number == SYS_clone3) && flags & CLONE_VM ? SHARING_SAME
                                                                             : SHARING_COPY;
}

/* The process whose memory the thread of a new process has; NULL: it has a copy. `maker`: who made
 * it, if that is known; else its parent, or, with CLONE_PARENT, another child of that one. */
static struct follow_process *memory_owner(const struct following *f, pid_t tid,
                                           const struct follow_process *parent,
                                           struct follow_process *maker, enum sharing sharing)
{
    struct follow_process *first = maker ? maker : process_find(f, parent ? parent->pid : 0);
    for (size_t i = f->processes.len + 1; i-- > 0 && sharing != SHARING_COPY;) {
        struct follow_process *p = i < f->processes.len ? f->processes.at[i] : first;
        pid_t other = p ? process_thread(f, p) : 0;
        long differs = other ? syscall(SYS_kcmp, other, tid, KCMP_MEMORY, 0, 0) : 1;
        if (other && differs < 0)
            differs = sharing != SHARING_SAME;
        if (!differs)
            return p;
        if (p == first && maker)
            return NULL;
    }
    return NULL;
}

/* --- a space that is refused -----------------------------------------------------------------
 *
 * A process that has given up being dumped shows its memory only to those who have it open, and so
 * does a copy of it, in which our breakpoints are. The copy is made to allow it for as long as it
 * takes us to open it, by a call in its own name: it follows the one that made it.
 */

/* What the call returns; negative: it was refused, or did not come back as it should. */
static long thread_call(struct following *f, pid_t tid, long number, uint64_t a, uint64_t b)
{
    const struct arch *arch = arch_own();
    uint64_t all = ~UINT64_C(0), mask, before[128], now[128];
    struct iovec registers = {before, sizeof before};
    const struct call_convention *of = arch && arch->calls ? &arch->calls->of[0] : NULL;
    int status = 0;
    if (!of || proc_has_filter(tid) || ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) ||
        ptrace(PTRACE_GETREGSET, tid, 1 /* NT_PRSTATUS */, &registers) ||
        registers.iov_len > sizeof before ||
        (arch->mode_word && before[arch->mode_word] != of->mode))
        return -1;
    memcpy(now, before, sizeof now);
    now[arch->calls->result] = now[arch->syscall_word] = (uint64_t)number;
    now[of->arguments[0]] = a;
    now[of->arguments[1]] = b;
    now[arch->calls->pc] -= sizeof of->code;
    now[arch->syscall_word] = ~UINT64_C(0); /* no call is to be made again */
    registers.iov_base = now;
    ptrace(PTRACE_SETSIGMASK, tid, sizeof all, &all);
    ptrace(PTRACE_SETREGSET, tid, 1, &registers);
    bool is_back = !ptrace(PTRACE_SINGLESTEP, tid, 0, 0) &&
                   TEMP_FAILURE_RETRY(waitpid(tid, &status, __WALL)) == tid;
    if (is_back && !WIFSTOPPED(status)) {
        vec_push(&f->taken, (struct follow_taken){tid, status});
        return -1;
    }
    ptrace(PTRACE_GETREGSET, tid, 1, &registers);
    long result = (long)now[arch->calls->result];
    registers.iov_base = before;
    ptrace(PTRACE_SETREGSET, tid, 1, &registers);
    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
    return is_back && WSTOPSIG(status) == SIGTRAP ? result : -1;
}

/* Opens what could not be opened, if that is why. */
static struct space *space_open_refused(struct following *f, struct space *s, pid_t tid)
{
    if (s->memory >= 0 || thread_call(f, tid, SYS_prctl, PR_GET_DUMPABLE, 0) != 0 ||
        thread_call(f, tid, SYS_prctl, PR_SET_DUMPABLE, 1) < 0)
        return s;
    space_close(s);
    s = space_open(tid);
    (void)thread_call(f, tid, SYS_prctl, PR_SET_DUMPABLE, 0);
    return s;
}

/* --- threads and processes that begin -------------------------------------------------------- */

/* A thread that stopped, or was made by `maker`, NULL: not known yet, in a call that `stopped` is
 * in. NULL: it is gone. */
static struct follow_thread *thread_admit(struct following *f, pid_t tid,
                                          struct follow_process *maker, pid_t stopped)
{
    const struct follow_calls *c = f->calls;
    pid_t pid, parent;
    struct follow_thread *known = thread_find(f, tid);
    if (known || !proc_of_thread(tid, &pid, &parent))
        return known;
    struct follow_process *p = process_find(f, pid);
    if (p) {
        thread_add(f, tid, p);
        return thread_find(f, tid);
    }
    const struct follow_process *from = maker ? maker : process_find(f, parent);
    struct space *s = space_open(tid);
    const struct space *readable = s->memory < 0 && from ? from->space : s;
    struct follow_process *owner =
        memory_owner(f, tid, from, maker, call_sharing(stopped, readable));
    if (!owner && s->memory < 0 && stopped != tid) { /* once it has stopped itself */
        space_close(s);
        return NULL;
    }
    if (owner)
        space_close(s);
    p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    *p = (struct follow_process){.pid = pid,
                                 .space = owner ? owner->space : space_open_refused(f, s, tid)};
    p->space->users++;
    vec_push(&f->processes, p);
    thread_add(f, tid, p);
    f->result->processes++;
    if (!owner) {
        p->space->is_program = !from || from->space->is_program;
        (void)space_look(p->space, tid, &f->files);
        if (c->began && p->space->is_program)
            c->began(c->context, p->space, from ? from->space : NULL, tid);
    }
    return thread_find(f, tid);
}

/* A thread that is not let go, but ours no longer. */
static bool thread_forget(struct following *f, struct follow_thread *t, struct err *e)
{
    struct follow_process *p = t->process;
    thread_remove(f, t);
    return p->threads || process_remove(f, p, 0, e);
}

/* The process has another program. *lets_go: it is not followed any more. */
static bool process_executed(struct following *f, pid_t pid, bool *lets_go, struct err *e)
{
    const struct follow_calls *c = f->calls;
    struct follow_process *p = process_find(f, pid);
    struct err ignored = {0};
    if (!p) {
        struct follow_thread *t = thread_admit(f, pid, NULL, pid);
        if (!t)
            return true;
        p = t->process;
    }
    threads_remove_of(f, p);
    bool ok = process_leave(f, p, STATUS_EXEC, e);
    p->space = space_open(pid);
    p->space->users = 1;
    p->space->is_program = true;
    thread_add(f, pid, p);
    *lets_go = c->lets_go && c->lets_go(c->context, pid);
    if (*lets_go)
        return ok & process_remove(f, p, 0, ok ? e : &ignored);
    (void)space_look(p->space, pid, &f->files);
    if (c->executed)
        c->executed(c->context, p->space, pid);
    space_set_breakpoints(p->space);
    return ok;
}

/* --- traps ----------------------------------------------------------------------------------- */

/* Whether a SIGTRAP comes from an instruction, and not from kill(2) and its kind. */
static bool trap_is_processor(pid_t tid)
{
    siginfo_t info;
    return !ptrace(PTRACE_GETSIGINFO, tid, 0, &info) &&
           (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

/* The kernel has unblocked SIGTRAP to deliver it. */
static void trap_block_again(pid_t tid)
{
    static const int ERRORS[] = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    uint64_t mask, all = 0;
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        all |= UINT64_C(1) << (ERRORS[i] - 1);
    if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) || (mask & all) != all)
        return;
    mask |= UINT64_C(1) << (SIGTRAP - 1);
    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
}

/* Whether the program that the thread is about to execute would get rights of its file, if it were
 * not followed. */
static bool exec_wants_rights(const struct following *f, const struct space *s, pid_t tid)
{
    const struct arch *arch = arch_own();
    char name[4096], path[4096 + 64];
    size_t len = 0;
    if (!f->lacks_rights || !arch || !arch->calls || !arch->calls->of[0].code[0])
        return false;
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tid,
                                   arch->calls->of[0].arguments[0] * (long)sizeof(long), 0);
    while (len < sizeof name - 1 && space_read(s, at + len, name + len, 1) && name[len])
        len++;
    name[len] = '\0';
    snprintf(path, sizeof path, "/proc/%d/%s%s", (int)tid, *name == '/' ? "root" : "cwd/", name);
    return len && ptrace_conflict_has_rights(path) && !access(path, X_OK);
}

/* A breakpoint that was hit. *lets_go: the thread is no longer followed. False: it is none. */
static bool thread_trapped(struct following *f, struct follow_thread *t, bool *lets_go)
{
    const struct follow_calls *c = f->calls;
    const struct arch *arch = arch_own();
    struct space *s = t->process->space;
    pid_t tid = t->tid;
    enum space_place place;
    if (!arch || !arch->calls)
        return false;
    errno = 0;
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, arch->calls->pc * (long)sizeof(long), 0) -
                  arch->breakpoint_back;
    if (errno)
        return false;
    const struct space_image *image = space_breakpoint(s, at, &place);
    if (!image && space_look(s, tid, &f->files))
        image = space_breakpoint(s, at, &place);
    if (!image)
        return c->trapped && c->trapped(c->context, s, tid, at);
    if (c->passed)
        c->passed(c->context, s, at);
    if (place == SPACE_EXEC && c->executing)
        c->executing(c->context, s, tid);
    *lets_go = place == SPACE_EXEC && exec_wants_rights(f, s, tid);
    f->result->with_rights += *lets_go;
    bool ok = space_pass_breakpoint(s, image, place, tid);
    if (place == SPACE_LINKER) {
        (void)space_look(s, tid, &f->files);
        if (c->mapped)
            c->mapped(c->context, s, tid);
        space_set_breakpoints(s);
    }
    return ok;
}

/* Looks again where no linker says what it maps: there is none, or its sign is not known. */
static void space_refresh(struct following *f, struct space *s, pid_t tid)
{
    bool has_sign = false;
    for (size_t i = 0; i < s->images.len; i++)
        has_sign |= s->images.at[i].file->places[SPACE_LINKER].address != 0;
    if (has_sign && arch_own() && arch_own()->breakpoint_len)
        return;
    (void)space_look(s, tid, &f->files);
    space_set_breakpoints(s);
}

/* --- stops ----------------------------------------------------------------------------------- */

/* A thread that is to be let go: the first one of a space takes the breakpoints with it. */
static bool thread_let_go(struct following *f, struct follow_thread *t, struct err *e)
{
    const struct follow_calls *c = f->calls;
    if (c->interval)
        c->interval(c->context, t->process->space, t->tid);
    space_clear_breakpoints(t->process->space);
    return thread_forget(f, t, e);
}

/* Whether a thread ends by itself, and not with all others of its process. */
static bool thread_ends_alone(pid_t tid)
{
    const struct arch *arch = arch_own();
    return arch && arch->calls &&
           ptrace(PTRACE_PEEKUSER, tid, arch->syscall_word * (long)sizeof(long), 0) == SYS_exit;
}

/* One that ends by itself while another one ends all does not stop here. So each end of all is
 * reported, as it may be the last report. */
static bool follow_exit(struct following *f, struct follow_thread *t, struct err *e)
{
    const struct follow_calls *c = f->calls;
    struct space *s = t->process->space;
    if (t->is_leaving)
        return true;
    t->is_leaving = true;
    s->running--;
    if (!c->leaving || !s->is_program || (s->running && thread_ends_alone(t->tid)))
        return true;
    space_refresh(f, s, t->tid);
    return c->leaving(c->context, s, t->process->pid, t->tid, e);
}

/* A stop of a thread: what it means is done, and it goes on. */
static bool follow_stop(struct following *f, pid_t tid, int status, struct err *e)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    unsigned long message = 0;
    bool ok = true, lets_go = false;
    struct follow_thread *t = thread_admit(f, tid, NULL, tid);
    bool is_group_stop = event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP ||
                                                        signal == SIGTTIN || signal == SIGTTOU);
    if (event)
        ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
    if (t && (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
              event == PTRACE_EVENT_CLONE)) {
        (void)thread_admit(f, (pid_t)message, t->process, tid);
    } else if (t && event == PTRACE_EVENT_EXIT) {
        ok = follow_exit(f, t, e);
    } else if (event == PTRACE_EVENT_EXEC) {
        struct follow_thread *other = thread_find(f, (pid_t)message);
        if (other && (pid_t)message != tid)
            thread_remove(f, other);
        ok = process_executed(f, tid, &lets_go, e);
    } else if (t && !event && signal == SIGTRAP && trap_is_processor(tid) &&
               thread_trapped(f, t, &lets_go)) {
        trap_block_again(tid);
        signal = 0;
        if (lets_go && t->process->space->users == 1)
            space_clear_breakpoints(t->process->space);
        if (lets_go)
            ok = thread_forget(f, t, e);
    }
    if (t && f->is_stopping && event == PTRACE_EVENT_STOP) {
        lets_go = true;
        ok = thread_let_go(f, t, e);
    }
    ptrace(lets_go         ? PTRACE_DETACH
           : is_group_stop ? PTRACE_LISTEN
                           : PTRACE_CONT,
           tid, 0, (long)(event ? 0 : signal));
    return ok;
}

/* An end, which for a first thread comes last in its process. */
static bool follow_end(struct following *f, pid_t tid, int status, struct err *e)
{
    struct follow_thread *t = thread_find(f, tid);
    /* Of a program that was not followed, too: it is our child. */
    if (tid == f->first) {
        f->has_ended = true;
        f->result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (!t)
        return true;
    if (t->process->pid == tid)
        return process_remove(f, t->process, status, e);
    thread_remove(f, t);
    return true;
}

/* What the caller does now and then, in each space in which something runs. */
static void follow_intervals(struct following *f)
{
    for (size_t i = 0; i < f->processes.len; i++) {
        struct follow_process *p = f->processes.at[i];
        pid_t tid = process_thread(f, p);
        if (!tid || !p->space->is_program)
            continue;
        space_refresh(f, p->space, tid);
        f->calls->interval(f->calls->context, p->space, tid);
    }
}

/* Signals to us: the program's while it runs, our end once it is over. */
static void follow_signal(struct following *f, const siginfo_t *info)
{
    if (info->si_signo == SIGCHLD)
        return;
    if (!f->has_ended && info->si_code != SI_KERNEL) {
        kill(f->first, info->si_signo);
    } else if (f->has_ended && !f->is_stopping && info->si_signo != SIGUSR1 &&
               info->si_signo != SIGUSR2) {
        f->is_stopping = f->result->was_stopped = true;
        for (size_t i = 0; i < f->threads.len; i++)
            ptrace(PTRACE_INTERRUPT, f->threads.at[i].tid, 0, 0);
    }
}

/* Until no thread is left: stops as they come, and periodic work. */
static bool follow_run(struct following *f, const sigset_t *signals, struct err *e)
{
    struct timespec now, next;
    bool ok = true;
    int64_t interval = (int64_t)f->calls->interval_ms * 1000000;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        int status;
        struct err ignored = {0};
        pid_t tid;
        if (f->taken.len) {
            const struct follow_taken *taken = &f->taken.at[--f->taken.len];
            tid = taken->tid;
            status = taken->status;
        } else {
            tid = waitpid(-1, &status, __WALL | WNOHANG);
        }
        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            break;
        if (tid > 0 && WIFSTOPPED(status)) {
            ok &= follow_stop(f, tid, status, ok ? e : &ignored);
            continue;
        }
        if (tid > 0) {
            ok &= follow_end(f, tid, status, ok ? e : &ignored);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t left =
            (next.tv_sec - now.tv_sec) * INT64_C(1000000000) + next.tv_nsec - now.tv_nsec;
        if (interval && left <= 0) {
            follow_intervals(f);
            clock_gettime(CLOCK_MONOTONIC, &next);
            next.tv_sec += interval / 1000000000;
            next.tv_nsec += interval % 1000000000;
            left = interval;
        }
        struct timespec wait = {left / 1000000000, left % 1000000000};
        siginfo_t info;
        if ((interval ? sigtimedwait(signals, &info, &wait) : sigwaitinfo(signals, &info)) > 0)
            follow_signal(f, &info);
    }
    while (f->processes.len) { /* whose end the kernel did not report */
        struct err ignored = {0};
        ok &= process_remove(f, f->processes.at[0], 0, ok ? e : &ignored);
    }
    return ok;
}

/* --- the program ----------------------------------------------------------------------------- */

/* What is ours, and the program has as it was before. */
struct follow_before {
    struct sigaction child;
    sigset_t mask;
    struct rlimit files;
};

/* The child waits until it is seized, then becomes the program; a number back says why it could
 * not. */
static pid_t follow_start(char **argv, const struct follow_calls *c, int go[2], int failure[2],
                          const struct follow_before *before)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    char byte;
    close(go[1]);
    close(failure[0]);
    if (c->variable)
        setenv(c->variable, c->value, 1);
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    if (read(go[0], &byte, 1) == 1)
        execvp(argv[0], argv);
    int error = errno;
    (void)!write(failure[1], &error, sizeof error);
    _exit(127);
}

static void follow_close(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* Whether the program itself would lose rights: as the shell would find it. */
static bool program_wants_rights(const char *name)
{
    const char *folders = getenv("PATH");
    char path[4096];
    if (strchr(name, '/'))
        return ptrace_conflict_has_rights(name);
    for (folders = folders ? folders : "/bin:/usr/bin"; *folders;) {
        size_t len = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s%s%s", (int)len, folders, len ? "/" : "", name);
        if (!access(path, X_OK))
            return ptrace_conflict_has_rights(path);
        folders += len + (folders[len] == ':');
    }
    return false;
}

/* Seizes the child and follows it to the end. */
static bool follow_child(struct following *f, char **argv, pid_t pid, int go, struct err *e)
{
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    if (f->lacks_rights && program_wants_rights(argv[0])) {
        f->result->with_rights++;
        return write(go, "", 1) == 1;
    }
    if (ptrace(PTRACE_SEIZE, pid, 0, options))
        return err_set(e, "%s: cannot be followed: ptrace is refused (%s)", argv[0],
                       strerror(errno));
    struct follow_process *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    *p = (struct follow_process){.pid = pid, .space = space_open(pid)};
    p->space->users = 1;
    vec_push(&f->processes, p);
    thread_add(f, pid, p);
    f->result->processes++;
    return write(go, "", 1) == 1;
}

/* The lists are empty by then but for what could not even be started. */
static void following_deinit(struct following *f)
{
    vec_free(&f->processes);
    vec_free(&f->threads);
    vec_free(&f->taken);
    map_deinit(&f->places);
    space_files_deinit(&f->files);
}

bool follow_program(char **argv, const struct follow_calls *calls, struct follow_result *result,
                    struct err *e)
{
    static const int TAKEN[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
                                SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM};
    struct following f = {.calls = calls, .result = result, .lacks_rights = geteuid() != 0};
    struct follow_before before;
    int go[2] = {-1, -1}, failure[2] = {-1, -1}, error = 0;
    sigset_t signals;
    *result = (struct follow_result){0};
    f.files.read = calls->read_file;
    f.files.context = calls->context;
    if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
        err_errno(e, "pipe", errno);
        follow_close(go);
        return false;
    }
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++)
        sigaddset(&signals, TAKEN[i]);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &before.child);
    sigprocmask(SIG_BLOCK, &signals, &before.mask);
    f.first = follow_start(argv, calls, go, failure, &before);
    /* Two descriptors a process. */
    struct rlimit files;
    bool has_limit = !getrlimit(RLIMIT_NOFILE, &before.files);
    files = (struct rlimit){before.files.rlim_max, before.files.rlim_max};
    if (has_limit)
        setrlimit(RLIMIT_NOFILE, &files);
    close(go[0]);
    close(failure[1]);
    struct err ignored;
    bool ok = f.first >= 0 || err_errno(e, "fork", errno);
    ok = ok && follow_child(&f, argv, f.first, go[1], e);
    close(go[1]);
    ok = (f.first < 0 || follow_run(&f, &signals, ok ? e : &ignored)) && ok;
    if (ok && read(failure[0], &error, sizeof error) == sizeof error && error)
        ok = err_errno(e, argv[0], error);
    close(failure[0]);
    following_deinit(&f);
    if (has_limit)
        setrlimit(RLIMIT_NOFILE, &before.files);
    sigaction(SIGCHLD, &before.child, NULL);
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    return ok;
}

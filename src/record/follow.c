/* Following a program and all that it starts, by ptrace.
 *
 * The program is seized before it executes, so that its children are followed from their first
 * instruction; threads run freely between their beginning and their end. Of the stops that come,
 * most go on at once:
 *
 *     fork, vfork, clone   a process began, or a thread, which is of no interest
 *     exec                 a process has another program; its other threads are gone
 *     exit                 only where the caller wants to look once more
 *     SIGTRAP of a trap    asked of the caller; one that was sent is the program's
 *     other signals        go on to the program
 *     job control          the thread stays stopped, as it would without us
 *
 * A trap is told from a signal that somebody sent by what the kernel says of it. It finds SIGTRAP
 * blocked at times, in a program that blocked all signals for a while, and then unblocks it for
 * good. That is undone where all other signals of errors are blocked, as is then the case.
 *
 * Signals of the terminal are the program's; we ignore them. Should we be killed, so are they. */
#include "record/follow.h"

#include "arch/arch.h"
#include "base/map.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct following {
    const struct follow_calls *calls;
    struct map process_of; /* thread -> process; 0: not known */
};

/* The process that a thread is of; 0: it is gone. */
static pid_t follow_process(struct following *f, pid_t tid)
{
    pid_t process, parent;
    uint32_t *known = map_at(&f->process_of, (uint64_t)tid, 0, 0, NULL);
    if (!*known && proc_of_thread(tid, &process, &parent))
        *known = (uint32_t)process;
    return (pid_t)*known;
}

/* Whether a SIGTRAP comes from an instruction, and not from kill(2) and its kind. */
static bool follow_is_trap(pid_t tid)
{
    siginfo_t info;
    return !ptrace(PTRACE_GETSIGINFO, tid, 0, &info) &&
           (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

/* The kernel has unblocked SIGTRAP to deliver it. */
static void follow_block_again(pid_t tid)
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

/* A stop of a thread: what it means is done, and it goes on. */
static bool follow_stop(struct following *f, pid_t tid, int status, struct err *e)
{
    const struct follow_calls *c = f->calls;
    int signal = WSTOPSIG(status), event = status >> 16;
    unsigned long message = 0;
    pid_t pid = follow_process(f, tid);
    bool ok = true, lets_go = false;
    if (event)
        ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        pid_t child = (pid_t)message;
        map_set(&f->process_of, (uint64_t)child, 0, 0);
        if (c->began && follow_process(f, child) == child)
            c->began(c->context, child, event == PTRACE_EVENT_VFORK, true);
    } else if (event == PTRACE_EVENT_EXIT && c->leaving) {
        c->leaving(c->context, pid);
    } else if (event == PTRACE_EVENT_EXEC && c->executed) {
        ok = c->executed(c->context, pid, &lets_go, e);
    } else if (!event && signal == SIGTRAP && c->trapped && follow_is_trap(tid) &&
               c->trapped(c->context, pid, tid)) {
        follow_block_again(tid);
        signal = 0;
    }
    bool is_group_stop = event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP ||
                                                        signal == SIGTTIN || signal == SIGTTOU);
    ptrace(lets_go         ? PTRACE_DETACH
           : is_group_stop ? PTRACE_LISTEN
                           : PTRACE_CONT,
           tid, 0, (long)(event ? 0 : signal));
    return ok;
}

/* Until nobody is left: stops as they come, and what is to be done at intervals. */
static bool follow_run(struct following *f, pid_t first, int *result, struct err *e)
{
    const struct follow_calls *c = f->calls;
    sigset_t child;
    struct timespec now, next;
    bool ok = true;
    int64_t interval = (int64_t)c->interval_ms * 1000000;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        int status;
        struct err ignored = {0};
        pid_t tid = waitpid(-1, &status, __WALL | (interval ? WNOHANG : 0));
        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            break;
        if (tid > 0 && WIFSTOPPED(status)) {
            ok &= follow_stop(f, tid, status, ok ? e : &ignored);
        } else if (tid > 0) {
            if (tid == first)
                *result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            map_set(&f->process_of, (uint64_t)tid, 0, 0);
            if (c->ended)
                ok &= c->ended(c->context, tid, status, ok ? e : &ignored);
        } else {
            clock_gettime(CLOCK_MONOTONIC, &now);
            int64_t left =
                (next.tv_sec - now.tv_sec) * INT64_C(1000000000) + next.tv_nsec - now.tv_nsec;
            if (left <= 0) {
                c->interval(c->context);
                clock_gettime(CLOCK_MONOTONIC, &next);
                next.tv_sec += interval / 1000000000;
                next.tv_nsec += interval % 1000000000;
                left = interval;
            }
            struct timespec wait = {left / 1000000000, left % 1000000000};
            (void)sigtimedwait(&child, NULL, &wait);
        }
    }
    return ok;
}

/* The child waits until it is seized, then becomes the program; a number back says why it could
 * not. */
static pid_t follow_start(char **argv, const struct follow_calls *c, int go[2], int failure[2],
                          const sigset_t *mask)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    char byte;
    close(go[1]);
    close(failure[0]);
    if (c->variable)
        setenv(c->variable, c->value, 1);
    sigprocmask(SIG_SETMASK, mask, NULL);
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

bool follow_program(char **argv, const struct follow_calls *calls, int *status, struct err *e)
{
    struct following f = {.calls = calls};
    struct sigaction before[2], ignore = {.sa_handler = SIG_IGN};
    int go[2] = {-1, -1}, failure[2] = {-1, -1}, error = 0;
    sigset_t child, mask;
    if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
        err_errno(e, "pipe", errno);
        follow_close(go);
        return false;
    }
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &mask);
    pid_t pid = follow_start(argv, calls, go, failure, &mask);
    if (pid < 0) {
        err_errno(e, "fork", errno);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        follow_close(go);
        follow_close(failure);
        return false;
    }
    close(go[0]);
    close(failure[1]);
    sigaction(SIGINT, &ignore, &before[0]); /* they are the program's */
    sigaction(SIGQUIT, &ignore, &before[1]);
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL |
                   (calls->leaving ? PTRACE_O_TRACEEXIT : 0);
    bool ok = !ptrace(PTRACE_SEIZE, pid, 0, options);
    if (!ok)
        err_set(e, "%s: cannot be followed: ptrace is refused (%s)", argv[0], strerror(errno));
    if (ok) {
        if (calls->began)
            calls->began(calls->context, pid, true, false);
        (void)!write(go[1], "", 1);
    }
    close(go[1]);
    struct err ignored;
    ok = follow_run(&f, pid, status, ok ? e : &ignored) && ok;
    if (ok && read(failure[0], &error, sizeof error) == sizeof error && error)
        ok = err_errno(e, argv[0], error);
    close(failure[0]);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGQUIT, &before[1], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    map_deinit(&f.process_of);
    return ok;
}

/* --- the linker's sign --------------------------------------------------------------------------
 */

int follow_memory_open(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    return open(path, O_RDWR | O_CLOEXEC);
}

bool follow_memory_write(int memory, uint64_t at, const void *bytes, size_t len)
{
    return pwrite(memory, bytes, len, (off_t)at) == (ssize_t)len;
}

uint64_t follow_linker_place(struct object *o, uint64_t bias)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (!strcmp(symbols[i].name, "_dl_debug_state"))
            return symbols[i].address + bias;
    return 0;
}

/* The function is a return, perhaps behind a mark for jumps (endbr): the caller is gone back to.
 * One that does more gets its first bytes back, runs, and is not seen again. */
bool follow_linker_return(pid_t pid, pid_t tid, uint64_t at, struct bytes code, uint8_t word)
{
    static const uint8_t MARK[] = {0xf3, 0x0f, 0x1e};
    const struct arch *arch = arch_own();
    long pc = arch->calls->pc * (long)sizeof(long), sp = arch->calls->sp * (long)sizeof(long);
    if (code.len == 4 && !memcmp(code.at, MARK, sizeof MARK))
        return !ptrace(PTRACE_POKEUSER, tid, pc, at + 4);
    bool is_return = code.len && (code.at[0] == 0xc3 ||
                                  (code.len > 1 && code.at[0] == 0xf3 && code.at[1] == 0xc3));
    uint64_t to = 0;
    errno = 0;
    uint64_t stack = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, sp, 0);
    int memory = follow_memory_open(pid);
    bool ok = is_return && !errno && memory >= 0 &&
              pread(memory, &to, word, (off_t)stack) == (ssize_t)word &&
              !ptrace(PTRACE_POKEUSER, tid, pc, to) &&
              !ptrace(PTRACE_POKEUSER, tid, sp, stack + word);
    if (!ok && memory >= 0)
        ok = follow_memory_write(memory, at, code.at, arch->breakpoint_len) &&
             !ptrace(PTRACE_POKEUSER, tid, pc, at);
    if (memory >= 0)
        close(memory);
    return ok;
}

/* Programs that cannot be traced, or not all the time.
 *
 * A thread has one tracer, and some programs notice that they have one. What such a program needs
 * is read out of its file after each exec, never guessed from its name:
 *
 *   rights of its file (setuid, ...)   left alone: the kernel refuses them to what is traced, so
 *                                      it is executed again, untraced, before it has run
 *   no permission to read it           left alone: it may have rights, which it has lost by then
 *   a leak checker                     left alone: it traces its own threads when it ends
 *   a call of ptrace()                 recorded until it uses it
 *
 * A debugger cannot have the threads that we have, and only its call shows in time that it wants
 * them. So the threads of a program with ptrace() in its code, and of what it forks, are stopped at
 * each system call, before it begins (PTRACE_SYSCALL in place of PTRACE_CONT). At a call of
 * ptrace() that wants a thread of ours, that one is let go first, and for good; the caller waits in
 * its stop until it is. Most such programs only have the call, for a crash that does not come: they
 * are recorded whole, at the cost of two stops a call, which is reported.
 *
 * One that makes more than a few calls is let go, with all others that are watched, as it might ask
 * for their threads: where stops wake us all the time, looks do not come by chance, and find calls.
 * Where the kernel does not report what a stop is at (before Linux 5.3), the program is let go.
 *
 * The CPU time of what is left alone is read now and then, and reported as not seen. What it used
 * after the last look, and what it started, is in no clock once it has ended, but in the account of
 * its parent: the monitor adds that (monitor_account()). */
#include "record/ptrace/ptrace_conflict.h"

#include "record/ptrace/ptrace_private.h"

#include "arch/arch.h"
#include "objfile/object.h"
#include "record/clocks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define WATCHED                                                                                  \
    "a program with ptrace() in its code was stopped at each system call, to be let go when it " \
    "uses it: its calls took longer"

#define WITHOUT_RIGHTS                                                                           \
    "a program ran without the rights of its file (setuid, setgid or file capabilities), as it " \
    "was traced when it was executed, and was left alone; record it as root"

enum {
    PATH_BYTES = 64,
    MOST_KNOWN = 10000, /* files */
    LEFT_LOOK_NS = 50000000,
    PTRACE_OF_I386 = 26, /* the number of the call */
};

/* Messages about what is left alone. */
static const char *const conflict_texts[TRACED_KINDS] = {
    [TRACED_TRACER] =
        "a program that another one traces, as debuggers do, or that may trace others "
        "and makes many calls, was left alone with what it starts; perf events would record it",
    [TRACED_LEAKS] = "a program with a leak checker, which needs ptrace, was left alone; perf "
                     "events would see it",
    [TRACED_RIGHTS] = SOURCE_OTHER_RIGHTS,
    [TRACED_UNREAD] =
        "a program that its user may not read was left alone; if its file gives it rights (setuid, "
        "setgid or file capabilities), it ran without them, as it was traced; record it as root",
};

/* --- what a file says ------------------------------------------------------------------------ */

/* The superuser's programs get their rights even while traced. */
bool ptrace_conflict_has_rights(const char *path)
{
    struct statvfs system;
    struct stat file;
    if (geteuid() == 0 || stat(path, &file) || !S_ISREG(file.st_mode))
        return false;
    bool is_set = (file.st_mode & S_ISUID && file.st_uid != geteuid()) ||
                  (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getegid());
    return (statvfs(path, &system) || !(system.f_flag & ST_NOSUID)) &&
           (is_set || getxattr(path, "security.capability", NULL, 0) > 0);
}

static enum ptrace_conflict conflict_of_file(const char *path)
{
    if (ptrace_conflict_has_rights(path))
        return TRACED_RIGHTS;
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (!o)
        return TRACED_WELL;
    const struct object_facts *facts = object_facts(o);
    bool has_checker =
        object_mentions(o, "__lsan_do_leak_check") || object_mentions(o, "__lsan_init");
    for (size_t i = 0; i < facts->needed_len; i++)
        has_checker |=
            !strncmp(facts->needed[i], "libasan.", 8) || !strncmp(facts->needed[i], "liblsan.", 8);
    bool has_ptrace = object_mentions(o, "ptrace");
    object_close(o);
    return has_checker ? TRACED_LEAKS : has_ptrace ? TRACED_TRACER : TRACED_WELL;
}

/* Of programs that may trace, those with lines are the user's own and are traced all the same. */
const char *ptrace_conflict_text(const char *path, bool is_started, bool *may_trace)
{
    struct stat file;
    *may_trace = false;
    if (stat(path, &file))
        return NULL;
    switch (conflict_of_file(path)) {
    case TRACED_LEAKS: return "has a leak checker, which needs ptrace";
    case TRACED_RIGHTS: return PTRACE_KEEPS_RIGHTS;
    case TRACED_TRACER: break;
    default: return NULL;
    }
    struct object *o = is_started ? object_open(path, NULL, NULL, NULL) : NULL;
    bool is_others = o && !object_has_debug_info(o);
    object_close(o);
    *may_trace = !is_others;
    return is_others ? "may trace others, as debuggers do" : NULL;
}

/* For the program that a process has just executed. Files are known by inode and time of change: a
 * script may start thousands of the same. */
enum ptrace_conflict ptrace_conflict_of(struct traced_files *known, pid_t pid)
{
    char path[PATH_BYTES];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)proc_living(pid));
    if (stat(path, &file))
        return errno == EACCES ? TRACED_UNREAD : TRACED_WELL;
    uint64_t changed = (uint64_t)file.st_ctim.tv_sec * 1000000000 + (uint64_t)file.st_ctim.tv_nsec;
    if (known->by_inode.len > MOST_KNOWN)
        traced_files_deinit(known);
    bool is_new;
    uint32_t *why = map_at(&known->by_inode, (uint64_t)file.st_ino ^ (uint64_t)file.st_dev << 40,
                           changed, TRACED_WELL, &is_new);
    if (is_new)
        *why = conflict_of_file(path);
    return *why;
}

void traced_files_deinit(struct traced_files *known)
{
    map_deinit(&known->by_inode);
    *known = (struct traced_files){0};
}

/* --- what is left alone ---------------------------------------------------------------------- */

/* An entry of the program's auxiliary vector: the address of a kind; 0: nothing. */
static uint64_t rights_told(const Elf64_auxv_t *told, size_t len, uint64_t kind)
{
    for (size_t i = 0; i < len && told[i].a_type != AT_NULL; i++)
        if (told[i].a_type == kind)
            return told[i].a_un.a_val;
    return 0;
}

/* Whether the name by which the program was executed still leads to its file. */
static bool rights_name_holds(pid_t pid, uint64_t at)
{
    char name[4096], path[4096 + PATH_BYTES];
    struct stat named, file;
    size_t len = proc_read_memory(pid, at, name, sizeof name); /* as far as the stack goes */
    if (!len || !*name || !memchr(name, 0, len))
        return false;
    snprintf(path, sizeof path, "/proc/%d/%s%s", (int)pid, *name == '/' ? "root" : "cwd/", name);
    if (stat(path, &named))
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return !stat(path, &file) && file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

/* On to the end of the call that a thread is stopped in, which the kernel gives its result first.
 */
static bool rights_end_call(pid_t pid)
{
    siginfo_t info = {0};
    int status;
    return !ptrace(PTRACE_SYSCALL, pid, 0, 0) &&
           !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL) &&
           info.si_code == CLD_TRAPPED && waitpid(pid, &status, WNOHANG | __WALL) == pid &&
           WIFSTOPPED(status) && WSTOPSIG(status) == AT_CALL;
}

/* A program that has just been executed, without the rights of its file because it is traced, makes
 * the same call again once it is let go: with its own name, arguments and environment, which are
 * where the kernel has put them, by an instruction in the kernel's page of every process. False: it
 * cannot, and runs as it is. */
static bool rights_execute_again(pid_t pid)
{
    const struct arch *arch = arch_own();
    const struct call_convention *of = arch && arch->calls ? &arch->calls->of[0] : NULL;
    uint64_t words[128], arguments;
    struct iovec registers = {words, sizeof words};
    Elf64_auxv_t told[64];
    uint8_t page[4096];
    char path[PATH_BYTES];
    if (!of || !of->code[0] || of->word != sizeof(long) ||
        ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &registers) ||
        registers.iov_len > sizeof words || (arch->mode_word && words[arch->mode_word] != of->mode))
        return false;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, told, sizeof told);
    if (fd >= 0)
        close(fd);
    size_t told_len = len < 0 ? 0 : (size_t)len / sizeof *told;
    uint64_t name = rights_told(told, told_len, AT_EXECFN), sp = words[arch->calls->sp];
    uint64_t code = rights_told(told, told_len, AT_SYSINFO_EHDR);
    const uint8_t *call = NULL;
    for (uint64_t at = code; code && !call && ptrace_memory_read(pid, at, page, sizeof page);) {
        call = memmem(page, sizeof page, of->code, sizeof of->code);
        code = call ? at + (uint64_t)(call - page) : code;
        at += sizeof page;
    }
    if (!call || !name || !rights_name_holds(pid, name) ||
        !ptrace_memory_read(pid, sp, &arguments, sizeof arguments) || !rights_end_call(pid))
        return false;
    words[of->arguments[0]] = name;
    words[of->arguments[1]] = sp + sizeof(long);
    words[of->arguments[2]] = sp + (arguments + 2) * sizeof(long);
    words[arch->calls->result] = SYS_execve;
    words[arch->syscall_word] = ~UINT64_C(0); /* no call is to be made again by the kernel */
    words[arch->calls->pc] = code;
    return !ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &registers);
}

bool ptrace_leave_if_needed(struct ptrace_source *s, struct ptrace_thread *t)
{
    pid_t pid = t->process->pid;
    enum ptrace_conflict why = ptrace_conflict_of(&s->files, pid);
    if (why == TRACED_TRACER) {
        t->process->is_watched = true;
        collector_lose(s->collector, RECORDING_LOST_OTHER, WATCHED, 1, 0);
    }
    if (why == TRACED_WELL || why == TRACED_TRACER)
        return false;
    const char *text = conflict_texts[why];
    if (why == TRACED_RIGHTS && !rights_execute_again(pid))
        text = WITHOUT_RIGHTS;
    uint64_t cpu = proc_process_cpu(pid);
    if (ptrace(PTRACE_DETACH, pid, 0, 0))
        return false;
    vec_push(&s->left, (struct ptrace_left){pid, text, cpu, cpu});
    ptrace_threads_remove(&s->threads, t);
    return true;
}

/* False: it has ended, and what it used since the last look is not known here. */
static bool left_look(struct ptrace_left *p)
{
    uint64_t cpu = proc_process_cpu(p->pid);
    if (cpu < p->cpu_ns)
        return false;
    p->cpu_ns = cpu;
    return true;
}

static void left_report(struct ptrace_source *s, const struct ptrace_left *p)
{
    collector_lose(s->collector, RECORDING_LOST_UNSEEN, p->why, 1, p->cpu_ns - p->start_ns);
}

/* What has ended is reported at once: its number may be another's soon. */
void ptrace_look_at_left(struct ptrace_source *s, uint64_t now_ns)
{
    if (now_ns < s->next_left_ns)
        return;
    s->next_left_ns = now_ns + LEFT_LOOK_NS;
    for (size_t i = s->left.len; i-- > 0;)
        if (!left_look(&s->left.at[i])) {
            left_report(s, &s->left.at[i]);
            s->left.at[i] = s->left.at[--s->left.len];
        }
}

void ptrace_report_left(struct ptrace_source *s)
{
    for (size_t i = 0; i < s->left.len; i++) {
        left_look(&s->left.at[i]);
        left_report(s, &s->left.at[i]);
    }
    s->left.len = 0;
}

/* --- programs that may trace ----------------------------------------------------------------- */

/* Lets a stopped thread go, with a signal or none, and the one that waits for that. The CPU time of
 * a process is unseen once its last thread is. */
static void watch_let_go(struct ptrace_source *s, struct ptrace_thread *t, int number)
{
    pid_t caller = t->wanted_by, pid = t->process->pid;
    uint64_t cpu = ptrace_leave_over(s, t);
    t->wanted_by = 0;
    if (t->process->has_executed)
        collector_thread_cpu(s->collector, pid, t->tid, cpu - t->base_ns);
    cpu = proc_process_cpu(pid);
    if (t->process->threads == 1)
        vec_push(&s->left, (struct ptrace_left){pid, conflict_texts[TRACED_TRACER], cpu, cpu});
    ptrace(PTRACE_DETACH, t->tid, 0, (long)number);
    ptrace_threads_remove(&s->threads, t);
    if (caller > 0)
        ptrace(PTRACE_SYSCALL, caller, 0, 0);
}

bool ptrace_watch_wanted(struct ptrace_source *s, struct ptrace_thread *t, int event, int number)
{
    bool is_signal = event == 0 && number != AT_CALL;
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

/* Starting takes some calls in any program; after them, more than 200 a second. */
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

bool ptrace_watch_call(struct ptrace_source *s, struct ptrace_thread *t)
{
    struct __ptrace_syscall_info call;
    if (!t->process->is_watched || s->is_finished)
        return false;
    if (watch_is_flood(t->process)) {
        /* With all other threads of watched processes, each at its next stop. */
        for (size_t i = 0; i < s->threads.at.len; i++) {
            struct ptrace_thread *other = &s->threads.at.at[i];
            if (other->process->is_watched && other != t && !other->is_ending &&
                !other->wanted_by && !ptrace(PTRACE_INTERRUPT, other->tid, 0, 0))
                other->wanted_by = NONE_WAITS;
        }
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

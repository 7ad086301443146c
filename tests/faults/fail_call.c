/* Runs a command and fails its N-th system call of a set; it sees those of libc and of code that
 * asks the kernel itself, of all threads and child processes.
 *
 * usage: fail_call [-n N] [-a] [-e ERRNO] [-o NAME,...] [-m] [-p PROGRAM] [-c FILE] COMMAND...
 *
 *   -n N        fail the N-th, from 1 (default: none)        -a  and all after it
 *   -e ERRNO    with this, a name or number (default EIO)
 *   -o NAMES    count these calls only (default: all that calls[] marks as `usual`)
 *   -m          count from where fail_nth.so, preloaded, says that the loader is done
 *   -p PROGRAM  count in processes of that name alone (/proc/PID/comm)
 *   -c FILE     write how many there were: `total NUMBER`, then `NAME NUMBER` a line
 *
 * The exit status is the command's, 128 + N if signal N ended it, 125 if this program itself
 * failed, 77 on machines whose registers it does not know. It needs no root: the calls stop at a
 * seccomp filter, and ptrace answers them. A command that traces others cannot be run with it. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
    puts("the registers of this machine are not known");
    return 77;
}
#else

#define FAIL_MARK 0x6d6e7263

static struct call {
    const char *name;
    int number;
    bool usual;
    bool chosen;
    unsigned long seen;
} calls[] = {
    {"open", SYS_open, true, false, 0},
    {"openat", SYS_openat, true, false, 0},
    {"creat", SYS_creat, true, false, 0},
    {"read", SYS_read, true, false, 0},
    {"pread64", SYS_pread64, true, false, 0},
    {"readv", SYS_readv, true, false, 0},
    {"write", SYS_write, true, false, 0},
    {"pwrite64", SYS_pwrite64, true, false, 0},
    {"writev", SYS_writev, true, false, 0},
    {"close", SYS_close, true, false, 0},
    {"fsync", SYS_fsync, true, false, 0},
    {"fdatasync", SYS_fdatasync, true, false, 0},
    {"ftruncate", SYS_ftruncate, true, false, 0},
    {"fallocate", SYS_fallocate, true, false, 0},
    {"rename", SYS_rename, true, false, 0},
    {"renameat", SYS_renameat, true, false, 0},
    {"renameat2", SYS_renameat2, true, false, 0},
    {"link", SYS_link, true, false, 0},
    {"linkat", SYS_linkat, true, false, 0},
    {"unlink", SYS_unlink, true, false, 0},
    {"unlinkat", SYS_unlinkat, true, false, 0},
    {"mkdir", SYS_mkdir, true, false, 0},
    {"mkdirat", SYS_mkdirat, true, false, 0},
    {"stat", SYS_stat, true, false, 0},
    {"lstat", SYS_lstat, true, false, 0},
    {"fstat", SYS_fstat, true, false, 0},
    {"newfstatat", SYS_newfstatat, true, false, 0},
    {"statx", SYS_statx, true, false, 0},
    {"access", SYS_access, true, false, 0},
    {"lseek", SYS_lseek, true, false, 0},
    {"getdents64", SYS_getdents64, true, false, 0},
    {"readlink", SYS_readlink, true, false, 0},
    {"getcwd", SYS_getcwd, false, false, 0}, /* asks no disk */
    {"fchmod", SYS_fchmod, true, false, 0},
    {"flock", SYS_flock, true, false, 0},
    {"fcntl", SYS_fcntl, true, false, 0},
    {"mmap", SYS_mmap, false, false, 0},
    {"mremap", SYS_mremap, false, false, 0},
    {"clone", SYS_clone, false, false, 0},
    {"clone3", SYS_clone3, false, false, 0},
    {"pipe2", SYS_pipe2, false, false, 0},
    {"socket", SYS_socket, false, false, 0},
    {"memfd_create", SYS_memfd_create, false, false, 0},
    {"perf_event_open", SYS_perf_event_open, false, false, 0},
    {"timer_create", SYS_timer_create, false, false, 0},
    {"prctl", SYS_prctl, false, false, 0}, /* always stops: the mark */
};
enum { CALLS = sizeof calls / sizeof *calls };

static const struct {
    const char *name;
    int value;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
              {"EACCES", EACCES}, {"ENOLCK", ENOLCK}, {"EINTR", EINTR},   {"ENOENT", ENOENT},
              {"EAGAIN", EAGAIN}, {"EPERM", EPERM},   {"EROFS", EROFS},   {"EDQUOT", EDQUOT},
              {"EEXIST", EEXIST}, {"EINVAL", EINVAL}, {"EFBIG", EFBIG},   {"ENFILE", ENFILE},
              {"ENOSYS", ENOSYS}, {"ENXIO", ENXIO}};

struct plan {
    unsigned long nth, seen;
    bool all_after, waits_for_mark;
    int error;
    const char *count_file, *program;
};

static int error_named(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(errors[i].name, name))
            return errors[i].value;
    return atoi(name);
}

static bool choose(const char *list)
{
    size_t found = 0, wanted = 0;
    for (const char *at = list; *at; wanted++) {
        size_t len = strcspn(at, ",");
        for (size_t i = 0; i < CALLS; i++)
            if (strlen(calls[i].name) == len && !memcmp(calls[i].name, at, len))
                found += calls[i].chosen = true;
        at += len + (at[len] == ',');
    }
    return found == wanted;
}

static void child(char **argv)
{
    struct sock_filter code[2 * CALLS + 8];
    unsigned short n = 0;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        if (!calls[i].chosen && calls[i].number != SYS_prctl)
            continue;
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (unsigned)calls[i].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = n, .filter = code};
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(125);
    execvp(*argv, argv);
    _exit(125);
}

static bool is_meant(const struct plan *plan, pid_t pid)
{
    char path[64], comm[32] = "";
    if (!plan->program)
        return true;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(path, "re");
    if (!in || !fgets(comm, sizeof comm, in))
        comm[0] = '\0';
    if (in)
        fclose(in);
    comm[strcspn(comm, "\n")] = '\0';
    return !strncmp(comm, plan->program, 15);
}

/* A call stopped at the filter: counts it, and answers it with the error if it is the one. */
static void stopped(struct plan *plan, pid_t pid)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, pid, 0, &r))
        return;
    if (r.orig_rax == SYS_prctl && r.rdi == FAIL_MARK)
        plan->waits_for_mark = false;
    if (plan->waits_for_mark || !is_meant(plan, pid))
        return;
    for (size_t i = 0; i < CALLS; i++) {
        if (!calls[i].chosen || (unsigned)calls[i].number != r.orig_rax)
            continue;
        calls[i].seen++;
        plan->seen++;
        if (plan->nth && (plan->seen == plan->nth || (plan->all_after && plan->seen > plan->nth))) {
            r.orig_rax = (unsigned long long)-1;
            r.rax = (unsigned long long)-plan->error;
            ptrace(PTRACE_SETREGS, pid, 0, &r);
        }
    }
}

/* Until the command itself has ended; its wait status. */
static int trace(struct plan *plan, pid_t first)
{
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int status, result = 125 << 8;
    pid_t pid = waitpid(first, &status, 0);
    if (pid != first || !WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, first, 0, options))
        return result;
    ptrace(PTRACE_CONT, first, 0, 0);
    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            if (pid == first)
                result = status;
            continue;
        }
        int event = status >> 16, signal = event ? 0 : WSTOPSIG(status);
        if (event == PTRACE_EVENT_SECCOMP)
            stopped(plan, pid);
        /* The stop with which a new thread or process begins is nobody's signal. */
        if (signal == SIGSTOP)
            signal = 0;
        ptrace(PTRACE_CONT, pid, 0, signal);
    }
    return result;
}

static void write_counts(const struct plan *plan)
{
    FILE *out = fopen(plan->count_file, "we");
    if (!out)
        return;
    fprintf(out, "total %lu\n", plan->seen);
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].seen)
            fprintf(out, "%s %lu\n", calls[i].name, calls[i].seen);
    fclose(out);
}

static bool parse(struct plan *plan, int argc, char **argv)
{
    bool some = false;
    for (int c; (c = getopt(argc, argv, "+n:ae:o:mp:c:")) != -1;) {
        switch (c) {
        case 'n': plan->nth = strtoul(optarg, NULL, 10); break;
        case 'a': plan->all_after = true; break;
        case 'e': plan->error = error_named(optarg); break;
        case 'o':
            some = true;
            if (!choose(optarg))
                return false;
            break;
        case 'm': plan->waits_for_mark = true; break;
        case 'p': plan->program = optarg; break;
        case 'c': plan->count_file = optarg; break;
        default: return false;
        }
    }
    for (size_t i = 0; i < CALLS && !some; i++)
        calls[i].chosen = calls[i].usual;
    return optind < argc && plan->error > 0;
}

int main(int argc, char **argv)
{
    struct plan plan = {.error = EIO};
    if (!parse(&plan, argc, argv)) {
        fputs("fail_call: bad options; the head of fail_call.c has them\n", stderr);
        return 125;
    }
    pid_t pid = fork();
    if (!pid)
        child(argv + optind);
    int status = pid > 0 ? trace(&plan, pid) : 125 << 8;
    if (plan.count_file)
        write_counts(&plan);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
#endif

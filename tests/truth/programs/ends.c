/* Programs that end, or go on, in ways that take things from a recorder inside them: without exit
 * handlers, by signals, in a sandbox, without their file, from memory that has none. */
#include "truth.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

TRUTH_WORK(before)
TRUTH_WORK(after)

/* Whatever is not needed to work, tell and leave kills the program. */
static void sandbox(void)
{
    static const struct sock_filter RULES[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof RULES / sizeof *RULES, (struct sock_filter *)RULES};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(91);
}

static void leave(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "abort"))
        abort();
}

static void defaults(void)
{
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
}

/* Executes a copy of the program that is in memory alone. */
static void from_memory(void)
{
    char *const argv[] = {(char *)"ends", (char *)"copied", NULL}, piece[1 << 16];
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = memfd_create("ends", MFD_CLOEXEC);
    for (ssize_t len; (len = read(from, piece, sizeof piece)) > 0;)
        if (write(to, piece, (size_t)len) != len)
            _exit(98);
    fexecve(to, argv, environ);
    _exit(97);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    if (!strcmp(how, "memory"))
        from_memory();
    truth_open();
    truth_self("before", before, 0.3);
    if (!strcmp(how, "sandbox"))
        sandbox();
    else if (!strcmp(how, "defaults"))
        defaults();
    else if (!strcmp(how, "deleted"))
        unlink(argv[0]);
    truth_self("after", after, 0.9);
    truth_end();
    leave(how);
    return 0;
}

/* For programs that make system calls and check what comes of them: each kind of call is made again
 * and again for some time, and is right or wrong.
 *
 * usage: PROGRAM SECONDS [-s|-f] [NAME...]: so long for each kind. -s: a child sends signals
 * meanwhile that this program ignores, 1000 a second. -f: the same, and a filter ends the program
 * if restart_syscall() is called, which it never does. Prints `NAME wrong COUNT of COUNT` for each,
 * and what was wrong first. */
#ifndef MONARC_TESTS_TRUTH_CALLS_H
#define MONARC_TESTS_TRUTH_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 20, WAIT_US = 1500, SOCKET_WAIT_US = 25000, MESSAGES = 64, TEXTS = 200 };

static char why[TEXTS];

/* Says what a call returned, and that it is not what it must be. */
static bool is(const char *what, long result, long expected)
{
    if (result == expected)
        return true;
    if (!why[0])
        snprintf(why, sizeof why, "%s: %ld for %ld, errno %d", what, result, expected,
                 result < 0 ? errno : 0);
    return false;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Not before its time; and not after twice that and a second, on a busy machine. */
static bool lasts(const char *what, double start)
{
    double s = now_s() - start;
    return is(what, s < WAIT_US * 0.98e-6 ? -1 : s > 1 + WAIT_US * 2e-6 ? 1 : 0, 0);
}

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(90);
}

static struct timespec pause_time(void)
{
    return (struct timespec){0, WAIT_US * 1000};
}

struct kind {
    const char *name;
    bool (*make)(void);
};

/* Signals that nobody hears, to the first thread: one that comes to the process can wake a thread
 * and be taken by another, and then nobody sees why the first has been woken. */
static pid_t send_signals(void)
{
    pid_t us = getpid(), pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (struct timespec t = {0, 900000};; nanosleep(&t, NULL))
        if (syscall(SYS_tgkill, us, us, SIGWINCH))
            _exit(0);
}

static void forbid_restarts(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, rules};
    need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
             !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
         "seccomp");
}

static bool is_wanted(const char *name, char **wanted)
{
    bool is = !*wanted;
    for (; *wanted; wanted++)
        is |= !strcmp(*wanted, name);
    return is;
}

static int make_all(int argc, char **argv, const struct kind *kinds, size_t n)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.2;
    bool has_filter = argc > 2 && !strcmp(argv[2], "-f");
    bool has_signals = has_filter || (argc > 2 && !strcmp(argv[2], "-s"));
    pid_t sender = has_signals ? send_signals() : 0;
    if (has_filter)
        forbid_restarts();
    for (size_t i = 0; i < n; i++) {
        int all = 0, wrong = 0;
        if (!is_wanted(kinds[i].name, argv + (argc > 1 ? 2 : 1) + has_signals))
            continue;
        why[0] = 0;
        for (double end = now_s() + seconds; now_s() < end || !all; all++)
            wrong += !kinds[i].make();
        printf("%s wrong %d of %d%s%s\n", kinds[i].name, wrong, all, wrong ? ": " : "", why);
        fflush(stdout);
    }
    if (sender) {
        kill(sender, SIGKILL);
        waitpid(sender, NULL, 0);
    }
    return 0;
}

#endif

/* monitored MODE: what a program under a monitor may do, and what it may find changed. */
#define _GNU_SOURCE
#include "counting.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <monarc/runtime.h>

/* There only where the recorder is. */
#pragma weak monarc_rt_phase
#pragma weak monarc_rt_region_begin
#pragma weak monarc_rt_region_end
#pragma weak monarc_rt_start
#pragma weak monarc_rt_stop
#pragma weak monarc_rt_reset
#pragma weak monarc_rt_dump
#pragma weak monarc_rt_snapshot

COUNTED(before)
COUNTED(after)
COUNTED(in_thread)
COUNTED(in_child)

static void times(int n, void (*f)(void))
{
    for (int i = 0; i < n; i++)
        f();
}

/* Calls from many places: more than a table of the first size takes. */
#define CALL       after();
#define TEN(m)     m m m m m m m m m m
#define CALLS_1000 TEN(TEN(TEN(CALL)))

NOINLINE static void from_1000_places(void)
{
    CALLS_1000
}

static void say(const char *line)
{
    if (write(1, line, strlen(line)) < 0)
        _exit(9);
}

static void filter(const struct sock_filter *code, unsigned short n, int by_syscall)
{
    struct sock_fprog program = {n, (struct sock_filter *)code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int failed = by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                           SECCOMP_FILTER_FLAG_TSYNC, &program)
                            : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (failed)
        _exit(8);
}

#define LOAD       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ON(n, how) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, how)
#define ALLOW(n)   ON(n, SECCOMP_RET_ALLOW)
#define KILL(n)    ON(n, SECCOMP_RET_KILL_PROCESS)

/* Nothing but read, write, exit and sigreturn. */
static void strict(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        _exit(8);
}

static void narrow(int by_syscall)
{
    static const struct sock_filter code[] = {
        LOAD,
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_exit),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    filter(code, sizeof code / sizeof *code, by_syscall);
}

/* Threads may still be made, and children; what the recorder asks the kernel for is death. */
static void wide(void)
{
    static const struct sock_filter code[] = {
        LOAD,
        KILL(SYS_openat),
        KILL(SYS_mkdirat),
        KILL(SYS_ftruncate),
        KILL(SYS_fallocate),
        KILL(SYS_readlinkat),
        KILL(SYS_getcwd),
        KILL(SYS_getpid),
        KILL(SYS_getppid),
        KILL(SYS_clock_gettime),
        KILL(SYS_sched_yield),
        KILL(SYS_perf_event_open),
        KILL(SYS_timer_create),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(code, sizeof code / sizeof *code, 0);
}

static void *in_sandbox(void *unused)
{
    times(1000, in_thread);
    return unused;
}

static int threads_in_sandbox(void)
{
    pthread_t id[50];
    for (int i = 0; i < 50; i++)
        pthread_create(&id[i], NULL, in_sandbox, NULL);
    for (int i = 0; i < 50; i++)
        pthread_join(id[i], NULL);
    from_1000_places();
    expect("in_thread", 50000);
    expect("after", 1000);
    return 0;
}

static int child_in_sandbox(void)
{
    pid_t child = fork();
    if (child == 0) {
        times(5, in_child);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    from_1000_places();
    expect("after", 1000);
    return status;
}

static int sandboxed(const char *how)
{
    times(1234, before);
    expect("before", 1234);
    if (!strcmp(how, "threads") || !strcmp(how, "child"))
        wide();
    else if (!strcmp(how, "strict"))
        strict();
    else
        narrow(!strcmp(how, "syscall"));
    if (!strcmp(how, "threads"))
        return threads_in_sandbox();
    if (!strcmp(how, "child"))
        return child_in_sandbox();
    from_1000_places();
    from_1000_places();
    times(7, in_child);
    monarc_rt_phase("sandboxed");
    if (monarc_rt_dump("somewhere") == 0)
        _exit(7);
    say("expect after 2000\nexpect in_child 7\n");
    syscall(SYS_exit, 5);
    return 0;
}

/* A filter that the kernel refuses changes nothing. */
static int refused(void)
{
    struct sock_fprog nonsense = {0, NULL};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nonsense) == 0)
        return 1;
    times(10, before);
    pid_t child = fork();
    if (child == 0) {
        times(11, in_child);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    expect("before", 10);
    expect("in_child", 11);
    return 0;
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Nothing that a program would look at is other than without. */
static int looks(void)
{
    struct sigaction now;
    sigset_t mask;
    errno = 77;
    times(100, before);
    printf("errno %d\n", errno);
    for (int i = 1; i < 65; i++)
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
            printf("signal %d has a handler\n", i);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < 65; i++)
        if (sigismember(&mask, i) == 1)
            printf("signal %d is blocked\n", i);
    printf("descriptors %d\n", count_descriptors());
    expect("before", 100);
    return 0;
}

static volatile int seen;

static void see(int number)
{
    seen = number;
}

/* All signals arranged anew, as servers do, and those arrangements hold. */
static int arranges(const char *how)
{
    static void (*handlers[])(int) = {see, SIG_IGN, SIG_DFL};
    for (int k = 0; k < 3; k++) {
        struct sigaction now;
        for (int i = 1; i < 65; i++)
            signal(i, handlers[k]);
        clock_t end = clock() + CLOCKS_PER_SEC / 20;
        while (clock() < end)
            before();
        sigaction(SIGSTKFLT, NULL, &now);
        printf("%d %d %d\n", k, now.sa_handler == handlers[k], seen);
        if (k < 2)
            raise(SIGSTKFLT);
        printf("seen %d\n", seen);
        seen = 0;
    }
    fflush(stdout);
    if (!strcmp(how, "dies"))
        raise(SIGSTKFLT);
    return 0;
}

static int chain(char **argv, int left)
{
    char number[16];
    times(100 + left, before);
    expect("before", 100 + left);
    if (left == 0)
        return 0;
    snprintf(number, sizeof number, "%d", left - 1);
    execl("/proc/self/exe", argv[0], "chain", number, (char *)NULL);
    return 1;
}

/* Children that count nothing. */
static int idle_children(int n)
{
    before();
    while (n-- > 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    expect("before", 1);
    return 0;
}

static int dies(const char *how)
{
    times(300, before);
    expect("before", 300);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "segv"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "raw"))
        syscall(SYS_exit_group, 3);
    _exit(3);
}

static int steers(void)
{
    int failed =
        monarc_rt_phase("first") | monarc_rt_region_begin("loop") | monarc_rt_region_end("loop");
    times(100, before);
    failed |= monarc_rt_stop();
    times(100, in_child);
    failed |= monarc_rt_stop();
    failed |= monarc_rt_start() | monarc_rt_start();
    times(10, after);
    failed |= monarc_rt_dump("aside") | monarc_rt_dump(NULL) | monarc_rt_snapshot("snap");
    failed |= monarc_rt_reset();
    times(3, before);
    times(4, after);
    expect("before", 3);
    expect("after", 4);
    expect("in_child", 0);
    return failed;
}

/* Ends as the recording after the last reset is to be seen, without a chance to write. */
static int resets(void)
{
    for (int i = 0; i < 1000; i++) {
        times(i, before);
        if (monarc_rt_reset() != 0)
            return 1;
    }
    times(17, before);
    expect("before", 17);
    syscall(SYS_exit_group, 0);
    return 0;
}

static void *marking(void *name)
{
    for (int i = 0; i < 100; i++)
        monarc_rt_phase(name);
    return NULL;
}

/* Marks by threads and a child, no call counted: compiled without -pg. */
static int marks(void)
{
    static char names[4][2] = {"a", "b", "c", "d"};
    pthread_t id[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&id[i], NULL, marking, names[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(id[i], NULL);
    if (fork() == 0) {
        monarc_rt_phase("child");
        _exit(0);
    }
    return wait(NULL) < 0;
}

/* A library that comes later and stays until the end. */
static int plugin(const char *path)
{
    void (*entry)(int);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 1;
    *(void **)&entry = dlsym(library, "entry");
    entry(10);
    expect("first_inner", 10);
    raise(SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *with = argc > 2 ? argv[2] : "";
    if (!strcmp(mode, "sandbox"))
        return sandboxed(with);
    if (!strcmp(mode, "refused"))
        return refused();
    if (!strcmp(mode, "looks"))
        return looks();
    if (!strcmp(mode, "arranges"))
        return arranges(with);
    if (!strcmp(mode, "chain"))
        return chain(argv, atoi(with));
    if (!strcmp(mode, "idle"))
        return idle_children(atoi(with));
    if (!strcmp(mode, "dies"))
        return dies(with);
    if (!strcmp(mode, "steers"))
        return steers();
    if (!strcmp(mode, "resets"))
        return resets();
    if (!strcmp(mode, "marks"))
        return marks();
    if (!strcmp(mode, "plugin"))
        return plugin(with);
    return 2;
}

/* Prints all that a program can find out about the circumstances it was started in, and what comes
 * of calls that wait, signals and timers: line by line, so that two runs can be compared. */
#include "truth.h"

#include <dirent.h>
#include <errno.h>
#include <linux/securebits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static int errno_at_start;

__attribute__((constructor)) static void look_first(void)
{
    errno_at_start = errno;
}

/* --- circumstances -----------------------------------------------------------------------------
 */

static void print_status(void)
{
    static const char *const WANTED[] = {"Sig",     "Shd",       "Cap",          "NoNewPrivs",
                                         "Seccomp", "Uid",       "Gid",          "Groups",
                                         "Threads", "TracerPid", "Cpus_allowed:"};
    char line[4096];
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++)
            if (!strncmp(line, WANTED[i], strlen(WANTED[i])) && strncmp(line, "SigQ", 4))
                fputs(line, stdout);
    fclose(f);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    return atoi((*a)->d_name) - atoi((*b)->d_name);
}

/* Pipes and sockets have another number in each run: only what they are is printed. */
static void print_descriptors(void)
{
    struct dirent **list;
    int n = scandir("/proc/self/fd", &list, NULL, by_number);
    for (int i = 0; i < n; i++) {
        char path[300], target[4096] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", list[i]->d_name);
        if (list[i]->d_name[0] == '.' || readlink(path, target, sizeof target - 1) < 0)
            continue;
        if (strchr(target, '['))
            *strchr(target, '[') = 0;
        int number = atoi(list[i]->d_name);
        printf("descriptor %d %s flags %x %x\n", number, strstr(target, "/proc/") ? "" : target,
               fcntl(number, F_GETFD), fcntl(number, F_GETFL));
    }
}

static void print_limits(void)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        struct rlimit limit;
        if (!getrlimit((__rlimit_resource_t)i, &limit))
            printf("limit %d %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
                   (unsigned long long)limit.rlim_max);
    }
}

/* Our own memory: what is mapped from files. */
static void print_mappings(void)
{
    char line[4096], last[4096] = "";
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f)) {
        const char *name = strchr(line, '/');
        if (name && strcmp(name, last))
            printf("mapped %s", name);
        if (name)
            strcpy(last, name);
    }
    fclose(f);
}

static void print_timers(void)
{
    for (int i = 0; i < 3; i++) {
        struct itimerval t;
        getitimer((__itimer_which_t)i, &t);
        printf("timer %d %ld %ld\n", i, (long)t.it_value.tv_sec, (long)t.it_value.tv_usec);
    }
}

static void print_state(char **argv, char **environment)
{
    int parent_signal = -1, is_reaper = -1;
    prctl(PR_GET_PDEATHSIG, &parent_signal);
    prctl(PR_GET_CHILD_SUBREAPER, &is_reaper);
    printf("errno %d\n", errno_at_start);
    for (; *argv; argv++)
        printf("argument %s\n", *argv);
    for (; *environment; environment++)
        printf("environment %s\n", *environment);
    print_status();
    print_descriptors();
    print_limits();
    print_mappings();
    print_timers();
    char here[4096];
    mode_t mask = umask(0);
    printf("folder %s, umask %o, group %d, session %d\n", getcwd(here, sizeof here), (unsigned)mask,
           (int)getpgrp(), (int)getsid(0));
    printf("nice %d, policy %d, personality %x, secure %lu, slack %d\n",
           getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), (unsigned)personality(0xffffffff),
           getauxval(AT_SECURE), prctl(PR_GET_TIMERSLACK));
    printf("parent's death %d, reaper %d, dumpable %d, secure bits %d, children %d\n",
           parent_signal, is_reaper, prctl(PR_GET_DUMPABLE), prctl(PR_GET_SECUREBITS),
           waitpid(-1, NULL, WNOHANG) < 0 ? errno : -1);
}

/* --- calls that wait ---------------------------------------------------------------------------
 */

static volatile bool is_over;

static void *work(void *unused)
{
    volatile unsigned x = 0;
    while (!is_over)
        x++;
    return unused;
}

static void told(const char *name, long result, double start, double least_s)
{
    int error = result < 0 ? errno : 0;
    printf("%s returns %ld, errno %d, %s\n", name, result, error,
           truth_wall_s() - start < least_s ? "early" : "in time");
}

/* Each waits 30 ms by time-out; nothing wakes it but somebody who disturbs. */
static void wait_all_ways(void)
{
    static const struct timespec NAP = {.tv_nsec = 30000000};
    int ends[2], sockets[2], waiter = epoll_create1(0);
    sem_t semaphore;
    sigset_t set;
    struct epoll_event event;
    char byte;
    sem_init(&semaphore, 0, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        exit(90);
    struct timeval limit = {.tv_usec = 30000};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);

    double t = truth_wall_s();
    told("nanosleep", nanosleep(&NAP, NULL), t, 0.03);
    t = truth_wall_s();
    told("poll", poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 30), t, 0.03);
    t = truth_wall_s();
    told("select", select(0, NULL, NULL, NULL, &limit), t, 0.029);
    t = truth_wall_s();
    told("epoll_wait", epoll_wait(waiter, &event, 1, 30), t, 0.03);
    t = truth_wall_s();
    told("recv", recv(sockets[0], &byte, 1, 0), t, 0.029);
    t = truth_wall_s();
    told("sigtimedwait", sigtimedwait(&set, NULL, &NAP), t, 0.03);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP.tv_nsec;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    t = truth_wall_s();
    told("sem_timedwait", sem_timedwait(&semaphore, &until), t, 0.028);
}

/* A read that the kernel cuts short where it finds anything to do for the process. */
static void read_long(void)
{
    static char buffer[4 << 20];
    int random = open("/dev/urandom", O_RDONLY), shorter = 0;
    for (int i = 0; i < 10; i++)
        shorter += read(random, buffer, sizeof buffer) != sizeof buffer;
    printf("reads cut short: %d\n", shorter);
}

static void waits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    wait_all_ways();
    is_over = true;
    pthread_join(thread, NULL);
    read_long();
}

/* --- signals -----------------------------------------------------------------------------------
 */

/* The first signal that comes, of all there are: an alarm, after some work. */
static void receive(bool by_descriptor)
{
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL);
    double start = truth_thread_s();
    while (truth_thread_s() - start < 0.03)
        ;
    if (by_descriptor) {
        struct signalfd_siginfo info;
        int fd = signalfd(-1, &all, 0);
        number = read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : -1;
    } else {
        sigwait(&all, &number);
    }
    printf("signal %d\n", number);
}

static volatile sig_atomic_t ticks, others;

static void on_signal(int number)
{
    if (number == SIGPROF)
        ticks = ticks + 1;
    else
        others = others + 1;
}

static int ticks_of_own_clock(void)
{
    struct itimerval every = {{.tv_usec = 20000}, {.tv_usec = 20000}};
    ticks = 0;
    setitimer(ITIMER_PROF, &every, NULL);
    double start = truth_thread_s();
    while (truth_thread_s() - start < 0.205)
        ;
    every = (struct itimerval){0};
    setitimer(ITIMER_PROF, &every, NULL);
    return ticks;
}

/* A handler for each signal, a profiling clock of the program's own: it gets its own ten ticks. A
 * busy machine may merge some, or add some: the kernel counts the time of this clock by its own
 * ticks, which hit a program that shares its CPU by chance. A recorder that took them away would
 * leave none, and one with such a clock would add two hundred. */
static void own_clock(void)
{
    enum { LEAST = 4, MOST = 50 };
    int most = 0;
    for (int i = 1; i < NSIG; i++)
        signal(i, on_signal);
    for (int round = 0; round < 5 && most < LEAST; round++) {
        int found = ticks_of_own_clock();
        most = found > most ? found : most;
    }
    printf("ticks %s, other signals %d\n", most >= LEAST && most <= MOST ? "as asked" : "amiss",
           others);
}

/* Blocks a signal, has it pending and executes itself: it is still pending there, alone. */
static void pending(char *self)
{
    char *argv[] = {self, (char *)"state", NULL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    execv(self, argv);
}

/* Whose child is a process whose parent is gone? */
static void orphan(void)
{
    int ends[2];
    pid_t parent = getppid();
    if (pipe(ends))
        exit(90);
    if (!fork()) {
        pid_t middle = getpid();
        if (!fork()) {
            while (getppid() == middle)
                sched_yield();
            const char *whose = getppid() == 1        ? "init's"
                                : getppid() == parent ? "ours"
                                                      : "another's";
            if (write(ends[1], whose, strlen(whose) + 1) < 0)
                _exit(1);
        }
        _exit(0);
    }
    char whose[16] = "";
    wait(NULL);
    if (read(ends[0], whose, sizeof whose) < 0)
        exit(90);
    printf("an orphan is %s\n", whose);
}

/* Its child traces it, again and again, as leak checkers and debuggers do. */
static void traced(void)
{
    int ready[2], refused = 0, status = 0;
    if (pipe(ready))
        exit(90);
    pid_t tracer = fork();
    if (!tracer) {
        char byte;
        pid_t parent = getppid();
        if (read(ready[0], &byte, 1) != 1)
            _exit(90);
        for (int i = 0; i < 20000; i++) {
            refused += ptrace(PTRACE_SEIZE, parent, 0, 0) != 0;
            ptrace(PTRACE_INTERRUPT, parent, 0, 0);
            waitpid(parent, NULL, __WALL);
            ptrace(PTRACE_DETACH, parent, 0, 0);
        }
        _exit(refused > 100 ? 100 : refused);
    }
    prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
    if (write(ready[1], "", 1) != 1)
        exit(90);
    while (!waitpid(tracer, &status, WNOHANG))
        for (int i = 0; i < 1000; i++)
            syscall(SYS_getppid);
    printf("refused: %d\n", WEXITSTATUS(status));
}

static APART void crash_here(volatile int *p)
{
    *p = 1;
}

int main(int argc, char **argv, char **environment)
{
    const char *how = argc > 1 ? argv[1] : "state";
    if (!strcmp(how, "state"))
        print_state(argv, environment);
    else if (!strcmp(how, "into") && freopen(argv[2], "w", stdout))
        print_state(argv, environment);
    else if (!strcmp(how, "waits"))
        waits();
    else if (!strcmp(how, "reads"))
        read_long();
    else if (!strcmp(how, "sigwait") || !strcmp(how, "signalfd"))
        receive(how[6] == 'd');
    else if (!strcmp(how, "clock"))
        own_clock();
    else if (!strcmp(how, "pending"))
        pending(argv[0]);
    else if (!strcmp(how, "orphan"))
        orphan();
    else if (!strcmp(how, "traced"))
        traced();
    else if (!strcmp(how, "crash"))
        crash_here((int *)0x1234);
    else if (!strcmp(how, "signal"))
        raise(atoi(argv[2]));
    else
        return atoi(how);
    return 0;
}

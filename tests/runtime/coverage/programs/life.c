/* life.c: ends in the way its first argument says, after counting. `counted` runs once a unit of
 * its argument, so that its counter tells what survived. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
int monarc_cover_dump(void);

static volatile int spent;

static void counted(void)
{
    spent++;
}

static void count(int n)
{
    for (int i = 0; i < n; i++)
        counted();
}

static void handler(int signal)
{
    (void)signal;
    count(100);
    _exit(3);
}

static void handler_that_resets(int number)
{
    count(100);
    signal(number, SIG_DFL);
    raise(number);
}

static void handler_for_once(int number)
{
    count(100);
    raise(number);
}

static void handler_that_returns(int number)
{
    (void)number;
    count(100);
}

static int overflow(int n)
{
    volatile char big[4096];
    big[0] = (char)n;
    return n == -1 ? 0 : overflow(n + 1) + big[0];
}

static void *counting_thread(void *argument)
{
    count((int)(long)argument);
    return NULL;
}

static atomic_int endless_threads;

static void *endless_thread(void *unused)
{
    (void)unused;
    counted();
    atomic_fetch_add(&endless_threads, 1);
    for (;;)
        counted();
    return NULL;
}

/* One after the other, each once it has counted: no two calls of endless_thread() race for its
 * counter, and none is still to come when the program ends. */
static void start_endless_threads(int n)
{
    pthread_t t;
    for (int i = 0; i < n; i++) {
        if (pthread_create(&t, NULL, endless_thread, NULL) != 0)
            abort();
        while (atomic_load(&endless_threads) <= i)
            sched_yield();
    }
}

static void at_exit_counts(void)
{
    count(100);
}

__attribute__((destructor)) static void destructor_counts(void)
{
    count(1000);
}

static void wait_for_all(void)
{
    while (wait(NULL) > 0)
        ;
}

static void forks(int n)
{
    count(10);
    for (int i = 0; i < n; i++) {
        pid_t p = fork();
        if (p == 0) {
            count(1);
            i % 2 ? exit(0) : _exit(0);
        }
    }
    wait_for_all();
}

static int by_signal(const char *how, int number)
{
    struct sigaction once = {.sa_handler = handler_for_once, .sa_flags = (int)SA_RESETHAND};
    count(7);
    if (!strcmp(how, "handled"))
        signal(number, handler);
    if (!strcmp(how, "resets"))
        signal(number, handler_that_resets);
    if (!strcmp(how, "once")) {
        struct sigaction old;
        if (sigaction(number, &once, &old) != 0 || old.sa_handler != SIG_DFL)
            return 90;
        if (sigaction(number, NULL, &old) != 0 || old.sa_handler != handler_for_once ||
            !(old.sa_flags & (int)SA_RESETHAND))
            return 91;
    }
    if (!strcmp(how, "ignored"))
        signal(number, SIG_IGN);
    if (!strcmp(how, "back")) { /* what a program does that cleans up after itself */
        signal(number, SIG_IGN);
        if (signal(number, SIG_DFL) != SIG_IGN || signal(number, SIG_DFL) != SIG_DFL)
            return 92;
    }
    raise(number);
    return 0;
}

static int executes(const char *how, char *self)
{
    char *argv[] = {self, (char *)"plain", (char *)"5", NULL};
    char *none[] = {(char *)"PATH=/nowhere", NULL};
    count(7);
    if (!strcmp(how, "execl"))
        execl(self, self, "plain", "5", NULL);
    if (!strcmp(how, "execlp"))
        execlp("sh", "sh", "-c", "exit 0", NULL);
    if (!strcmp(how, "execle"))
        execle(self, self, "plain", "5", NULL, none);
    if (!strcmp(how, "execv"))
        execv(self, argv);
    if (!strcmp(how, "execvp"))
        execvp(self, argv);
    if (!strcmp(how, "execve"))
        execve(self, argv, none);
    if (!strcmp(how, "execvpe"))
        execvpe(self, argv, environ);
    if (!strcmp(how, "fexecve"))
        fexecve(open(self, O_RDONLY), argv, environ);
    if (!strcmp(how, "fails")) {
        if (execv("/nowhere/at/all", argv) != -1)
            return 93;
        count(3);
        return 0;
    }
    return 94;
}

static int vforks(const char *how, char *self)
{
    char *argv[] = {self, (char *)"plain", (char *)"5", NULL};
    pid_t child;
    count(7);
    if (!strcmp(how, "spawn") && posix_spawn(&child, self, NULL, NULL, argv, environ) != 0)
        return 95;
    if (!strcmp(how, "system") && system("exit 0") != 0)
        return 96;
    if (!strcmp(how, "exit") && vfork() == 0) {
        count(1); /* in our memory */
        _exit(0);
    }
    if (!strcmp(how, "exec") && vfork() == 0) {
        execv(self, argv);
        _exit(1);
    }
    wait_for_all();
    count(3);
    return 0;
}

static int threads(int n, int each)
{
    pthread_t all[64];
    for (int i = 0; i < n; i++)
        pthread_create(&all[i], NULL, counting_thread, (void *)(long)each);
    for (int i = 0; i < n; i++)
        pthread_join(all[i], NULL);
    return 0;
}

/* Dumps while other threads count, then leaves while they do. */
static int dumps_under_threads(int n)
{
    start_endless_threads(4);
    for (int i = 0; i < n; i++)
        if (monarc_cover_dump() != 0)
            return 97;
    return 0;
}

/* A plugin counts its calls itself. */
static int plugins(char **paths, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (char **p = paths; *p; p++) {
            void *library = dlopen(*p, RTLD_NOW);
            if (!library) {
                fprintf(stderr, "%s\n", dlerror());
                return 98;
            }
            void (*work)(int);
            *(void **)&work = dlsym(library, "work");
            work(10);
            if (round % 3 == 2)
                monarc_cover_dump();
            dlclose(library);
        }
    return 0;
}

static void ends(const char *how, int n)
{
    count(n);
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "_Exit"))
        _Exit(3);
    if (!strcmp(how, "quick_exit"))
        quick_exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "overflow"))
        overflow(1);
    if (!strcmp(how, "segv"))
        *(volatile int *)(long)(spent - n) = 0;
}

static int rounds(int n, int each)
{
    for (int i = 0; i < n; i++) {
        count(each);
        if (monarc_cover_dump() != 0)
            return 97;
    }
    return 0;
}

static int bare_fork(void)
{
    count(7);
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        count(1);
        exit(0);
    }
    wait_for_all();
    return 0;
}

static int forks_under_threads(int n)
{
    start_endless_threads(4);
    for (int i = 0; i < n; i++)
        if (fork() == 0)
            _exit(0);
    wait_for_all();
    return 0;
}

static void dumps(const char *how, int n)
{
    count(n);
    if (!strcmp(how, "reset"))
        __gcov_reset();
    if (!strcmp(how, "reset") || !strcmp(how, "plain"))
        return;
    __gcov_dump();
    if (!strcmp(how, "dump-reset"))
        __gcov_reset();
    count(n);
    if (strcmp(how, "dump") != 0)
        return;
    __gcov_dump();
    __gcov_dump();
    _exit(0);
}

/* A bare system call ends it, so that only what the signal wrote is there. */
static void request(int number)
{
    count(7);
    raise(number);
    count(7);
    syscall(SYS_exit_group, 0);
}

static int steps(const char *how, int n, char **argv)
{
    if (!strcmp(how, "vfork"))
        return vforks(argv[2], argv[0]);
    if (!strcmp(how, "exec"))
        return executes(argv[2], argv[0]);
    if (!strcmp(how, "signal"))
        return by_signal(argv[2], atoi(argv[3]));
    if (!strcmp(how, "plugins"))
        return plugins(argv + 3, n);
    if (!strcmp(how, "threads"))
        return threads(n, atoi(argv[3]));
    if (!strcmp(how, "rounds"))
        return rounds(n, atoi(argv[3]));
    if (!strcmp(how, "fork-threads"))
        return forks_under_threads(n);
    if (!strcmp(how, "dumps-under-threads"))
        return dumps_under_threads(n);
    if (!strcmp(how, "bare-fork"))
        return bare_fork();
    if (!strcmp(how, "forks"))
        forks(n);
    else if (!strcmp(how, "request"))
        request(n);
    else if (!strcmp(how, "plain") || !strncmp(how, "dump", 4) || !strcmp(how, "reset"))
        dumps(how, n);
    else
        ends(how, n);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    int n = argc > 2 ? atoi(argv[2]) : 7;
    if (!strcmp(how, "atexit"))
        atexit(at_exit_counts);
    if (!strcmp(how, "daemon")) {
        count(7);
        if (daemon(1, 1) != 0)
            return 99;
        count(3);
        return 0;
    }
    if (!strcmp(how, "returns")) {
        signal(SIGTERM, handler_that_returns);
        raise(SIGTERM);
        raise(SIGTERM);
        return 0;
    }
    while (!strcmp(how, "loop")) {
        count(n);
        monarc_cover_dump();
    }
    return steps(how, n, argv);
}

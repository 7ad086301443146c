/* A program with ptrace() in its code. attach HOW SECONDS [STEPS]: `never` uses it and only spins,
 * in spin(), here and in a child; with `child`, it traces a child that spins; with `parent`, as
 * handlers of crashes do, a child traces both threads of its parent. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int other;
static double seconds;
static int pause_at = 40000000; /* between two system calls */

__attribute__((noinline)) static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void spin(void)
{
    for (double end = used() + seconds; used() < end;)
        for (volatile int i = 0; i < pause_at; i++)
            ;
}

static void *second(void *none)
{
    other = (int)syscall(SYS_gettid);
    spin();
    return none;
}

/* Stops the thread, and lets it go. */
static int trace(pid_t tid)
{
    int status;
    if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0))
        return 1;
    return waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status) ||
           ptrace(PTRACE_DETACH, tid, 0, 0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0, failed = 0, is_parent = argc > 1 && !strcmp(argv[1], "parent");
    seconds = argc > 2 ? atof(argv[2]) : 0.2;
    if (argc > 3)
        pause_at = atoi(argv[3]);
    if (is_parent && pthread_create(&thread, NULL, second, NULL))
        return 99;
    while (is_parent && !other)
        ;
    pid_t pid = fork();
    if (!pid && is_parent)
        _exit(trace(getppid()) + trace(other));
    if (!pid || is_parent)
        spin();
    if (!pid)
        _exit(0);
    if (argc > 1 && !strcmp(argv[1], "child"))
        failed = trace(pid);
    if (!is_parent)
        spin();
    waitpid(pid, &status, 0);
    if (is_parent)
        pthread_join(thread, NULL);
    printf("%s\n", failed || status ? "refused" : "traced");
    return 0;
}

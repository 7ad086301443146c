/* life MODE: the ways a process begins and ends. */
#define _GNU_SOURCE
#include "counting.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

COUNTED(before)
COUNTED(in_parent)
COUNTED(in_child)
COUNTED(late)
COUNTED(in_thread)

static void times(int n, void (*f)(void))
{
    for (int i = 0; i < n; i++)
        f();
}

/* Each child makes calls of its own; the parent's are not in its files, nor its in the parent's. */
static int forks(void)
{
    times(1000, before);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            times(100 + i, in_child);
            printf("child %d %d\n", getpid(), 100 + i);
            exit(0);
        }
        waitpid(child, NULL, 0);
        times(10, in_parent);
    }
    expect("before", 1000);
    expect("in_parent", 200);
    return 0;
}

/* A fork that libc does not know of: no handler of pthread_atfork runs. */
static int bare_fork(void)
{
    times(1000, before);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        times(100, in_child);
        printf("child %ld %d\n", syscall(SYS_getpid), 100);
        fflush(stdout);
        _exit(0);
    }
    times(300, in_parent);
    waitpid(child, NULL, 0);
    expect("before", 1000);
    expect("in_parent", 300);
    return 0;
}

static void *forking_thread(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            times(50, in_child);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        times(5, in_parent);
    }
    return unused;
}

static volatile int done;
static volatile long made;

static void *busy_thread(void *unused)
{
    while (!done) {
        in_thread();
        made++;
    }
    return unused;
}

/* Forks while another thread is in the recorder all the time. */
static int fork_threads(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, busy_thread, NULL);
    pthread_create(&b, NULL, forking_thread, NULL);
    pthread_join(b, NULL);
    done = 1;
    pthread_join(a, NULL);
    expect("in_thread", made);
    expect("in_parent", 100);
    return 0;
}

static int vforks(void)
{
    static char *const argv[] = {"true", NULL};
    times(100, before);
    for (int i = 0; i < 10; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execv("/bin/true", argv);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    posix_spawn(&(pid_t){0}, "/bin/true", NULL, NULL, argv, environ);
    times(100, in_parent);
    expect("before", 100);
    expect("in_parent", 100);
    return 0;
}

static int execs(void)
{
    times(123, before);
    expect("before", 123);
    execlp("/bin/echo", "echo", "executed", (char *)NULL);
    return 1;
}

static int exits(void)
{
    times(77, before);
    expect("before", 77);
    _exit(3);
}

static int quick(void)
{
    times(77, before);
    expect("before", 77);
    quick_exit(4);
}

static int signalled(int signal)
{
    times(55, before);
    expect("before", 55);
    if (signal == SIGSEGV)
        *(volatile int *)8 = 1;
    raise(signal);
    return 0;
}

/* Calls until killed. Each call is counted by itself, in a file mapping that outlives us as well.
 */
static int killed(void)
{
    FILE *f = fopen("counter", "w+");
    if (!f || ftruncate(fileno(f), 4096) != 0)
        return 1;
    volatile long *counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    for (;;) {
        in_thread();
        ++*counter;
    }
}

/* Destructors of thread-specific data, of the library kind, run after ours; and ones of the
 * program. */
static pthread_key_t keys[3];

static void thread_destructor(void *n)
{
    late();
    if ((long)n < 4)
        pthread_setspecific(keys[0], (void *)((long)n + 1));
}

static void *ending_thread(void *unused)
{
    times(10, in_thread);
    pthread_setspecific(keys[0], (void *)1);
    return unused;
}

static void *exiting_thread(void *unused)
{
    times(10, in_thread);
    pthread_exit(unused);
}

/* Threads by the thousand: more tables than threads at one time would be a leak. */
static int many_threads(void)
{
    pthread_t id[8];
    pthread_key_create(&keys[0], thread_destructor);
    for (int i = 0; i < 3000; i += 8) {
        for (int k = 0; k < 8; k++)
            pthread_create(&id[k], NULL, k % 2 ? ending_thread : exiting_thread, NULL);
        for (int k = 7; k >= 0; k--)
            pthread_join(id[k], NULL);
    }
    expect("in_thread", 30000);
    expect("late", 6001); /* four rounds of destructors in each second thread, and at_the_end */
    return 0;
}

__attribute__((destructor)) static void at_the_end(void)
{
    late();
}

static int destructors(void)
{
    times(10, before);
    expect("before", 10);
    expect("late", 1);
    return 0;
}

/* A task that shares its creator's TLS, as no pthread does. */
static int shared_task(void *unused)
{
    (void)unused;
    times(200000, in_child);
    syscall(SYS_exit, 0);
    return 0;
}

static int clones(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    static pid_t ended = 1;
    times(10, before);
    clone(shared_task, stack + sizeof stack,
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
              CLONE_CHILD_CLEARTID,
          NULL, NULL, NULL, &ended);
    times(200000, in_parent);
    while (*(volatile pid_t *)&ended)
        sched_yield();
    expect("before", 10);
    expect("in_child", 200000);
    expect("in_parent", 200000);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    struct {
        const char *name;
        int (*run)(void);
    } modes[] = {{"forks", forks},
                 {"bare-fork", bare_fork},
                 {"fork-threads", fork_threads},
                 {"vforks", vforks},
                 {"execs", execs},
                 {"exits", exits},
                 {"quick", quick},
                 {"killed", killed},
                 {"many-threads", many_threads},
                 {"clones", clones},
                 {"destructors", destructors}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].run();
    if (strcmp(mode, "signal") == 0 && argc > 2)
        return signalled(atoi(argv[2]));
    return 2;
}

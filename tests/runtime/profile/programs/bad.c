/* bad MODE: programs that make life hard for a recorder. */
#define _GNU_SOURCE
#include "counting.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

COUNTED(plain)
COUNTED(deep_leaf)

/* Functions by the hundred, so that tables have to grow. */
#define FOUR(m, n)    m(n##0) m(n##1) m(n##2) m(n##3)
#define SIXTEEN(m, n) FOUR(m, n##0) FOUR(m, n##1) FOUR(m, n##2) FOUR(m, n##3)
#define MANY(m, n)    SIXTEEN(m, n##0) SIXTEEN(m, n##1) SIXTEEN(m, n##2) SIXTEEN(m, n##3)
#define ALL(m)        MANY(m, 0) MANY(m, 1) MANY(m, 2) MANY(m, 3)
#define DEFINE(n)                \
    NOINLINE void many_##n(void) \
    {                            \
        sink++;                  \
    }
ALL(DEFINE)
#define CALL(n) many_##n();
NOINLINE void all_many(void)
{
    ALL(CALL)
    ALL(CALL)
    ALL(CALL)
}

static void calls(long n)
{
    for (long i = 0; i < n; i++)
        plain();
}

static void grow(void)
{
    for (int i = 0; i < 10; i++)
        all_many();
}

static void expect_all(long n)
{
    expect("plain", n);
    expect("all_many", 10);
    expect("many_0000", 30);
    expect("many_3333", 30);
}

static void *thread(void *unused)
{
    calls(100);
    grow();
    return unused;
}

static int closes_everything(void)
{
    calls(1000);
    for (int fd = 3; fd < 70000; fd++)
        close(fd);
    int mine[10];
    for (int i = 0; i < 10; i++)
        mine[i] = open("/dev/null", O_RDONLY);
    if (mine[0] != 3 || mine[9] != 12)
        return 1;
    grow();
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    for (int i = 0; i < 10; i++)
        if (close(mine[i]) != 0)
            return 1;
    expect("plain", 1100);
    expect("all_many", 20);
    return 0;
}

static int changes_directory(void)
{
    calls(1000);
    mkdir("elsewhere", 0700);
    if (chdir("elsewhere") != 0)
        return 1;
    grow();
    expect_all(1000);
    return 0;
}

/* What another program may do to the live file; what is counted afterwards is there. */
static int cuts(long left)
{
    pthread_t id;
    calls(1000);
    grow();
    (void)!truncate("bad.monarc/monarc.live", left);
    calls(500);
    grow();
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    expect("plain", 600);
    expect("all_many", 20);
    return 0;
}

static int cuts_all(void)
{
    return cuts(0);
}

static int cuts_a_half(void)
{
    return cuts(12288);
}

static void on_bus_error(int signal)
{
    (void)signal;
    expect("own", 1);
    _exit(0);
}

/* A bus error of the program's own, behind one of the recorder's. */
static int faults_by_itself(void)
{
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    volatile char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct sigaction own = {.sa_handler = on_bus_error}, old;
    calls(1000);
    if (sigaction(SIGBUS, &own, &old) != 0 || old.sa_handler == on_bus_error)
        return 3;
    cuts(0);
    at[0] = 1;
    return 4;
}

/* One of its own while pages of the recorder's are gone that nothing has touched since. */
static int faults_before_the_recorder(void)
{
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    volatile char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    calls(1000);
    grow();
    signal(SIGBUS, on_bus_error);
    (void)!truncate("bad.monarc/monarc.live", 0);
    at[0] = 1;
    return 4;
}

static int limits_file_size(void)
{
    struct rlimit none = {0, 0};
    calls(1000);
    setrlimit(RLIMIT_FSIZE, &none);
    grow();
    return 0;
}

static int limits_memory(void)
{
    struct rlimit tight = {0, RLIM_INFINITY};
    calls(1000);
    setrlimit(RLIMIT_AS, &tight);
    grow();
    calls(1000);
    tight.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_AS, &tight);
    expect_all(2000);
    return 0;
}

/* Far more arcs than the first table holds, and no memory for another one. */
static int starves_to_the_end(void)
{
#define ADDRESS(n) many_##n,
    static void (*const all[])(void) = {ALL(ADDRESS)};
    enum { ROUNDS = 3, SITES = 24 };
    struct rlimit tight = {0, RLIM_INFINITY};
    calls(1000);
    setrlimit(RLIMIT_AS, &tight);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
#define CALL_IT all[i]();
#define SIX     CALL_IT CALL_IT CALL_IT CALL_IT CALL_IT CALL_IT
            SIX SIX SIX SIX
        }
    printf("made %zu\n", ROUNDS * SITES * (sizeof all / sizeof *all));
    expect("plain", 1000);
    return 0;
}

static int starves(void)
{
    struct rlimit wide = {RLIM_INFINITY, RLIM_INFINITY};
    starves_to_the_end();
    return setrlimit(RLIMIT_AS, &wide);
}

static int limits_descriptors(void)
{
    struct rlimit few = {3, 3};
    calls(1000);
    setrlimit(RLIMIT_NOFILE, &few);
    grow();
    few.rlim_cur = few.rlim_max;
    expect_all(1000);
    return 0;
}

static pthread_barrier_t all_here;

static void *crowd_member(void *unused)
{
    calls(10);
    pthread_barrier_wait(&all_here);
    calls(10);
    return unused;
}

/* 2,000 threads at one time on small stacks. */
static int crowd(void)
{
    enum { CROWD = 2000 };
    static pthread_t id[CROWD];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_barrier_init(&all_here, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&id[i], &small, crowd_member, NULL) != 0)
            return 1;
    for (int i = 0; i < CROWD; i++)
        pthread_join(id[i], NULL);
    expect("plain", 20L * CROWD);
    return 0;
}

static void on_alternate(int signal)
{
    (void)signal;
    calls(100);
    grow();
}

static int alternate_stack(void)
{
    static char memory[8192];
    stack_t s = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction how = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    sigaltstack(&s, NULL);
    sigaction(SIGUSR1, &how, NULL);
    calls(10);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    expect("plain", 1010);
    expect("all_many", 100);
    return 0;
}

static void on_alternate_for_long(int signal)
{
    (void)signal;
    calls(30000000);
}

/* Sampled while on a stack of 8 KiB. */
static int busy_on_alternate_stack(void)
{
    static char memory[8192];
    stack_t s = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction how = {.sa_handler = on_alternate_for_long, .sa_flags = SA_ONSTACK};
    sigaltstack(&s, NULL);
    sigaction(SIGUSR1, &how, NULL);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    expect("plain", 90000000);
    return 0;
}

static void *small_member(void *unused)
{
    calls(20000000);
    return unused;
}

/* Sampled while on stacks as small as threads can have. */
static int small_stacks(void)
{
    pthread_t id[4];
    pthread_attr_t small;
    pthread_attr_init(&small);
    if (pthread_attr_setstacksize(&small, 16384) != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&id[i], &small, small_member, NULL) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(id[i], NULL);
    expect("plain", 80000000);
    return 0;
}

static jmp_buf out;

NOINLINE int deep(int n)
{
    deep_leaf();
    if (n == 0)
        longjmp(out, 1);
    return deep(n - 1) + 1;
}

static int long_jump(void)
{
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(out) == 0)
            deep(9999);
    expect("deep", 200000);
    expect("deep_leaf", 200000);
    return 0;
}

/* A filter that kills whoever asks for perf. */
static int filters(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    calls(10);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    expect_all(110);
    return 0;
}

/* Everything blocked, everything handled: the program's own arrangements stay. */
static int signal_mask(void)
{
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    calls(1000);
    grow();
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP && !sigismember(&now, s))
            return 1;
    expect_all(1000);
    return 0;
}

/* The recorder must not spoil errno, nor vector registers that carry arguments. */
NOINLINE double mix(double a, double b, double c, double d, double e, double f, double g, double h)
{
    return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h;
}

NOINLINE long mix_long(long a, long b, long c, long d, long e, long f, const char *text, ...)
{
    return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + (long)strlen(text);
}

static int registers(void)
{
    errno = 77;
    for (int i = 0; i < 3; i++) {
        if (mix(1, 1, 1, 1, 1, 1, 1, 1) != 255 || mix_long(1, 1, 1, 1, 1, 1, "abc", 1.5) != 66)
            return 1;
        all_many();
    }
    if (errno != 77)
        return 1;
    expect("mix", 3);
    expect("mix_long", 3);
    return 0;
}

int main(int argc, char **argv)
{
    struct {
        const char *name;
        int (*run)(void);
    } modes[] = {{"closes", closes_everything},
                 {"chdir", changes_directory},
                 {"cut", cuts_all},
                 {"cut-half", cuts_a_half},
                 {"bus", faults_by_itself},
                 {"bus-first", faults_before_the_recorder},
                 {"fsize", limits_file_size},
                 {"as", limits_memory},
                 {"nofile", limits_descriptors},
                 {"crowd", crowd},
                 {"altstack", alternate_stack},
                 {"longjmp", long_jump},
                 {"seccomp", filters},
                 {"mask", signal_mask},
                 {"registers", registers},
                 {"starves", starves},
                 {"starving", starves_to_the_end},
                 {"altbusy", busy_on_alternate_stack},
                 {"small", small_stacks}};
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run();
    return 2;
}

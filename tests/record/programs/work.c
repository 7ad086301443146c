/* Programs that measure their own CPU time: work MODE [NUMBER]. Each prints lines
 * `truth NAME SECONDS`, by the clock of the thread that did it. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static double thread_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define BURN(name)                                                 \
    APART static unsigned long name(unsigned long steps)           \
    {                                                              \
        unsigned long x = steps | 1;                               \
        for (unsigned long i = 0; i < steps; i++) {                \
            x = x * 6364136223846793005UL + 1442695040888963407UL; \
            __asm__ volatile("" ::"r"(x));                         \
        }                                                          \
        return x;                                                  \
    }
BURN(burn_a)
BURN(burn_b)

typedef unsigned long (*burn_function)(unsigned long);

/* Burns until the thread has had `seconds`. The clock is read rarely: it makes the scheduler look
 * whether somebody else waits for the CPU, which is where samples would come to lie. */
static void burn_for(burn_function burn, double seconds)
{
    double end = thread_cpu() + seconds;
    unsigned long steps = seconds > 0.001 ? 2000000 : 200000;
    while (thread_cpu() < end)
        burn(steps);
}

static void truth(const char *name, double seconds)
{
    printf("truth %s %.6f\n", name, seconds);
    fflush(stdout);
}

/* A quarter in user code, the rest in read(). */
static void user_kernel(double seconds)
{
    static char buffer[1 << 20];
    int zero = open("/dev/zero", O_RDONLY);
    double user = 0, kernel = 0;
    while (user + kernel < seconds) {
        double at = thread_cpu(), end;
        while (kernel < 3 * user) {
            if (read(zero, buffer, sizeof buffer) < 0)
                break;
            end = thread_cpu();
            kernel += end - at;
            at = end;
        }
        burn_a(300000);
        user += thread_cpu() - at;
    }
    truth("user", user);
    truth("kernel", kernel);
}

/* The same with short calls; the user part is timed on its own. */
static void short_calls(double seconds)
{
    static char buffer[16384];
    int zero = open("/dev/zero", O_RDONLY);
    long n = (long)(seconds * 200000);
    double at = thread_cpu();
    for (long i = 0; i < n / 10; i++)
        burn_b(1000);
    double user = (thread_cpu() - at) * 10;
    at = thread_cpu();
    for (long i = 0; i < n; i++) {
        burn_a(1000);
        if (read(zero, buffer, sizeof buffer) < 0)
            break;
    }
    double both = thread_cpu() - at;
    truth("user", user * 1.1);
    truth("kernel", both - user);
}

struct job {
    burn_function burn;
    double seconds, had;
};

static void *run_job(void *of)
{
    struct job *j = of;
    burn_for(j->burn, j->seconds);
    j->had = thread_cpu();
    return NULL;
}

static void threads(double seconds)
{
    struct job jobs[2] = {{burn_a, seconds * 0.1, 0}, {burn_b, seconds * 0.9, 0}};
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run_job, &jobs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    truth("burn_a", jobs[0].had);
    truth("burn_b", jobs[1].had);
}

static void children(double seconds)
{
    static const burn_function burns[] = {burn_a, burn_b};
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            burn_for(burns[i], seconds * (i ? 0.75 : 0.25));
            truth(i ? "burn_b" : "burn_a", thread_cpu());
            _exit(0);
        }
    while (wait(NULL) > 0) {}
}

/* Many, one after the other: 1 in 4 of their time in burn_a; and a long one beside them. */
static void short_ones(int count, int as_threads, double long_seconds)
{
    double a = 0, b = 0;
    struct job beside = {burn_a, long_seconds, 0};
    pthread_t t, one;
    int ends[2];
    if (long_seconds > 0)
        pthread_create(&t, NULL, run_job, &beside);
    for (int i = 0; i < count && !pipe(ends); i++) {
        struct job j = {i % 4 ? burn_b : burn_a, 0.0007, 0};
        if (as_threads) {
            pthread_create(&one, NULL, run_job, &j);
            pthread_join(one, NULL);
        } else if (fork() == 0) {
            run_job(&j);
            _exit(write(ends[1], &j.had, sizeof j.had) != sizeof j.had);
        } else {
            wait(NULL);
            if (read(ends[0], &j.had, sizeof j.had) != sizeof j.had)
                j.had = 0;
        }
        *(i % 4 ? &b : &a) += j.had;
        close(ends[0]);
        close(ends[1]);
    }
    if (long_seconds > 0)
        pthread_join(t, NULL);
    truth("burn_a", a + beside.had);
    truth("burn_b", b);
}

/* Works in bursts that are shorter than the kernel's tick; burn_a begins each of them. */
static void bursts(double seconds, long pause_us)
{
    double a = 0, b = 0;
    while (a + b < seconds) {
        double at = thread_cpu();
        burn_for(burn_a, 0.0003);
        double middle = thread_cpu();
        burn_for(burn_b, 0.0006);
        a += middle - at;
        b += thread_cpu() - middle;
        usleep((useconds_t)pause_us);
    }
    truth("burn_a", a);
    truth("burn_b", b);
}

static void *sleep_long(void *none)
{
    pause();
    return none;
}

static void *work_now_and_then(void *of)
{
    struct job *j = of;
    double had = 0;
    while (had < j->seconds) {
        double at = thread_cpu();
        burn_for(j->burn, 0.002);
        had += thread_cpu() - at;
        usleep(20000);
    }
    j->had = thread_cpu();
    return NULL;
}

/* Hundreds of sleepers, some that work now and then, two that work. */
static void crowd(int count, double seconds)
{
    pthread_t t[64], sleeper;
    struct job jobs[64];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < count; i++)
        pthread_create(&sleeper, &small, sleep_long, NULL);
    for (int i = 0; i < 12; i++) {
        jobs[i] = (struct job){i < 2 ? burn_a : burn_b, i < 2 ? seconds : seconds / 10, 0};
        pthread_create(&t[i], &small, i < 2 ? run_job : work_now_and_then, &jobs[i]);
    }
    double a = 0, b = 0;
    for (int i = 0; i < 12; i++) {
        pthread_join(t[i], NULL);
        *(i < 2 ? &a : &b) += jobs[i].had;
    }
    truth("burn_a", a);
    truth("burn_b", b);
}

/* All of them work: a third in burn_a. */
static void crowd_works(int count, double seconds)
{
    pthread_t *t = calloc((size_t)count, sizeof *t);
    struct job *jobs = calloc((size_t)count, sizeof *jobs);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    double a = 0, b = 0;
    for (int i = 0; i < count; i++) {
        jobs[i] = (struct job){i % 3 ? burn_b : burn_a, seconds / count, 0};
        pthread_create(&t[i], &small, run_job, &jobs[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(t[i], NULL);
        *(i % 3 ? &b : &a) += jobs[i].had;
    }
    truth("burn_a", a);
    truth("burn_b", b);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    double number = argc > 2 ? atof(argv[2]) : 1;
    if (!strcmp(mode, "user-kernel"))
        user_kernel(number);
    else if (!strcmp(mode, "short-calls"))
        short_calls(number);
    else if (!strcmp(mode, "threads"))
        threads(number);
    else if (!strcmp(mode, "children"))
        children(number);
    else if (!strcmp(mode, "short-children"))
        short_ones((int)number, 0, 0);
    else if (!strcmp(mode, "short-threads"))
        short_ones((int)number, 1, 0);
    else if (!strcmp(mode, "short-and-long"))
        short_ones((int)number, 1, 1);
    else if (!strcmp(mode, "bursts"))
        bursts(number, 1000);
    else if (!strcmp(mode, "rare-bursts"))
        bursts(number, 9000);
    else if (!strcmp(mode, "crowd"))
        crowd(1200, number);
    else if (!strcmp(mode, "crowd-works"))
        crowd_works(1200, number);
    else if (!strcmp(mode, "exec-chain") && number >= 1) {
        char left[16];
        snprintf(left, sizeof left, "%d", (int)number - 1);
        burn_for(burn_b, 0.1);
        truth("burn_b", 0.1);
        execl("/proc/self/exe", argv[0], mode, left, (char *)NULL);
    } else if (strcmp(mode, "exec-chain") != 0) {
        return 2;
    }
    return 0;
}

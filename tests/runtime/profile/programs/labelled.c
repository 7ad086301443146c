/* Says what it works on with monarc's own calls, in two threads, and prints the CPU time that it
 * spent with each route by its own clock; with an argument, publishes by itself before: then
 * monarc's calls must leave that alone. With "fork", many threads have labels in a child before the
 * thread that forked: prints whether that has a record, and how many others share it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <monarc/runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma weak monarc_rt_label
#pragma weak monarc_rt_region_begin
#pragma weak monarc_rt_region_end

static double spent[2][2];

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static double work(double seconds)
{
    double from = now(CLOCK_THREAD_CPUTIME_ID), at;
    do {
        for (volatile int i = 0; i < 20000; i++)
            ;
        at = now(CLOCK_THREAD_CPUTIME_ID);
    } while (at - from < seconds);
    return at - from;
}

__attribute__((noinline)) static double parse(double seconds)
{
    return work(seconds);
}

static void *worker(void *context)
{
    intptr_t thread = (intptr_t)context;
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.4; now(CLOCK_THREAD_CPUTIME_ID) < end;)
        for (int route = 0; route < 2; route++) {
            monarc_rt_label("http.route", route ? "/b" : "/a");
            spent[thread][route] += work(route ? 0.005 : 0.010);
            monarc_rt_region_begin("outer");
            monarc_rt_region_begin("parse");
            spent[thread][route] += parse(0.005);
            monarc_rt_region_end("parse");
            monarc_rt_region_end("outer");
        }
    monarc_rt_label("http.route", NULL);
    return NULL;
}

enum { MANY = 80, MORE = 100 };
static pthread_barrier_t all_there;

/* Sets a label; returns where this thread's record is. */
static void *record_of(void *barrier)
{
    void **variable = dlsym(RTLD_DEFAULT, "otel_thread_ctx_v1");
    monarc_rt_label("k", "v");
    if (barrier)
        pthread_barrier_wait(barrier);
    return variable ? *variable : NULL;
}

static int sharing(const void *record, int threads_len)
{
    pthread_t threads[MORE];
    void *theirs;
    int shared = 0;
    pthread_barrier_init(&all_there, NULL, (unsigned)threads_len);
    for (int i = 0; i < threads_len; i++)
        pthread_create(&threads[i], NULL, record_of, &all_there);
    for (int i = 0; i < threads_len; i++) {
        pthread_join(threads[i], &theirs);
        shared += theirs == record;
    }
    return shared;
}

int main(int argc, char **argv)
{
    pthread_t other;
    if (argc > 1 && monarc_rt_label && !strcmp(argv[1], "fork")) {
        void *mine = record_of(NULL);
        sharing(mine, MANY);
        if (!fork()) {
            printf("%s %d\n", mine ? "has" : "lacks", sharing(mine, MORE));
            return 0;
        }
        wait(NULL);
        return 0;
    }
    if (argc > 1) {
        int fd = memfd_create("OTEL_CTX", 0);
        if (ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
            return 1;
        printf("%s %d\n", argv[1], monarc_rt_label ? monarc_rt_label("a", "b") : 1);
        return 0;
    }
    if (!monarc_rt_label)
        return 2;
    pthread_create(&other, NULL, worker, (void *)1);
    worker(NULL);
    pthread_join(other, NULL);
    for (int route = 0; route < 2; route++)
        printf("- %s %.6f\n", route ? "/b" : "/a", spent[0][route] + spent[1][route]);
    return 0;
}

/* Says what it works on with monarc's own calls, in two threads, and prints the CPU time that it
 * spent with each route by its own clock; with an argument, publishes by itself before: then
 * monarc's calls must leave that alone. */
#define _GNU_SOURCE
#include <monarc/runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

int main(int argc, char **argv)
{
    pthread_t other;
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

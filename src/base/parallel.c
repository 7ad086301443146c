/* Threads that take the next piece until none is left.
 *
 * One atomic counter hands out the pieces, so that threads with quick pieces take more of them;
 * callers put large pieces first where that matters. A thread that cannot be started is not
 * missed: the caller's own thread works too. There is no pool: threads live for one call, whose
 * work takes milliseconds at least, and share nothing but what the caller gives them. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

struct job {
    size_t pieces;
    atomic_size_t next;
    void (*work)(size_t i, unsigned worker, void *context);
    void *context;
};

struct worker {
    struct job *job;
    pthread_t thread;
    unsigned number;
};

/* One thread: also the caller's. */
static void *run(void *argument)
{
    const struct worker *worker = argument;
    struct job *job = worker->job;
    for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->pieces;)
        job->work(i, worker->number, job->context);
    return NULL;
}

/* Of those that exist, containers and taskset may leave fewer. */
unsigned parallel_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

unsigned parallel_workers(size_t pieces, unsigned threads)
{
    threads = threads ? threads : parallel_cpus();
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    return threads > pieces ? (unsigned)pieces : threads;
}

void parallel_for_workers(size_t pieces, unsigned threads,
                          void (*work)(size_t i, unsigned worker, void *context), void *context)
{
    struct job job = {.pieces = pieces, .work = work, .context = context};
    struct worker workers[MAX_THREADS];
    unsigned started = 1, wanted = parallel_workers(pieces, threads);
    workers[0] = (struct worker){.job = &job};
    for (; started < wanted; started++) {
        struct worker *worker = &workers[started];
        *worker = (struct worker){.job = &job, .number = started};
        if (pthread_create(&worker->thread, NULL, run, worker))
            break;
    }
    run(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

/* For work that needs no worker's number. */
struct plain_work {
    void (*work)(size_t i, void *context);
    void *context;
};

static void run_plain(size_t i, unsigned worker, void *context)
{
    const struct plain_work *plain = context;
    (void)worker;
    plain->work(i, plain->context);
}

void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context)
{
    struct plain_work plain = {work, context};
    parallel_for_workers(pieces, threads, run_plain, &plain);
}

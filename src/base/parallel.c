/* Threads that take the next piece until none is left. A thread that cannot be started is not
 * missed: the caller's own thread works too. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

struct job {
    size_t pieces;
    atomic_size_t next;
    void (*work)(size_t i, void *context);
    void *context;
};

static void *run(void *argument)
{
    struct job *job = argument;
    for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->pieces;)
        job->work(i, job->context);
    return NULL;
}

unsigned parallel_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context)
{
    struct job job = {.pieces = pieces, .work = work, .context = context};
    threads = threads ? threads : parallel_cpus();
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    threads = threads > pieces ? (unsigned)pieces : threads;
    pthread_t others[MAX_THREADS];
    unsigned started = 0;
    while (started + 1 < threads && !pthread_create(&others[started], NULL, run, &job))
        started++;
    run(&job);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

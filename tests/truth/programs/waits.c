/* Waits of known length, each in a function of its own, measured by the wall clock around them. */
#include "truth.h"

#include <poll.h>
#include <pthread.h>

TRUTH_WORK(busy)

enum { ROUNDS = 5, NAP_MS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t gate;
static int ends[2];

static void nap(void)
{
    struct timespec t = {.tv_nsec = NAP_MS * 1000000l};
    nanosleep(&t, NULL);
}

static APART void in_sleep(void)
{
    nap();
    __asm__ volatile("");
}

static APART void in_poll(void)
{
    poll(NULL, 0, NAP_MS);
    __asm__ volatile("");
}

static APART void in_mutex(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    __asm__ volatile("");
}

static APART void in_read(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        exit(90);
    __asm__ volatile("");
}

/* Keeps the mutex for a while, then lets the pipe wait for as long. */
static APART void *keeper(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        pthread_barrier_wait(&gate);
        nap();
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&gate);
        nap();
        if (write(ends[1], "", 1) != 1)
            exit(90);
    }
    return unused;
}

static void timed(const char *name, void (*wait)(void))
{
    double wall = truth_wall_s(), cpu = truth_thread_s();
    wait();
    cpu = truth_thread_s() - cpu;
    truth_say("wait", name, truth_wall_s() - wall - cpu);
}

int main(void)
{
    pthread_t thread;
    if (pipe(ends))
        return 90;
    pthread_barrier_init(&gate, NULL, 2);
    pthread_create(&thread, NULL, keeper, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&gate);
        timed("in_mutex", in_mutex);
        pthread_barrier_wait(&gate);
        timed("in_read", in_read);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        timed("in_sleep", in_sleep);
        timed("in_poll", in_poll);
    }
    truth_self("busy", busy, 0.1);
    truth_end();
    return 0;
}

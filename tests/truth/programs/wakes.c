/* wakes.c: one thread works, and then wakes the one that all wait for, in the way that is named.
 * Its work is the way to the end: with half of it, the program takes that much less. */
#include "truth.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

TRUTH_WORK(work)

enum way {
    WAY_KILL,
    WAY_EVENTFD,
    WAY_PIPE,
    WAY_FLAG,
    WAY_CONDITION,
    WAY_SEMAPHORE,
    WAY_SIGWAIT,
    WAY_TIMED,   /* a condition, in turns with a time limit */
    WAY_TIMERFD, /* whose time the worker sets */
    WAY_SHORT,   /* a flag, in naps too short to be kept */
    WAY_SHARED,  /* a semaphore, between processes */
    WAY_LIMIT,   /* a pipe, in turns with a time limit */
    WAY_SPIN,    /* a flag, without sleeping */
    WAY_YIELD,   /* likewise, leaving the CPU to others */
    WAYS
};
static const char *const NAMES[WAYS] = {"kill",      "eventfd", "pipe",  "flag",    "condition",
                                        "semaphore", "sigwait", "timed", "timerfd", "short",
                                        "shared",    "limit",   "spin",  "yield"};

static enum way way;
static int event, timer, ends[2];
static volatile sig_atomic_t was_told;
static _Atomic int flag;
static sem_t semaphore, *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t waiter;

static void tell(int number)
{
    (void)number;
    was_told = 1;
}

static APART void await(void)
{
    uint64_t value;
    int number;
    struct timespec until;
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    switch (way) {
    case WAY_KILL:
        pthread_sigmask(SIG_BLOCK, NULL, &before);
        sigdelset(&before, SIGUSR1);
        while (!was_told)
            sigsuspend(&before);
        break;
    case WAY_EVENTFD:
        if (read(event, &value, sizeof value) != sizeof value)
            exit(90);
        break;
    case WAY_LIMIT:
        while (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 10) == 0)
            ;
        break;
    case WAY_PIPE:
        if (read(ends[0], &value, 1) != 1)
            exit(90);
        break;
    case WAY_FLAG:
        while (!flag)
            usleep(5000);
        break;
    case WAY_CONDITION:
        pthread_mutex_lock(&lock);
        while (!flag)
            pthread_cond_wait(&condition, &lock);
        pthread_mutex_unlock(&lock);
        break;
    case WAY_SEMAPHORE: sem_wait(&semaphore); break;
    case WAY_TIMED:
        clock_gettime(CLOCK_REALTIME, &until);
        pthread_mutex_lock(&lock);
        while (!flag) {
            until.tv_nsec += 30000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&condition, &lock, &until);
        }
        pthread_mutex_unlock(&lock);
        break;
    case WAY_TIMERFD:
        if (read(timer, &value, sizeof value) != sizeof value)
            exit(90);
        break;
    case WAY_SHORT:
        while (!flag)
            usleep(30);
        break;
    case WAY_SPIN:
        while (!flag)
            __builtin_ia32_pause();
        break;
    case WAY_YIELD:
        while (!flag)
            sched_yield();
        break;
    case WAY_SHARED: sem_wait(shared); break;
    default: sigwait(&set, &number);
    }
}

static APART void wake(void)
{
    uint64_t one = 1;
    const struct itimerspec soon = {.it_value = {.tv_nsec = 1000}};
    switch (way) {
    case WAY_EVENTFD:
        if (write(event, &one, sizeof one) != sizeof one)
            exit(90);
        break;
    case WAY_LIMIT:
    case WAY_PIPE:
        if (write(ends[1], "", 1) != 1)
            exit(90);
        break;
    case WAY_SPIN:
    case WAY_YIELD:
    case WAY_FLAG:
    case WAY_SHORT: flag = 1; break;
    case WAY_TIMERFD: timerfd_settime(timer, 0, &soon, NULL); break;
    case WAY_SHARED: sem_post(shared); break;
    case WAY_TIMED:
    case WAY_CONDITION:
        pthread_mutex_lock(&lock);
        flag = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&lock);
        break;
    case WAY_SEMAPHORE: sem_post(&semaphore); break;
    default: pthread_kill(waiter, SIGUSR1);
    }
}

/* It goes on after the wake, so that its end says nothing, and sleeps while the others end. */
static void *worker(void *unused)
{
    prctl(PR_SET_NAME, "worker");
    truth_self("work", work, 0.4);
    wake();
    sleep(60);
    return unused;
}

static void *waits(void *unused)
{
    await();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t other;
    sigset_t set;
    double start = truth_wall_s();
    for (way = 0; way < WAYS && (argc != 2 || strcmp(argv[1], NAMES[way])); way++)
        ;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (way == WAYS || pipe(ends) || (event = eventfd(0, 0)) < 0 || sem_init(&semaphore, 0, 0) ||
        shared == MAP_FAILED || sem_init(shared, 1, 0) ||
        (timer = timerfd_create(CLOCK_MONOTONIC, 0)) < 0)
        return 90;
    signal(SIGUSR1, tell);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pid_t child = way == WAY_SHARED ? fork() : 0;
    if (way == WAY_SHARED && !child)
        worker(NULL);
    if (child)
        waits(NULL);
    else {
        pthread_create(&waiter, NULL, waits, NULL);
        pthread_create(&other, NULL, worker, NULL);
        pthread_join(waiter, NULL);
    }
    truth_say("wait", "all", truth_wall_s() - start);
    truth_end();
    if (child)
        kill(child, SIGKILL);
    return 0;
}

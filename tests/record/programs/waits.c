/* Counts calls that wait and come back too early, or with EINTR: waits SECONDS. Each thread works a
 * little and waits a little, in one kind of call. Prints `early NAME COUNT OF`. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_US = 2000 };

static double seconds = 1;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(double for_seconds)
{
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + for_seconds;
         now(CLOCK_THREAD_CPUTIME_ID) < end;) {}
}

static int a_sleep(void)
{
    return nanosleep(&(struct timespec){0, WAIT_US * 1000}, NULL);
}

static int a_poll(void)
{
    return poll(NULL, 0, WAIT_US / 1000);
}

static int a_select(void)
{
    return select(0, NULL, NULL, NULL, &(struct timeval){0, WAIT_US});
}

static int an_epoll(void)
{
    static __thread int fd = -1;
    struct epoll_event event;
    if (fd < 0)
        fd = epoll_create1(0);
    return epoll_wait(fd, &event, 1, WAIT_US / 1000);
}

/* A time limit on the socket: EAGAIN is the end we want. */
static int a_recv(void)
{
    static __thread int ends[2] = {-1, -1};
    char byte;
    if (ends[0] < 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, WAIT_US},
                   sizeof(struct timeval));
    return recv(ends[0], &byte, 1, 0) < 0 && errno == EAGAIN ? 0 : -1;
}

static int a_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, &(struct timespec){0, WAIT_US * 1000}) < 0 && errno == EAGAIN
               ? 0
               : -1;
}

static int a_semtimedop(void)
{
    static __thread int id = -1;
    struct sembuf take = {0, -1, 0};
    if (id < 0)
        id = semget(IPC_PRIVATE, 1, 0600);
    int result = semtimedop(id, &take, 1, &(struct timespec){0, WAIT_US * 1000});
    return result < 0 && errno == EAGAIN ? 0 : -1;
}

static int a_sem(void)
{
    static __thread sem_t sem;
    static __thread int is_made;
    struct timespec until;
    if (!is_made++)
        sem_init(&sem, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_US * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&sem, &until) < 0 && errno == ETIMEDOUT ? 0 : -1;
}

struct kind {
    const char *name;
    int (*wait)(void);
    int early, all;
};

static void *run(void *of)
{
    struct kind *k = of;
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;) {
        work(0.001);
        double start = now(CLOCK_MONOTONIC);
        int result = k->wait();
        k->all++;
        k->early += result < 0 || now(CLOCK_MONOTONIC) - start < WAIT_US * 0.9e-6;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct kind kinds[] = {
        {"sleep", a_sleep, 0, 0},
        {"poll", a_poll, 0, 0},
        {"select", a_select, 0, 0},
        {"epoll_wait", an_epoll, 0, 0},
        {"recv", a_recv, 0, 0},
        {"sigtimedwait", a_sigtimedwait, 0, 0},
        {"semtimedop", a_semtimedop, 0, 0},
        {"sem_timedwait", a_sem, 0, 0},
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    pthread_t t[KINDS];
    seconds = argc > 1 ? atof(argv[1]) : 1;
    for (int i = 0; i < KINDS; i++)
        pthread_create(&t[i], NULL, run, &kinds[i]);
    for (int i = 0; i < KINDS; i++) {
        pthread_join(t[i], NULL);
        printf("early %s %d %d\n", kinds[i].name, kinds[i].early, kinds[i].all);
    }
    return 0;
}

/* wakes.c: a thread works, and then wakes the one that all wait for, in the way that is named.
 *
 *     wakes WAY             between threads
 *     wakes WAY processes   between a process and its child
 *     wakes WAY goes-on     between threads; the first works on for as long
 *
 * The work is the way to the end: with half of it, the program takes that much less. A way is how
 * the one waits, how the other wakes it, and for locks how that one holds them meanwhile. What both
 * need is in shared memory. */
#include "truth.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

TRUTH_WORK(work)

static struct {
    _Atomic int flag, is_held;
    sem_t semaphore;
    pthread_mutex_t lock;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
} * shared;
static int event, timer, ends[2], pair[2], fifo, signals, polled, watched;
static int terminal, its_other, tcp[2], udp[2], queue_id, semaphores_id;
static mqd_t queue;
static char folder[] = "/tmp/wakes-XXXXXX", file[64];
static volatile sig_atomic_t was_told;
static pthread_t waiter;
static pid_t waiting_process; /* 0: a thread waits */

static void need(bool ok)
{
    if (!ok)
        exit(90);
}

static void tell(int number)
{
    (void)number;
    was_told = 1;
}

static sigset_t set_of(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

/* --- by signals ------------------------------------------------------------------------------- */

static void send_signal(void)
{
    if (waiting_process)
        kill(waiting_process, SIGUSR1);
    else
        pthread_kill(waiter, SIGUSR1);
}

static void await_handler(void)
{
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    sigdelset(&before, SIGUSR1);
    while (!was_told)
        sigsuspend(&before);
}

static void await_sigwait(void)
{
    sigset_t set = set_of(SIGUSR1);
    int number;
    sigwait(&set, &number);
}

static void await_signalfd(void)
{
    struct signalfd_siginfo info;
    need(read(signals, &info, sizeof info) == sizeof info);
}

/* --- by descriptors --------------------------------------------------------------------------- */

static void read_from(int from, size_t len)
{
    char bytes[8];
    need(read(from, bytes, len) == (ssize_t)len);
}

static void write_to(int to, size_t len)
{
    static const uint64_t ONE = 1;
    need(write(to, &ONE, len) == (ssize_t)len);
}

static void await_eventfd(void)
{
    read_from(event, 8);
}
static void wake_eventfd(void)
{
    write_to(event, 8);
}
static void await_pipe(void)
{
    read_from(ends[0], 1);
}
static void wake_pipe(void)
{
    write_to(ends[1], 1);
}
static void await_fifo(void)
{
    read_from(fifo, 1);
}
static void wake_fifo(void)
{
    write_to(fifo, 1);
}
static void await_pair(void)
{
    read_from(pair[0], 1);
}
static void wake_pair(void)
{
    write_to(pair[1], 1);
}
static void await_tcp(void)
{
    read_from(tcp[0], 1);
}
static void wake_tcp(void)
{
    write_to(tcp[1], 1);
}
static void await_udp(void)
{
    read_from(udp[0], 1);
}
static void wake_udp(void)
{
    write_to(udp[1], 1);
}
static void await_terminal(void)
{
    read_from(its_other, 2);
}
static void wake_terminal(void)
{
    need(write(terminal, "x\n", 2) == 2);
}
static void await_timer(void)
{
    read_from(timer, 8);
}

static void wake_timer(void)
{
    const struct itimerspec soon = {.it_value = {.tv_nsec = 1000}};
    timerfd_settime(timer, 0, &soon, NULL);
}

/* In turns with a time limit. */
static void await_limit(void)
{
    while (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 10) == 0)
        ;
}

static void await_epoll(void)
{
    struct epoll_event seen;
    need(epoll_wait(polled, &seen, 1, -1) == 1);
}

static void await_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    need(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1);
}

static void await_inotify(void)
{
    char bytes[4096];
    need(read(watched, bytes, sizeof bytes) > 0);
}

static void wake_inotify(void)
{
    int made = openat(AT_FDCWD, file, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    need(made >= 0);
    close(made);
}

/* --- by flags ----------------------------------------------------------------------------------
 */

static void set_flag(void)
{
    shared->flag = 1;
}

static void await_flag(void)
{
    while (!shared->flag)
        usleep(5000);
}

static void await_short(void) /* in naps too short to be kept */
{
    while (!shared->flag)
        usleep(30);
}

static void await_spin(void)
{
    while (!shared->flag)
        __builtin_ia32_pause();
}

static void await_yield(void)
{
    while (!shared->flag)
        sched_yield();
}

/* --- by locks ----------------------------------------------------------------------------------
 */

static void await_condition(void)
{
    pthread_mutex_lock(&shared->lock);
    while (!shared->flag)
        pthread_cond_wait(&shared->condition, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
}

static void await_timed(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&shared->lock);
    while (!shared->flag) {
        until.tv_nsec += 30000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&shared->condition, &shared->lock, &until);
    }
    pthread_mutex_unlock(&shared->lock);
}

static void wake_condition(void)
{
    pthread_mutex_lock(&shared->lock);
    shared->flag = 1;
    pthread_cond_signal(&shared->condition);
    pthread_mutex_unlock(&shared->lock);
}

static void await_semaphore(void)
{
    sem_wait(&shared->semaphore);
}
static void wake_semaphore(void)
{
    sem_post(&shared->semaphore);
}
static void meet(void)
{
    pthread_barrier_wait(&shared->barrier);
}

static void await_futex(void)
{
    while (!shared->flag)
        syscall(SYS_futex, &shared->flag, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void wake_futex(void)
{
    shared->flag = 1;
    syscall(SYS_futex, &shared->flag, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Locks are held by who works, from before the other one wants them. */
static void await_held(void)
{
    while (!shared->is_held)
        usleep(500);
}

static void hold_mutex(void)
{
    pthread_mutex_lock(&shared->lock);
}
static void wake_mutex(void)
{
    pthread_mutex_unlock(&shared->lock);
}
static void hold_rwlock(void)
{
    pthread_rwlock_wrlock(&shared->rwlock);
}
static void wake_rwlock(void)
{
    pthread_rwlock_unlock(&shared->rwlock);
}

static void await_mutex(void)
{
    await_held();
    pthread_mutex_lock(&shared->lock);
}

static void await_rwlock(void)
{
    await_held();
    pthread_rwlock_rdlock(&shared->rwlock);
}

static int locked;
static void hold_flock(void)
{
    need(!flock(locked = open(file, O_RDWR | O_CREAT, 0600), LOCK_EX));
}
static void wake_file(void)
{
    close(locked);
}

static void await_flock(void)
{
    await_held();
    flock(open(file, O_RDWR), LOCK_EX);
}

static void lock_record(int of)
{
    struct flock all = {.l_type = F_WRLCK};
    need(!fcntl(of, F_OFD_SETLKW, &all));
}

static void hold_fcntl(void)
{
    lock_record(locked = open(file, O_RDWR | O_CREAT, 0600));
}

static void await_fcntl(void)
{
    await_held();
    lock_record(open(file, O_RDWR));
}

/* --- by queues ---------------------------------------------------------------------------------
 */

struct message {
    long type;
    char byte;
};

static void await_semop(void)
{
    struct sembuf take = {.sem_op = -1};
    semop(semaphores_id, &take, 1);
}

static void wake_semop(void)
{
    struct sembuf give = {.sem_op = 1};
    semop(semaphores_id, &give, 1);
}

static void await_message(void)
{
    struct message m;
    need(msgrcv(queue_id, &m, 1, 0, 0) == 1);
}

static void wake_message(void)
{
    need(!msgsnd(queue_id, &(struct message){1, 'x'}, 1, 0));
}

static void await_queue(void)
{
    char bytes[64];
    need(mq_receive(queue, bytes, sizeof bytes, NULL) == 1);
}

static void wake_queue(void)
{
    need(!mq_send(queue, "x", 1, 0));
}

static const struct way {
    const char *name;
    void (*await)(void), (*wake)(void), (*hold)(void);
} WAYS[] = {{"kill", await_handler, send_signal, NULL},
            {"sigwait", await_sigwait, send_signal, NULL},
            {"signalfd", await_signalfd, send_signal, NULL},
            {"eventfd", await_eventfd, wake_eventfd, NULL},
            {"pipe", await_pipe, wake_pipe, NULL},
            {"fifo", await_fifo, wake_fifo, NULL},
            {"socketpair", await_pair, wake_pair, NULL},
            {"tcp", await_tcp, wake_tcp, NULL},
            {"udp", await_udp, wake_udp, NULL},
            {"terminal", await_terminal, wake_terminal, NULL},
            {"timerfd", await_timer, wake_timer, NULL},
            {"limit", await_limit, wake_pipe, NULL},
            {"epoll", await_epoll, wake_eventfd, NULL},
            {"select", await_select, wake_pipe, NULL},
            {"inotify", await_inotify, wake_inotify, NULL},
            {"flag", await_flag, set_flag, NULL},
            {"short", await_short, set_flag, NULL},
            {"spin", await_spin, set_flag, NULL},
            {"yield", await_yield, set_flag, NULL},
            {"condition", await_condition, wake_condition, NULL},
            {"timed", await_timed, wake_condition, NULL},
            {"semaphore", await_semaphore, wake_semaphore, NULL},
            {"barrier", meet, meet, NULL},
            {"futex", await_futex, wake_futex, NULL},
            {"mutex", await_mutex, wake_mutex, hold_mutex},
            {"rwlock", await_rwlock, wake_rwlock, hold_rwlock},
            {"flock", await_flock, wake_file, hold_flock},
            {"fcntl", await_fcntl, wake_file, hold_fcntl},
            {"semop", await_semop, wake_semop, NULL},
            {"message", await_message, wake_message, NULL},
            {"queue", await_queue, wake_queue, NULL}};
static const struct way *way;

/* --- both sides --------------------------------------------------------------------------------
 */

static bool goes_on;

/* It outlives the wake, so that its end says nothing, and sleeps while the others end. */
static void *worker(void *unused)
{
    prctl(PR_SET_NAME, "worker");
    if (way->hold)
        way->hold();
    shared->is_held = 1;
    truth_self("work", work, 0.4);
    way->wake();
    if (goes_on)
        truth_spend(work, 0.4);
    sleep(60);
    return unused;
}

static APART void *waits(void *unused)
{
    way->await();
    return unused;
}

static void connect_both(int type, int both[2])
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof here;
    int first = socket(AF_INET, type, 0);
    need(first >= 0 && !bind(first, (struct sockaddr *)&here, len) &&
         (type == SOCK_DGRAM || !listen(first, 1)) &&
         !getsockname(first, (struct sockaddr *)&here, &len));
    both[1] = socket(AF_INET, type, 0);
    need(!connect(both[1], (struct sockaddr *)&here, len));
    both[0] = type == SOCK_DGRAM ? first : accept(first, NULL, NULL);
    need(both[0] >= 0);
}

static void prepare_descriptors(void)
{
    char name[80];
    struct epoll_event readable = {.events = EPOLLIN};
    struct mq_attr few = {.mq_maxmsg = 4, .mq_msgsize = 64};
    sigset_t set = set_of(SIGUSR1);
    need(mkdtemp(folder) && snprintf(file, sizeof file, "%s/file", folder) > 0);
    snprintf(name, sizeof name, "%s/fifo", folder);
    need(!mkfifo(name, 0600) && (fifo = open(name, O_RDWR)) >= 0);
    need(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    need((event = eventfd(0, 0)) >= 0 && (timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
    need((signals = signalfd(-1, &set, 0)) >= 0);
    need((polled = epoll_create1(0)) >= 0 && !epoll_ctl(polled, EPOLL_CTL_ADD, event, &readable));
    need((watched = inotify_init()) >= 0 && inotify_add_watch(watched, folder, IN_CREATE) >= 0);
    need((terminal = posix_openpt(O_RDWR | O_NOCTTY)) >= 0 && !grantpt(terminal) &&
         !unlockpt(terminal) && (its_other = open(ptsname(terminal), O_RDWR | O_NOCTTY)) >= 0);
    connect_both(SOCK_STREAM, tcp);
    connect_both(SOCK_DGRAM, udp);
    need((queue_id = msgget(IPC_PRIVATE, 0600)) >= 0);
    need((semaphores_id = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    snprintf(name, sizeof name, "/wakes-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &few);
    mq_unlink(name);
}

static void prepare_locks(void)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_barrierattr_t barrier;
    pthread_rwlockattr_t rwlock;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared != MAP_FAILED);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &condition);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, 2);
    pthread_rwlockattr_init(&rwlock);
    pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&shared->rwlock, &rwlock);
    sem_init(&shared->semaphore, 1, 0);
}

static void clean_up(void)
{
    char name[80];
    snprintf(name, sizeof name, "%s/fifo", folder);
    unlink(name);
    unlink(file);
    rmdir(folder);
    semctl(semaphores_id, 0, IPC_RMID);
    msgctl(queue_id, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
    pthread_t other;
    double start = truth_wall_s();
    for (size_t i = 0; argc > 1 && i < sizeof WAYS / sizeof *WAYS; i++)
        if (!strcmp(argv[1], WAYS[i].name))
            way = &WAYS[i];
    need(way);
    sigset_t set = set_of(SIGUSR1);
    signal(SIGUSR1, tell);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    prepare_locks();
    prepare_descriptors();
    goes_on = argc > 2 && !strcmp(argv[2], "goes-on");
    pid_t child = 0;
    if (argc > 2 && !strcmp(argv[2], "processes")) {
        waiting_process = getpid();
        if (!(child = fork()))
            worker(NULL);
        waits(NULL);
    } else {
        pthread_create(&waiter, NULL, waits, NULL);
        pthread_create(&other, NULL, worker, NULL);
        pthread_join(waiter, NULL);
    }
    truth_say("wait", "all", truth_wall_s() - start);
    truth_end();
    clean_up();
    if (child)
        kill(child, SIGKILL);
    return 0;
}

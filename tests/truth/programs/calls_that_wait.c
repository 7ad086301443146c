/* Makes system calls that wait, and counts those that end with EINTR that no handler has caused, or
 * too early, or far too late: see calls.h. */
#include "calls.h"

/* --- waits ----------------------------------------------------------------------------------- */

static bool do_sleeps(void)
{
    struct timespec t = pause_time(), left = {7, 7};
    double start = now_s();
    bool ok = is("nanosleep", nanosleep(&t, NULL), 0) && lasts("nanosleep", start);
    start = now_s();
    ok = ok && is("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &left), 0) &&
         lasts("clock_nanosleep", start);
    struct timespec until;
    start = now_s();
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_US * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return ok && is("until", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0) &&
           lasts("until", start);
}

static bool do_polls(void)
{
    static int ends[2];
    if (!ends[1])
        need(!pipe(ends), "pipe");
    struct pollfd p = {ends[0], POLLIN, 0};
    struct timespec t = pause_time();
    double start = now_s();
    bool ok = is("poll", poll(&p, 1, 2), 0) && lasts("poll", start);
    start = now_s();
    ok = ok && is("ppoll", ppoll(&p, 1, &t, NULL), 0) && lasts("ppoll", start);
    start = now_s();
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval v = {0, WAIT_US};
    ok = ok && is("select", select(ends[0] + 1, &set, NULL, NULL, &v), 0) && lasts("select", start);
    start = now_s();
    FD_SET(ends[0], &set);
    return ok && is("pselect", pselect(ends[0] + 1, &set, NULL, NULL, &t, NULL), 0) &&
           lasts("pselect", start);
}

static bool do_epolls(void)
{
    static int fd = -1;
    struct epoll_event e;
    struct timespec t = pause_time();
    fd = fd < 0 ? epoll_create1(0) : fd;
    double start = now_s();
    bool ok = is("epoll_wait", epoll_wait(fd, &e, 1, 2), 0) && lasts("epoll_wait", start);
    start = now_s();
    ok = ok && is("epoll_pwait", epoll_pwait(fd, &e, 1, 2, NULL), 0) && lasts("epoll_pwait", start);
    start = now_s();
    return ok && is("epoll_pwait2", syscall(SYS_epoll_pwait2, fd, &e, 1, &t, NULL, 8), 0) &&
           lasts("epoll_pwait2", start);
}

static bool fails(const char *what, long result, int expected, double start)
{
    return is(what, result < 0 ? errno : 0, expected) && lasts(what, start);
}

static bool do_semaphores(void)
{
    static int id = -1;
    struct sembuf take = {0, -1, 0};
    struct timespec t = pause_time();
    uint32_t word = 0;
    sigset_t set;
    if (id < 0)
        id = semget(IPC_PRIVATE, 1, 0600);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    double start = now_s();
    bool ok = fails("semtimedop", semtimedop(id, &take, 1, &t), EAGAIN, start);
    start = now_s();
    ok = ok && fails("sigtimedwait", sigtimedwait(&set, NULL, &t), EAGAIN, start);
    start = now_s();
    return ok &&
           fails("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0), ETIMEDOUT, start);
}

/* The kernel counts these limits in ticks, and one that is woken may miss the last. */
static bool gives_up(const char *what, long result, double start)
{
    double s = now_s() - start;
    return is(what, result < 0 ? errno : 0, EAGAIN) && is(what, s < 0.012 ? -1 : s > 2 ? 1 : 0, 0);
}

static bool do_socket_limits(void)
{
    static int ends[2], waiter;
    struct timeval limit = {0, SOCKET_WAIT_US};
    char byte;
    if (!waiter) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
        waiter = socket(AF_UNIX, SOCK_STREAM, 0);
        need(!bind(waiter, (struct sockaddr *)&a, sizeof(sa_family_t)) && !listen(waiter, 1),
             "listen");
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(waiter, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    double start = now_s();
    bool ok = gives_up("recv", recv(ends[0], &byte, 1, 0), start);
    start = now_s();
    ok = ok && gives_up("read", read(ends[0], &byte, 1), start);
    start = now_s();
    return ok && gives_up("accept", accept(waiter, NULL, NULL), start);
}

static bool do_events(void)
{
    static aio_context_t context;
    struct io_event e[2];
    struct timespec t = pause_time();
    if (!context && syscall(SYS_io_setup, 8, &context))
        return errno == ENOSYS || is("io_setup", -1, 0);
    double start = now_s();
    return is("io_getevents", syscall(SYS_io_getevents, context, 1, 2, e, &t), 0) &&
           lasts("io_getevents", start);
}

/* One request that takes a while; handing it in and waiting for it is one call. */
static bool do_uring(void)
{
    static int fd = -1;
    static struct io_uring_params p;
    static uint8_t *rings;
    static struct io_uring_sqe *requests;
    static struct __kernel_timespec limit;
    if (fd < 0) {
        fd = (int)syscall(SYS_io_uring_setup, 4, &p);
        if (fd < 0) {
            fd = -1;
            return errno == ENOSYS || errno == EPERM || is("io_uring_setup", -1, 0);
        }
        size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
        rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
        requests = mmap(NULL, p.sq_entries * sizeof *requests, PROT_READ | PROT_WRITE, MAP_SHARED,
                        fd, IORING_OFF_SQES);
    }
    uint32_t *tail = (uint32_t *)(rings + p.sq_off.tail), *ready;
    uint32_t slot = *tail & (p.sq_entries - 1);
    limit.tv_nsec = WAIT_US * 1000;
    requests[slot] = (struct io_uring_sqe){
        .opcode = IORING_OP_TIMEOUT, .addr = (uint64_t)(uintptr_t)&limit, .len = 1};
    ((uint32_t *)(rings + p.sq_off.array))[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    double start = now_s();
    long got = syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    ready = (uint32_t *)(rings + p.cq_off.tail);
    uint32_t *taken = (uint32_t *)(rings + p.cq_off.head);
    bool ok = is("io_uring_enter", got, 1) && lasts("io_uring_enter", start) &&
              is("completions", __atomic_load_n(ready, __ATOMIC_ACQUIRE) - *taken, 1);
    *taken = __atomic_load_n(ready, __ATOMIC_ACQUIRE);
    return ok;
}

/* --- woken by another ------------------------------------------------------------------------ */

enum { WAKE_BYTE, WAKE_MESSAGE, WAKE_QUEUE, WAKE_SEMAPHORE, WAKE_EVENT, WAKE_FILE, WAKE_CONNECT };

struct wake {
    int how, fd, id;
    struct sockaddr_un *address;
    const char *path;
};

static void *wake(void *of)
{
    const struct wake *w = of;
    struct timespec t = {0, WAIT_US * 700};
    uint64_t one = 1;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    nanosleep(&t, NULL);
    if (w->how == WAKE_BYTE && write(w->fd, "x", 1) != 1)
        perror("write");
    if (w->how == WAKE_MESSAGE && msgsnd(w->id, &(struct {
                                             long type;
                                             char text[8];
                                         }){1, "x"},
                                         8, 0))
        perror("msgsnd");
    if (w->how == WAKE_QUEUE && mq_send(w->fd, "x", 1, 0))
        perror("mq_send");
    if (w->how == WAKE_SEMAPHORE && semop(w->id, &(struct sembuf){0, 1, 0}, 1))
        perror("semop");
    if (w->how == WAKE_EVENT && write(w->fd, &one, 8) != 8)
        perror("write");
    if (w->how == WAKE_FILE)
        close(open(w->path, O_WRONLY));
    if (w->how == WAKE_CONNECT) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)w->address, sizeof *w->address))
            perror("connect");
        close(fd);
    }
    return NULL;
}

static pthread_t woken(struct wake *w)
{
    pthread_t t;
    need(!pthread_create(&t, NULL, wake, w), "pthread_create");
    return t;
}

static bool do_read_waits(void)
{
    static int ends[2], sockets[2], event = -1, timer = -1;
    uint64_t n = 0;
    char byte;
    if (event < 0) {
        need(!pipe(ends) && !socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets), "pipe");
        event = eventfd(0, 0);
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
    }
    struct wake w = {.how = WAKE_BYTE, .fd = ends[1]};
    pthread_t t = woken(&w);
    bool ok = is("read", read(ends[0], &byte, 1), 1);
    pthread_join(t, NULL);
    w.fd = sockets[1];
    t = woken(&w);
    ok = is("recv", recv(sockets[0], &byte, 1, 0), 1) && ok;
    pthread_join(t, NULL);
    w = (struct wake){.how = WAKE_EVENT, .fd = event};
    t = woken(&w);
    ok = is("eventfd", read(event, &n, 8), 8) && is("count", (long)n, 1) && ok;
    pthread_join(t, NULL);
    timerfd_settime(timer, 0, &(struct itimerspec){.it_value = pause_time()}, NULL);
    return is("timerfd", read(timer, &n, 8), 8) && is("expirations", (long)n, 1) && ok;
}

static bool do_queues(void)
{
    static int id = -1, set = -1;
    static mqd_t queue = -1;
    struct {
        long type;
        char text[8];
    } m;
    char text[8];
    struct timespec until;
    if (id < 0) {
        char name[40];
        snprintf(name, sizeof name, "/monarc-calls-%d", (int)getpid());
        id = msgget(IPC_PRIVATE, 0600);
        set = semget(IPC_PRIVATE, 1, 0600);
        queue = mq_open(name, O_CREAT | O_RDWR, 0600,
                        &(struct mq_attr){.mq_maxmsg = 2, .mq_msgsize = 8});
        mq_unlink(name);
    }
    struct wake w = {.how = WAKE_MESSAGE, .id = id};
    pthread_t t = woken(&w);
    bool ok = is("msgrcv", msgrcv(id, &m, 8, 0, 0), 8);
    pthread_join(t, NULL);
    w = (struct wake){.how = WAKE_SEMAPHORE, .id = set};
    t = woken(&w);
    ok = is("semop", semop(set, &(struct sembuf){0, -1, 0}, 1), 0) && ok;
    pthread_join(t, NULL);
    if (queue < 0)
        return ok;
    w = (struct wake){.how = WAKE_QUEUE, .fd = queue};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    t = woken(&w);
    ok = is("mq_timedreceive", mq_timedreceive(queue, text, 8, NULL, &until), 1) && ok;
    pthread_join(t, NULL);
    return ok;
}

static bool do_files(void)
{
    static int watch = -1;
    static char path[64], fifo[64];
    char list[4096];
    if (watch < 0) {
        snprintf(path, sizeof path, "/tmp/monarc-calls-%d", (int)getpid());
        snprintf(fifo, sizeof fifo, "/tmp/monarc-calls-%d.fifo", (int)getpid());
        close(open(path, O_CREAT | O_WRONLY, 0600));
        need(!mkfifo(fifo, 0600), fifo);
        watch = inotify_init();
        inotify_add_watch(watch, path, IN_OPEN);
    }
    struct wake w = {.how = WAKE_FILE, .path = path};
    pthread_t t = woken(&w);
    bool ok = is("inotify", read(watch, list, sizeof list), sizeof(struct inotify_event));
    pthread_join(t, NULL);
    w.path = fifo;
    t = woken(&w);
    int fd = open(fifo, O_RDONLY);
    ok = is("open", fd < 0 ? fd : 0, 0) && ok;
    pthread_join(t, NULL);
    close(fd);
    return ok;
}

static void remove_files(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/monarc-calls-%d", (int)getpid());
    unlink(path);
    strcat(path, ".fifo");
    unlink(path);
}

/* A child holds the lock for a while, and ends. */
static bool do_locks(void)
{
    char path[64], byte;
    int ends[2], status, fd;
    snprintf(path, sizeof path, "/tmp/monarc-calls-%d.lock", (int)getpid());
    need(!pipe(ends), "pipe");
    pid_t pid = fork();
    if (!pid) {
        struct timespec t = pause_time();
        fd = open(path, O_CREAT | O_RDWR, 0600);
        struct flock whole = {.l_type = F_WRLCK};
        int bad = flock(fd, LOCK_EX) || fcntl(fd, F_SETLK, &whole) || write(ends[1], "x", 1) != 1;
        nanosleep(&t, NULL);
        _exit(bad);
    }
    bool ok = is("read", read(ends[0], &byte, 1), 1);
    fd = open(path, O_RDWR);
    unlink(path);
    struct flock whole = {.l_type = F_WRLCK};
    ok = is("F_SETLKW", fcntl(fd, F_SETLKW, &whole), 0) && ok;
    ok = is("flock", flock(fd, LOCK_EX), 0) && ok;
    ok = is("wait4", wait4(pid, &status, 0, NULL), pid) && is("status", status, 0) && ok;
    close(fd);
    close(ends[0]);
    close(ends[1]);
    pid = vfork();
    if (!pid)
        _exit(3);
    siginfo_t info;
    return is("waitid", waitid(P_PID, (id_t)pid, &info, WEXITED), 0) &&
           is("status", info.si_status, 3) && ok;
}

static bool do_connects(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int waiter = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "monarc-calls-%d", (int)getpid());
    need(!bind(waiter, (struct sockaddr *)&a, sizeof a) && !listen(waiter, 0), "listen");
    struct wake w = {.how = WAKE_CONNECT, .address = &a};
    pthread_t t = woken(&w);
    int fd = accept(waiter, NULL, NULL);
    bool ok = is("accept", fd < 0 ? fd : 0, 0);
    pthread_join(t, NULL);
    close(fd);
    close(waiter);
    return ok;
}

/* --- signals that are handled: they do end calls --------------------------------------------- */

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled = handled + 1;
}

/* Each comes back with EINTR, once for each signal; write() and read() go on as SA_RESTART says. */
static bool do_handled(void)
{
    static int waiter = -1;
    struct epoll_event e;
    sigset_t all, some;
    bool ok = true;
    waiter = waiter < 0 ? epoll_create1(0) : waiter;
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigemptyset(&some);
    sigemptyset(&all);
    sigaddset(&all, SIGALRM);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int how = 0; ok && how < 4; how++) {
        struct itimerval once = {.it_value = {0, WAIT_US}};
        handled = 0;
        setitimer(ITIMER_REAL, &once, NULL);
        long got = how == 0   ? sigsuspend(&some)
                   : how == 1 ? epoll_pwait(waiter, &e, 1, -1, &some)
                   : how == 2 ? ppoll(NULL, 0, NULL, &some)
                              : epoll_pwait(waiter, &e, 1, 60000, &some);
        ok = is("handled", got < 0 ? errno : 0, EINTR) && is("once", handled, 1);
    }
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    return ok;
}

/* A pipe that is read again while the handler of each of many signals runs. */
static bool do_restarted(void)
{
    int ends[2];
    need(!pipe(ends), "pipe");
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
    struct wake w = {.how = WAKE_BYTE, .fd = ends[1]};
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
    pthread_t t = woken(&w);
    char byte;
    bool ok = is("read", read(ends[0], &byte, 1), 1);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    pthread_join(t, NULL);
    close(ends[0]);
    close(ends[1]);
    return ok;
}

/* --- all of them ----------------------------------------------------------------------------- */

static const struct kind kinds[] = {
    {"sleeps", do_sleeps},
    {"polls", do_polls},
    {"epolls", do_epolls},
    {"semaphores", do_semaphores},
    {"socket-limits", do_socket_limits},
    {"aio", do_events},
    {"uring", do_uring},
    {"read-waits", do_read_waits},
    {"queues", do_queues},
    {"files", do_files},
    {"locks", do_locks},
    {"connects", do_connects},
    {"handled", do_handled},
    {"restarted", do_restarted},
};

int main(int argc, char **argv)
{
    int status = make_all(argc, argv, kinds, sizeof kinds / sizeof *kinds);
    remove_files();
    return status;
}

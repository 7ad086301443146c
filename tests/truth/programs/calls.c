/* Makes system calls of every kind that a stop of the thread could cut short, and counts those that
 * do not do what they do when nobody looks: less than was asked for, EINTR that no handler has
 * caused, a wait that ends too early or far too late.
 *
 * usage: calls SECONDS [-s] [NAME...]: so long for each kind. -s: a child sends signals meanwhile
 * that this program ignores, 1000 a second. Prints `NAME wrong COUNT of COUNT` for each, and what
 * was wrong first. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 20, WAIT_US = 1500, SOCKET_WAIT_US = 25000, MESSAGES = 64, TEXTS = 200 };

static char bytes[SIZE + 64] __attribute__((aligned(4096))), seen[2 * SIZE];
static char why[TEXTS];

/* Says what a call returned, and that it is not what it must be. */
static bool is(const char *what, long result, long expected)
{
    if (result == expected)
        return true;
    if (!why[0])
        snprintf(why, sizeof why, "%s: %ld for %ld, errno %d", what, result, expected,
                 result < 0 ? errno : 0);
    return false;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Not before its time; and not after twice that and a second, on a busy machine. */
static bool lasts(const char *what, double start)
{
    double s = now_s() - start;
    return is(what, s < WAIT_US * 0.98e-6 ? -1 : s > 1 + WAIT_US * 2e-6 ? 1 : 0, 0);
}

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(90);
}

static struct timespec pause_time(void)
{
    return (struct timespec){0, WAIT_US * 1000};
}

/* --- bytes ----------------------------------------------------------------------------------- */

static int device(const char *path)
{
    int fd = open(path, O_RDONLY);
    need(fd >= 0, path);
    return fd;
}

static struct iovec pieces[3] = {
    {seen, 4099}, {seen + 5000, 600001}, {seen + 700000, SIZE - 4099 - 600001}};

static bool do_read(void)
{
    static int zero = -1;
    zero = zero < 0 ? device("/dev/zero") : zero;
    return is("read", read(zero, seen, SIZE), SIZE);
}

static bool do_read_random(void)
{
    static int fd = -1;
    fd = fd < 0 ? device("/dev/urandom") : fd;
    return is("read", read(fd, seen, SIZE), SIZE);
}

static bool do_readv(void)
{
    static int zero = -1;
    zero = zero < 0 ? device("/dev/zero") : zero;
    memset(seen, 1, sizeof seen);
    bool ok = is("readv", readv(zero, pieces, 3), SIZE);
    for (int i = 0; ok && i < 3; i++)
        for (size_t k = 0; ok && k < pieces[i].iov_len; k++)
            ok = is("byte", ((char *)pieces[i].iov_base)[k], 0);
    return ok;
}

static bool do_pread(void)
{
    static int zero = -1;
    zero = zero < 0 ? device("/dev/zero") : zero;
    return is("pread", pread(zero, seen, SIZE, 100), SIZE) &&
           is("preadv", preadv(zero, pieces, 3, 100), SIZE) &&
           is("preadv2", preadv2(zero, pieces, 3, 100, 0), SIZE);
}

static bool do_getrandom(void)
{
    return is("getrandom", getrandom(seen, SIZE, 0), SIZE);
}

static struct iovec out_pieces[3] = {
    {bytes, 4099}, {bytes + 4099, 600001}, {bytes + 604100, SIZE - 604100}};

/* A child that reads all that comes, and is content if it is our bytes, over and over. */
static pid_t reader(const int ends[2])
{
    static char got[65536];
    size_t at = 0;
    pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid)
        return pid;
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], got, sizeof got)) != 0;)
        for (ssize_t i = 0; i < n; i++, at++)
            if (got[i] != bytes[at % SIZE])
                _exit(1);
    _exit(at % SIZE ? 2 : 0);
}

/* A child that writes our bytes `times`, a little at a time. */
static pid_t writer(const int ends[2], int times)
{
    pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid)
        return pid;
    close(ends[0]);
    for (size_t at = 0; at < (size_t)SIZE * (size_t)times;) {
        size_t some = SIZE - at % SIZE < 3000 ? SIZE - at % SIZE : 3000;
        ssize_t n = write(ends[1], bytes + at % SIZE, some);
        at += n > 0 ? (size_t)n : 0;
    }
    _exit(0);
}

static bool is_content(pid_t pid)
{
    int status;
    return is("wait", waitpid(pid, &status, 0), pid) && is("the other end", status, 0);
}

/* Way `how` of writing a megabyte. */
static long put(int to, int how)
{
    struct msghdr m = {.msg_iov = out_pieces, .msg_iovlen = 3};
    switch (how) {
    case 0: return write(to, bytes, SIZE);
    case 1: return writev(to, out_pieces, 3);
    case 2: return pwritev2(to, out_pieces, 3, -1, 0);
    case 3: return send(to, bytes, SIZE, 0);
    case 4: return sendmsg(to, &m, 0);
    }
    return -1;
}

static bool put_all(const int ends[2], int ways)
{
    pid_t pid = reader(ends);
    bool ok = true;
    close(ends[0]);
    for (int how = 0; ok && how < ways; how++)
        if (ways == 3 || how != 2)
            ok = is("write", put(ends[1], how), SIZE);
    close(ends[1]);
    return is_content(pid) && ok;
}

static bool do_write_pipe(void)
{
    int ends[2];
    need(!pipe(ends), "pipe");
    return put_all(ends, 3);
}

static bool do_write_socket(void)
{
    int ends[2];
    need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    return put_all(ends, 5);
}

static void connect_tcp(int ends[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof a;
    int waiter = socket(AF_INET, SOCK_STREAM, 0);
    need(!bind(waiter, (struct sockaddr *)&a, len) && !listen(waiter, 1) &&
             !getsockname(waiter, (struct sockaddr *)&a, &len),
         "listen");
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    need(!connect(ends[1], (struct sockaddr *)&a, len), "connect");
    ends[0] = accept(waiter, NULL, NULL);
    need(ends[0] >= 0, "accept");
    close(waiter);
}

static bool do_write_tcp(void)
{
    int ends[2];
    connect_tcp(ends);
    return put_all(ends, 5);
}

static bool take_all(const int ends[2])
{
    pid_t pid = writer(ends, 2);
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 3};
    close(ends[1]);
    bool ok = is("recv", recv(ends[0], seen, SIZE, MSG_WAITALL), SIZE) &&
              is("bytes", memcmp(seen, bytes, SIZE), 0) &&
              is("recvmsg", recvmsg(ends[0], &m, MSG_WAITALL), SIZE) &&
              is("bytes", memcmp(pieces[1].iov_base, bytes + 4099, pieces[1].iov_len), 0);
    close(ends[0]);
    if (!ok)
        kill(pid, SIGKILL);
    return ok ? is_content(pid) : (waitpid(pid, NULL, 0), false);
}

static bool do_recv_socket(void)
{
    int ends[2];
    need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    return take_all(ends);
}

static bool do_recv_tcp(void)
{
    int ends[2];
    connect_tcp(ends);
    return take_all(ends);
}

/* More than the socket takes at once, and fewer than were waited for at first. */
static bool do_messages(void)
{
    static char text[MESSAGES][512];
    struct mmsghdr m[MESSAGES];
    struct iovec one[MESSAGES];
    int ends[2];
    need(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
    memset(m, 0, sizeof m);
    for (int i = 0; i < MESSAGES; i++) {
        one[i] = (struct iovec){text[i], sizeof text[i]};
        m[i].msg_hdr = (struct msghdr){.msg_iov = &one[i], .msg_iovlen = 1};
    }
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        _exit(recvmmsg(ends[1], m, MESSAGES, 0, NULL) != MESSAGES ||
              sendmmsg(ends[1], m, MESSAGES, 0) != MESSAGES);
    }
    close(ends[1]);
    bool ok = is("sendmmsg", sendmmsg(ends[0], m, MESSAGES, 0), MESSAGES) &&
              is("recvmmsg", recvmmsg(ends[0], m, MESSAGES, 0, NULL), MESSAGES) &&
              is("the last", m[MESSAGES - 1].msg_len, sizeof text[0]);
    close(ends[0]);
    return is_content(pid) && ok;
}

static int temporary(size_t size)
{
    FILE *f = tmpfile();
    need(f && (!size || fwrite(bytes, 1, size, f) == size) && !fflush(f), "tmpfile");
    return dup(fileno(f));
}

static bool do_sendfile(void)
{
    int ends[2], from = temporary(SIZE), to = temporary(0);
    off_t at = 0;
    need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    pid_t pid = reader(ends);
    close(ends[0]);
    bool ok = is("sendfile", sendfile(ends[1], from, &at, SIZE), SIZE) && is("place", at, SIZE) &&
              is("sendfile", sendfile(to, from, &(off_t){0}, SIZE), SIZE);
    close(ends[1]);
    off_t in = 0, out = 0;
    ok = is_content(pid) && ok &&
         is("copy_file_range", copy_file_range(from, &in, to, &out, SIZE, 0), SIZE) &&
         is("pread", pread(to, seen, SIZE, 0), SIZE) && is("bytes", memcmp(seen, bytes, SIZE), 0);
    close(from);
    close(to);
    return ok;
}

static bool do_splice(void)
{
    int p[2], q[2], to = temporary(0), ends[2];
    enum { FULL = 65536 };
    need(!pipe(p) && !pipe(q) && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "pipe");
    pid_t pid = reader(ends);
    close(ends[0]);
    struct iovec all = {bytes, FULL};
    bool ok = is("vmsplice", vmsplice(p[1], &all, 1, 0), FULL) &&
              is("tee", tee(p[0], q[1], FULL, 0), FULL) &&
              is("splice", splice(p[0], NULL, to, NULL, FULL, 0), FULL) &&
              is("write", write(ends[1], bytes, SIZE - FULL), SIZE - FULL) &&
              is("read", read(q[0], seen, FULL), FULL) &&
              is("write", write(q[1], bytes + SIZE - FULL, FULL), FULL) &&
              is("splice", splice(q[0], NULL, ends[1], NULL, FULL, 0), FULL);
    for (int i = 0; i < 2; i++) {
        close(p[i]);
        close(q[i]);
    }
    close(to);
    close(ends[1]);
    return is_content(pid) && ok;
}

/* A whole folder in one call. */
static bool do_getdents(void)
{
    static char folder[] = "/tmp/monarc-calls-XXXXXX", list[1 << 18];
    static long whole;
    enum { FILES = 1500 };
    if (!whole) {
        need(mkdtemp(folder), folder);
        for (int i = 0; i < FILES; i++) {
            char path[100];
            snprintf(path, sizeof path, "%s/%04d", folder, i);
            close(open(path, O_CREAT | O_WRONLY, 0600));
        }
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    long got = syscall(SYS_getdents64, fd, list, sizeof list);
    close(fd);
    long expected = 24L * (FILES + 2); /* an entry with a name of up to 4 letters takes 24 bytes */
    return is("getdents64", got, whole = expected);
}

static void remove_folder(void)
{
    if (system("rm -rf /tmp/monarc-calls-??????") < 0)
        perror("rm");
}

static bool do_fallocate(void)
{
    int fd = memfd_create("calls", 0);
    bool ok = is("fallocate", fallocate(fd, 0, 0, 8 << 20), 0) && is("fsync", fsync(fd), 0);
    close(fd);
    return ok;
}

/* Keys are sent without a line's end; and what is written is read at leisure. */
static bool do_terminal(void)
{
    enum { KEYS = 4000 };
    int master, slave;
    struct termios t;
    need(!openpty(&master, &slave, NULL, NULL, NULL), "openpty");
    tcgetattr(slave, &t);
    cfmakeraw(&t);
    tcsetattr(slave, TCSANOW, &t);
    pid_t pid = reader((int[]){master, slave});
    bool ok = is("write", write(slave, bytes, SIZE / 4), SIZE / 4);
    tcdrain(slave);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ok = ok && is("keys", write(master, bytes, KEYS), KEYS);
    for (long all = 0, n; ok && all < KEYS; all += n)
        if ((n = read(slave, seen, KEYS)) < 1)
            ok = is("read", n, 1);
    close(slave);
    close(master);
    return ok;
}

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

static const struct kind {
    const char *name;
    bool (*make)(void);
} kinds[] = {
    {"read", do_read},
    {"read-random", do_read_random},
    {"readv", do_readv},
    {"pread", do_pread},
    {"getrandom", do_getrandom},
    {"write-pipe", do_write_pipe},
    {"write-unix", do_write_socket},
    {"write-tcp", do_write_tcp},
    {"recv-unix", do_recv_socket},
    {"recv-tcp", do_recv_tcp},
    {"messages", do_messages},
    {"sendfile", do_sendfile},
    {"splice", do_splice},
    {"getdents", do_getdents},
    {"fallocate", do_fallocate},
    {"terminal", do_terminal},
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

/* Signals that nobody hears, to the first thread: one that comes to the process can wake a thread
 * and be taken by another, and then nobody sees why the first has been woken. */
static pid_t send_signals(void)
{
    pid_t us = getpid(), pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (struct timespec t = {0, 900000};; nanosleep(&t, NULL))
        if (syscall(SYS_tgkill, us, us, SIGWINCH))
            _exit(0);
}

static bool is_wanted(const char *name, char **wanted)
{
    bool is = !*wanted;
    for (; *wanted; wanted++)
        is |= !strcmp(*wanted, name);
    return is;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.2;
    bool has_signals = argc > 2 && !strcmp(argv[2], "-s");
    pid_t sender = has_signals ? send_signals() : 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 >> 3);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int all = 0, wrong = 0;
        if (!is_wanted(kinds[i].name, argv + (argc > 1 ? 2 : 1) + has_signals))
            continue;
        why[0] = 0;
        for (double end = now_s() + seconds; now_s() < end || !all; all++)
            wrong += !kinds[i].make();
        printf("%s wrong %d of %d%s%s\n", kinds[i].name, wrong, all, wrong ? ": " : "", why);
        fflush(stdout);
    }
    if (sender) {
        kill(sender, SIGKILL);
        waitpid(sender, NULL, 0);
    }
    remove_files();
    remove_folder();
    return 0;
}

/* Makes system calls that transfer bytes, messages and entries, and counts those that do less than
 * was asked for when nobody looks: see calls.h. */
#include "calls.h"

static char bytes[SIZE + 64] __attribute__((aligned(4096))), seen[2 * SIZE];

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

static char folder[] = "/tmp/monarc-calls-XXXXXX"; /* made when it is first read */

/* A whole folder in one call. */
static bool do_getdents(void)
{
    static char list[1 << 18];
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
    char command[sizeof folder + 10];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) < 0)
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

/* --- all of them ----------------------------------------------------------------------------- */

static const struct kind kinds[] = {
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
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 >> 3);
    int status = make_all(argc, argv, kinds, sizeof kinds / sizeof *kinds);
    remove_folder();
    return status;
}

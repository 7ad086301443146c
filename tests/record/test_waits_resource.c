/* What a thread waits for, of made-up calls and of words that look like locks: each word is changed
 * until the lock is none. The process that is looked at is this one; the owner is another thread of
 * it. */
#include "cases.h"
#include "toy_collector.h"

#include "record/waits/waits_private.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

enum {
    NOBODY = 5000000, /* no thread has such a number */
    FUTEX_CALL = 202, /* of x86-64 */
    SHARED_WAIT = 9,  /* FUTEX_WAIT_BITSET, as for the end of a thread */
    PRIVATE_WAIT = 128,
    PRIVATE_PI = 128 + 6,
    MANY = 1 << 20,
    LAST = 3 /* what the word that is waited at is in `words` */
};
#define WAITERS UINT32_C(0x80000000)

static uint32_t words[16]; /* around the one that is waited at */
static uint32_t owner;     /* a thread of ours */
static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;

static uint64_t at(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static bool ask(const struct collector *c, int64_t call, const uint64_t *arguments, size_t len,
                struct waits_resource *out)
{
    struct waits w = {.collector = (struct collector *)c, .options = {.arch = &arch_x86_64}};
    struct waits_look look = {.state = WAITS_BLOCKED, .syscall = call};
    memcpy(look.arguments, arguments, len * sizeof *arguments);
    return waits_resource(&w, getpid(), gettid(), &look, out);
}

/* What a wait at words[LAST], which was `value`, is for. */
static struct waits_resource futex(uint32_t operation, uint32_t value)
{
    struct collector none = {0};
    struct waits_resource r;
    assert_true(ask(&none, FUTEX_CALL, (uint64_t[]){at(words + LAST), operation, value}, 3, &r));
    assert_int_equal(r.waited_at, at(words + LAST));
    assert_int_equal(r.word, words[LAST]);
    return r;
}

/* The words from the one that is waited at on, and those before it. */
static void set_words(const uint32_t before[LAST], const uint32_t from[5])
{
    memset(words, 0, sizeof words);
    memcpy(words, before, LAST * sizeof *words);
    memcpy(words + LAST, from, 5 * sizeof *words);
}

static void expect(const struct waits_resource *r, uint32_t kind, pid_t holder)
{
    assert_int_equal(r->kind, kind);
    assert_int_equal(r->holder, holder);
    assert_int_equal(r->holder_pid, holder && !r->is_gone ? getpid() : 0);
}

static void expect_nothing(uint32_t operation, uint32_t value)
{
    struct waits_resource r = futex(operation, value);
    expect(&r, RECORDING_RESOURCE_FUTEX, 0);
    assert_int_equal(r.address, at(words + LAST));
}

static const uint32_t nothing[LAST];

CASE(the_owner_is_the_word)
{
    set_words(nothing, (uint32_t[5]){owner | WAITERS});
    struct waits_resource r = futex(PRIVATE_PI, 0);
    expect(&r, RECORDING_RESOURCE_PI, (pid_t)owner);
    set_words(nothing, (uint32_t[5]){NOBODY});
    r = futex(PRIVATE_PI, 0);
    assert_true(r.is_gone);
    expect(&r, RECORDING_RESOURCE_PI, NOBODY);
    r = futex(PRIVATE_WAIT, owner | WAITERS); /* as it was when the thread fell asleep */
    expect(&r, RECORDING_RESOURCE_MUTEX, (pid_t)owner);
    expect_nothing(PRIVATE_WAIT, NOBODY | WAITERS);
    expect_nothing(PRIVATE_WAIT, 16 | WAITERS); /* musl's */
}

CASE(the_end_of_a_thread)
{
    set_words(nothing, (uint32_t[5]){owner});
    struct waits_resource r = futex(SHARED_WAIT, owner);
    expect(&r, RECORDING_RESOURCE_JOIN, (pid_t)owner);
    assert_true(waits_resource_is_same(getpid(), &r));
    words[LAST] = 0;
    assert_false(waits_resource_is_same(getpid(), &r));
    expect_nothing(SHARED_WAIT, owner); /* it has ended */
    words[LAST] = owner;
    expect_nothing(SHARED_WAIT | PRIVATE_WAIT, owner);
    words[LAST] = NOBODY;
    expect_nothing(SHARED_WAIT, NOBODY);
}

/* glibc's word is 2, and the owner stands behind it. */
CASE(a_mutex)
{
    set_words(nothing, (uint32_t[5]){2, 0, owner, 1, 0});
    struct waits_resource r = futex(PRIVATE_WAIT, 2);
    expect(&r, RECORDING_RESOURCE_MUTEX, (pid_t)owner);
    assert_int_equal(r.address, at(words + LAST));
    expect_nothing(PRIVATE_WAIT, 1);
    /* Its owner has gone: then all words have to fit. */
    const uint32_t fits[5] = {2, 0, NOBODY, 1, 0x1ff};
    set_words(nothing, fits);
    r = futex(PRIVATE_WAIT, 2);
    assert_true(r.is_gone);
    expect(&r, RECORDING_RESOURCE_MUTEX, NOBODY);
    static const struct {
        size_t word;
        uint32_t is;
    } WRONG[] = {{0, 1}, {2, 0}, {2, 1}, {2, UINT32_C(1) << 30}, {3, 0}, {3, MANY}, {4, 0x200}};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        uint32_t wrong[5];
        memcpy(wrong, fits, sizeof wrong);
        wrong[WRONG[i].word] = WRONG[i].is;
        set_words(nothing, wrong);
        expect_nothing(PRIVATE_WAIT, 2);
    }
}

/* One for readers and a writer: +0 readers, +24 the writer. It is waited at +8 and +12. */
CASE(a_lock_for_readers_and_a_writer)
{
    for (size_t place = 2; place <= 3; place++) {
        uint32_t *lock = words + LAST - place;
        for (uint32_t value = 0; value <= 4; value++) {
            memset(words, 0, sizeof words);
            lock[0] = 2;
            lock[6] = owner;
            if (value == 4) {
                expect_nothing(PRIVATE_WAIT, value);
                continue;
            }
            struct waits_resource r = futex(PRIVATE_WAIT, value);
            expect(&r, RECORDING_RESOURCE_RWLOCK, (pid_t)owner);
            assert_int_equal(r.address, at(lock));
            lock[0] = 1;
            expect_nothing(PRIVATE_WAIT, value);
            lock[0] = 2;
            lock[6] = NOBODY;
            expect_nothing(PRIVATE_WAIT, value);
        }
    }
}

/* Readers have it, whom nobody keeps: at +8 alone, and for a writer alone. */
CASE(a_lock_that_readers_have)
{
    for (size_t place = 2; place <= 3; place++) {
        uint32_t *lock = words + LAST - place;
        const uint32_t readers[] = {0, 1, 5, MANY - 1, MANY};
        for (size_t i = 0; i < 5; i++)
            for (uint32_t value = 1; value <= 2; value++) {
                memset(words, 0, sizeof words);
                lock[0] = readers[i] << 3 | 2;
                if (place != 2 || value != 2 || !readers[i] || readers[i] == MANY) {
                    expect_nothing(PRIVATE_WAIT, value);
                    continue;
                }
                struct waits_resource r = futex(PRIVATE_WAIT, value);
                expect(&r, RECORDING_RESOURCE_RWLOCK, 0);
                assert_int_equal(r.address, at(lock));
                lock[6] = NOBODY;
                expect_nothing(PRIVATE_WAIT, value);
            }
    }
}

/* Words before and behind need not be there. */
CASE(at_the_edge_of_memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct collector none = {0};
    struct waits_resource r;
    uint8_t *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    uint32_t *first = (uint32_t *)(pages + page), *last = (uint32_t *)(pages + 2 * page) - 1;
    memcpy(first, (uint32_t[5]){2, 0, owner, 1, 0}, 5 * sizeof *first);
    *last = owner | WAITERS;
    assert_true(ask(&none, FUTEX_CALL, (uint64_t[]){at(first), PRIVATE_WAIT, 2}, 3, &r));
    expect(&r, RECORDING_RESOURCE_MUTEX, (pid_t)owner);
    assert_true(ask(&none, FUTEX_CALL, (uint64_t[]){at(last), PRIVATE_PI, 0}, 3, &r));
    expect(&r, RECORDING_RESOURCE_PI, (pid_t)owner);
    assert_true(ask(&none, FUTEX_CALL, (uint64_t[]){at(pages), PRIVATE_WAIT, 2}, 3, &r));
    expect(&r, RECORDING_RESOURCE_FUTEX, 0);
    assert_int_equal(munmap(pages, 3 * page), 0);
}

static uint32_t kind_of(int64_t call, const uint64_t arguments[3], struct waits_resource *r)
{
    struct collector none = {0};
    if (!ask(&none, call, arguments, 3, r))
        assert_int_equal(r->kind, RECORDING_RESOURCE_KINDS);
    return r->kind;
}

CASE(descriptors)
{
    int pipe_ends[2], sockets[2], null = open("/dev/null", O_RDWR);
    struct waits_resource r;
    (void)state;
    assert_true(null >= 0 && !pipe(pipe_ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    assert_int_equal(kind_of(SYS_read, (uint64_t[3]){(uint64_t)null}, &r), RECORDING_RESOURCE_FILE);
    assert_string_equal(r.name, "/dev/null");
    assert_int_equal(kind_of(SYS_read, (uint64_t[3]){(uint64_t)pipe_ends[0]}, &r),
                     RECORDING_RESOURCE_PIPE);
    assert_true(r.address && strtoull(r.name + strlen("pipe:["), NULL, 10) == r.address);
    assert_int_equal(kind_of(SYS_accept, (uint64_t[3]){(uint64_t)sockets[0]}, &r),
                     RECORDING_RESOURCE_SOCKET);
    assert_int_equal(kind_of(SYS_read, (uint64_t[3]){9999}, &r), RECORDING_RESOURCE_KINDS);
    /* poll: one descriptor, several, none. */
    struct pollfd one = {.fd = pipe_ends[0]};
    assert_int_equal(kind_of(SYS_poll, (uint64_t[3]){at(&one), 1}, &r), RECORDING_RESOURCE_PIPE);
    assert_int_equal(kind_of(SYS_poll, (uint64_t[3]){at(&one), 2}, &r), RECORDING_RESOURCE_SEVERAL);
    assert_int_equal(kind_of(SYS_poll, (uint64_t[3]){at(&one), 0}, &r), RECORDING_RESOURCE_SLEEP);
    assert_int_equal(kind_of(SYS_select, (uint64_t[3]){4}, &r), RECORDING_RESOURCE_SEVERAL);
    assert_int_equal(kind_of(SYS_select, (uint64_t[3]){0}, &r), RECORDING_RESOURCE_SLEEP);
    assert_int_equal(kind_of(SYS_nanosleep, (uint64_t[3]){0}, &r), RECORDING_RESOURCE_SLEEP);
    assert_int_equal(kind_of(SYS_getpid, (uint64_t[3]){0}, &r), RECORDING_RESOURCE_KINDS);
    assert_int_equal(kind_of(-2, (uint64_t[3]){0}, &r), RECORDING_RESOURCE_KINDS);
    assert_int_equal(kind_of(100000, (uint64_t[3]){0}, &r), RECORDING_RESOURCE_KINDS);
    /* fcntl() waits by two of its commands. */
    assert_int_equal(kind_of(SYS_fcntl, (uint64_t[3]){(uint64_t)null, F_SETLKW}, &r),
                     RECORDING_RESOURCE_FILE_LOCK);
    assert_int_equal(kind_of(SYS_fcntl, (uint64_t[3]){(uint64_t)null, F_OFD_SETLKW}, &r),
                     RECORDING_RESOURCE_FILE_LOCK);
    assert_int_equal(kind_of(SYS_fcntl, (uint64_t[3]){(uint64_t)null, F_GETFL}, &r),
                     RECORDING_RESOURCE_KINDS);
    assert_int_equal(kind_of(SYS_flock, (uint64_t[3]){(uint64_t)null}, &r),
                     RECORDING_RESOURCE_FILE_LOCK);
    for (size_t i = 0; i < 2; i++) {
        close(pipe_ends[i]);
        close(sockets[i]);
    }
    close(null);
}

/* A named pipe is a pipe, and only files and disks have all that is asked for. */
CASE(what_is_stored)
{
    char folder[] = "/tmp/monarc-resource-XXXXXX", path[64];
    struct waits_resource r;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDWR), null = open("/dev/null", O_RDWR),
        self = open("/proc/self/exe", O_RDONLY);
    struct stat st;
    assert_true(fifo >= 0 && null >= 0 && self >= 0 && !fstat(fifo, &st));
    assert_true(waits_resource_of_descriptor(getpid(), fifo, &r));
    assert_int_equal(r.kind, RECORDING_RESOURCE_PIPE);
    assert_string_equal(r.name, path);
    assert_true(r.address == st.st_ino && !r.is_stored);
    assert_true(waits_resource_of_descriptor(getpid(), null, &r) && !r.is_stored);
    assert_true(waits_resource_of_descriptor(getpid(), self, &r) && r.is_stored);
    assert_int_equal(r.kind, RECORDING_RESOURCE_FILE);
    close(fifo);
    close(null);
    close(self);
    unlink(path);
    rmdir(folder);
}

/* A process that has a lock on a file until it is killed. */
static pid_t locker(const char *path, short type, off_t start, off_t len, bool is_flock)
{
    int ready[2];
    char ignored;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
        int fd = open(path, O_RDWR);
        struct flock lock = {.l_type = type, .l_start = start, .l_len = len};
        if (is_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLK, &lock))
            _exit(1);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &ignored, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* The file is asked for by another descriptor than the lock's. */
static pid_t who_locks(int fd, const struct flock *wanted)
{
    struct waits_resource r;
    assert_int_equal(kind_of(SYS_fcntl, (uint64_t[3]){(uint64_t)fd, F_SETLKW, at(wanted)}, &r),
                     RECORDING_RESOURCE_FILE_LOCK);
    assert_int_equal(r.holder, r.holder_pid);
    return r.holder;
}

/* Of several locks on one file, or on files of one number, the one that is in the way. */
CASE(locks_on_files)
{
    char path[] = "/tmp/monarc-lock-XXXXXX";
    int fd = mkstemp(path), status;
    struct waits_resource r;
    (void)state;
    assert_true(fd >= 0 && ftruncate(fd, 1000) == 0 && lseek(fd, 400, SEEK_SET) == 400);
    pid_t pids[] = {locker(path, F_WRLCK, 0, 100, false), locker(path, F_RDLCK, 200, 100, false),
                    locker(path, F_WRLCK, 500, 0, false), locker(path, 0, 0, 0, true)};
    const struct {
        struct flock wanted;
        pid_t holder;
    } cases[] = {
        {{.l_type = F_WRLCK, .l_start = 50, .l_len = 1}, pids[0]},
        {{.l_type = F_RDLCK, .l_start = 99, .l_len = 50}, pids[0]},
        {{.l_type = F_WRLCK, .l_start = 100, .l_len = 100}, 0},
        {{.l_type = F_WRLCK, .l_start = 299, .l_len = 1}, pids[1]},
        {{.l_type = F_RDLCK, .l_start = 200, .l_len = 100}, 0}, /* readers share */
        {{.l_type = F_WRLCK, .l_start = 600, .l_len = 1}, pids[2]},
        {{.l_type = F_WRLCK, .l_start = 300, .l_len = 0}, pids[2]}, /* to the end, however far */
        {{.l_type = F_WRLCK, .l_start = -200, .l_len = 1, .l_whence = SEEK_CUR}, pids[1]},
        {{.l_type = F_WRLCK, .l_start = -1, .l_len = 1, .l_whence = SEEK_END}, pids[2]},
        {{.l_type = F_WRLCK, .l_start = 301, .l_len = -2}, pids[1]}, /* bytes 299 and 300 */
        {{.l_type = F_WRLCK, .l_start = 302, .l_len = -2}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (who_locks(fd, &cases[i].wanted) != cases[i].holder)
            fail_msg("case %zu: %d, not %d", i, (int)who_locks(fd, &cases[i].wanted),
                     (int)cases[i].holder);
    assert_int_equal(kind_of(SYS_flock, (uint64_t[3]){(uint64_t)fd, LOCK_SH}, &r),
                     RECORDING_RESOURCE_FILE_LOCK);
    assert_int_equal(r.holder, pids[3]);
    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], &status, 0);
    }
    assert_int_equal(who_locks(fd, &cases[0].wanted), 0);
    close(fd);
    unlink(path);
}

/* By its number, or the only one. */
CASE(children)
{
    struct waits_resource r;
    pid_t pids[2];
    int status;
    (void)state;
    assert_int_equal(kind_of(SYS_wait4, (uint64_t[3]){1234}, &r), RECORDING_RESOURCE_CHILD);
    assert_true(r.holder == 1234 && r.holder_pid == 1234 && !strcmp(r.name, "process 1234"));
    assert_int_equal(kind_of(SYS_waitid, (uint64_t[3]){P_PID, 1234}, &r), RECORDING_RESOURCE_CHILD);
    assert_int_equal(r.holder, 1234);
    kind_of(SYS_wait4, (uint64_t[3]){UINT32_MAX}, &r); /* -1, and there is none */
    assert_true(!r.holder && !r.holder_pid && !strcmp(r.name, "any child"));
    for (size_t i = 0; i < 2; i++) {
        if (!(pids[i] = fork()))
            for (;;)
                pause();
        kind_of(SYS_waitid, (uint64_t[3]){P_ALL, 1234}, &r);
        if (access("/proc/self/task", F_OK) == 0 && access("/proc/thread-self/children", F_OK) == 0)
            assert_int_equal(r.holder, i == 0 ? pids[0] : 0); /* of two it is not known which */
    }
    for (size_t i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], &status, 0);
    }
}

static void *stay(void *context)
{
    __atomic_store_n((uint32_t *)context, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&end); /* until the end */
    return NULL;
}

static int begin(void **state)
{
    static pthread_t other;
    *state = &other;
    pthread_mutex_lock(&end);
    if (pthread_create(&other, NULL, stay, &owner))
        return 1;
    while (!__atomic_load_n(&owner, __ATOMIC_SEQ_CST))
        sched_yield();
    return 0;
}

static int finish(void **state)
{
    pthread_mutex_unlock(&end);
    return pthread_join(*(pthread_t *)*state, NULL);
}

#endif

int main(void)
{
#if defined(__x86_64__)
    return run_cases(begin, finish);
#else
    puts("1..0 # SKIP the calls are numbered as on x86-64");
    return 0;
#endif
}

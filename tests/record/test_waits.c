/* Waits of known length stand where they were, short ones have their sum, and the programs see
 * nothing of it: as root with and without sight of switches, and as an ordinary user. */
#include "cases.h"
#include "sequential.h"
#include "watching.h"

#include "record/waits/waits_private.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define MS UINT64_C(1000000)

enum { IN_SLEEP, IN_POLL, IN_MUTEX, IN_PIPE, IN_EPOLL, IN_WAITPID, IN_STOP, PLACES };

/* Each in a section of its own, so that its code has a start and an end. */
#define PLACE(name)  __attribute__((noinline, section("place_" #name)))
#define EXTENT(name) extern const uint8_t __start_place_##name[], __stop_place_##name[]
EXTENT(sleep);
EXTENT(poll);
EXTENT(mutex);
EXTENT(pipe);
EXTENT(epoll);
EXTENT(waitpid);
EXTENT(stop);

static const struct toy_function places[PLACES] = {
    {"sleep", __start_place_sleep, __stop_place_sleep},
    {"poll", __start_place_poll, __stop_place_poll},
    {"mutex", __start_place_mutex, __stop_place_mutex},
    {"pipe", __start_place_pipe, __stop_place_pipe},
    {"epoll", __start_place_epoll, __stop_place_epoll},
    {"waitpid", __start_place_waitpid, __stop_place_waitpid},
    {"stop", __start_place_stop, __stop_place_stop},
};

/* What the watched program tells about itself. */
struct told {
    pid_t tid;
    uint64_t ns[PLACES];
    long result[PLACES];
    int error[PLACES];
    uint64_t cpu_ns, begun_ns;
    int places;   /* which of them to do */
    int repeated; /* of sleep and poll, each */
    uint64_t sleep_ns, poll_ns;
};

static void pause_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};
    while (nanosleep(&t, &t))
        ;
}

static void *let_go(void *mutex)
{
    pthread_mutex_lock(mutex);
    pause_ns(300 * MS);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void *write_later(void *pipe)
{
    pause_ns(200 * MS);
    return (void *)(intptr_t)write(((int *)pipe)[1], "x", 1);
}

static PLACE(sleep) long wait_in_sleep(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};
    long result = nanosleep(&t, NULL);
    __asm__ volatile("");
    return result;
}

static PLACE(poll) long wait_in_poll(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};
    long result = ppoll(NULL, 0, &t, NULL);
    __asm__ volatile("");
    return result;
}

static PLACE(mutex) long wait_in_mutex(pthread_mutex_t *mutex)
{
    long result = pthread_mutex_lock(mutex);
    __asm__ volatile("");
    return result;
}

static PLACE(pipe) long wait_in_pipe(int fd)
{
    char byte;
    long result = read(fd, &byte, 1);
    __asm__ volatile("");
    return result;
}

static PLACE(epoll) long wait_in_epoll(int fd)
{
    struct epoll_event event;
    long result = epoll_wait(fd, &event, 1, 150);
    __asm__ volatile("");
    return result;
}

static PLACE(waitpid) long wait_in_waitpid(pid_t pid)
{
    int status;
    long result = waitpid(pid, &status, 0) == pid ? status : -1;
    __asm__ volatile("");
    return result;
}

static PLACE(stop) long wait_in_stop(void)
{
    long result = kill(getpid(), SIGSTOP);
    __asm__ volatile("");
    return result;
}

static uint64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

#define TELL(place, call)                           \
    do {                                            \
        uint64_t begin_ = watching_now();           \
        errno = 0;                                  \
        told->result[place] = (call);               \
        told->error[place] = errno;                 \
        told->ns[place] += watching_now() - begin_; \
    } while (0)

static void wait_for_mutex(struct told *told)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    pthread_create(&other, NULL, let_go, &mutex);
    pause_ns(50 * MS);
    TELL(IN_MUTEX, wait_in_mutex(&mutex));
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void wait_for_pipe(struct told *told)
{
    pthread_t other;
    int ends[2];
    if (pipe(ends))
        abort();
    pthread_create(&other, NULL, write_later, ends);
    TELL(IN_PIPE, wait_in_pipe(ends[0]));
    pthread_join(other, NULL);
}

static void wait_for_child(struct told *told)
{
    pid_t child = fork();
    if (!child) {
        pause_ns(150 * MS);
        _exit(7);
    }
    TELL(IN_WAITPID, wait_in_waitpid(child));
}

static void wait_stopped(struct told *told)
{
    pid_t parent = getpid(), child = fork();
    if (!child) {
        pause_ns(200 * MS);
        kill(parent, SIGCONT);
        _exit(0);
    }
    TELL(IN_STOP, wait_in_stop());
    waitpid(child, NULL, 0);
}

static void waiting_program(void *context)
{
    struct told *told = context;
    uint64_t cpu = cpu_now();
    told->tid = getpid();
    told->begun_ns = watching_now();
    for (int i = 0; i < told->repeated; i++) {
        TELL(IN_SLEEP, wait_in_sleep(told->sleep_ns));
        TELL(IN_POLL, wait_in_poll(told->poll_ns));
    }
    if (told->places & 1 << IN_MUTEX)
        wait_for_mutex(told);
    if (told->places & 1 << IN_PIPE)
        wait_for_pipe(told);
    if (told->places & 1 << IN_EPOLL)
        TELL(IN_EPOLL, wait_in_epoll(epoll_create1(0)));
    if (told->places & 1 << IN_WAITPID)
        wait_for_child(told);
    if (told->places & 1 << IN_STOP)
        wait_stopped(told);
    told->cpu_ns = cpu_now() - cpu;
}

static struct told *told_new(const struct told *wanted)
{
    struct told *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        abort();
    *told = *wanted;
    return told;
}

/* --- checks that also work in a child --------------------------------------------------------- */

static bool check(bool is_fine, const char *what, uint64_t got, uint64_t expected)
{
    if (!is_fine)
        printf("# %s: %.3f ms, expected %.3f ms\n", what, (double)got / MS, (double)expected / MS);
    return is_fine;
}

static bool check_near(const char *what, uint64_t got, uint64_t expected, double share,
                       uint64_t more)
{
    double off = (double)got - (double)expected;
    return check(off <= share * (double)expected + (double)more &&
                     off >= -share * (double)expected - (double)more,
                 what, got, expected);
}

/* Which function, and which call where that was looked at. The program's clock runs on while it has
 * been woken and no CPU is free, which is no wait: up to as long as it was ready in all. */
static bool check_place(const struct watching *w, const struct told *told, int place, int64_t call)
{
    uint64_t sum = toy_sum(&w->collector, told->tid, place, call, COLLECTOR_WAITING);
    uint64_t all = told->ns[place], off = all / 20 + 2 * MS;
    return check(sum <= all + off && sum + w->sums.ready_ns + off >= all, places[place].name, sum,
                 all);
}

static const struct told long_waits = {
    .places = (1 << PLACES) - 1, .repeated = 1, .sleep_ns = 300 * MS, .poll_ns = 200 * MS};

/* How a measurement went; that the program was disturbed is no matter of scatter. */
enum { FINE, OUTSIDE, NO_EVENTS, DISTURBED };

static int run_long_waits(bool sees_switches)
{
    struct watching w = {.collector = {.functions = places, .functions_len = PLACES},
                         .sees_switches = sees_switches};
    struct waits_options options = {.arch = &arch_x86_64};
    struct told *told = told_new(&long_waits), *bare = told_new(&long_waits);
    pid_t child;
    if (!watching_run(&w, waiting_program, told, &options, &child)) {
        watching_end(&w);
        return NO_EVENTS;
    }
    static const int64_t calls[PLACES] = {SYS_clock_nanosleep, SYS_ppoll, SYS_futex, SYS_read,
                                          SYS_epoll_wait,      SYS_wait4, 0};
    bool is_fine = true;
    for (int i = 0; i < IN_STOP; i++)
        is_fine &= check_place(&w, told, i, calls[i]);
    uint64_t stopped = toy_sum(&w.collector, told->tid, IN_STOP, INT64_MIN, COLLECTOR_STOPPED);
    is_fine &= check_near("stop", stopped, told->ns[IN_STOP], 0.05, 2 * MS);
    uint64_t life = toy_sum_of_thread(&w.collector, told->tid) + told->cpu_ns;
    is_fine &= check_near("life", life, watching_life_of(&w, told->tid), 0.01, 0);
    is_fine &= check(w.lost == 0, "records lost", w.lost, 0);
    pid_t other = fork();
    if (!other) {
        waiting_program(bare);
        _exit(0);
    }
    waitpid(other, NULL, 0);
    bool is_same = true;
    for (int i = 0; i < PLACES; i++)
        is_same &= check(told->result[i] == bare->result[i] && told->error[i] == bare->error[i],
                         places[i].name, (uint64_t)told->result[i], (uint64_t)bare->result[i]);
    printf("# %" PRIu64 " looks, %" PRIu64 " stale, %.1f ms without a place, %.1f ms ready\n",
           w.sums.looks, w.sums.stale_looks, (double)w.sums.unknown_ns / MS,
           (double)w.sums.ready_ns / MS);
    watching_end(&w);
    return !is_same ? DISTURBED : is_fine ? FINE : OUTSIDE;
}

/* Waits of 1 ms: with sight of switches each has its place, without none is given a false one. The
 * CPU time is that of perf's clock: the kernel's own accounting adds some us for each switch. */
static int run_short_waits(bool sees_switches)
{
    static const struct told short_waits = {.repeated = 100, .sleep_ns = MS, .poll_ns = 2 * MS};
    struct watching w = {.collector = {.functions = places, .functions_len = PLACES},
                         .sees_switches = sees_switches};
    struct waits_options options = {.arch = &arch_x86_64, .no_looking = true};
    struct told *told = told_new(&short_waits);
    pid_t child;
    if (!watching_run(&w, waiting_program, told, &options, &child)) {
        watching_end(&w);
        return NO_EVENTS;
    }
    bool is_fine = true;
    uint64_t unknown = toy_sum(&w.collector, told->tid, NOWHERE, INT64_MIN, COLLECTOR_WAITING);
    uint64_t both = told->ns[IN_SLEEP] + told->ns[IN_POLL] - told->cpu_ns;
    if (sees_switches) {
        /* Before its first line it waits to be let go, and then for a CPU, and is not seen to
         * leave. */
        unknown -= told->begun_ns - w.begun_ns < unknown ? told->begun_ns - w.begun_ns : unknown;
        is_fine &= check_place(&w, told, IN_SLEEP, -1) && check_place(&w, told, IN_POLL, -1);
        is_fine &= check(unknown < both / 50, "without a place", unknown, 0);
        is_fine &= check(w.lost == 0, "records lost", w.lost, 0);
    } else {
        uint64_t ready = toy_sum(&w.collector, told->tid, NOWHERE, INT64_MIN, COLLECTOR_READY);
        /* More, if it lost its CPU between the waits; `life` says how much more. */
        is_fine &= check(unknown + ready + both / 20 + 2 * MS >= both, "without a place",
                         unknown + ready, both);
    }
    uint64_t life = toy_sum_of_thread(&w.collector, told->tid) + w.cpu_ns;
    is_fine &= check_near("life", life, watching_life_of(&w, told->tid), 0.01, 0);
    watching_end(&w);
    return is_fine ? FINE : OUTSIDE;
}

/* --- as root and as an ordinary user ---------------------------------------------------------- */

static void expect_fine(int (*run)(bool), bool sees_switches, const char *what)
{
    for (struct walk w = {0}; walk_goes_on(&w, what);) {
        int result = run(sees_switches);
        if (result == NO_EVENTS)
            SKIPPED("perf events are refused");
        assert_int_not_equal(result, DISTURBED);
        walk_counts(&w, result == FINE, "as printed before");
    }
}

/* The same in a process of an ordinary user. */
static int as_user(int (*run)(bool))
{
    enum { NOBODY = 65534 };
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        bool is_changed = geteuid() || (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
                                        !setresuid(NOBODY, NOBODY, NOBODY));
        prctl(PR_SET_DUMPABLE, 1); /* as a program that this user started */
        int result = is_changed ? run(false) : NO_EVENTS;
        fflush(NULL);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int long_waits_as_user(bool sees_switches)
{
    (void)sees_switches;
    return as_user(run_long_waits);
}

static int short_waits_as_user(bool sees_switches)
{
    (void)sees_switches;
    return as_user(run_short_waits);
}

CASE(test_long_waits)
{
    expect_fine(run_long_waits, false, "long waits");
}

CASE(test_long_waits_with_switches)
{
    if (geteuid())
        SKIPPED("not root");
    expect_fine(run_long_waits, true, "long waits with switches");
}

CASE(test_long_waits_as_user)
{
    expect_fine(long_waits_as_user, false, "long waits as a user");
}

CASE(test_short_waits_with_switches)
{
    if (geteuid())
        SKIPPED("not root");
    expect_fine(run_short_waits, true, "short waits with switches");
}

CASE(test_short_waits_as_user)
{
    expect_fine(short_waits_as_user, false, "short waits as a user");
}

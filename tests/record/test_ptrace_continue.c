/* The rest of a call that a stop has cut short: what the program sees of it, which is nothing. A
 * child writes more into a pipe than that takes, and is stopped in the middle. */
#include "cases.h"
#include "record/ptrace/ptrace_continue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { ALL = 1 << 20, WHOLE = 10, SHORT = 11, WRONG = 12 };

static uint8_t bytes[ALL];

struct traced {
    pid_t pid;
    int reader; /* the pipe's other end */
};

/* Says by its status what write() has returned; its arguments are looked at, too. */
static void write_all(int to)
{
    long result;
    register const void *from __asm__("rsi") = bytes;
    register size_t length __asm__("rdx") = ALL;
    __asm__ volatile("syscall"
                     : "=a"(result), "+r"(from), "+r"(length)
                     : "0"(1L), "D"((long)to)
                     : "rcx", "r11", "memory");
    if (from != bytes || length != ALL)
        _exit(WRONG);
    _exit(result == ALL ? WHOLE : result > 0 ? SHORT : WRONG);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
}

static bool is_writing(pid_t pid)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    FILE *file = fopen(path, "r");
    bool is_read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return is_read && !strncmp(text, "1 ", 2);
}

static bool is_asleep(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    bool is_read = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return is_read && state == 'S';
}

/* The writer has filled the pipe, and waits for room. */
static void await_full(const struct traced *t)
{
    int held = 0, room = fcntl(t->reader, F_GETPIPE_SZ);
    while (ioctl(t->reader, FIONREAD, &held) || held < room || !is_writing(t->pid) ||
           !is_asleep(t->pid))
        nap();
}

/* A child whose write() has filled the pipe, and which is stopped then. */
static struct traced stop_in_write(void)
{
    struct traced t;
    int ends[2], status;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    assert_int_equal(pipe(ends), 0);
    t.pid = fork();
    if (!t.pid) {
        close(ends[0]);
        write_all(ends[1]);
    }
    close(ends[1]);
    t.reader = ends[0];
    if (ptrace(PTRACE_SEIZE, t.pid, 0, PTRACE_O_TRACESYSGOOD)) {
        kill(t.pid, SIGKILL);
        waitpid(t.pid, &status, 0);
        SKIPPED("a container without ptrace");
    }
    await_full(&t);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, t.pid, 0, 0), 0);
    assert_int_equal(waitpid(t.pid, &status, __WALL), t.pid);
    assert_true(WIFSTOPPED(status));
    return t;
}

/* The stop was ours: the call goes on. */
static void begin_rest(struct ptrace_rest *rest, pid_t pid)
{
    assert_true(ptrace_rest_begin(rest, &(struct ptrace_cut){.pid = pid, .tid = pid}));
    assert_int_equal(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
}

/* What came through the pipe, compared with what was written. */
static size_t read_all(int from)
{
    static uint8_t seen[ALL];
    size_t len = 0;
    ssize_t got;
    while (len < ALL && (got = read(from, seen + len, ALL - len)) > 0)
        len += (size_t)got;
    close(from);
    assert_memory_equal(seen, bytes, len);
    return len;
}

static int status_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

CASE(the_program_gets_the_sum)
{
    struct traced t = stop_in_write();
    struct ptrace_rest rest = {0};
    int status, stops = 0;
    (void)state;
    begin_rest(&rest, t.pid);
    assert_int_equal(rest.tid, t.pid);
    assert_true(rest.done > 0 && rest.done < ALL);
    pid_t helper = fork(); /* reads while we wait for the writer */
    if (!helper)
        _exit(read_all(t.reader) == ALL ? WHOLE : WRONG);
    while (rest.tid) {
        assert_int_equal(waitpid(t.pid, &status, __WALL), t.pid);
        assert_true(ptrace_rest_stopped(&rest, status));
        if (rest.tid)
            assert_int_equal(ptrace(PTRACE_SYSCALL, t.pid, 0, 0), 0);
        stops++;
    }
    assert_int_equal(stops, 2); /* into the call, and out of it */
    assert_int_equal(ptrace(PTRACE_DETACH, t.pid, 0, 0), 0);
    assert_int_equal(status_of(t.pid), WHOLE);
    assert_int_equal(status_of(helper), WHOLE);
    close(t.reader);
}

/* A signal comes first: the call ends as the stop had left it. */
CASE(it_can_be_undone_before_it_begins)
{
    struct traced t = stop_in_write();
    struct ptrace_rest rest = {0};
    int status;
    (void)state;
    kill(t.pid, SIGWINCH);
    begin_rest(&rest, t.pid);
    assert_int_equal(waitpid(t.pid, &status, __WALL), t.pid);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGWINCH);
    assert_false(ptrace_rest_stopped(&rest, status));
    size_t done = rest.done;
    ptrace_rest_undo(&rest);
    assert_int_equal(rest.tid, 0);
    assert_int_equal(ptrace(PTRACE_DETACH, t.pid, 0, 0), 0);
    assert_int_equal(status_of(t.pid), SHORT);
    assert_int_equal(read_all(t.reader), done);
}

/* The rest is cut short in turn, and the program gets what was done in both parts. */
CASE(a_signal_ends_the_rest)
{
    struct traced t = stop_in_write();
    struct ptrace_rest rest = {0};
    uint8_t some[4096];
    int status;
    (void)state;
    begin_rest(&rest, t.pid);
    assert_int_equal(waitpid(t.pid, &status, __WALL), t.pid);
    assert_true(ptrace_rest_stopped(&rest, status)); /* it is in the call */
    assert_int_equal(ptrace(PTRACE_SYSCALL, t.pid, 0, 0), 0);
    assert_int_equal(read(t.reader, some, sizeof some), sizeof some);
    await_full(&t);
    size_t before = rest.done;
    kill(t.pid, SIGWINCH);
    assert_int_equal(waitpid(t.pid, &status, __WALL), t.pid);
    assert_true(ptrace_rest_stopped(&rest, status));
    assert_int_equal(rest.tid, 0);
    assert_int_equal(ptrace(PTRACE_DETACH, t.pid, 0, 0), 0);
    assert_int_equal(status_of(t.pid), SHORT);
    assert_int_equal(sizeof some + read_all(t.reader), before + sizeof some);
}

/* In its own code there is no call to go on with; neither is there where a call has done nothing.
 */
CASE(others_are_left_alone)
{
    int status;
    (void)state;
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        struct ptrace_rest rest = {0};
        pid_t pid = fork();
        if (!pid)
            for (;;)
                if (sleeps)
                    pause();
        if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) == 0) {
            for (int i = 0; i < 20; i++)
                nap();
            assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
            assert_int_equal(waitpid(pid, &status, __WALL), pid);
            assert_false(ptrace_rest_begin(&rest, &(struct ptrace_cut){.pid = pid, .tid = pid}));
            assert_int_equal(rest.tid, 0);
        }
        kill(pid, SIGKILL);
        waitpid(pid, &status, __WALL);
    }
}

#endif

int main(void)
{
#if defined(__x86_64__)
    alarm(600);
    return run_cases(NULL, NULL);
#else
    puts("1..0 # SKIP the rest of a call is made on x86-64 alone");
    return 0;
#endif
}

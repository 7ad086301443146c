/* What the ptrace source answers to stops, one by one, and how it lets go. Shares of real programs
 * are asked in test_ptrace.py. */
#include "cases.h"
#include "traced_child.h"

#include <fcntl.h>
#include <sys/ioctl.h>

enum { PIPE_BYTES = 4096, WRITTEN = 3 * PIPE_BYTES, ATTEMPTS = 5 };

static int ends[2];

/* Hands the child's next stop over; what the stop was: its event, and the signal. */
static int answer(void)
{
    int status;
    assert_int_equal(waitpid(child, &status, __WALL), child);
    assert_true(s->base.stopped(&s->base, child, status));
    return status >> 8;
}

/* --- stops ------------------------------------------------------------------------------------ */

enum { EVENT = PTRACE_EVENT_STOP << 8 };

/* What is there when recording begins is told as if it had begun then. */
static void attaching_tells_what_is_there(void **state)
{
    char name[PROC_NAME_BYTES];
    (void)state;
    attach(run_on);
    proc_thread_name(child, child, name);
    assert_string_equal(thread()->process->name, name);
    assert_int_equal(s->threads.at.len, 1);
    assert_int_equal(lines_of("event"), 1);
    assert_int_equal(lines_of("fork"), 1);
    assert_int_equal(lines_of("name"), 1);
    assert_int_equal(lines_of("maps"), 1);
    end();
}

static void stops_that_nobody_asked_for_are_no_samples(void **state)
{
    (void)state;
    attach(run_on);
    await_rounds();
    kill(child, SIGWINCH);
    assert_int_equal(answer(), SIGWINCH);
    await_rounds();
    kill(child, SIGUSR1);
    assert_int_equal(answer(), SIGUSR1);
    await_rounds();
    assert_int_equal(shared->signals, 1);
    kill(child, SIGSTOP);
    assert_int_equal(answer(), SIGSTOP);
    assert_int_equal(answer(), EVENT | SIGSTOP);
    uint32_t rounds = shared->rounds;
    assert_true(thread()->is_held);
    nap();
    assert_int_equal(shared->rounds, rounds); /* until it is told to go on */
    kill(child, SIGCONT);
    assert_int_equal(answer(), EVENT | SIGTRAP);
    assert_false(thread()->is_held);
    assert_int_equal(answer(), SIGCONT);
    await_rounds();
    ptrace(PTRACE_INTERRUPT, child, 0, 0);
    assert_int_equal(answer(), EVENT | SIGTRAP);
    await_rounds();
    assert_int_equal(lines_of("sample"), 0);
    end();
}

static void one_sample_for_one_that_is_asked(void **state)
{
    (void)state;
    attach(run_on);
    await_rounds();
    thread()->is_asked = true;
    ptrace(PTRACE_INTERRUPT, child, 0, 0);
    assert_int_equal(answer(), EVENT | SIGTRAP);
    assert_int_equal(lines_of("sample"), 1);
    assert_false(thread()->is_asked);
    await_rounds();
    ptrace(PTRACE_INTERRUPT, child, 0, 0); /* this one is nobody's */
    assert_int_equal(answer(), EVENT | SIGTRAP);
    await_rounds();
    assert_int_equal(lines_of("sample"), 1);
    /* A signal on its way is a stop as good as the one that was asked for. */
    thread()->is_asked = true;
    kill(child, SIGUSR1);
    assert_int_equal(answer(), SIGUSR1);
    await_rounds();
    assert_int_equal(lines_of("sample"), 2);
    assert_int_equal(shared->signals, 1);
    /* It had run on before it was told to stop: that says nothing of where it was. */
    thread()->is_asked = thread()->is_moot = true;
    ptrace(PTRACE_INTERRUPT, child, 0, 0);
    assert_int_equal(answer(), EVENT | SIGTRAP);
    assert_int_equal(lines_of("sample"), 2);
    end();
}

static void nothing_is_sampled_once_it_is_over(void **state)
{
    int status;
    struct proc_times times = {0};
    (void)state;
    attach(run_on);
    /* While it runs, its clock goes on by ticks. */
    for (; times.cpu_ns <= thread()->placed_ns; nap())
        assert_true(proc_thread_times(&thread()->files, child, child, false, &times));
    thread()->is_asked = true;
    s->base.finish(&s->base, clock_now());
    assert_int_equal(lines_of("cpu"), 1);
    assert_int_equal(lines_of("lose"), 1); /* all that it had: there was no sample */
    assert_int_equal(waitpid(child, &status, __WALL), child); /* it runs: it is let go */
    assert_true(s->base.stopped(&s->base, child, status));
    await_rounds();
    assert_int_equal(lines_of("sample"), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), -1); /* it is not traced any more */
    end();
}

/* --- calls that are cut, at the end ----------------------------------------------------------- */

#if defined(__x86_64__)

/* More than the pipe has room for. */
static _Noreturn void write_once(void)
{
    static uint8_t bytes[WRITTEN];
    close(ends[0]);
    shared->rounds++;
    shared->written = write(ends[1], bytes, sizeof bytes);
    for (;;)
        pause();
}

/* Blocks in the rest of a write() of which the pipe has taken a part. */
static void write_a_part(void)
{
    struct proc_thread files;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES), PIPE_BYTES);
    attach(write_once);
    proc_thread_init(&files);
    for (int full = 0; full < PIPE_BYTES || proc_thread_runs(&files, child, child, false); nap())
        assert_int_equal(ioctl(ends[0], FIONREAD, &full), 0);
    kill(child, SIGWINCH); /* it ignores that, and only a traced thread is woken for it */
    assert_int_equal(answer(), SIGWINCH);
    assert_true(ptrace_thread_rests(thread()));
    assert_int_equal(answer(), SIGTRAP | 0x80);
    while (proc_thread_runs(&files, child, child, false))
        nap();
    assert_int_equal(shared->written, 0);
}

/* Whether the child left the call before finish() was over. */
static bool finish_writing(void)
{
    write_a_part();
    s->base.finish(&s->base, clock_now());
    bool has_left = !ptrace_thread_rests(thread());
    for (int64_t got = 0; !shared->written || got < shared->written; nap()) {
        uint8_t bytes[WRITTEN];
        int status, full = 0;
        if (waitpid(child, &status, __WALL | WNOHANG) == child)
            assert_true(s->base.stopped(&s->base, child, status));
        if (!ioctl(ends[0], FIONREAD, &full) && full)
            got += read(ends[0], bytes, sizeof bytes);
        assert_true(got <= WRITTEN);
    }
    assert_in_range(shared->written, 1, WRITTEN);
    assert_int_equal(has_left, shared->written == PIPE_BYTES);
    end();
    close(ends[0]);
    close(ends[1]);
    return has_left;
}

/* It waits for no longer than a fifth of a second, which a busy machine may not have. */
static void no_call_is_left_in_the_middle(void **state)
{
    bool has_left = false;
    (void)state;
    for (int i = 0; i < ATTEMPTS && !has_left; i++)
        has_left = finish_writing();
    assert_true(has_left);
}

/* One that comes to its end by itself meanwhile, or just before, is not disturbed. */
static void a_call_that_ends_in_time_is_whole(void **state)
{
    (void)state;
    write_a_part();
    pid_t reader = fork();
    if (!reader) {
        uint8_t bytes[WRITTEN];
        for (int64_t got = 0; got < WRITTEN;)
            got += read(ends[0], bytes, sizeof bytes);
        _exit(0);
    }
    assert_true(reader > 0);
    s->base.finish(&s->base, clock_now());
    for (int status; !shared->written; nap())
        if (waitpid(child, &status, __WALL | WNOHANG) == child)
            assert_true(s->base.stopped(&s->base, child, status));
    assert_int_equal(shared->written, WRITTEN);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    end();
    close(ends[0]);
    close(ends[1]);
}

#endif

/* Looks are on a CPU of the program's; afterwards all are ours again. */
static void cpus_are_put_back(void **state)
{
    cpu_set_t all, now;
    int last = 0;
    (void)state;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) < 2)
        SKIPPED("one processor");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        last = CPU_ISSET(cpu, &all) ? cpu : last;
    attach(run_on);
    CPU_ZERO(&s->used);
    CPU_SET(last, &s->used);
    ptrace_plan_next(s);
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &s->used));
    s->base.finish(&s->base, clock_now());
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &all));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attaching_tells_what_is_there),
        cmocka_unit_test(stops_that_nobody_asked_for_are_no_samples),
        cmocka_unit_test(one_sample_for_one_that_is_asked),
        cmocka_unit_test(nothing_is_sampled_once_it_is_over),
#if defined(__x86_64__)
        cmocka_unit_test(no_call_is_left_in_the_middle),
        cmocka_unit_test(a_call_that_ends_in_time_is_whole),
#endif
        cmocka_unit_test(cpus_are_put_back),
    };
    if (!may_trace()) {
        puts("1..0 # SKIP a container without ptrace");
        return 0;
    }
    alarm(600);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

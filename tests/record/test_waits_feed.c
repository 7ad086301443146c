/* Waits out of what a source tells, right or wrong: every nanosecond of a thread is counted once,
 * what was lost is lost, and memory follows the threads that live. */
#include "cases.h"
#include "toy_collector.h"

#include "record/waits/waits.h"
#include "record/proc_threads.h"
#include "record/waits/waits_private.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { NOBODY = 5000000 }; /* no process has such a number */

static const struct waits_options no_looks = {.arch = &arch_x86_64, .no_looking = true};

static uint64_t ready_of(const struct collector *c, pid_t tid)
{
    return toy_sum(c, tid, NOWHERE, INT64_MIN, COLLECTOR_READY);
}

static uint64_t unknown_of(const struct collector *c, pid_t tid)
{
    return toy_sum(c, tid, NOWHERE, INT64_MIN, COLLECTOR_WAITING);
}

CASE(test_life_of_a_thread)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_fork(w, 1, 2, 1000);
    waits_switch(w, 1, 2, 1100, false, false); /* 100 ready */
    waits_switch(w, 1, 2, 1300, true, false);
    waits_switch(w, 1, 2, 2300, false, false); /* 1000 waiting */
    waits_switch(w, 1, 2, 2400, true, true);
    waits_switch(w, 1, 2, 2450, false, false); /* 50 ready */
    waits_switch(w, 1, 2, 2500, true, false);
    waits_exit(w, 1, 2, 2507); /* 7 waiting */
    assert_int_equal(ready_of(&c, 2), 150);
    assert_int_equal(unknown_of(&c, 2), 1007);
    waits_switch(w, 1, 3, 5000, false, false); /* seen first as it comes */
    waits_switch(w, 1, 3, 5010, true, false);
    waits_switch(w, 1, 4, 5000, true, false); /* or as it goes */
    waits_finish(w, 5100);
    assert_int_equal(toy_sum_of_thread(&c, 3), 90);
    assert_int_equal(toy_sum_of_thread(&c, 4), 100);
    assert_int_equal(waits_sums(w).ready_ns, 150);
    assert_int_equal(waits_sums(w).unknown_ns, 1007 + 190);
    assert_int_equal(c.lost, 0);
    waits_finish(w, 5200);
    assert_int_equal(toy_sum_of_thread(&c, 3), 90);
    waits_free(w);
    toy_free(&c);
}

/* What threads did before recording is not told: the first switch says whether they ran. */
CASE(test_threads_that_were_there)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_found(w, 1, 2, 1000);
    waits_found(w, 1, 3, 1000);
    waits_found(w, 1, 4, 1000);
    waits_switch(w, 1, 2, 1400, false, false); /* waited, and runs */
    waits_switch(w, 1, 3, 1500, true, false);  /* ran, and waits */
    waits_found(w, 1, 3, 1600);                /* known */
    waits_finish(w, 2000);
    assert_int_equal(unknown_of(&c, 2), 400);
    assert_int_equal(unknown_of(&c, 3), 500);
    assert_int_equal(toy_sum_of_thread(&c, 4), 0); /* ran throughout, or nobody can tell */
    assert_int_equal(c.lost, 0);
    waits_free(w);
    toy_free(&c);
}

/* Thread 1 alone, 1 and 2, 1 to 3, 2 and 3, none, 3 alone; over the end of a slice (of a second, by
 * the toy). Parts add up to the time in which any ran. */
CASE(test_how_many_run)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    uint64_t t = 1000 * MS - 600; /* 600 ns before a slice ends */
    waits_exec(w, 1, t);
    waits_fork(w, 1, 2, t);
    waits_fork(w, 1, 3, t);
    waits_switch(w, 1, 2, t + 100, false, false);
    waits_switch(w, 1, 3, t + 300, false, false);
    waits_switch(w, 1, 1, t + 600, true, false);
    waits_switch(w, 1, 2, t + 800, true, true);
    waits_exit(w, 1, 3, t + 800);
    waits_switch(w, 1, 2, t + 1000, false, false);
    waits_exit(w, 1, 2, t + 1700);
    waits_finish(w, t + 2000);
    assert_int_equal(c.parallel_ns[1], 100 + 700);
    assert_int_equal(c.parallel_ns[2], 200 + 200);
    assert_int_equal(c.parallel_ns[3], 300);
    assert_int_equal(c.ran_ns[1], 600);
    assert_int_equal(c.ran_ns[2], 700 + 700);
    assert_int_equal(c.ran_ns[3], 500);
    assert_int_equal(c.shared_ns[1], 100 + 100 + 100);
    assert_int_equal(c.shared_ns[2], 100 + 100 + 100 + 700);
    assert_int_equal(c.shared_ns[3], 100 + 100);
    assert_int_equal(c.periods.len, 4); /* 2 and 3 were new, 2 was pushed off, 1 waits to the end */
    assert_int_equal(c.periods.at[3].tid, 1);
    assert_int_equal(c.periods.at[3].from_ns, t + 600);
    assert_int_equal(c.periods.at[3].to_ns, t + 2000);
    waits_free(w);
    toy_free(&c);
}

/* After records were lost, threads that ran are counted no further until they are seen again. */
CASE(test_how_many_run_after_a_loss)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_exec(w, 1, 1000);
    waits_exec(w, 2, 1000);
    waits_lost(w, 2000);
    waits_switch(w, 1, 1, 3000, false, false);
    waits_switch(w, 1, 1, 3500, true, false);
    waits_switch(w, 2, 2, 4000, true, false);
    waits_finish(w, 5000);
    assert_int_equal(c.parallel_ns[1], 500);
    assert_int_equal(c.parallel_ns[2], 0);
    assert_int_equal(c.ran_ns[1], 500);
    assert_int_equal(c.ran_ns[2], 0);
    waits_free(w);
    toy_free(&c);
}

/* The execing thread goes on under the process's number; all others are gone. */
CASE(test_exec)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_exec(w, 10, 100);
    waits_fork(w, 10, 11, 100);
    waits_fork(w, 20, 21, 100);
    waits_switch(w, 10, 10, 200, true, false);
    waits_switch(w, 10, 11, 200, false, false);
    waits_switch(w, 10, 11, 350, true, false); /* until its process has another program */
    waits_exit(w, 10, 10, 300);
    waits_exec(w, 10, 400);
    waits_switch(w, 10, 10, 500, true, false);
    waits_switch(w, 10, 10, 600, false, false);
    waits_exit(w, 10, 10, 700);
    waits_finish(w, 1000);
    assert_int_equal(toy_sum_of_thread(&c, 10), 100 + 100);
    assert_int_equal(toy_sum_of_thread(&c, 11), 100 + 50);
    assert_int_equal(toy_sum_of_thread(&c, 21), 900);
    waits_free(w);
    toy_free(&c);
}

CASE(test_lost)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_exec(w, 1, 0);
    waits_switch(w, 1, 1, 100, true, false);
    waits_lost(w, 900);
    waits_switch(w, 1, 1, 1000, true, false); /* nothing says what was between 100 and 1000 */
    waits_switch(w, 1, 1, 1200, false, false);
    waits_switch(w, 1, 1, 1300, true, false);
    waits_switch(w, 1, 1, 1700, true, false); /* it was back in between */
    waits_switch(w, 1, 1, 1800, false, false);
    waits_finish(w, 1900);
    assert_int_equal(toy_sum_of_thread(&c, 1), 200 + 100);
    assert_int_equal(c.lost_ns, 900 + 400);
    assert_int_equal(c.lost, 2);
    waits_fork(w, 1, 5, 2000);
    waits_fork(w, 1, 5, 2100); /* another thread of the number: the end of the first was lost */
    waits_exit(w, 1, 5, 2150);
    assert_int_equal(toy_sum_of_thread(&c, 5), 50);
    waits_switch(w, 1, 6, 3000, true, false);
    waits_switch(w, 1, 6, 2990, false, false); /* clocks of CPUs differ */
    waits_finish(w, 3000);
    assert_int_equal(toy_sum_of_thread(&c, 6), 0);
    waits_free(w);
    toy_free(&c);
}

/* The place that a source saw belongs to the next wait alone. */
CASE(test_places_of_the_source)
{
    static const struct toy_function here = {"here", (const uint8_t *)0x1000,
                                             (const uint8_t *)0x2000};
    struct collector c = {.functions = &here, .functions_len = 1};
    struct waits *w = waits_new(&c, &no_looks);
    uint64_t stack[] = {7, 0x1234, 9};
    struct bytes bytes = {(const uint8_t *)stack, sizeof stack};
    struct unwind_registers registers = {.pc = 0x99, .known = 1};
    waits_exec(w, 1, 0);
    waits_leaving(w, 1, 1, 99, &registers, bytes);
    waits_switch(w, 1, 1, 100, true, false);
    waits_switch(w, 1, 1, 150, false, false);
    waits_switch(w, 1, 1, 200, true, false); /* nobody saw where */
    waits_switch(w, 1, 1, 207, false, false);
    waits_leaving(w, 1, 1, 300, &registers, bytes);
    waits_switch(w, 1, 1, 300, true, true);
    waits_switch(w, 1, 1, 311, false, false);
    waits_finish(w, 400);
    assert_int_equal(toy_sum(&c, 1, 0, INT64_MIN, COLLECTOR_WAITING), 50);
    assert_int_equal(toy_sum(&c, 1, 0, INT64_MIN, COLLECTOR_READY), 11);
    assert_int_equal(unknown_of(&c, 1), 7);
    waits_free(w);
    toy_free(&c);
}

/* --- looking --------------------------------------------------------------------------------- */

CASE(test_what_proc_says)
{
    struct waits_look look;
    assert_true(waits_look_read("running", &look));
    assert_int_equal(look.state, WAITS_RUNNING);
    assert_true(
        waits_look_read("230 0x0 0x0 0x7ffc 0x0 0x0 0xffffffffffffffff 0x7ffc10 0x7f20", &look));
    assert_true(look.state == WAITS_BLOCKED && look.syscall == 230 && look.sp == 0x7ffc10 &&
                look.pc == 0x7f20);
    assert_true(waits_look_read("-1 0x7ffc10 0x7f20", &look));
    assert_true(look.state == WAITS_BLOCKED && look.syscall == -2 && look.sp == 0x7ffc10);
    static const char *const wrong[] = {"",
                                        "run",
                                        "running ",
                                        "230",
                                        "-2 0x1 0x2",
                                        "230 0x0 0x0",
                                        "-1 0x1",
                                        "-1 0x1 0x2 0x3",
                                        "-1 1 2",
                                        "-1 0x10000000000000000 0x2",
                                        "5000000000 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2",
                                        "230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc10 0x7f20 ",
                                        "-1 0x-1 0x2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (waits_look_read(wrong[i], &look))
            fail_msg("\"%s\" was taken", wrong[i]);
    waits_look_at(NOBODY, NOBODY, &look);
    assert_int_equal(look.state, WAITS_GONE);
    uint8_t byte;
    assert_int_equal(proc_read_stack(NOBODY, 1, &byte, 1), 0);
}

struct sleeper {
    pthread_t thread;
    pid_t tid;
    int ends[2];
};

static void *sleep_in_read(void *context)
{
    struct sleeper *s = context;
    char byte;
    __atomic_store_n(&s->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    return (void *)(intptr_t)read(s->ends[0], &byte, 1);
}

/* A thread that is blocked in read() when this returns. */
static void sleeper_begin(struct sleeper *s)
{
    struct waits_look look = {.state = WAITS_GONE};
    assert_int_equal(pipe(s->ends), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, sleep_in_read, s), 0);
    while (look.state != WAITS_BLOCKED || look.syscall != SYS_read) {
        usleep(1000);
        pid_t tid = __atomic_load_n(&s->tid, __ATOMIC_ACQUIRE);
        if (tid)
            waits_look_at(getpid(), tid, &look);
    }
}

static void sleeper_end(struct sleeper *s)
{
    void *got;
    assert_int_equal(write(s->ends[1], "x", 1), 1);
    pthread_join(s->thread, &got);
    assert_int_equal((intptr_t)got, 1); /* not -1: nothing has woken it */
    close(s->ends[0]);
    close(s->ends[1]);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* A look that ended after the thread was back may have seen another place: it does not count. */
CASE(test_stale_looks)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct sleeper s = {0};
    sleeper_begin(&s);
    for (int is_stale = 0; is_stale < 2; is_stale++) {
        struct collector c = {0};
        struct waits *w = waits_new(&c, &looks);
        uint64_t now = now_ns();
        waits_exec(w, getpid(), now - 20 * MS);
        waits_switch(w, getpid(), s.tid, now - 10 * MS, true, false);
        waits_poll(w, now, now);
        waits_poll(w, now, now);
        assert_int_equal(waits_sums(w).looks, 1);
        uint64_t back = is_stale ? now : now_ns();
        waits_switch(w, getpid(), s.tid, back, false, false);
        waits_finish(w, back + MS);
        uint64_t seen = toy_sum(&c, s.tid, NOWHERE, SYS_read, COLLECTOR_WAITING);
        uint64_t unknown = toy_sum(&c, s.tid, NOWHERE, -1, COLLECTOR_WAITING);
        assert_int_equal(is_stale ? unknown : seen, back - now + 10 * MS);
        assert_int_equal(is_stale ? seen : unknown, 0);
        assert_int_equal(waits_sums(w).stale_looks, is_stale);
        waits_free(w);
        toy_free(&c);
    }
    sleeper_end(&s);
}

/* What the kernel counted of a thread's time without a CPU: exact while it sleeps. */
static uint64_t account_of(pid_t tid)
{
    struct proc_thread files;
    struct proc_times times;
    proc_thread_init(&files);
    assert_true(proc_thread_times(&files, getpid(), tid, false, &times));
    return times.ready_ns;
}

/* Delays of waking up: of threads that wait by their look, of others by two of the polls, once what
 * happened before the reading is told; of what is not known any more by the end. What a thread had
 * before it was found is none. */
CASE(test_delays)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    enum { IS_LOOKED_AT, IS_FOUND, RUNS, IS_LOST, HOWS, TRIES = 1000 };
    struct sleeper s = {0};
    sleeper_begin(&s);
    /* One that found an idle CPU at once never had to wait for one. */
    for (int tries = 0; !account_of(s.tid) && tries < TRIES; tries++) {
        sleeper_end(&s);
        sleeper_begin(&s);
    }
    assert_true(account_of(s.tid));
    for (int how = 0; how < HOWS; how++) {
        struct collector c = {0};
        struct waits *w = waits_new(&c, &looks);
        uint64_t now = now_ns(), account = account_of(s.tid);
        if (how == IS_FOUND)
            waits_found(w, getpid(), s.tid, MS);
        else
            waits_switch(w, getpid(), s.tid, MS, how == IS_LOOKED_AT, false);
        if (how == IS_LOST)
            waits_lost(w, 2 * MS);
        waits_poll(w, now, 1000 * MS);
        waits_poll(w, now, 4000 * MS); /* what the reading has beyond that may be told yet */
        assert_int_equal(c.delayed_ns, how == IS_LOOKED_AT ? account : 0);
        for (uint64_t told = now_ns(); told < 9 * now; told *= 2) {
            waits_poll(w, told, told);
            assert_int_equal(c.delayed_ns, how == IS_FOUND || how == IS_LOST ? 0 : account);
        }
        waits_exit(w, getpid(), s.tid, 20 * now);
        assert_int_equal(c.delayed_ns, how == IS_FOUND ? 0 : account);
        assert_int_equal(waits_sums(w).delayed_ns, c.delayed_ns);
        waits_free(w);
        toy_free(&c);
    }
    sleeper_end(&s);
}

/* A wait that goes on is counted as it goes on, once. */
CASE(test_pieces)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    uint64_t start = 1000 * MS;
    waits_exec(w, 1, start);
    waits_switch(w, 1, 1, start, true, false);
    for (uint64_t at = start; at < start + 1000 * MS; at += 10 * MS)
        waits_poll(w, at, at);
    assert_in_range(toy_sum_of_thread(&c, 1), 700 * MS, 1000 * MS);
    assert_in_range(c.waits.len, 7, 11);
    waits_finish(w, start + 1000 * MS);
    assert_int_equal(toy_sum_of_thread(&c, 1), 1000 * MS);
    waits_free(w);
    toy_free(&c);
}

/* The end of a thread that is gone was lost: nobody knows how long its last wait was. */
CASE(test_gone_at_the_end)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    waits_exec(w, NOBODY, 100);
    waits_switch(w, NOBODY, NOBODY, 200, true, false);
    waits_switch(w, NOBODY, NOBODY, 300, false, false);
    waits_switch(w, NOBODY, NOBODY, 400, true, false);
    waits_finish(w, 9000);
    assert_int_equal(toy_sum_of_thread(&c, NOBODY), 100);
    assert_int_equal(c.lost, 1);
    waits_free(w);
    toy_free(&c);
}

/* Of waits that were long enough for a look, those without one are counted; short ones are not, nor
 * is being ready. */
CASE(test_waits_without_a_look)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    waits_exec(w, NOBODY, MS);
    waits_switch(w, NOBODY, NOBODY, 10 * MS, true, false);
    waits_switch(w, NOBODY, NOBODY, 15 * MS, false, false);
    waits_switch(w, NOBODY, NOBODY, 20 * MS, true, false);
    waits_switch(w, NOBODY, NOBODY, 21 * MS, false, false);
    waits_switch(w, NOBODY, NOBODY, 30 * MS, true, true);
    waits_switch(w, NOBODY, NOBODY, 37 * MS, false, false);
    waits_exit(w, NOBODY, NOBODY, 40 * MS);
    assert_int_equal(waits_sums(w).unlooked, 1);
    assert_int_equal(waits_sums(w).unlooked_ns, 5 * MS);
    assert_int_equal(waits_sums(w).unknown_ns, 6 * MS);
    assert_int_equal(c.lost, 0);
    waits_finish(w, 50 * MS);
    assert_int_equal(c.lost, 1); /* it is said */
    waits_free(w);
    toy_free(&c);
}

/* The number of a thread that has ended may be that of another process's soon. */
CASE(test_numbers_that_are_used_again)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    waits_fork(w, 1, 2, 1000);
    waits_switch(w, 1, 2, 1000, false, false);
    waits_switch(w, 1, 2, 1100, true, false);
    waits_exit(w, 1, 2, 1500);
    waits_fork(w, 9, 2, 2000);
    waits_switch(w, 9, 2, 2000, false, false);
    waits_switch(w, 9, 2, 2100, true, false);
    waits_fork(w, 8, 2, 2150); /* and that end was lost: so is what was before */
    waits_switch(w, 8, 2, 2160, false, false);
    waits_switch(w, 8, 2, 2170, true, false);
    waits_exit(w, 8, 2, 2200);
    waits_finish(w, 3000);
    assert_int_equal(unknown_of(&c, 2), 400 + 30);
    assert_int_equal(ready_of(&c, 2), 10);
    assert_int_equal(waits_sums(w).lost_ns, 50);
    waits_free(w);
    toy_free(&c);
}

/* --- clocks alone ----------------------------------------------------------------------------- */

CASE(test_observed)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    const uint64_t us = MS / 1000;
    waits_observe(w, pid, tid, 100 * MS, &(struct waits_clock){50 * MS, 5 * MS, 3});
    waits_observe(w, pid, tid, 110 * MS, &(struct waits_clock){54 * MS, 6 * MS, 4}); /* 5 waited */
    waits_observe(w, pid, tid, 120 * MS, &(struct waits_clock){56 * MS, 6 * MS, 4}); /* 8 waited */
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 13 * MS);
    waits_observe(w, pid, tid, 130 * MS, &(struct waits_clock){56 * MS, 6 * MS, 4}); /* 10 */
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 23 * MS);
    waits_observe(w, pid, tid, 140 * MS, &(struct waits_clock){66 * MS, 6 * MS, 5}); /* 0 */
    waits_observe(w, pid, tid, 150 * MS, &(struct waits_clock){66 * MS, 6 * MS, 5}); /* 10 */
    waits_exit(w, pid, tid, 150 * MS);
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 33 * MS);
    assert_int_equal(unknown_of(&c, tid), 33 * MS); /* all waits: the stack cannot be told */
    assert_int_equal(waits_sums(w).unknown_ns, 0);
    assert_int_equal(ready_of(&c, tid), MS);
    assert_int_equal(toy_sum_of_thread(&c, tid), (50 - 16) * MS);
    static const uint64_t still_ns[] = {170, 180, 190}; /* then it runs, and waits again */
    waits_observe(w, pid, tid, 160 * MS, &(struct waits_clock){100 * MS, 9 * MS, 5});
    for (int i = 0; i < 3; i++)
        waits_observe(w, pid, tid, still_ns[i] * MS, &(struct waits_clock){100 * MS, 9 * MS, 5});
    waits_observe(w, pid, tid, 200 * MS, &(struct waits_clock){102 * MS, 10 * MS, 6, true});
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), (33 + 30) * MS);
    /* 16 since 190: at least 6 and at most 7 of the first wait; 10 at most of the last one; in
     * between it may have waited, too. */
    waits_observe(w, pid, tid, 210 * MS, &(struct waits_clock){103 * MS, 10 * MS, 7, false});
    waits_exit(w, pid, tid, 210 * MS);
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 69500 * us);
    assert_int_equal(unknown_of(&c, tid), 79 * MS);
    assert_int_equal(waits_sums(w).unknown_ns, 9500 * us);
    waits_fork(w, pid, tid, 200 * MS);
    waits_observe(w, pid, tid, 210 * MS, &(struct waits_clock){3 * MS, 4 * MS, 2});
    waits_exit(w, pid, tid, 210 * MS);
    assert_int_equal(toy_sum_of_thread(&c, tid), (50 - 16 + 50 - 3 + 10 - 3) * MS);
    assert_int_equal(ready_of(&c, tid), 6 * MS);
    assert_int_equal(waits_sums(w).ready_ns, 6 * MS);
    assert_int_equal(waits_sums(w).placed_ns + waits_sums(w).unknown_ns,
                     toy_sum_of_thread(&c, tid) - 6 * MS);
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* One turn between two observations that saw it wait: half of that time was each wait's. With more
 * turns, there may have been waits that nobody saw, a third or so of that time. */
CASE(test_observed_one_after_another)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    waits_observe(w, pid, tid, 100 * MS, &(struct waits_clock){50 * MS, 0, 3});
    waits_observe(w, pid, tid, 110 * MS, &(struct waits_clock){50 * MS, 0, 3});
    waits_observe(w, pid, tid, 122 * MS, &(struct waits_clock){52 * MS, 0, 4}); /* 10, two waits */
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 15 * MS);
    waits_observe(w, pid, tid, 132 * MS, &(struct waits_clock){52 * MS, 0, 4});
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 30 * MS);
    waits_observe(w, pid, tid, 142 * MS, &(struct waits_clock){52 * MS, 0, 6}); /* three or more */
    waits_exit(w, pid, tid, 142 * MS);
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 30 * MS + 10 * MS / 3);
    assert_int_equal(waits_sums(w).placed_ns + waits_sums(w).unknown_ns, 40 * MS);
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* Without looks a wait that goes on is counted when it is over. */
CASE(test_observed_without_looks)
{
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    const struct waits_clock clock = {.cpu_ns = 50 * MS, .runs = 3, .waits = 5};
    for (uint64_t at = 100; at <= 120; at += 10)
        waits_observe(w, NOBODY, NOBODY, at * MS, &clock);
    assert_int_equal(waits_sums(w).unknown_ns, 0);
    waits_exit(w, NOBODY, NOBODY, 120 * MS);
    assert_int_equal(waits_sums(w).unknown_ns, 20 * MS);
    assert_int_equal(unknown_of(&c, NOBODY), 20 * MS);
    waits_free(w);
    toy_free(&c);
}

/* Of three waits in 40 ms, 18 were over when it ran: the last one had at least 22, and neither it
 * nor the first more than two of three parts. */
CASE(test_observed_with_one_unseen)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    struct waits_clock clock = {.cpu_ns = 50 * MS, .runs = 3, .waits = 5};
    waits_observe(w, pid, tid, 100 * MS, &clock);
    clock = (struct waits_clock){62 * MS, 0, .runs = 5, .is_running = true, .waits = 6};
    waits_observe(w, pid, tid, 130 * MS, &clock);
    clock = (struct waits_clock){70 * MS, 0, .runs = 6, .waits = 7};
    waits_observe(w, pid, tid, 160 * MS, &clock);
    waits_observe(w, pid, tid, 170 * MS, &clock);
    uint64_t alike = 2 * 40 * MS / 3, first = alike / 2, last = (22 * MS + alike) / 2;
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING),
                     first + last + 10 * MS);
    assert_int_equal(waits_sums(w).unknown_ns, 40 * MS - first - last);
    waits_exit(w, pid, tid, 170 * MS);
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* A thread that the source has stopped for a moment seems to wait: but it has run since it did, and
 * has begun no other wait. So the first one was over long before. */
CASE(test_observed_while_it_is_stopped)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    struct waits_clock clock = {.cpu_ns = 50 * MS, .runs = 3, .waits = 5};
    waits_observe(w, pid, tid, 100 * MS, &clock);
    waits_observe(w, pid, tid, 110 * MS, &clock);
    for (uint64_t at = 120; at < 200; at += 10) { /* it ran from 112 on */
        clock =
            (struct waits_clock){(at - 62) * MS, 0, .runs = 4, .is_running = at != 150, .waits = 5};
        waits_observe(w, pid, tid, at * MS, &clock);
    }
    clock = (struct waits_clock){(197 - 62) * MS, 0, .runs = 4, .waits = 6};
    waits_observe(w, pid, tid, 200 * MS, &clock);
    assert_int_equal(c.periods.len, 1);
    assert_int_equal(c.periods.at[0].from_ns, 100 * MS);
    assert_true(c.periods.at[0].to_ns >= 111 * MS && c.periods.at[0].to_ns <= 113 * MS);
    waits_exit(w, pid, tid, 200 * MS);
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* On a busy machine a thread is displaced again and again between two waits, and is ready for long
 * before the kernel says so: neither is a wait. */
CASE(test_observed_on_a_busy_machine)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    const uint64_t us = MS / 1000;
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    struct waits_clock clock = {.cpu_ns = 50 * MS, .runs = 3, .waits = 5};
    waits_observe(w, pid, tid, 100 * MS, &clock);
    clock.is_running = true;
    waits_observe(w, pid, tid, 110 * MS, &clock); /* waited for 10 ms at most */
    clock = (struct waits_clock){51 * MS, 8 * MS, .runs = 4, .is_running = true, .waits = 5};
    waits_observe(w, pid, tid, 120 * MS, &clock); /* 11 */
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 0);
    clock = (struct waits_clock){55 * MS, 8 * MS, .runs = 8, .waits = 6};
    waits_observe(w, pid, tid, 130 * MS, &clock); /* 17: of each of the two waits 7 to 10 */
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 8500 * us);
    assert_int_equal(c.waits.at[c.waits.len - 1].at_ns, 108500 * us);
    waits_observe(w, pid, tid, 140 * MS, &clock);
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), 27 * MS);
    clock.is_running = true; /* for so long that most of it was no wait, but not to its end */
    waits_observe(w, pid, tid, 145 * MS, &clock);
    waits_observe(w, pid, tid, 150 * MS, &clock);
    clock = (struct waits_clock){55 * MS, 55 * MS, .runs = 9, .is_running = true, .waits = 6};
    waits_observe(w, pid, tid, 190 * MS, &clock);
    waits_exit(w, pid, tid, 190 * MS);
    assert_int_equal(toy_sum(&c, tid, NOWHERE, SYS_read, COLLECTOR_WAITING), (27 + 3) * MS);
    assert_int_equal(c.waits.at[c.waits.len - 2].at_ns, 143 * MS);
    assert_int_equal(waits_sums(w).unknown_ns, 0);
    assert_int_equal(waits_sums(w).ready_ns, 55 * MS);
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* At its end its account is exact: it was held for 2 ms, and waited twice. */
CASE(test_observed_to_the_end)
{
    static const struct waits_options looks = {.arch = &arch_x86_64};
    struct collector c = {0};
    struct waits *w = waits_new(&c, &looks);
    struct sleeper s = {0};
    sleeper_begin(&s);
    pid_t pid = getpid(), tid = s.tid;
    struct waits_clock clock = {.cpu_ns = MS, .runs = 3, .waits = 5};
    for (int is_one = 0; is_one < 2; is_one++) {
        waits_observe(w, pid, tid, 100 * MS, &clock);
        const struct waits_clock end = {.cpu_ns = 4 * MS,
                                        .runs = 9,
                                        .is_ending = true,
                                        .waits = is_one ? 5 : 6,
                                        .held_ns = 2 * MS};
        waits_observe(w, pid, tid, 109 * MS, &end);
        waits_exit(w, pid, tid, 109 * MS);
        assert_int_equal(waits_sums(w).placed_ns, is_one ? (2 + 4) * MS : 2 * MS);
        assert_int_equal(waits_sums(w).unknown_ns, 2 * MS);
    }
    sleeper_end(&s);
    waits_free(w);
    toy_free(&c);
}

/* --- many threads ----------------------------------------------------------------------------- */

/* What malloc() has given out; glibc before 2.33 counts that in int. */
static size_t memory(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 given = mallinfo2();
#else
    struct mallinfo given = mallinfo();
#endif
    return (size_t)given.uordblks + (size_t)given.hblkhd;
}

/* Keeps sums only: the log of a million waits is no memory of what is tested. */
static size_t memory_after(struct waits *w, struct collector *c)
{
    (void)w;
    toy_free(c);
    return memory();
}

CASE(test_many_threads)
{
    enum { LIVING = 10000, BORN = 1000000, MOST_BYTES = 8 << 20 };
    (void)state;
    struct collector c = {0};
    size_t before = memory();
    struct waits *w = waits_new(&c, &no_looks);
    uint64_t sum = 0, at = 1000 * MS;
    for (pid_t i = 0; i < LIVING; i++, at += 1000) {
        waits_fork(w, NOBODY, NOBODY + i, at);
        waits_switch(w, NOBODY, NOBODY + i, at + 10, false, false);
        waits_switch(w, NOBODY, NOBODY + i, at + 20, true, false);
    }
    for (pid_t i = 0; i < BORN; i++, at += 100) {
        pid_t tid = NOBODY + LIVING + i;
        waits_fork(w, NOBODY, tid, at);
        waits_switch(w, NOBODY, tid, at + 1, false, false);
        waits_switch(w, NOBODY, tid, at + 2, true, false);
        waits_exit(w, NOBODY, tid, at + 5);
        sum += 1 + 3;
        if (i % 1000 == 0)
            waits_poll(w, at, at);
    }
    struct waits_sums sums = waits_sums(w);
    assert_true(sums.ready_ns + sums.unknown_ns >= sum);
    assert_true(memory_after(w, &c) - before < MOST_BYTES);
    for (pid_t i = 0; i < LIVING; i++) /* they are known still */
        waits_exit(w, NOBODY, NOBODY + i, at);
    waits_finish(w, at + 1000 * MS);
    sums = waits_sums(w);
    uint64_t life = 0;
    for (uint64_t i = 0; i < LIVING; i++)
        life += at - 1000 * MS - i * 1000 - 10; /* all but 10 ns of each */
    assert_int_equal(sums.ready_ns + sums.unknown_ns, sum + life);
    waits_free(w);
    toy_free(&c);
}

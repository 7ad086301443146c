/* How long the reader of the kernel's buffers sleeps, and what events are found to cost: the
 * figures alone, without the kernel. */
#include "cases.h"
#include "record/perf/perf_source_private.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

static void expect_sleeps(bool reads_labels, const uint64_t *ms, size_t len)
{
    uint64_t idle = 0;
    for (size_t i = 0; i < len; i++) {
        uint64_t sleep = perf_reader_sleep(idle, 10 * MS, reads_labels);
        assert_int_equal(sleep, ms[i] * MS);
        idle = 2 * sleep;
    }
}

/* Twice as long each time, while nothing comes. */
CASE(sleeps_grow)
{
    expect_sleeps(false, (uint64_t[]){10, 20, 40, 64, 64}, 5);
    expect_sleeps(true, (uint64_t[]){1, 2, 4, 4}, 4);
    assert_int_equal(perf_reader_sleep(64 * MS, 64 * MS, true),
                     4 * MS); /* labels have just come up */
    assert_int_equal(perf_reader_sleep(4 * MS, 10 * MS, false), 10 * MS);
    assert_int_equal(perf_reader_sleep(0, 40 * MS, false), 40 * MS);
}

/* As promptly as ever for as long as a short process lives; never longer than buffers last. */
CASE(samples_alone_may_wait)
{
    assert_int_equal(perf_reader_patience(0), 10 * MS);
    assert_int_equal(perf_reader_patience(80 * MS), 10 * MS);
    assert_int_equal(perf_reader_patience(240 * MS), 30 * MS);
    assert_int_equal(perf_reader_patience(3600000 * MS), 64 * MS);
}

CASE(the_least_of_each_counts)
{
    struct perf_turns t = {0};
    (void)state;
    assert_int_equal(perf_turns_cost(&t), 0);
    perf_turns_add(&t, 1000, 1600, 10);
    assert_int_equal(perf_turns_cost(&t), 60);
    perf_turns_add(&t, 900, 1700, 20); /* other work went on beside it */
    assert_int_equal(perf_turns_cost(&t), 70);
    perf_turns_add(&t, 950, 1500, 12);
    assert_int_equal(perf_turns_cost(&t), 50);
    perf_turns_add(&t, 0, 0, 5); /* could not be told */
    assert_int_equal(perf_turns_cost(&t), 50);
    perf_turns_add(&t, 0, 1400, 0); /* no event that it could be the cost of */
    assert_int_equal(perf_turns_cost(&t), 0);
}

/* Where events cost nothing that can be seen, or one of the two was never told. */
CASE(no_cost)
{
    struct perf_turns same = {0}, only_bare = {0}, only_sampled = {0};
    (void)state;
    perf_turns_add(&same, 1000, 1000, 10);
    assert_int_equal(perf_turns_cost(&same), 0);
    perf_turns_add(&same, 2000, 990, 10);
    assert_int_equal(perf_turns_cost(&same), 0);
    perf_turns_add(&only_bare, 1000, 0, 1);
    assert_int_equal(perf_turns_cost(&only_bare), 0);
    perf_turns_add(&only_sampled, 0, 1000, 1);
    assert_int_equal(perf_turns_cost(&only_sampled), 0);
}

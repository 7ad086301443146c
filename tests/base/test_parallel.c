/* Each piece is done once, whatever the threads; workers never meet themselves. */
#include "base/parallel.h"
#include "cases.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PIECES = 5000, WORKERS = 64 };

struct seen {
    atomic_uint times[PIECES];
    atomic_bool is_busy[WORKERS];
    atomic_uint meetings, strangers, most; /* most: the highest worker + 1 */
    unsigned workers;
};

static void count(size_t i, void *context)
{
    struct seen *seen = context;
    atomic_fetch_add(&seen->times[i], 1);
}

static void count_as(size_t i, unsigned worker, void *context)
{
    struct seen *seen = context;
    if (worker >= seen->workers) {
        atomic_fetch_add(&seen->strangers, 1);
        return;
    }
    if (atomic_exchange(&seen->is_busy[worker], true))
        atomic_fetch_add(&seen->meetings, 1);
    for (unsigned most = seen->most; worker + 1 > most;)
        if (atomic_compare_exchange_weak(&seen->most, &most, worker + 1))
            break;
    if (i < 64)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_add(&seen->times[i], 1);
    atomic_store(&seen->is_busy[worker], false);
}

static void expect_once(const struct seen *seen, size_t pieces)
{
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(seen->times[i], i < pieces);
}

CASE(test_each_piece_once)
{
    static const size_t lens[] = {0, 1, 2, 63, 64, 65, PIECES};
    static const unsigned threads[] = {0, 1, 2, 7, 64, 1000};
    for (size_t l = 0; l < sizeof lens / sizeof *lens; l++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            struct seen plain = {0}, known = {0};
            parallel_for(lens[l], threads[t], count, &plain);
            expect_once(&plain, lens[l]);
            known.workers = parallel_workers(lens[l], threads[t]);
            parallel_for_workers(lens[l], threads[t], count_as, &known);
            expect_once(&known, lens[l]);
            assert_int_equal(known.strangers, 0);
            assert_int_equal(known.meetings, 0);
        }
}

/* Pieces that take a while keep several workers busy, and numbers are not given twice. */
CASE(test_workers_differ)
{
    struct seen seen = {.workers = 4};
    parallel_for_workers(PIECES, 4, count_as, &seen);
    assert_in_range(seen.most, 2, 4);
    assert_int_equal(seen.meetings, 0);
}

CASE(test_number_of_workers)
{
    assert_int_equal(parallel_workers(0, 0), 0);
    assert_int_equal(parallel_workers(3, 8), 3);
    assert_int_equal(parallel_workers(100, 8), 8);
    assert_int_equal(parallel_workers(SIZE_MAX, 1000), WORKERS);
    assert_true(parallel_workers(WORKERS, 0) >= 1);
    assert_true(parallel_workers(WORKERS, 0) <= parallel_cpus());
}

/* A history in its file: what comes back, and how large the file gets. MONARC_STORE_RUNS=1000 makes
 * it as large as the budget is for, and prints what it took. */
#include "cases.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTIONS = 5000 };

/* Half of the functions have callees. */
static void fill(struct store_value *values, char names[][16], int run)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        double self = 1e6 * (1 + (i * 7919 + run * 104729) % 1000);
        snprintf(names[i], sizeof names[i], "function_%d", i);
        values[i] = (struct store_value){.name = names[i],
                                         .shown = names[i],
                                         .object = "",
                                         .self = self,
                                         .error = sqrt(self * 1e6),
                                         .total = i % 2 ? self * 3 : self};
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

CASE(a_function_of_a_run_takes_22_bytes)
{
    static struct store_value values[FUNCTIONS];
    static char names[FUNCTIONS][16];
    char path[] = "/tmp/monarc-store-XXXXXX", commit[48];
    const char *asked = getenv("MONARC_STORE_RUNS");
    int runs = asked ? atoi(asked) : 40, file = mkstemp(path);
    struct store *store;
    struct err e = {0};
    struct stat st;
    bool is_there;
    (void)state;
    close(file);
    if (!store_open(&store, path, true, &e)) {
        unlink(path);
        SKIPPED("%s", e.line);
    }
    for (int i = 0; i < runs; i++) {
        fill(values, names, i);
        snprintf(commit, sizeof commit, "%040d", i);
        struct store_run run = {.commit = commit,
                                .date = i,
                                .program = "p",
                                .event = "cpu",
                                .processor = "",
                                .is_time = true,
                                .total = 1e12 + i,
                                .period = 1e6,
                                .runs = 1,
                                .values = values,
                                .len = FUNCTIONS};
        assert_true(store_add(store, &run, &is_there, &e) && !is_there);
        assert_true(store_add(store, &run, &is_there, &e) && is_there);
    }
    struct arena a = {0};
    struct store_series series;
    struct store_query q = {.what = STORE_FUNCTION, .name = "function_4321"};
    double start = seconds();
    assert_true(store_series_read(store, &q, &a, &series, &e));
    double took = seconds() - start;
    assert_int_equal(series.points.len, runs);
    for (int i = 0; i < runs; i++) {
        double self = 1e-3 * (1 + (4321 * 7919 + i * 104729) % 1000);
        assert_true(fabs(series.points.at[i].value - self) < 1e-9);
        assert_true(fabs(series.points.at[i].error - sqrt(self * 1e-3)) < 1e-6);
    }
    vec_free(&series.points);
    q.what = STORE_FUNCTION_TOTAL;
    assert_true(store_series_read(store, &q, &a, &series, &e));
    assert_true(fabs(series.points.at[0].value - 3e-3 * (1 + 4321 * 7919 % 1000)) < 1e-9);
    vec_free(&series.points);
    store_close(store);
    assert_int_equal(stat(path, &st), 0);
    print_message("# %.1f kB a run beside the names, trend of %d runs in %.1f ms\n",
                  ((double)st.st_size - 400e3) / runs / 1e3, runs, took * 1e3);
    assert_true((double)st.st_size < 700e3 + runs * 22.0 * FUNCTIONS);
    unlink(path);
    arena_deinit(&a);
}

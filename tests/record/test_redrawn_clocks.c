/* Clocks that get new periods, against what the kernel would write of threads whose run is known.
 */
#include "cases.h"
#include "record/perf/perf_clocks.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOMINAL = 1000000, ID = 77, STACK = 64 };

/* Of this process, whose period can be changed; -1: it is not permitted. */
static int open_clock(void)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = NOMINAL,
                                   .disabled = 1,
                                   .exclude_kernel = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A sample as the kernel writes it. */
static size_t write_sample(uint64_t *to, uint64_t id, uint64_t stream, uint64_t time)
{
    size_t n = 0;
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = 2};
    const uint64_t fields[] = {id, 0x401000, (uint64_t)7 << 32 | 8, time, stream, 0, NOMINAL};
    to[n++] = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        to[n++] = fields[i];
    to[n++] = PERF_SAMPLE_REGS_ABI_NONE;
    to[n++] = STACK;
    for (int i = 0; i < STACK / 8; i++)
        to[n++] = 0xee;
    to[n++] = 0;
    header.size = (uint16_t)(8 * n);
    memcpy(to, &header, sizeof header);
    return 8 * n;
}

/* Adds a sample and takes it out again: its weight. */
static uint64_t weight_of(struct redrawn_clocks *c, uint64_t id, uint64_t stream, uint64_t time)
{
    struct perf_layout layout = perf_layout_live(&arch_x86_64, true);
    struct perf_backlog q = {0};
    uint64_t record[64];
    size_t len = write_sample(record, id, stream, time);
    redrawn_clocks_add(c, &q, &layout, (struct bytes){(const uint8_t *)record, len});
    const struct perf_record *r = perf_backlog_first(&q, &layout);
    assert_non_null(r);
    assert_int_equal(r->time, time);
    assert_int_equal(r->id, id);
    assert_int_equal(r->tid, 7);
    uint64_t weight = r->period;
    perf_backlog_drop_first(&q);
    assert_null(perf_backlog_first(&q, &layout));
    perf_backlog_deinit(&q);
    return weight;
}

CASE(a_sample_weighs_its_period_and_what_was_before_it)
{
    struct redrawn_clocks c;
    uint64_t period = 700000;
    int fd = open_clock();
    (void)state;
    redrawn_clocks_init(&c, NOMINAL);
    map_set(&c.of_id, ID, 0, 0);
    vec_push(&c.clocks, (struct redrawn_clock){.fd = fd, .id = ID, .period = period});
    assert_in_range(weight_of(&c, ID, ID, 700000), period + NOMINAL / 2, period + NOMINAL);
    assert_int_equal(weight_of(&c, ID, ID, 9900000), period);    /* it slept in between */
    assert_int_equal(weight_of(&c, ID + 1, ID + 1, 0), NOMINAL); /* other clocks: as it is */
    assert_int_equal(weight_of(&c, ID, ID + 2, 0), NOMINAL);
    assert_int_equal(c.due.len, 1);
    redrawn_clocks_redraw(&c, 1, 0, 9980000);
    assert_int_equal(c.due.len, 0);
    if (fd >= 0) { /* perf events are permitted */
        period = c.clocks.at[0].period;
        assert_int_equal(weight_of(&c, ID, ID, 11000000), period + 80000);
        assert_int_equal(weight_of(&c, ID, ID, 12000000), period);
        redrawn_clocks_redraw(&c, 0, 12010000, 13000000); /* it gave way to the reader */
        assert_int_equal(weight_of(&c, ID, ID, 14000000), c.clocks.at[0].period + 10000);
        period = c.clocks.at[0].period;
        redrawn_clocks_redraw(&c, 1, 0, 14000000 + NOMINAL / 2); /* late: it may have slept since */
        assert_int_equal(c.clocks.at[0].period, period);
        assert_int_equal(weight_of(&c, ID, ID, 15000000), period);
        close(fd);
    }
    c.clocks.at[0].is_over = true;
    redrawn_clocks_deinit(&c);
}

/* Of a program with the period `rhythm` that is in one function for 0.3 of it: how often `samples`
 * ticks find it there, of which every fourth is followed by a new period, some time later. */
static double share_seen(struct redrawn_clocks *c, double rhythm, int samples, uint64_t *noise)
{
    double at = (double)((*noise = *noise * UINT64_C(6364136223846793005) + 1) >> 20);
    double period = (double)redrawn_clocks_draw(c), in = 0, all = 0;
    for (int i = 0; i < samples; i++) {
        double step = period;
        if (i % 4 == 0) {
            period = (double)redrawn_clocks_draw(c);
            *noise = *noise * UINT64_C(6364136223846793005) + 1;
            step = period + 50000 + (double)(*noise >> 48);
        }
        at += step;
        in += fmod(at, rhythm) < 0.3 * rhythm ? step : 0;
        all += step;
    }
    return in / all;
}

CASE(no_rhythm_is_kept_step_with)
{
    static const double rhythms[] = {0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.3, 1.9, 2, 3, 5, 10, 50};
    enum { RUNS = 1500, SAMPLES = 600 };
    struct redrawn_clocks c;
    uint64_t noise = 42;
    (void)state;
    redrawn_clocks_init(&c, NOMINAL);
    c.random = 4711;
    double binomial = sqrt(0.3 * 0.7 / SAMPLES);
    for (size_t k = 0; k < sizeof rhythms / sizeof *rhythms; k++) {
        double sum = 0, squares = 0;
        for (int run = 0; run < RUNS; run++) {
            double error = share_seen(&c, rhythms[k] * 1e6, SAMPLES, &noise) - 0.3;
            sum += error;
            squares += error * error;
        }
        double bias = sum / RUNS, scatter = sqrt(squares / RUNS);
        if (fabs(bias) > 0.003 || scatter > 1.3 * binomial)
            fail_msg("%g ms: bias %.4f, scatter %.4f of %.4f", rhythms[k], bias, scatter, binomial);
    }
    redrawn_clocks_deinit(&c);
}

CASE(the_reader_is_not_woken_too_often)
{
    assert_int_equal(redrawn_clocks_wake(1000, 2), 4);
    assert_int_equal(redrawn_clocks_wake(100, 4), 4);
    assert_int_equal(redrawn_clocks_wake(10000, 2), 40);
    assert_int_equal(redrawn_clocks_wake(1000, 64), 64);
}

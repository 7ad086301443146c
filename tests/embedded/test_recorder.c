/* The embedded recorder on this machine, read back by the reader of its memory: nothing is lost and
 * nothing invented under signals (which come between any two instructions, as interrupts do), with
 * full tables, before it is set up, in two threads as two cores. Built three times: with
 * compare-and-swap, with masks (a signal is then what an NMI is), and with two cores. */
#include "cases.h"
#include "profile/format/embedded.h"
#include "profile/format/format.h"

#include "../../runtime/embedded/control.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <stddef.h>

enum { TEXT = 0x10000, TEXT_BYTES = 4096, MEMORY = 1 << 16 };

static uintptr_t memory[MEMORY / sizeof(uintptr_t)];
static _Thread_local unsigned core_here;

#if MONARC_CORES > 1
unsigned monarc_embedded_core(void)
{
    return core_here;
}
#endif

/* Text that cannot be read: no sum is taken of it. */
static struct monarc_embedded_settings setup_of(uint32_t bytes)
{
    return (struct monarc_embedded_settings){
        .windows = {{(void *)TEXT, (void *)(TEXT + TEXT_BYTES)}},
        .bytes_per_bin = 16,
        .rate = 1000,
        .memory = memory,
        .memory_bytes = bytes,
        .has_no_text_sum = true};
}

struct text {
    uint8_t *at;
    size_t len, cap;
};

static bool collect(void *context, const void *bytes, uint32_t length)
{
    struct text *t = context;
    vec_reserve(t, t->len + length);
    memcpy(t->at + t->len, bytes, length);
    t->len += length;
    return true;
}

static void read_back(struct embedded *out)
{
    struct text t = {0};
    struct err e = {0};
    assert_true(monarc_embedded_write_memory(collect, &t));
    struct cursor in = cursor_over((struct bytes){t.at, t.len}, "memory");
    if (!embedded_read_all(&in, out, &e))
        fail_msg("%s", e.line);
    assert_int_equal(cursor_left(&in), 0);
    vec_free(&t);
}

/* --- interrupts ------------------------------------------------------------------------------ */

static volatile uint64_t from_signals;

static void interrupt(int signal)
{
    (void)signal;
    for (unsigned i = 0; i < 8; i++)
        monarc_embedded_call(0x20000 + i % 4, 0x30000 + i % 2);
    from_signals += 8;
}

CASE(test_interrupts)
{
    enum { CALLS = 30000000 };
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    struct embedded m = {0};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {0};
    from_signals = 0;
    signal(SIGALRM, interrupt);
    assert_true(monarc_embedded_setup(&setup));
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint32_t i = 0; i < CALLS; i++) {
        monarc_embedded_call(0x20000 + i % 4, 0x30000 + i % 2);
        if (i % 1000000 == 0)
            monarc_embedded_call(0x40000 + i, 0x30000); /* new arcs among them */
    }
    setitimer(ITIMER_REAL, &never, NULL);
    read_back(&m);
    assert_true(from_signals > 1000);
    uint64_t made = CALLS + CALLS / 1000000 + from_signals;
    assert_int_equal(profile_calls(&m.time) + embedded_lost_calls(&m), made);
    if (!MONARC_MASKS)
        assert_int_equal(embedded_lost_calls(&m), 0);
    embedded_deinit(&m);
}

/* --- tables ---------------------------------------------------------------------------------- */

CASE(test_full_table)
{
    struct monarc_embedded_settings setup = setup_of(MONARC_CORES * 2048);
    struct embedded m = {0};
    assert_true(monarc_embedded_setup(&setup));
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 1000; i++)
            monarc_embedded_call(0x20000 + 4 * i, 0x30000);
    read_back(&m);
    const struct embedded_core *c = &m.cores.at[0];
    assert_true(c->lost_calls > 0);
    assert_int_equal(profile_calls(&m.time) + c->lost_calls, 3000);
    assert_true(c->used > c->slots * 9 / 10);
    for (size_t i = 0; i < m.time.arcs.len; i++)
        assert_int_equal(m.time.arcs.at[i].count, 3); /* what is kept is whole */
    embedded_deinit(&m);
}

CASE(test_memory_too_small)
{
    struct monarc_embedded_settings setup = setup_of(MONARC_CORES * 512);
    assert_false(monarc_embedded_setup(&setup));
    monarc_embedded_call(0x20000, 0x30000);
    monarc_embedded_sample(TEXT);
    monarc_embedded_start();
    monarc_embedded_call(0x20000, 0x30000);
    assert_int_equal(monarc_control[0].state, MONARC_OFF);
    setup = setup_of(MEMORY);
    setup.windows[1] =
        (struct monarc_embedded_range){(void *)(TEXT + TEXT_BYTES - 1), (void *)(TEXT + 8192)};
    assert_false(monarc_embedded_setup(&setup));
    setup.windows[1] = (struct monarc_embedded_range){(void *)(TEXT + 8192), (void *)TEXT};
    assert_false(monarc_embedded_setup(&setup));
    assert_int_equal(monarc_embedded_lost(), 0);
}

/* A full count stays, and the arc goes on in another slot. */
CASE(test_full_count)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    struct embedded m = {0};
    assert_true(monarc_embedded_setup(&setup));
    monarc_embedded_call(0x20000, 0x30000);
    for (uint32_t i = 0; i < monarc_control[0].slots; i++)
        if (monarc_control[0].arcs[i].from)
            monarc_control[0].arcs[i].count = UINTPTR_MAX - 1;
    for (unsigned i = 0; i < 5; i++)
        monarc_embedded_call(0x20000, 0x30000);
    read_back(&m);
    assert_int_equal(m.cores.at[0].used, 2);
    assert_int_equal(m.cores.at[0].lost_calls, 0);
    embedded_deinit(&m);
}

/* --- before, off, again ---------------------------------------------------------------------- */

CASE(test_before_setup)
{
    unsigned seed = 1;
    for (unsigned round = 0; round < 1000; round++) {
        for (size_t i = 0; i < sizeof monarc_control; i++)
            ((uint8_t *)monarc_control)[i] = (uint8_t)rand_r(&seed);
        monarc_embedded_call(0x20000, 0x30000);
        monarc_embedded_sample(TEXT);
        monarc_embedded_sample_stack(TEXT, 0);
        monarc_embedded_start();
        monarc_embedded_reset();
        struct text t = {0};
        assert_false(monarc_embedded_write_memory(collect, &t));
        assert_false(monarc_embedded_write_gmon(collect, &t));
        assert_int_equal(monarc_embedded_lost(), 0);
        assert_null(t.at);
    }
    memset(monarc_control, 0, sizeof monarc_control);
    monarc_embedded_call(0x20000, 0x30000);
    monarc_embedded_start();
    assert_int_equal(monarc_control[0].state, MONARC_OFF);
}

static void expect_calls_and_samples(uint64_t calls, uint64_t samples)
{
    struct embedded m = {0};
    read_back(&m);
    assert_int_equal(profile_calls(&m.time), calls);
    assert_int_equal(profile_samples(&m.time), samples);
    embedded_deinit(&m);
}

CASE(test_steering)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    assert_true(monarc_embedded_setup(&setup));
    monarc_embedded_call(0x20000, 0x30000);
    monarc_embedded_sample(TEXT);
    monarc_embedded_stop();
    monarc_embedded_call(0x20000, 0x30000);
    monarc_embedded_sample(TEXT);
    expect_calls_and_samples(1, 1);
    monarc_embedded_start();
    monarc_embedded_call(0x20000, 0x30000);
    expect_calls_and_samples(2, 1);
    monarc_embedded_reset();
    expect_calls_and_samples(0, 0);
    monarc_embedded_call(0x20000, 0x30000);
    expect_calls_and_samples(1, 0);
    monarc_control[0].state = MONARC_RESET_WANTED; /* as a debugger writes it */
    monarc_embedded_call(0x20000, 0x30000);
    expect_calls_and_samples(1, 0);
    monarc_embedded_sample(TEXT + 40);
    monarc_embedded_call(0x20000, 0x30000);
    expect_calls_and_samples(1, 1);
}

/* What a reset leaves in memory that is not cleared: a slot half filled in, a lock that is held. */
CASE(test_reset_in_the_middle)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    assert_true(monarc_embedded_setup(&setup));
    monarc_embedded_call(0x20000, 0x30000);
    monarc_control[0].arcs[monarc_slot(0x20004, 0x30000, monarc_control[0].slots)].from = 1;
    monarc_control[0].is_busy = 1;
    monarc_embedded_start();
    monarc_embedded_call(0x20000, 0x30000);
    monarc_embedded_call(0x20004, 0x30000);
    expect_calls_and_samples(3, 0);
    assert_int_equal(monarc_embedded_lost(), 0);
}

/* --- samples --------------------------------------------------------------------------------- */

CASE(test_samples)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    struct embedded m = {0};
    setup.windows[1] = (struct monarc_embedded_range){(void *)0x80000, (void *)0x80064};
    assert_true(monarc_embedded_setup(&setup));
    for (unsigned i = 0; i < 70000; i++)
        monarc_embedded_sample(TEXT + 32);
    monarc_embedded_sample(TEXT + TEXT_BYTES - 1);
    monarc_embedded_sample(0x80063);
    monarc_embedded_sample(TEXT - 1);
    monarc_embedded_sample(TEXT + TEXT_BYTES);
    monarc_embedded_sample(UINTPTR_MAX);
    read_back(&m);
    assert_int_equal(m.time.histograms.len, 2);
    assert_int_equal(histogram_get(&m.time.histograms.at[0], 2), 65535);
    assert_int_equal(histogram_get(&m.time.histograms.at[0], TEXT_BYTES / 16 - 1), 1);
    assert_int_equal(histogram_get(&m.time.histograms.at[1], 6), 1);
    assert_int_equal(m.cores.at[0].saturated_samples, 70000 - 65535);
    assert_int_equal(m.cores.at[0].outside_samples, 3);
    assert_int_equal(monarc_embedded_lost(), 70000 - 65535 + 3);
    embedded_deinit(&m);
}

CASE(test_stack_depths)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    struct embedded m = {0};
    setup.stack_top = (void *)0x90000;
    setup.bytes_per_stack_bin = 64;
    assert_true(monarc_embedded_setup(&setup));
    monarc_embedded_sample_stack(TEXT + 64, 0x90000 - 100);
    monarc_embedded_sample_stack(TEXT + 70, 0x90000 - 300);
    monarc_embedded_sample_stack(TEXT + 128, 0x90000 - 200);
    monarc_embedded_sample_stack(TEXT, 0x90004); /* another stack */
    read_back(&m);
    assert_int_equal(m.stacks.histograms.len, 1);
    const struct histogram *h = &m.stacks.histograms.at[0];
    assert_int_equal(histogram_get(h, 1), 400);
    assert_int_equal(histogram_get(h, 2), 200);
    assert_int_equal(h->rate, 3); /* so that 600 is shown as 200 bytes: their mean */
    assert_string_equal(h->dimension, "stack bytes");
    assert_int_equal(m.cores.at[0].stack_deepest, 300);
    assert_int_equal(m.cores.at[0].stack_deepest_pc, TEXT + 70);
    assert_int_equal(profile_samples(&m.time), 4);
    embedded_deinit(&m);
}

/* --- ways out -------------------------------------------------------------------------------- */

static void record_something(uint32_t rate)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    setup.rate = rate;
    assert_true(monarc_embedded_setup(&setup));
    for (unsigned i = 0; i < 200; i++) {
        monarc_embedded_call(0x20000 + 8 * (i % 20), 0x30000 + i % 3);
        monarc_embedded_sample(TEXT + 7 * i);
    }
}

static void expect_same_gmon(uint32_t rate)
{
    struct text t = {0};
    struct format_hint hint = {0};
    struct profile p = {0};
    struct embedded m = {0};
    struct err e = {0};
    record_something(rate);
    assert_true(monarc_embedded_write_gmon(collect, &t));
    assert_true(format_read((struct bytes){t.at, t.len}, "gmon.out", &hint, &p, &e));
    read_back(&m);
    profile_normalize(&p);
    profile_normalize(&m.time);
    assert_true(profile_same(&p, &m.time));
    assert_int_equal(monarc_control[0].state, MONARC_ON); /* as before */
    assert_string_equal(p.histograms.at[0].dimension, rate ? "seconds" : "samples");
    profile_deinit(&p);
    embedded_deinit(&m);
    vec_free(&t);
}

CASE(test_gmon_is_the_same)
{
    expect_same_gmon(1000);
    expect_same_gmon(0);
}

CASE(test_frames_there_and_back)
{
    struct text sent = {0}, plain = {0};
    struct frames f = {0};
    struct frame_bytes back = {0};
    struct err e = {0};
    record_something(1000);
    monarc_embedded_stop();
    assert_true(monarc_embedded_send(collect, &sent));
    assert_true(monarc_embedded_write_memory(collect, &plain));
    frames_feed(&f, (struct bytes){sent.at, sent.len});
    assert_int_equal(f.damaged, 0);
    assert_int_equal(f.streams.len, 1);
    assert_true(frame_stream_bytes(&f.streams.at[0], "frames", &back, &e));
    assert_int_equal(back.len, plain.len);
    assert_memory_equal(back.at, plain.at, plain.len);

    /* Some of them again are the same lines. */
    struct text again = {0};
    assert_true(monarc_embedded_send_again(collect, &again, 2, 3));
    assert_true(again.len > 2 * MONARC_FRAME_BYTES);
    assert_non_null(memmem(sent.at, sent.len, again.at, again.len));
    frames_deinit(&f);
    vec_free(&again);
    vec_free(&sent);
    vec_free(&plain);
    vec_free(&back);
}

/* --- cores ----------------------------------------------------------------------------------- */

static void *run_core(void *number)
{
    core_here = *(unsigned *)number;
    for (unsigned i = 0; i < 5000000; i++) {
        monarc_embedded_call(0x20000 + i % 4, 0x30000);
        if (i % 100 == 0)
            monarc_embedded_sample(TEXT + 64);
    }
    return NULL;
}

CASE(test_cores)
{
    struct monarc_embedded_settings setup = setup_of(MEMORY);
    struct embedded m = {0};
    pthread_t threads[MONARC_CORES];
    unsigned numbers[MONARC_CORES];
    assert_true(monarc_embedded_setup(&setup));
    for (unsigned i = 0; i < MONARC_CORES; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run_core, &numbers[i]);
    }
    for (unsigned i = 0; i < MONARC_CORES; i++)
        pthread_join(threads[i], NULL);
    read_back(&m);
    assert_int_equal(m.cores.len, MONARC_CORES);
    assert_int_equal(embedded_lost_calls(&m), 0);
    assert_int_equal(profile_calls(&m.time), MONARC_CORES * 5000000);
    assert_int_equal(profile_samples(&m.time), MONARC_CORES * 50000);
    embedded_deinit(&m);
}

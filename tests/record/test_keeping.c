/* What the collector keeps: mappings, stacks and slices of samples. */
#include "cases.h"
#include "record/images.h"
#include "record/tally.h"

#include "seeds.h"

#include <stdlib.h>

/* --- mappings -------------------------------------------------------------------------------- */

static void put(struct mappings **m, uint64_t start, uint64_t end, uint32_t image)
{
    mappings_put(m, &(struct mapping){start, end, start, image});
}

static int64_t at(const struct mappings *m, uint64_t address)
{
    const struct mapping *found = mappings_find(m, address);
    if (found)
        assert_int_equal(found->offset, found->start); /* as put() made them, whatever was cut */
    return found ? (int64_t)found->image : -1;
}

/* The newest is there; of the others what it leaves. Against an array with an entry an address. */
CASE(newer_mappings_replace_older_ones)
{
    enum { ADDRESSES = 200, ROUNDS = 4000 };
    struct mappings *m = mappings_new();
    int64_t truth[ADDRESSES];
    (void)state;
    for (int i = 0; i < ADDRESSES; i++)
        truth[i] = -1;
    draws_start_rand("keeping");
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = (uint64_t)(rand() % ADDRESSES), len = (uint64_t)(rand() % 40);
        uint64_t end = start + len < ADDRESSES ? start + len : ADDRESSES;
        put(&m, start, end, (uint32_t)round);
        for (uint64_t i = start; i < end; i++)
            truth[i] = round;
        for (uint64_t i = 0; i < ADDRESSES; i++)
            assert_int_equal(at(m, i), truth[i]);
    }
    mappings_release(m);
}

CASE(children_have_their_own_copy)
{
    struct mappings *parent = mappings_new(), *child;
    (void)state;
    put(&parent, 10, 20, 1);
    child = mappings_share(parent);
    put(&child, 15, 30, 2);
    assert_int_equal(at(parent, 16), 1);
    assert_int_equal(at(child, 16), 2);
    assert_int_equal(at(child, 12), 1);
    assert_int_equal(at(parent, 25), -1);
    mappings_release(parent);
    mappings_release(child);
}

/* A sample of no labels, for a tally. */
static void add(struct tally *t, uint64_t at_ns, uint32_t thread, uint32_t event, uint32_t node,
                uint64_t weight)
{
    struct recording_sample s = {.thread = thread, .event = event, .node = node, .weight = weight};
    tally_add(t, at_ns, &s);
}

static void add_over(struct tally *t, uint64_t from_ns, uint64_t to_ns, uint32_t thread,
                     uint32_t event, uint32_t node, uint64_t weight)
{
    struct recording_sample s = {.thread = thread, .event = event, .node = node, .weight = weight};
    tally_add_over(t, from_ns, to_ns, &s);
}

/* --- samples --------------------------------------------------------------------------------- */

CASE(equal_stacks_are_one)
{
    struct tally t;
    (void)state;
    tally_init(&t, 0);
    uint32_t outer = tally_node(&t, RECORDING_ROOT, 3, 100), inner = tally_node(&t, outer, 4, 200);
    assert_int_equal(tally_node(&t, RECORDING_ROOT, 3, 100), outer);
    assert_int_equal(tally_node(&t, outer, 4, 200), inner);
    assert_int_not_equal(tally_node(&t, RECORDING_ROOT, 4, 200), inner);
    assert_int_not_equal(tally_node(&t, outer, 5, 200), inner);
    tally_deinit(&t);
}

/* What one thread does in a slice of time that is short stays in order, and what follows each other
 * is one entry. In a longer slice that holds for some of it, as long as a short one: a quarter
 * here; then each stack has one entry for the rest. */
CASE(samples_stay_in_order)
{
    enum { THREADS = 2, SAMPLES = 4000, STACKS = 3, SLICES = 5 };
    (void)state;
    for (uint64_t slice_ns = RECORDING_ORDERED_NS; slice_ns <= 4 * RECORDING_ORDERED_NS;
         slice_ns *= 4) {
        struct tally t;
        struct recording r = {0};
        struct arena a = {0};
        bool is_short = slice_ns == RECORDING_ORDERED_NS;
        uint32_t node[STACKS], came[SLICES * SAMPLES], merged = 0;
        tally_init(&t, slice_ns);
        for (uint32_t i = 0; i < STACKS; i++)
            node[i] = tally_node(&t, RECORDING_ROOT, 0, i);
        for (uint32_t i = 0; i < SLICES * SAMPLES; i++) {
            came[i] = node[i * i % 7 % STACKS];
            for (uint32_t thread = 0; thread < THREADS; thread++)
                add(&t, i * (slice_ns / SAMPLES), thread, 0, came[i], 10);
        }
        tally_copy(&t, 1, &r);
        bool *is_ordered = recording_find_ordered(&r, &a);
        for (size_t i = 0, end; i < r.samples.len; i = end) {
            const struct recording_sample *s = &r.samples.at[i];
            uint32_t ordered = 0, all = 0, first = s->slice * SAMPLES, at;
            for (end = i; end < r.samples.len && r.samples.at[end].slice == s->slice &&
                          r.samples.at[end].thread == s->thread;
                 end++) {
                assert_int_equal(r.samples.at[end].weight, 10 * r.samples.at[end].count);
                all += r.samples.at[end].count;
                ordered += is_ordered[end] ? r.samples.at[end].count : 0;
                merged += !is_ordered[end];
            }
            assert_int_equal(all, SAMPLES);
            assert_in_range(ordered, is_short ? SAMPLES : SAMPLES / 4 - 4,
                            is_short ? SAMPLES : SAMPLES / 4 + 1);
            /* Somewhere in what came it stands like this. */
            for (at = first; at + ordered <= first + SAMPLES; at++) {
                uint32_t sample = at;
                size_t k = i;
                for (; k < end && is_ordered[k]; k++) {
                    uint32_t left = r.samples.at[k].count;
                    while (left && came[sample] == r.samples.at[k].node)
                        left--, sample++;
                    if (left)
                        break;
                }
                if (k == end || !is_ordered[k])
                    break;
            }
            assert_true(at + ordered <= first + SAMPLES);
        }
        assert_int_equal(merged, is_short ? 0 : SLICES * THREADS * STACKS);
        recording_deinit(&r);
        arena_deinit(&a);
        tally_deinit(&t);
    }
}

/* Slices that were asked for stay as they are, far beyond the usual number; nothing is lost where
 * the file's most is reached. */
CASE(slices_that_were_asked_for_stay)
{
    enum { SLICE_NS = 50000 };
    struct tally t;
    struct recording recording = {0}, longer = {0};
    uint64_t weight = 0;
    (void)state;
    tally_init(&t, SLICE_NS);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    for (uint64_t i = 0; i < 20000; i++)
        add(&t, i * SLICE_NS + 7, 0, 0, node, 1);
    tally_copy(&t, 1, &recording);
    assert_int_equal(recording.slice_ns, SLICE_NS);
    assert_int_equal(recording.samples.len, 20000);
    for (uint32_t i = 0; i < recording.samples.len; i++)
        assert_int_equal(recording.samples.at[i].slice, i);
    add(&t, UINT64_C(3) * TALLY_MOST_SLICES * SLICE_NS, 0, 0, node, 1);
    tally_copy(&t, 1, &longer);
    assert_int_equal(longer.slice_ns, 4 * SLICE_NS);
    for (size_t i = 0; i < longer.samples.len; i++)
        weight += longer.samples.at[i].weight;
    assert_int_equal(weight, 20001);
    recording_deinit(&recording);
    recording_deinit(&longer);
    tally_deinit(&t);
}

/* However long the run is, there are at most as many slices, and nothing is lost between them. */
CASE(slices_are_bounded_and_sums_kept)
{
    struct tally t;
    struct recording recording = {0};
    uint64_t sum = 0, weight = 0, count = 0;
    (void)state;
    tally_init(&t, 0);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    for (uint64_t i = 0; i < 50000; i++) {
        add(&t, i * i * 1000, (uint32_t)(i % 3), 0, node, i);
        sum += i;
    }
    tally_copy(&t, 1, &recording);
    assert_in_range(t.closed.len, 1, 3 * TALLY_SLICES);
    for (size_t i = 0; i < recording.samples.len; i++) {
        assert_in_range(recording.samples.at[i].slice, 0, TALLY_SLICES - 1);
        weight += recording.samples.at[i].weight;
        count += recording.samples.at[i].count;
        if (i)
            assert_true(recording.samples.at[i - 1].slice <= recording.samples.at[i].slice);
    }
    assert_int_equal(weight, sum);
    assert_int_equal(count, 50000);
    recording_deinit(&recording);
    tally_deinit(&t);
}

CASE(first_period_samples_are_scaled)
{
    struct tally t;
    struct recording recording = {0};
    (void)state;
    tally_init(&t, 0);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    add(&t, 5, 0, 0, node, 100);
    add(&t, 5, 0, TALLY_FIRST_PERIOD, node, 100);
    tally_copy(&t, 1.5, &recording);
    assert_int_equal(recording.samples.len, 1);
    assert_int_equal(recording.samples.at[0].weight, 250);
    assert_int_equal(recording.samples.at[0].count, 2);
    assert_int_equal(recording.samples.at[0].event, 0);
    recording_deinit(&recording);
    tally_deinit(&t);
}

/* What lasted is in the slices in which it was, however long ago they were and how long they are.
 */
CASE(what_lasted_is_where_it_was)
{
    struct tally t;
    struct recording recording = {0};
    const uint64_t ms = 1000 * 1000;
    uint64_t weight = 0, early = 0, count = 0;
    (void)state;
    tally_init(&t, 0);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    add_over(&t, 100 * ms, 1500 * ms, 0, 0, node, 1400 * ms);
    add_over(&t, 3000 * ms, 9000 * ms, 0, 0, node, 3000 * ms); /* of it, a half */
    add_over(&t, 1501 * ms, 1502 * ms, 0, 0, node, ms);        /* told late */
    tally_copy(&t, 1, &recording);
    for (size_t i = 0; i < recording.samples.len; i++) {
        const struct recording_sample *s = &recording.samples.at[i];
        assert_in_range(s->slice, 0, TALLY_SLICES - 1);
        assert_true(s->weight <= t.slice_ns);
        early += s->slice * t.slice_ns < 750 * ms ? s->weight : 0;
        weight += s->weight;
        count += s->count;
    }
    assert_in_range(early, 650 * ms - t.slice_ns, 650 * ms + t.slice_ns);
    assert_int_equal(weight, 4401 * ms);
    assert_int_equal(count, 3);
    recording_deinit(&recording);
    tally_deinit(&t);
}

/* Threads that all wait have rows in all slices: these get fewer, before the rows get too many. */
CASE(lasting_rows_are_bounded)
{
    struct tally t;
    struct recording recording = {0};
    const uint64_t ms = 1000 * 1000;
    uint64_t weight = 0;
    (void)state;
    tally_init(&t, 0);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    for (uint64_t piece = 0; piece < 15; piece++)
        for (uint32_t thread = 0; thread < 3000; thread++)
            add_over(&t, piece * 100 * ms, (piece + 1) * 100 * ms, thread, 0, node, 100 * ms);
    assert_in_range(t.closed.len, 1, 5 << 18);
    tally_copy(&t, 1, &recording);
    for (size_t i = 0; i < recording.samples.len; i++)
        weight += recording.samples.at[i].weight;
    assert_int_equal(weight, 3000 * 1500 * ms);
    recording_deinit(&recording);
    tally_deinit(&t);
}

static bool is_two(uint32_t thread, void *context)
{
    (void)context;
    return thread == 2;
}

CASE(samples_can_be_forgotten)
{
    struct tally t;
    struct recording recording = {0};
    (void)state;
    tally_init(&t, 0);
    uint32_t node = tally_node(&t, RECORDING_ROOT, 0, 1);
    for (uint64_t i = 0; i < 1000; i++)
        add(&t, i * 1000000, 1 + i % 2, 0, node, 10);
    uint64_t forgotten[2] = {1, 0};
    tally_forget(&t, is_two, NULL, forgotten, 2);
    assert_true(forgotten[0] == 5001 && forgotten[1] == 0);
    add(&t, 2000000000, 2, 0, node, 7);
    tally_copy(&t, 1, &recording);
    uint64_t weights[3] = {0};
    for (size_t i = 0; i < recording.samples.len; i++)
        weights[recording.samples.at[i].thread] += recording.samples.at[i].weight;
    assert_int_equal(weights[1], 5000);
    assert_int_equal(weights[2], 7);
    recording_deinit(&recording);
    tally_deinit(&t);
}

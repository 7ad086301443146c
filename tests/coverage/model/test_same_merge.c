/* Two implementations sum counter files: the analyser's (coverage_merge.c) and the recorder's
 * (runtime/coverage/merge.c). Both get the same pairs, of every version and every kind of counter,
 * and must leave the same bytes; and what they leave is what libgcov's rules say. */
#include "cases.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include "wire/gcov_dialects.h"
#include "recorder_merge.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, GROUPS = 2, PAIRS = 300 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

/* Small numbers, which meet each other; seldom the ends of the range. */
static uint64_t some_value(uint64_t *state)
{
    static const uint64_t ends[] = {INT64_MAX, INT64_MAX - 2, (uint64_t)INT64_MIN, -(uint64_t)3};
    uint64_t r = next_random(state);
    return r % 16 == 0 ? ends[r / 16 % 4] : r / 16 % 24;
}

static uint64_t some_count(uint64_t *state)
{
    uint64_t r = next_random(state);
    return r % 16 == 0 ? INT64_MAX - r / 16 % 3 : r / 16 % 9;
}

static void push_list(struct counters *c, uint64_t *state)
{
    uint64_t first = next_random(state) % 40, n = next_random(state) % 4 ? 3 : GCOV_LIST_VALUES;
    uint64_t total = next_random(state) % 8 ? 1000 : -(uint64_t)1000;
    vec_push(&c->values, total);
    vec_push(&c->values, n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t value = first + i, count = some_count(state) + 1;
        vec_push(&c->values, value);
        vec_push(&c->values, count);
    }
}

/* No value twice: the recorder that wrote them does not have that. */
static void push_four(struct counters *c, uint64_t *state)
{
    uint64_t first = next_random(state) % 6, all = next_random(state) % 8 ? 50 : -(uint64_t)50;
    vec_push(&c->values, all);
    for (uint64_t i = 0; i < GCOV_FIXED_VALUES; i++) {
        uint64_t value = first + i, count = some_count(state);
        vec_push(&c->values, value);
        vec_push(&c->values, count);
    }
}

static void push_group(struct counters *c, enum gcov_rule rule, uint64_t *state)
{
    if (rule == GCOV_RULE_LISTS)
        return push_list(c, state);
    if (rule == GCOV_RULE_FOUR || rule == GCOV_RULE_FOUR_CALLS)
        return push_four(c, state);
    for (size_t i = 0; i < gcov_group_values(rule); i++) {
        uint64_t value = some_value(state);
        vec_push(&c->values, value);
    }
}

static void push_kind(struct counters *c, const struct gcov_dialect *d, size_t slot,
                      uint64_t *state)
{
    struct counted_record r = {.what = COUNTED_VALUES,
                               .kind = d->kinds[slot],
                               .tag = GCOV_TAG_OF_SLOT(slot),
                               .first = c->values.len};
    for (int i = 0; i < GROUPS; i++)
        push_group(c, gcov_rule_of(r.kind, d), state);
    r.len = (uint32_t)(c->values.len - r.first);
    vec_push(&c->records, r);
}

static void push_summary(struct counters *c, const struct gcov_dialect *d, uint64_t *state)
{
    static const uint8_t buckets[GCOV_HISTOGRAM_WORDS * 4];
    bool is_object = d->summary == GCOV_SUMMARY_OBJECT;
    struct counters_summary s = {.runs = (uint32_t)next_random(state) | 1, .len = 8};
    struct counted_record r = {.what = is_object ? COUNTED_OBJECT_SUMMARY : COUNTED_PROGRAM_SUMMARY,
                               .tag =
                                   is_object ? GCOV_TAG_OBJECT_SUMMARY : GCOV_TAG_PROGRAM_SUMMARY};
    s.sum_max = next_random(state) & (is_object ? UINT32_MAX : INT64_MAX);
    if (!is_object) {
        s.checksum = 77;
        s.counters = (uint32_t)next_random(state);
        s.sum = next_random(state) << 20 & INT64_MAX;
        s.run_max = next_random(state);
        s.rest.at = buckets;
        s.rest.len = d->summary == GCOV_SUMMARY_PROGRAM_HISTOGRAM ? sizeof buckets : 0;
        s.len = GCOV_SUMMARY_BYTES + (uint32_t)s.rest.len;
    }
    vec_push(&c->summaries, s);
    vec_push(&c->records, r);
}

/* "408*", "B22*". */
static uint32_t version_word(uint16_t number)
{
    uint32_t major = number / 100, minor = number % 100;
    if (major < 10)
        return ('0' + major) << 24 | ('0' + minor / 10) << 16 | ('0' + minor % 10) << 8 | '*';
    return ('A' + major / 10) << 24 | ('0' + major % 10) << 16 | ('0' + minor) << 8 | '*';
}

static void make(struct counters *c, const struct gcov_dialect *d, uint64_t *state)
{
    struct counted_record head = {.what = COUNTED_FUNCTION};
    counters_prepare(c);
    c->origin = (struct arcs_origin){.family = ARCS_GCOV,
                                     .has_byte_lengths = d->has_byte_lengths,
                                     .version = version_word(d->since),
                                     .number = d->since,
                                     .stamp = 5,
                                     .checksum = d->has_byte_lengths ? 6 : 0};
    push_summary(c, d, state);
    vec_push(&c->records, head);
    struct counted_function f = {
        .ident = 1, .lineno_checksum = 2, .cfg_checksum = 3, .first_record = 2};
    for (size_t slot = 0; slot < d->merge_functions; slot++, f.records++)
        push_kind(c, d, slot, state);
    vec_push(&c->functions, f);
}

static size_t written(const struct counters *c, uint8_t *out)
{
    struct writer w = {0};
    struct err e = {0};
    if (!gcda_write(&w, c, &e))
        fail_msg("%s", e.line);
    assert_true(w.out.len <= ROOM);
    size_t len = w.out.len;
    memcpy(out, w.out.at, len);
    vec_free(&w.out);
    return len;
}

static void merge_both_ways(const struct gcov_dialect *d, uint64_t *state)
{
    static uint8_t now[ROOM], old[ROOM], expected[ROOM], got[ROOM];
    struct counters into = {0}, from = {0};
    struct err e = {0};
    make(&into, d, state);
    make(&from, d, state);
    size_t now_len = written(&into, now), old_len = written(&from, old);
    size_t got_len =
        recorder_merge(into.origin.version, now, now_len, old, old_len, got, sizeof got);
    if (!counters_merge(&into, &from, &e))
        fail_msg("%s", e.line);
    counters_mark_zeros(&into);
    size_t expected_len = written(&into, expected);
    for (size_t i = 0; i < expected_len && i < got_len; i++)
        if (expected[i] != got[i])
            fail_msg("gcc %u: byte %zu is %02x by the analyser, %02x by the recorder", d->since, i,
                     expected[i], got[i]);
    assert_int_equal(got_len, expected_len);
    counters_deinit(&into);
    counters_deinit(&from);
}

CASE(test_same_bytes)
{
    uint64_t random = 42;
    size_t versions = 0;
    for (size_t i = 0; i < GCOV_DIALECTS; i++) {
        if (!gcov_dialects[i].merge_functions)
            continue;
        versions++;
        for (int pair = 0; pair < PAIRS; pair++)
            merge_both_ways(&gcov_dialects[i], &random);
    }
    assert_true(versions > 10);
}

#define LEAST ((uint64_t)INT64_MIN)

CASE(test_rules)
{
    static const struct {
        enum gcov_rule rule;
        uint64_t now[GCOV_GROUP_MOST], old[GCOV_GROUP_MOST], sum[GCOV_GROUP_MOST];
    } rows[] = {
        {GCOV_RULE_ADD, {3}, {4}, {7}},
        {GCOV_RULE_ADD, {INT64_MAX}, {1}, {INT64_MAX}},
        {GCOV_RULE_ADD, {LEAST}, {-(uint64_t)1}, {LEAST}}, /* sums of seen values, below 0 */
        {GCOV_RULE_ADD, {5}, {-(uint64_t)7}, {-(uint64_t)2}},
        {GCOV_RULE_IOR, {5}, {6}, {7}},
        {GCOV_RULE_IOR, {LEAST}, {LEAST | 1}, {LEAST | 1}},
        {GCOV_RULE_FIRST, {9}, {4}, {4}},
        {GCOV_RULE_FIRST, {4}, {9}, {4}},
        {GCOV_RULE_FIRST, {0}, {9}, {9}},
        {GCOV_RULE_FIRST, {9}, {0}, {9}},
        {GCOV_RULE_VOTE, {8, 3, 10}, {8, 4, 5}, {8, 7, 15}},
        {GCOV_RULE_VOTE, {8, 3, 10}, {9, 4, 5}, {9, 1, 15}},
        {GCOV_RULE_VOTE, {8, 4, 10}, {9, 4, 5}, {8, 0, 15}},
        {GCOV_RULE_VOTE_DELTA, {99, 8, 3, 10}, {98, 9, 4, 5}, {99, 9, 1, 15}},
        {GCOV_RULE_FOUR, /* a free place */
         {20, 1, 9, 2, 8, 3, 7, 0, 0},
         {4, 3, 1, 6, 3},
         {24, 1, 9, 2, 8, 3, 8, 6, 3}},
        {GCOV_RULE_FOUR, /* none: the rarest gives way, or loses; the total says so */
         {20, 1, 9, 2, 8, 3, 7, 4, 2},
         {4, 6, 3, 7, 1},
         {-(uint64_t)24, 1, 9, 2, 8, 3, 7, 6, 2}},
        {GCOV_RULE_FOUR_CALLS, /* the best of both; evictions are not summed */
         {20, 1, 9, 2, 8, 3, 7, 4, 6},
         {4, 6, 8, 4, 5},
         {20, 4, 11, 1, 9, 2, 8, 6, 8}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t sum[GCOV_GROUP_MOST];
        memcpy(sum, rows[i].now, sizeof sum);
        gcov_merge_group(rows[i].rule, sum, rows[i].old);
        assert_memory_equal(sum, rows[i].sum, gcov_group_values(rows[i].rule) * sizeof *sum);
    }
}

CASE(test_lists)
{
    uint64_t pairs[2 * GCOV_LIST_VALUES], n = 0;
    for (uint64_t i = 0; i < GCOV_LIST_VALUES; i++)
        assert_true(gcov_list_put(pairs, &n, i, 10 + i));
    assert_true(gcov_list_put(pairs, &n, 3, 5));
    assert_int_equal(pairs[7], 18);
    assert_false(gcov_list_put(pairs, &n, 99, 9)); /* less than the rarest, which loses one */
    assert_int_equal(pairs[0], 0);
    assert_int_equal(pairs[1], 9);
    assert_false(gcov_list_put(pairs, &n, 99, 9)); /* as frequent now: takes its place */
    assert_int_equal(pairs[0], 99);
    assert_int_equal(pairs[1], 9);
    assert_int_equal(n, GCOV_LIST_VALUES);
    assert_int_equal(gcov_add_totals(5, 6), 11);
    assert_int_equal((int64_t)gcov_add_totals(-(uint64_t)5, 6), -11);
}

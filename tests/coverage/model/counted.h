/* Counters made by hand: functions with records of values, as a reader would have found them. */
#ifndef MONARC_TESTS_COUNTED_H
#define MONARC_TESTS_COUNTED_H

#include "coverage/model/coverage.h"

/* A record of `KIND` with the values that follow. */
#define VALUES(KIND, ...) \
    (KIND), (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8

static inline struct counters counted_of(uint16_t number)
{
    struct counters c = {
        .origin = {.family = ARCS_GCOV, .version = 1, .number = number, .has_byte_lengths = true}};
    counters_prepare(&c);
    return c;
}

static inline void counted_add_function(struct counters *c, uint32_t ident, uint32_t checksum)
{
    struct counted_record head = {.what = COUNTED_FUNCTION, .index = (uint32_t)c->functions.len};
    vec_push(&c->records, head);
    struct counted_function f = {.ident = ident,
                                 .lineno_checksum = checksum,
                                 .cfg_checksum = checksum + 1,
                                 .first_record = (uint32_t)c->records.len};
    vec_push(&c->functions, f);
}

/* To the function that was added last. */
static inline void counted_add_values(struct counters *c, enum counter_kind kind,
                                      const uint64_t *values, size_t len)
{
    struct counted_record r = {.what = COUNTED_VALUES,
                               .kind = (uint8_t)kind,
                               .len = (uint32_t)len,
                               .first = c->values.len};
    for (size_t i = 0; i < len; i++)
        vec_push(&c->values, values[i]);
    vec_push(&c->records, r);
    c->functions.at[c->functions.len - 1].records++;
}

/* A record of zeros that holds none of them. */
static inline void counted_add_zeros(struct counters *c, enum counter_kind kind, uint32_t len)
{
    struct counted_record r = {
        .what = COUNTED_VALUES, .kind = (uint8_t)kind, .len = len, .is_zero = true};
    vec_push(&c->records, r);
    c->functions.at[c->functions.len - 1].records++;
}

static inline void counted_add_summary(struct counters *c, struct counters_summary s)
{
    struct counted_record r = {.what = COUNTED_OBJECT_SUMMARY, .index = (uint32_t)c->summaries.len};
    vec_push(&c->records, r);
    vec_push(&c->summaries, s);
}

/* Value `i` of record `record` of the function. */
static inline uint64_t counted_value(const struct counters *c, size_t function, uint32_t record,
                                     uint32_t i)
{
    return counters_value(c, &c->records.at[c->functions.at[function].first_record + record], i);
}

#endif

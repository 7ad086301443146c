/* Applies the rule of each kind of counter to the values of a record, and scales them. */
#include "coverage/model/coverage_kinds.h"

#include "monarc/gcov_merge.h"

#include <string.h>

bool kind_is_list(enum counter_kind kind, const struct gcov_dialect *dialect)
{
    return gcov_rule_of(kind, dialect) == GCOV_RULE_LISTS;
}

void kind_add(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *into,
              const uint64_t *from, size_t len)
{
    enum gcov_rule rule = gcov_rule_of(kind, dialect);
    size_t group = gcov_group_values(rule);
    for (size_t i = 0; i + group <= len; i += group)
        gcov_merge_group(rule, into + i, from + i);
}

bool kind_lists_are_whole(const uint64_t *values, size_t len, size_t *lists)
{
    *lists = 0;
    for (size_t at = 0; at < len; ++*lists) {
        if (len - at < 2 || values[at + 1] > (len - at - 2) / 2)
            return false;
        at += 2 + 2 * (size_t)values[at + 1];
    }
    return true;
}

void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out)
{
    for (size_t at = 0; at < into_len;) {
        size_t start = out->values.len;
        const uint64_t mine = into[1], theirs = from[1];
        vec_reserve(&out->values, start + 2 + 2 * (mine + GCOV_LIST_VALUES));
        uint64_t *list = out->values.at + start;
        bool is_cut = false;
        memcpy(list, into, (2 + 2 * mine) * sizeof *list);
        for (uint64_t i = 0; i < theirs; i++)
            is_cut |= !gcov_list_put(list + 2, &list[1], from[2 + 2 * i], from[3 + 2 * i]);
        list[0] = gcov_add_totals(into[0], from[0]);
        if (is_cut && (int64_t)list[0] > 0)
            list[0] = -list[0];
        out->values.len = start + 2 + 2 * (size_t)list[1];
        at += 2 + 2 * (size_t)mine;
        into += 2 + 2 * mine;
        from += 2 + 2 * theirs;
    }
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* The number of that magnitude, or the nearest that there is. */
static uint64_t with_sign(uint64_t m, bool is_negative)
{
    if (is_negative)
        return m > INT64_MAX ? (uint64_t)INT64_MIN : 0 - m;
    return m > INT64_MAX ? INT64_MAX : m;
}

/* a * b / d, rounded down; UINT64_MAX if it is more. Bit by bit, from the highest of `a` on, where
 * the product does not fit: machines of 32 bits have no wider numbers. */
static uint64_t product_over(uint64_t a, uint64_t b, uint64_t d)
{
    uint64_t product, quotient = 0, rest = 0;
    if (!__builtin_mul_overflow(a, b, &product))
        return product / d;
    const uint64_t step = b / d, step_rest = b % d;
    for (int bit = 63; bit >= 0; bit--) {
        bool carries = rest >= d - rest; /* rest is below d */
        rest = carries ? rest - (d - rest) : rest + rest;
        if (__builtin_mul_overflow(quotient, 2, &quotient) ||
            __builtin_add_overflow(quotient, carries, &quotient))
            return UINT64_MAX;
        if (!(a >> bit & 1))
            continue;
        carries = rest >= d - step_rest;
        rest = carries ? rest - (d - step_rest) : rest + step_rest;
        if (__builtin_add_overflow(quotient, step, &quotient) ||
            __builtin_add_overflow(quotient, carries, &quotient))
            return UINT64_MAX;
    }
    return quotient;
}

static uint64_t scaled(uint64_t value, const struct count_scale *s)
{
    if (!s->denominator) {
        float product = (float)(int64_t)value * s->factor;
        return product >= 0x1p63f    ? INT64_MAX
               : product <= -0x1p63f ? (uint64_t)INT64_MIN
                                     : (uint64_t)(int64_t)product;
    }
    int64_t v = (int64_t)value, n = s->numerator, d = s->denominator;
    if (s->is_exact)
        return with_sign(product_over(magnitude(v), magnitude(n), magnitude(d)),
                         (v < 0) ^ (n < 0) ^ (d < 0));
    int64_t whole = v < 0 ? (v + d / 2) / d : (int64_t)((value + (uint64_t)d / 2) / (uint64_t)d);
    return with_sign(product_over(magnitude(whole), magnitude(n), 1), (whole < 0) ^ (n < 0));
}

static void scale_lists(uint64_t *values, size_t len, const struct count_scale *s)
{
    for (size_t at = 0; at + 2 <= len;) {
        uint64_t n = values[at + 1];
        values[at] = scaled(values[at], s);
        for (uint64_t i = 0; i < n; i++)
            values[at + 3 + 2 * i] = scaled(values[at + 3 + 2 * i], s);
        at += 2 + 2 * (size_t)n;
    }
}

/* Whether value `i` of a group is a count; the others are values that were seen. */
static bool is_count(enum gcov_rule rule, size_t i)
{
    switch (rule) {
    case GCOV_RULE_VOTE: return i > 0;
    case GCOV_RULE_VOTE_DELTA: return i > 1;
    case GCOV_RULE_FOUR:
    case GCOV_RULE_FOUR_CALLS: return i % 2 == 0;
    case GCOV_RULE_IOR:
    case GCOV_RULE_FIRST: return false;
    default: return true;
    }
}

void kind_scale(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *values,
                size_t len, const struct count_scale *scale)
{
    enum gcov_rule rule = gcov_rule_of(kind, dialect);
    size_t group = gcov_group_values(rule), lists;
    if (rule == GCOV_RULE_LISTS) {
        if (kind_lists_are_whole(values, len, &lists))
            scale_lists(values, len, scale);
        return;
    }
    for (size_t i = 0; i < len; i++)
        if (is_count(rule, i % group))
            values[i] = scaled(values[i], scale);
}

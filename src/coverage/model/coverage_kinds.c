/* The rules of each kind of counter, as the recorders of gcc apply them between runs.
 *
 * Lists of values differ by version: one value with a balance of votes (to gcc 9), four values with
 * a total (gcc 10), any number (gcc 11 on). */
#include "coverage/model/coverage_kinds.h"

#include <string.h>

enum { FIXED_VALUES = 4, FIXED_GROUP = 1 + 2 * FIXED_VALUES };

static uint64_t add_counts(uint64_t a, uint64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow((int64_t)a, (int64_t)b, &sum))
        return (int64_t)a < 0 ? (uint64_t)INT64_MIN : INT64_MAX;
    return (uint64_t)sum;
}

bool kind_is_list(enum cover_kind kind, uint16_t version_number)
{
    return (kind == KIND_TOPN || kind == KIND_INDIRECT_TOPN) && version_number >= 1100;
}

/* {value, votes, all}: votes for another value count against it. */
static void vote(uint64_t *value, uint64_t *votes, uint64_t *all, const uint64_t *from)
{
    int64_t count = (int64_t)from[1];
    if (*value == from[0])
        *votes = add_counts(*votes, from[1]);
    else if (count > (int64_t)*votes) {
        *value = from[0];
        *votes = (uint64_t)(count - (int64_t)*votes);
    } else {
        *votes = (uint64_t)((int64_t)*votes - count);
    }
    *all = add_counts(*all, from[2]);
}

/* {total or evictions, 4 * (value, count)}: the four most frequent of both stay. */
static void join_fixed(uint64_t *into, const uint64_t *from)
{
    uint64_t pair[2 * FIXED_VALUES][2];
    size_t len = 0;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 1; i < FIXED_GROUP; i += 2) {
            const uint64_t *at = (side ? from : into) + i;
            size_t same = 0;
            while (same < len && pair[same][0] != at[0])
                same++;
            if (!at[1])
                continue;
            if (same == len)
                memcpy(pair[len++], (uint64_t[2]){at[0], 0}, sizeof *pair);
            pair[same][1] = add_counts(pair[same][1], at[1]);
        }
    into[0] = add_counts(into[0], from[0]);
    memset(into + 1, 0, sizeof *into * (FIXED_GROUP - 1));
    for (unsigned i = 0; i < FIXED_VALUES && len; i++) {
        size_t best = 0;
        for (size_t j = 1; j < len; j++)
            if ((int64_t)pair[j][1] > (int64_t)pair[best][1])
                best = j;
        memcpy(into + 1 + 2 * (size_t)i, pair[best], sizeof *pair);
        memmove(pair[best], pair[best + 1], (--len - best) * sizeof *pair);
    }
}

/* Values that form one counter. */
static size_t group_of(enum cover_kind kind)
{
    switch (kind) {
    case KIND_SINGLE:
    case KIND_INDIRECT: return 3;
    case KIND_DELTA: return 4;
    case KIND_TOPN:
    case KIND_INDIRECT_TOPN:
    case KIND_ICALL_TOPN: return FIXED_GROUP;
    default: return 1;
    }
}

static void add_group(enum cover_kind kind, uint64_t *into, const uint64_t *from)
{
    switch (kind) {
    case KIND_SINGLE:
    case KIND_INDIRECT: vote(&into[0], &into[1], &into[2], from); break;
    case KIND_DELTA: vote(&into[1], &into[2], &into[3], from + 1); break;
    case KIND_TOPN:
    case KIND_INDIRECT_TOPN:
    case KIND_ICALL_TOPN: join_fixed(into, from); break;
    case KIND_IOR:
    case KIND_CONDITIONS:
    case KIND_PATHS: *into |= *from; break;
    case KIND_TIME:
        if (*from && (!*into || *from < *into))
            *into = *from;
        break;
    default: *into = add_counts(*into, *from);
    }
}

void kind_add(enum cover_kind kind, uint16_t version_number, uint64_t *into, const uint64_t *from,
              size_t len)
{
    (void)version_number;
    size_t group = group_of(kind);
    for (size_t i = 0; i + group <= len; i += group)
        add_group(kind, into + i, from + i);
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

/* Adds to the list that starts at `start`. A full one lets its rarest value lose a vote, and its
 * place to what has more. Says whether anything was dropped. */
static bool list_add(struct value_list *out, size_t start, uint64_t value, uint64_t count)
{
    uint64_t *list = out->values.at + start, *rarest = NULL;
    for (uint64_t i = 0; i < list[1]; i++) {
        uint64_t *pair = list + 2 + 2 * i;
        if (pair[0] == value) {
            pair[1] = add_counts(pair[1], count);
            return false;
        }
        if (!rarest || (int64_t)pair[1] < (int64_t)rarest[1])
            rarest = pair;
    }
    if (list[1] < TOPN_MOST) {
        list[1]++;
        vec_push(&out->values, value);
        vec_push(&out->values, count);
        return false;
    }
    if ((int64_t)--rarest[1] < (int64_t)count) {
        rarest[0] = value;
        rarest[1] = count;
    }
    return true;
}

static uint64_t magnitude(uint64_t total)
{
    return (int64_t)total < 0 ? -total : total;
}

void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out)
{
    for (size_t at = 0; at < into_len;) {
        size_t start = out->values.len;
        const uint64_t mine = into[1], theirs = from[1];
        bool is_cut = (int64_t)into[0] < 0 || (int64_t)from[0] < 0;
        uint64_t total = add_counts(magnitude(into[0]), magnitude(from[0]));
        vec_push(&out->values, total);
        vec_push(&out->values, mine);
        for (uint64_t i = 0; i < 2 * mine; i++)
            vec_push(&out->values, into[2 + i]);
        for (uint64_t i = 0; i < theirs; i++)
            is_cut |= list_add(out, start, from[2 + 2 * i], from[3 + 2 * i]);
        if (is_cut)
            out->values.at[start] = -total;
        at += 2 + 2 * (size_t)mine;
        into += 2 + 2 * mine;
        from += 2 + 2 * theirs;
    }
}

static uint64_t scaled(uint64_t value, const struct cover_scale *s)
{
    if (!s->denominator) {
        float product = (float)(int64_t)value * s->factor;
        return product >= 0x1p63f    ? INT64_MAX
               : product <= -0x1p63f ? (uint64_t)INT64_MIN
                                     : (uint64_t)(int64_t)product;
    }
    __int128 product = (int64_t)value;
    if (s->is_exact)
        product = product * s->numerator / s->denominator;
    else
        product = (product + s->denominator / 2) / s->denominator * s->numerator;
    return product > INT64_MAX   ? INT64_MAX
           : product < INT64_MIN ? (uint64_t)INT64_MIN
                                 : (uint64_t)(int64_t)product;
}

static void scale_lists(uint64_t *values, size_t len, const struct cover_scale *s)
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
static bool is_count(enum cover_kind kind, size_t i)
{
    switch (kind) {
    case KIND_SINGLE:
    case KIND_INDIRECT: return i > 0;
    case KIND_DELTA: return i > 1;
    case KIND_TOPN:
    case KIND_INDIRECT_TOPN:
    case KIND_ICALL_TOPN: return i % 2 == 0;
    case KIND_IOR:
    case KIND_CONDITIONS:
    case KIND_PATHS:
    case KIND_TIME: return false;
    default: return true;
    }
}

void kind_scale(enum cover_kind kind, uint16_t version_number, uint64_t *values, size_t len,
                const struct cover_scale *scale)
{
    size_t group = group_of(kind), lists;
    if (kind_is_list(kind, version_number)) {
        if (kind_lists_are_whole(values, len, &lists))
            scale_lists(values, len, scale);
        return;
    }
    for (size_t i = 0; i < len; i++)
        if (is_count(kind, i % group))
            values[i] = scaled(values[i], scale);
}

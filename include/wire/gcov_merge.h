/* How the counters of two runs become one: libgcov's rule for each kind, applied by whoever sums
 * counters, the analyser (coverage/model) and the recorder (runtime/coverage) alike. Pure
 * arithmetic on values in memory; knows no file.
 *
 * Counters are signed. Where libgcov would overflow, which its source leaves undefined, a sum stays
 * at the largest or smallest value. Which values are kept follows what libgcov does from gcc 4.7 to
 * 16: `into` is the run at hand, `from` the one that was before. */
#ifndef MONARC_GCOV_MERGE_H
#define MONARC_GCOV_MERGE_H

#include "wire/gcov_files.h"

#include <stddef.h>
#include <string.h>

enum gcov_rule {
    GCOV_RULE_NONE,       /* no such counters */
    GCOV_RULE_ADD,        /* arcs, intervals, powers, averages */
    GCOV_RULE_IOR,        /* masks */
    GCOV_RULE_FIRST,      /* the smallest that is not 0: when a function ran first */
    GCOV_RULE_VOTE,       /* value, votes, all */
    GCOV_RULE_VOTE_DELTA, /* last value, value, votes, all */
    GCOV_RULE_FOUR,       /* all, 4 * {value, count}: gcc 10 */
    GCOV_RULE_FOUR_CALLS, /* evictions, 4 * {value, count}: gcc 5 to 9 */
    GCOV_RULE_LISTS,      /* all, n, n * {value, count}: gcc 11 on */
    GCOV_RULES
};

enum { GCOV_GROUP_MOST = 1 + 2 * GCOV_FIXED_VALUES };

static inline enum gcov_rule gcov_rule_of(enum counter_kind kind, const struct gcov_dialect *d)
{
    switch (kind) {
    case KIND_TOPN:
    case KIND_INDIRECT_TOPN: return d->has_lists ? GCOV_RULE_LISTS : GCOV_RULE_FOUR;
    case KIND_ICALL_TOPN: return GCOV_RULE_FOUR_CALLS;
    case KIND_SINGLE:
    case KIND_INDIRECT: return GCOV_RULE_VOTE;
    case KIND_DELTA: return GCOV_RULE_VOTE_DELTA;
    case KIND_IOR:
    case KIND_CONDITIONS:
    case KIND_PATHS: return GCOV_RULE_IOR;
    case KIND_TIME: return GCOV_RULE_FIRST;
    default: return GCOV_RULE_ADD;
    }
}

/* Values that form one counter; lists have no fixed number and count as single values here. */
static inline size_t gcov_group_values(enum gcov_rule rule)
{
    switch (rule) {
    case GCOV_RULE_VOTE: return 3;
    case GCOV_RULE_VOTE_DELTA: return 4;
    case GCOV_RULE_FOUR:
    case GCOV_RULE_FOUR_CALLS: return GCOV_GROUP_MOST;
    default: return 1;
    }
}

static inline uint64_t gcov_add(uint64_t a, uint64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow((int64_t)a, (int64_t)b, &sum))
        return (int64_t)a < 0 ? (uint64_t)INT64_MIN : INT64_MAX;
    return (uint64_t)sum;
}

static inline uint64_t gcov_magnitude(uint64_t v)
{
    return (int64_t)v >= 0 ? v : v == (uint64_t)INT64_MIN ? INT64_MAX : -v;
}

/* Sums of counts in a summary, which are never negative; and numbers of runs. */
static inline uint64_t gcov_add_sums(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

static inline uint32_t gcov_add_words(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* A total that is negative says that values were dropped; what it sums is positive. */
static inline uint64_t gcov_add_totals(uint64_t a, uint64_t b)
{
    uint64_t sum = gcov_add(gcov_magnitude(a), gcov_magnitude(b));
    return (int64_t)a < 0 || (int64_t)b < 0 ? -sum : sum;
}

/* {value, votes, all}: votes for another value count against it. */
static inline void gcov_vote(uint64_t *into, const uint64_t *from)
{
    int64_t mine = (int64_t)into[1], theirs = (int64_t)from[1];
    if (into[0] == from[0]) {
        into[1] = gcov_add(into[1], from[1]);
    } else if (theirs > mine) {
        into[0] = from[0];
        into[1] = from[1] - into[1];
    } else {
        into[1] -= from[1];
    }
    into[2] = gcov_add(into[2], from[2]);
}

/* gcc 10: a value that finds no free place takes the rarest one's if it is more frequent, or else
 * counts against it; either way the total says that values are missing. */
static inline void gcov_join_four(uint64_t *into, const uint64_t *from)
{
    into[0] = gcov_add_totals(into[0], from[0]);
    for (size_t i = 1; i < GCOV_GROUP_MOST; i += 2) {
        size_t rarest = 1, same = 0;
        for (size_t k = 1; k < GCOV_GROUP_MOST && !same; k += 2) {
            same = into[k] == from[i] ? k : 0;
            rarest = (int64_t)into[k + 1] < (int64_t)into[rarest + 1] ? k : rarest;
        }
        if (!from[i + 1])
            continue;
        if (same) {
            into[same + 1] = gcov_add(into[same + 1], from[i + 1]);
            continue;
        }
        if (into[rarest + 1] && (int64_t)into[0] > 0)
            into[0] = -into[0];
        if ((int64_t)from[i + 1] > (int64_t)into[rarest + 1]) {
            into[rarest] = from[i];
            into[rarest + 1] = from[i + 1];
        } else {
            into[rarest + 1] -= from[i + 1];
        }
    }
}

/* gcc 5 to 9: the four most frequent of both. Evictions are those of the run at hand. */
static inline void gcov_join_four_calls(uint64_t *into, const uint64_t *from)
{
    uint64_t pairs[2 * GCOV_FIXED_VALUES][2];
    size_t len = 0;
    for (size_t i = 0; i < 2 * (size_t)GCOV_FIXED_VALUES; i++) {
        const uint64_t *pair =
            i < GCOV_FIXED_VALUES ? into + 1 + 2 * i : from + 1 + 2 * (i - GCOV_FIXED_VALUES);
        size_t same = 0;
        while (same < len && pairs[same][0] != pair[0])
            same++;
        if (!pair[1])
            continue;
        if (same == len)
            memcpy(pairs[len++], (uint64_t[2]){pair[0], 0}, sizeof *pairs);
        pairs[same][1] = gcov_add(pairs[same][1], pair[1]);
    }
    memset(into + 1, 0, (GCOV_GROUP_MOST - 1) * sizeof *into);
    for (size_t i = 0; i < GCOV_FIXED_VALUES && len; i++) {
        size_t best = 0;
        for (size_t k = 1; k < len; k++)
            best = (int64_t)pairs[k][1] > (int64_t)pairs[best][1] ? k : best;
        memcpy(into + 1 + 2 * i, pairs[best], sizeof *pairs);
        memmove(pairs[best], pairs[best + 1], (--len - best) * sizeof *pairs);
    }
}

/* Merges one counter of gcov_group_values(rule) values. */
static inline void gcov_merge_group(enum gcov_rule rule, uint64_t *into, const uint64_t *from)
{
    switch (rule) {
    case GCOV_RULE_IOR: *into |= *from; break;
    case GCOV_RULE_FIRST:
        if (*from && (!*into || (int64_t)*from < (int64_t)*into))
            *into = *from;
        break;
    case GCOV_RULE_VOTE: gcov_vote(into, from); break;
    case GCOV_RULE_VOTE_DELTA: gcov_vote(into + 1, from + 1); break;
    case GCOV_RULE_FOUR: gcov_join_four(into, from); break;
    case GCOV_RULE_FOUR_CALLS: gcov_join_four_calls(into, from); break;
    default: *into = gcov_add(*into, *from);
    }
}

/* Adds a value to a list of *n pairs {value, count}, which has room for another. False if a value
 * had to give way: with GCOV_LIST_VALUES there, the rarest loses one, and its place to a value that
 * is as frequent as it was. */
static inline bool gcov_list_put(uint64_t *pairs, uint64_t *n, uint64_t value, uint64_t count)
{
    uint64_t *rarest = NULL;
    for (uint64_t i = 0; i < *n; i++) {
        uint64_t *pair = pairs + 2 * i;
        if (pair[0] == value) {
            pair[1] = gcov_add(pair[1], count);
            return true;
        }
        if (!rarest || (int64_t)pair[1] < (int64_t)rarest[1])
            rarest = pair;
    }
    if (*n < GCOV_LIST_VALUES) {
        pairs[2 * *n] = value;
        pairs[2 * *n + 1] = count;
        ++*n;
        return true;
    }
    if ((int64_t)--rarest[1] < (int64_t)count) {
        rarest[0] = value;
        rarest[1] = count;
    }
    return false;
}

#endif

/* Arithmetic on counters. See values.h.
 *
 * Arc counts saturate at 2^63-1, as readers take them for signed; others wrap, as in gcc's code.
 * The rules for topn lists are those that GCC 12 shows: values of the first run, then those of the
 * other that are new; when 32 are there, the least frequent gives way to one that is as frequent as
 * it, and loses one for each that is not. A total is negative once values were dropped. */
#include "values.h"
#include "info.h"

#define LARGEST ((uint64_t)INT64_MAX)

static uint64_t sum(uint64_t a, uint64_t b, bool is_arcs)
{
    uint64_t r = a + b;
    if (is_arcs && a <= LARGEST && b <= LARGEST && r > LARGEST)
        return LARGEST;
    return r;
}

static uint64_t merged(enum merge_kind kind, uint64_t now, uint64_t old, bool is_arcs)
{
    switch (kind) {
    case MERGE_IOR: return now | old;
    case MERGE_FIRST: return now == 0 || (old != 0 && old < now) ? old : now;
    default: return sum(now, old, is_arcs);
    }
}

struct topn {
    uint64_t total, n;
    uint64_t value[TOPN_VALUES], count[TOPN_VALUES];
};

/* A value that does not fit is dropped. */
static bool topn_put(struct topn *t, uint64_t value, uint64_t count)
{
    size_t least = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->value[i] == value) {
            t->count[i] += count;
            return true;
        }
        if (t->count[i] < t->count[least])
            least = i;
    }
    if (t->n < TOPN_VALUES) {
        t->value[t->n] = value;
        t->count[t->n++] = count;
        return true;
    }
    if (t->count[least] > count) {
        t->count[least]--;
    } else {
        t->value[least] = value;
        t->count[least] = count;
    }
    return false;
}

static uint64_t magnitude(uint64_t v)
{
    return (int64_t)v < 0 ? 0 - v : v;
}

static bool topn_read(struct cursor *from, struct topn *t, uint64_t *total)
{
    *total = cursor_u64(from);
    uint64_t n = cursor_u64(from);
    bool all = (int64_t)*total >= 0;
    if (from->is_short || n > cursor_left(from) / 16)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t value = cursor_u64(from);
        all &= topn_put(t, value, cursor_u64(from));
    }
    t->total += magnitude(*total);
    *total = all;
    return true;
}

static void topn_write(const struct topn *t, bool all, struct buffer *out)
{
    buffer_u64(out, all ? t->total : 0 - t->total);
    buffer_u64(out, t->n);
    for (size_t i = 0; i < t->n; i++) {
        buffer_u64(out, t->value[i]);
        buffer_u64(out, t->count[i]);
    }
}

static bool lists_add(struct cursor now, struct cursor other, struct buffer *out)
{
    while (cursor_left(&now)) {
        struct topn t = {0};
        uint64_t all_now, all_other;
        if (!topn_read(&now, &t, &all_now) || !topn_read(&other, &t, &all_other))
            return false;
        topn_write(&t, all_now && all_other, out);
    }
    return cursor_left(&other) == 0;
}

static bool lists_subtract(struct cursor now, struct cursor before, struct buffer *out)
{
    while (cursor_left(&now)) {
        struct topn n = {0}, b = {0}, r = {0};
        uint64_t all_now, all_before;
        if (!topn_read(&now, &n, &all_now) || !topn_read(&before, &b, &all_before))
            return false;
        for (size_t i = 0; i < n.n; i++) {
            uint64_t gone = 0;
            for (size_t k = 0; k < b.n; k++)
                gone = b.value[k] == n.value[i] ? b.count[k] : gone;
            if (n.count[i] > gone)
                topn_put(&r, n.value[i], n.count[i] - gone);
        }
        r.total = n.total > b.total ? n.total - b.total : 0;
        topn_write(&r, all_now && all_before, out);
    }
    return cursor_left(&before) == 0;
}

/* The counters of a group, and where its {value, count} pairs begin. GCC before 11. */
static int group_size(enum merge_kind kind)
{
    switch (kind) {
    case MERGE_TOPN_FIXED:
    case MERGE_ICALL_TOPN: return 9;
    case MERGE_SINGLE: return 3;
    case MERGE_DELTA: return 4;
    default: return 1;
    }
}

/* Keeps the value that is ahead after both runs' votes. */
static void vote(uint64_t *value, uint64_t *count, uint64_t other_value, uint64_t other_count)
{
    if (*value == other_value) {
        *count += other_count;
    } else if (other_count > *count) {
        *value = other_value;
        *count = other_count - *count;
    } else {
        *count -= other_count;
    }
}

/* The four most frequent of both; g[0] is left alone. */
static void best_four(uint64_t *g, const uint64_t *other)
{
    for (int i = 1; i < 9; i += 2) {
        int least = 1, same = 0;
        for (int k = 1; k < 9; k += 2) {
            same = g[k + 1] && g[k] == other[i] ? k : same;
            least = g[k + 1] < g[least + 1] ? k : least;
        }
        if (same) {
            g[same + 1] += other[i + 1];
        } else if (other[i + 1] > g[least + 1]) {
            g[least] = other[i];
            g[least + 1] = other[i + 1];
        }
    }
}

static void group_add(enum merge_kind kind, uint64_t *g, const uint64_t *other)
{
    if (kind == MERGE_SINGLE || kind == MERGE_DELTA) {
        int at = kind == MERGE_DELTA;
        vote(&g[at], &g[at + 1], other[at], other[at + 1]);
        g[at + 2] += other[at + 2];
        return;
    }
    g[0] += other[0];
    best_four(g, other);
}

/* How often each value came since; a value that was not there before counts in full. */
static void group_subtract(enum merge_kind kind, uint64_t *g, const uint64_t *before)
{
    bool is_vote = kind == MERGE_SINGLE || kind == MERGE_DELTA;
    int first = is_vote ? kind == MERGE_DELTA : 1, n = is_vote ? first + 2 : 9;
    int total = is_vote ? first + 2 : 0;
    g[total] -= before[total];
    for (int i = first; i < n; i += 2)
        for (int k = first; k < n; k += 2)
            if (g[i] == before[k] && before[k + 1])
                g[i + 1] = g[i + 1] > before[k + 1] ? g[i + 1] - before[k + 1] : 0;
}

static bool groups(enum merge_kind kind, struct cursor now, struct cursor other, bool subtract,
                   struct buffer *out)
{
    int n = group_size(kind);
    while (cursor_left(&now)) {
        uint64_t a[9], b[9];
        for (int i = 0; i < n; i++) {
            a[i] = cursor_u64(&now);
            b[i] = cursor_u64(&other);
        }
        if (now.is_short || other.is_short)
            return false;
        (subtract ? group_subtract : group_add)(kind, a, b);
        for (int i = 0; i < n; i++)
            buffer_u64(out, a[i]);
    }
    return true;
}

bool values_add(enum merge_kind kind, bool is_arcs, struct cursor now, struct cursor other,
                struct buffer *out)
{
    if (kind == MERGE_TOPN)
        return lists_add(now, other, out);
    if (group_size(kind) > 1)
        return groups(kind, now, other, false, out);
    while (cursor_left(&now)) {
        uint64_t v = cursor_u64(&now);
        buffer_u64(out, merged(kind, v, cursor_u64(&other), is_arcs));
    }
    return !now.is_short && !other.is_short;
}

/* What is no sum has nothing to subtract: it is merged once more, which changes nothing. A count
 * that went back, as an unsynchronised one may, counts as none. */
bool values_subtract(enum merge_kind kind, bool is_arcs, struct cursor now, struct cursor other,
                     struct buffer *out)
{
    if (kind == MERGE_TOPN)
        return lists_subtract(now, other, out);
    if (group_size(kind) > 1)
        return groups(kind, now, other, true, out);
    while (cursor_left(&now)) {
        uint64_t v = cursor_u64(&now), before = cursor_u64(&other);
        if (kind == MERGE_ADD)
            v = is_arcs && v < before ? 0 : v - before;
        buffer_u64(out, v);
    }
    return !now.is_short && !other.is_short;
}

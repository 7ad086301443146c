/* The counters of one kind, added and subtracted. See values.h. How two runs become one is
 * libgcov's rule for the kind (wire/gcov_merge.h). What was counted since an earlier moment of
 * the same run is a difference; it wraps, as gcc's code counts. */
#include "values.h"

struct list {
    uint64_t total, n;
    uint64_t pairs[2 * GCOV_LIST_VALUES];
};

/* Puts what is in a file's list into *t; *is_all is cleared when a value is dropped. False if the
 * list is not whole. */
static bool list_read(struct cursor *from, struct list *t, bool *is_all)
{
    uint64_t total = cursor_u64(from), n = cursor_u64(from);
    if (from->is_short || n > cursor_left(from) / 16)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t value = cursor_u64(from);
        *is_all &= gcov_list_put(t->pairs, &t->n, value, cursor_u64(from));
    }
    t->total = gcov_add_totals(t->total, total);
    return true;
}

static void list_write(const struct list *t, bool is_all, struct buffer *out)
{
    buffer_u64(out, is_all ? t->total : 0 - gcov_magnitude(t->total));
    buffer_u64(out, t->n);
    for (size_t i = 0; i < 2 * t->n; i++)
        buffer_u64(out, t->pairs[i]);
}

static bool lists_add(struct cursor now, struct cursor other, struct buffer *out)
{
    while (cursor_left(&now)) {
        struct list t = {0};
        bool is_all = true;
        if (!list_read(&now, &t, &is_all) || !list_read(&other, &t, &is_all))
            return false;
        list_write(&t, is_all, out);
    }
    return cursor_left(&other) == 0;
}

static uint64_t count_of(const struct list *t, uint64_t value)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->pairs[2 * i] == value)
            return t->pairs[2 * i + 1];
    return 0;
}

static bool lists_subtract(struct cursor now, struct cursor before, struct buffer *out)
{
    while (cursor_left(&now)) {
        struct list n = {0}, b = {0}, r = {0};
        bool is_all = true;
        if (!list_read(&now, &n, &is_all) || !list_read(&before, &b, &is_all))
            return false;
        is_all &= (int64_t)n.total >= 0 && (int64_t)b.total >= 0;
        for (size_t i = 0; i < n.n; i++) {
            uint64_t count = n.pairs[2 * i + 1], gone = count_of(&b, n.pairs[2 * i]);
            if (count > gone)
                gcov_list_put(r.pairs, &r.n, n.pairs[2 * i], count - gone);
        }
        uint64_t total = gcov_magnitude(n.total), earlier = gcov_magnitude(b.total);
        r.total = total > earlier ? total - earlier : 0;
        list_write(&r, is_all, out);
    }
    return cursor_left(&before) == 0;
}

/* How often each value came since; a value that was not there before counts in full. */
static void group_subtract(enum gcov_rule rule, uint64_t *g, const uint64_t *before)
{
    bool is_vote = rule == GCOV_RULE_VOTE || rule == GCOV_RULE_VOTE_DELTA;
    int first = is_vote ? rule == GCOV_RULE_VOTE_DELTA : 1, n = is_vote ? first + 2 : 9;
    int total = is_vote ? first + 2 : 0;
    g[total] -= before[total];
    for (int i = first; i < n; i += 2)
        for (int k = first; k < n; k += 2)
            if (g[i] == before[k] && before[k + 1])
                g[i + 1] = g[i + 1] > before[k + 1] ? g[i + 1] - before[k + 1] : 0;
}

/* What is no sum has nothing to subtract: it is merged again, which changes nothing. A count of
 * arcs that went back, as an unsynchronised one may, counts as none. */
static void single_subtract(enum gcov_rule rule, bool is_arcs, uint64_t *v, uint64_t before)
{
    if (rule == GCOV_RULE_ADD)
        *v = is_arcs && *v < before ? 0 : *v - before;
}

static bool is_even(const struct cursor *now, const struct cursor *other)
{
    return !now->is_short && !other->is_short;
}

bool values_add(enum gcov_rule rule, struct cursor now, struct cursor other, struct buffer *out)
{
    size_t n = gcov_group_values(rule);
    if (rule == GCOV_RULE_LISTS)
        return lists_add(now, other, out);
    while (cursor_left(&now) && is_even(&now, &other)) {
        uint64_t a[GCOV_GROUP_MOST], b[GCOV_GROUP_MOST];
        for (size_t i = 0; i < n; i++) {
            a[i] = cursor_u64(&now);
            b[i] = cursor_u64(&other);
        }
        gcov_merge_group(rule, a, b);
        for (size_t i = 0; i < n; i++)
            buffer_u64(out, a[i]);
    }
    return is_even(&now, &other);
}

bool values_subtract(enum gcov_rule rule, bool is_arcs, struct cursor now, struct cursor other,
                     struct buffer *out)
{
    size_t n = gcov_group_values(rule);
    if (rule == GCOV_RULE_LISTS)
        return lists_subtract(now, other, out);
    while (cursor_left(&now) && is_even(&now, &other)) {
        uint64_t a[GCOV_GROUP_MOST], b[GCOV_GROUP_MOST];
        for (size_t i = 0; i < n; i++) {
            a[i] = cursor_u64(&now);
            b[i] = cursor_u64(&other);
        }
        if (n > 1)
            group_subtract(rule, a, b);
        else
            single_subtract(rule, is_arcs, a, *b);
        for (size_t i = 0; i < n; i++)
            buffer_u64(out, a[i]);
    }
    return is_even(&now, &other);
}

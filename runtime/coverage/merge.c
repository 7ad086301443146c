/* Adding and subtracting counter files. See merge.h.
 *
 *     magic version stamp [checksum]  { summary }*  { FUNCTION  { COUNTER }* }*  0
 *     magic version stamp  { FUNCTION COUNTER }*  summary  0 0                          (clang)
 *
 * Two files fit if version, checksum (before GCC 12: stamp) and, function by function, the three
 * checksums and the number of counters agree. What follows the 0 is not read: libgcov rewrites in
 * place and leaves the end of a longer file there. */
#include "merge.h"
#include "info.h"
#include "values.h"

/* Both files, and their result. */
struct merger {
    const struct form *form;
    struct cursor now, old;
    struct buffer *out;
    bool subtract;
    enum verdict verdict;
    const char *why;
};

struct record {
    uint32_t tag, length;
    struct cursor payload;
    uint64_t zeros; /* counters that a negative length stands for */
};

static bool fail(struct merger *m, enum verdict verdict, const char *why)
{
    if (m->verdict == VERDICT_FINE) {
        m->verdict = verdict;
        m->why = why;
    }
    return false;
}

static size_t unit(const struct merger *m)
{
    return m->form->dialect->has_byte_lengths ? 1 : 4;
}

static bool is_counter(const struct merger *m, uint32_t tag, int *slot)
{
    uint32_t at = (tag - GCOV_TAG_COUNTERS) >> GCOV_SLOT_SHIFT;
    *slot = (int)at;
    return at < m->form->dialect->merge_functions && tag == GCOV_TAG_OF_SLOT(at);
}

/* Reads one record. A length that does not fit leaves the cursor short. */
static struct record take(const struct merger *m, struct cursor *c)
{
    struct record r = {.tag = cursor_u32(c)};
    int slot;
    r.length = r.tag == 0 ? 0 : cursor_u32(c);
    if ((int32_t)r.length < 0 && m->form->dialect->has_zero_runs && is_counter(m, r.tag, &slot)) {
        r.zeros = (uint64_t)(uint32_t)(0 - r.length) * unit(m) / 8;
        r.payload = cursor_part(c, 0);
        return r;
    }
    r.payload = cursor_part(c, (size_t)r.length * unit(m));
    return r;
}

static bool all_zero(struct cursor c)
{
    for (size_t i = 0; i < c.size; i++)
        if (c.at[i])
            return false;
    return true;
}

/* Writes a record's head, and gives back where its length is. */
static size_t open_record(struct merger *m, uint32_t tag)
{
    buffer_u32(m->out, tag);
    buffer_u32(m->out, 0);
    return m->out->used - 4;
}

static void close_record(struct merger *m, size_t length_at)
{
    size_t bytes = m->out->used - length_at - 4;
    buffer_set_u32(m->out, length_at, (uint32_t)(bytes / unit(m)));
}

/* Counters all zero are written as a negative length and nothing, as gcc from 11 on does. */
static void close_counters(struct merger *m, size_t length_at, enum gcov_rule rule)
{
    size_t bytes = m->out->used - length_at - 4;
    close_record(m, length_at);
    if (m->subtract || m->out->is_full || !m->form->dialect->has_zero_runs ||
        rule == GCOV_RULE_LISTS || bytes == 0 ||
        !all_zero(cursor_on(m->out->at + length_at + 4, bytes)))
        return;
    m->out->used = length_at + 4;
    buffer_set_u32(m->out, length_at, (uint32_t)(0 - bytes / unit(m)));
}

static bool join_values(struct merger *m, int slot, struct cursor now, struct cursor old)
{
    enum gcov_rule rule = m->form->rules[slot];
    return m->subtract ? values_subtract(rule, slot == 0, now, old, m->out)
                       : values_add(rule, now, old, m->out);
}

static bool add_counters(struct merger *m, bool has_old)
{
    int slot = 0;
    struct record now = take(m, &m->now), old = {0};
    if (!is_counter(m, now.tag, &slot))
        return fail(m, VERDICT_DAMAGED, "own counters are out of order");
    enum gcov_rule rule = m->form->rules[slot];
    size_t length_at = open_record(m, now.tag);
    if (has_old)
        old = take(m, &m->old);
    if (m->old.is_short)
        return fail(m, VERDICT_DAMAGED, "a record runs past the end of the file");
    if (has_old && old.tag != now.tag)
        return fail(m, VERDICT_OTHER, "it has different kinds of counters");
    if (has_old && old.zeros != 0 && old.zeros * 8 != now.payload.size)
        return fail(m, VERDICT_OTHER, "it has a different number of counters");
    if (has_old && old.zeros == 0) {
        if (rule != GCOV_RULE_LISTS && old.payload.size != now.payload.size)
            return fail(m, VERDICT_OTHER, "it has a different number of counters");
        if (!join_values(m, slot, now.payload, old.payload))
            return fail(m, VERDICT_DAMAGED, "a list of values is incomplete");
    } else {
        buffer_bytes(m->out, now.payload.at, now.payload.size);
    }
    close_counters(m, length_at, rule);
    return true;
}

/* The counters of a function that this program has not got: they are kept as they are. */
static bool keep_function(struct merger *m, const struct record *old)
{
    int slot;
    size_t from = m->old.used;
    while (is_counter(m, cursor_peek(&m->old), &slot) && !m->old.is_short)
        take(m, &m->old);
    if (m->old.is_short)
        return fail(m, VERDICT_DAMAGED, "a record runs past the end of the file");
    size_t length_at = open_record(m, GCOV_TAG_FUNCTION);
    buffer_bytes(m->out, old->payload.at, old->payload.size);
    close_record(m, length_at);
    buffer_bytes(m->out, m->old.at + from, m->old.used - from);
    return true;
}

static bool same_function(struct cursor a, struct cursor b)
{
    for (size_t i = 0; i < a.size && a.size == b.size; i++)
        if (a.at[i] != b.at[i])
            return false;
    return a.size == b.size;
}

static bool add_function(struct merger *m, bool has_old)
{
    struct record now = take(m, &m->now), old = {0};
    int slot;
    if (has_old) {
        old = take(m, &m->old);
        if (m->old.is_short)
            return fail(m, VERDICT_DAMAGED, "it ends inside a function");
        if (old.tag != GCOV_TAG_FUNCTION)
            return old.tag == 0 ? fail(m, VERDICT_OTHER, "it has fewer functions")
                                : fail(m, VERDICT_DAMAGED, "a record is not a function");
        if (now.length == 0 && old.length != 0)
            return keep_function(m, &old);
        if (now.length != 0 && old.length != 0 && !same_function(now.payload, old.payload))
            return fail(m, VERDICT_OTHER, "its functions have different checksums");
    }
    size_t length_at = open_record(m, GCOV_TAG_FUNCTION);
    buffer_bytes(m->out, now.payload.at, now.payload.size);
    close_record(m, length_at);
    while (is_counter(m, cursor_peek(&m->now), &slot))
        if (!add_counters(m, has_old && old.length != 0))
            return false;
    if (has_old && is_counter(m, cursor_peek(&m->old), &slot))
        return fail(m, VERDICT_OTHER, "it has different kinds of counters");
    return true;
}

/* a1: runs, sum of the runs' largest counters. */
static void add_object_summary(struct merger *m, struct cursor now, struct cursor old)
{
    uint32_t runs = cursor_u32(&now), max = cursor_u32(&now);
    uint32_t old_runs = old.size ? cursor_u32(&old) : 0, old_max = old.size ? cursor_u32(&old) : 0;
    size_t length_at = open_record(m, GCOV_TAG_OBJECT_SUMMARY);
    if (m->subtract) {
        buffer_u32(m->out, runs - old_runs);
        buffer_u32(m->out, max > old_max ? max - old_max : 0);
    } else {
        buffer_u32(m->out, gcov_add_words(runs, old_runs));
        buffer_u32(m->out, gcov_add_words(max, old_max));
    }
    close_record(m, length_at);
}

struct program_summary {
    uint32_t program, counters, runs;
    uint64_t sum, run_max, sum_max; /* of all runs; the largest of a run; the sum of those */
};

static struct program_summary take_program(struct cursor *from)
{
    struct program_summary s = {.program = cursor_u32(from)};
    s.counters = cursor_u32(from);
    s.runs = cursor_u32(from);
    s.sum = cursor_u64(from);
    s.run_max = cursor_u64(from);
    s.sum_max = cursor_u64(from);
    return s;
}

static void join_program(struct program_summary *s, const struct program_summary *old)
{
    s->counters = old->counters > s->counters ? old->counters : s->counters;
    s->runs = gcov_add_words(s->runs, old->runs);
    s->sum = gcov_add_sums(s->sum, old->sum);
    s->run_max = old->run_max > s->run_max ? old->run_max : s->run_max;
    s->sum_max = gcov_add_sums(s->sum_max, old->sum_max);
}

/* The largest of this process stays: what it was since is not known. */
static void leave_program(struct program_summary *s, const struct program_summary *before)
{
    s->runs -= before->runs;
    s->sum -= before->sum;
    s->run_max = before->run_max > s->run_max ? before->run_max : s->run_max;
    s->sum_max -= before->sum_max;
}

/* A histogram of both cannot be computed from two: it is left empty. */
static void add_program_summary(struct merger *m, struct cursor now, struct cursor old)
{
    struct program_summary s = take_program(&now), before = {0};
    size_t length_at = open_record(m, GCOV_TAG_PROGRAM_SUMMARY);
    if (old.size)
        before = take_program(&old);
    if (old.size)
        (m->subtract ? leave_program : join_program)(&s, &before);
    buffer_u32(m->out, s.program);
    buffer_u32(m->out, s.counters);
    buffer_u32(m->out, s.runs);
    buffer_u64(m->out, s.sum);
    buffer_u64(m->out, s.run_max);
    buffer_u64(m->out, s.sum_max);
    while (cursor_left(&now)) {
        uint32_t word = cursor_u32(&now);
        buffer_u32(m->out, old.size ? 0 : word);
    }
    close_record(m, length_at);
}

/* clang's: 0, 0, runs. */
static void add_short_summary(struct merger *m, struct cursor now, struct cursor old)
{
    size_t length_at = open_record(m, GCOV_TAG_PROGRAM_SUMMARY);
    buffer_bytes(m->out, now.at, 8);
    cursor_part(&now, 8);
    cursor_part(&old, old.size ? 8 : 0);
    uint32_t runs = cursor_u32(&now), before = old.size ? cursor_u32(&old) : 0;
    buffer_u32(m->out, m->subtract ? runs - before : gcov_add_words(runs, before));
    close_record(m, length_at);
}

static bool is_summary(uint32_t tag)
{
    return tag == GCOV_TAG_OBJECT_SUMMARY || tag == GCOV_TAG_PROGRAM_SUMMARY;
}

/* Ours with the old one of the same program; those of other programs are kept. */
static bool add_summaries(struct merger *m)
{
    struct record now = take(m, &m->now);
    struct cursor mate = {0}, program = now.payload;
    uint32_t own = cursor_u32(&program);
    while (is_summary(cursor_peek(&m->old))) {
        size_t from = m->old.used;
        struct record old = take(m, &m->old);
        if (m->old.is_short || old.payload.size < now.payload.size)
            return fail(m, VERDICT_DAMAGED, "its summary is incomplete");
        struct cursor at = old.payload;
        if (old.tag == now.tag && !mate.at &&
            (now.tag == GCOV_TAG_OBJECT_SUMMARY || cursor_u32(&at) == own))
            mate = old.payload;
        else
            buffer_bytes(m->out, m->old.at + from, m->old.used - from);
    }
    if (now.tag == GCOV_TAG_OBJECT_SUMMARY)
        add_object_summary(m, now.payload, mate);
    else if (now.payload.size == 12)
        add_short_summary(m, now.payload, mate);
    else
        add_program_summary(m, now.payload, mate);
    return true;
}

static bool add_header(struct merger *m, bool has_old)
{
    uint32_t words[4] = {0};
    int n = m->form->dialect->has_byte_lengths ? 4 : 3;
    for (int i = 0; i < n; i++) {
        words[i] = cursor_u32(&m->now);
        buffer_u32(m->out, words[i]);
    }
    for (int i = 0; has_old && i < n; i++) {
        uint32_t old = cursor_u32(&m->old);
        if (m->old.is_short)
            return fail(m, VERDICT_DAMAGED, "it ends inside its header");
        if (i == 0 && old != words[0])
            return fail(m, VERDICT_DAMAGED, "it is not a counter file of this machine");
        if (i == 1 && old != words[1])
            return fail(m, VERDICT_OTHER, "it was made by another version of the compiler");
        if (i == n - 1 && old != words[n - 1])
            return fail(m, VERDICT_OTHER, "it is from another build");
    }
    return true;
}

static bool add_file(struct merger *m)
{
    bool has_old = m->old.size > 0;
    bool is_last = m->form->dialect->summary >= GCOV_SUMMARY_LAST_PROGRAM;
    if (!add_header(m, has_old) || (!is_last && !add_summaries(m)))
        return false;
    while (cursor_peek(&m->now) == GCOV_TAG_FUNCTION)
        if (!add_function(m, has_old))
            return false;
    if (is_last && has_old && cursor_peek(&m->old) == GCOV_TAG_FUNCTION)
        return fail(m, VERDICT_OTHER, "it has more functions");
    if (is_last && has_old && !is_summary(cursor_peek(&m->old)))
        return fail(m, VERDICT_DAMAGED, "its summary is missing");
    if (is_last && !add_summaries(m))
        return false;
    uint32_t end = cursor_u32(&m->old);
    if (has_old && m->old.is_short)
        return fail(m, VERDICT_DAMAGED, "its end is missing");
    if (has_old && end != 0)
        return end == GCOV_TAG_FUNCTION ? fail(m, VERDICT_OTHER, "it has more functions")
                                        : fail(m, VERDICT_DAMAGED, "a record is not a function");
    if (is_last && has_old) {
        end = cursor_u32(&m->old);
        if (m->old.is_short || end != 0)
            return fail(m, VERDICT_DAMAGED, "its end is missing");
    }
    buffer_u32(m->out, 0);
    if (is_last)
        buffer_u32(m->out, 0);
    return !m->out->is_full || fail(m, VERDICT_NO_ROOM, "out of memory");
}

enum verdict gcda_add(const struct form *f, struct cursor now, struct cursor old,
                      struct buffer *out, const char **why)
{
    struct merger m = {.form = f, .now = now, .old = old, .out = out};
    add_file(&m);
    *why = m.why;
    return m.verdict;
}

enum verdict gcda_subtract(const struct form *f, struct cursor now, struct cursor before,
                           struct buffer *out)
{
    struct merger m = {.form = f, .now = now, .old = before, .out = out, .subtract = true};
    add_file(&m);
    return m.verdict;
}

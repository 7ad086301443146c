/* The da file of the 2002 proposal: what a program writes whose objects register a coverage_info.
 *
 *     "gcov" version { { FUNCTION ARC_COUNTS }* OBJECT_SUMMARY PROGRAM_SUMMARY }*
 *
 * Little-endian. A file of several groups, or several files one after the other, are summed into
 * one group. Files fit if version, functions and their numbers of arcs agree; a function is known
 * by name, checksum and, where these repeat, its place among the like. Specification:
 * docs/cover-runtime.md. */
#include "objects.h"

#include <endian.h>
#include <string.h>

#define DA_MAGIC       0x766f6367u
#define DA_FUNCTION    1
#define DA_ARC_COUNTS  5
#define DA_OBJECT_SUM  6
#define DA_PROGRAM_SUM 7
#define DA_GCDA        0x61646367u /* "gcda", ours: docs/formats/da.md */
#define SUMMARY_BYTES  20
#define GCDA_BYTES     28   /* and 12 for each function */
#define GCDA_RUNS      16   /* the number of runs in it, followed by the sum of their largest */
#define SEARCH_MAX     4096 /* functions, in another order than ours */

static void put32(struct buffer *b, uint32_t v)
{
    buffer_u32(b, htole32(v));
}

static void put64(struct buffer *b, uint64_t v)
{
    put32(b, (uint32_t)v);
    put32(b, (uint32_t)(v >> 32));
}

static uint32_t get32(struct cursor *c)
{
    return le32toh(cursor_u32(c));
}

static uint64_t get64(struct cursor *c)
{
    uint64_t low = get32(c);
    return low | (uint64_t)get32(c) << 32;
}

static size_t string_bytes(const char *s)
{
    return 4 + ((s ? strlen(s) : 0) / 4 + 1) * 4;
}

static void put_string(struct buffer *b, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    static const char zeros[4];
    put32(b, (uint32_t)n);
    buffer_bytes(b, s ? s : "", n);
    buffer_bytes(b, zeros, 4 - n % 4);
}

static void put_summary(struct buffer *b, uint32_t tag, const struct totals *t)
{
    put32(b, tag);
    put32(b, SUMMARY_BYTES);
    put32(b, t->counters);
    put64(b, t->sum);
    put64(b, t->max);
}

/* Of a compiler's object: what its gcda would have besides. */
static size_t native_bytes(const struct object *o)
{
    return o->native ? 8 + GCDA_BYTES + (size_t)o->da->n_functions * 12 : 0;
}

static void put_native(struct buffer *b, const struct object *o, const struct totals *program)
{
    const struct noted_native *n = o->native;
    put32(b, DA_GCDA);
    put32(b, (uint32_t)native_bytes(o) - 8);
    put32(b, n->version);
    put32(b, n->stamp);
    put32(b, n->checksum);
    put32(b, __BYTE_ORDER == __BIG_ENDIAN);
    put32(b, o->runs);
    put64(b, n->has_largest ? program->max : 0);
    for (long i = 0; i < o->da->n_functions; i++) {
        put32(b, n->functions[i].ident);
        put32(b, n->functions[i].lineno_checksum);
        put32(b, n->functions[i].cfg_checksum);
    }
}

static const char *filename(const struct object *o)
{
    return o->da->filename;
}

static size_t bound(const struct object *o)
{
    size_t bytes = 8 + 2 * (8 + SUMMARY_BYTES) + (size_t)o->da->n_arc_counts * 8 + native_bytes(o);
    for (long i = 0; i < o->da->n_functions; i++)
        bytes += 20 + string_bytes(o->da->functions[i].name);
    return bytes;
}

static void total(const struct object *o, struct totals *t)
{
    t->counters += (uint64_t)o->da->n_arc_counts;
    for (long i = 0; i < o->da->n_arc_counts; i++) {
        uint64_t v = __atomic_load_n(&o->da->arc_counts[i], __ATOMIC_RELAXED);
        t->sum += v;
        t->max = v > t->max ? v : t->max;
    }
}

static void image(const struct object *o, const struct totals *program, struct buffer *to)
{
    const struct coverage_info *da = o->da;
    struct totals own = {0};
    uint32_t at = 0;
    put32(to, DA_MAGIC);
    put32(to, (uint32_t)da->version);
    for (long i = 0; i < da->n_functions; i++) {
        const struct function_info *f = &da->functions[i];
        put32(to, DA_FUNCTION);
        put32(to, (uint32_t)string_bytes(f->name) + 4);
        put_string(to, f->name);
        put32(to, (uint32_t)f->checksum);
        put32(to, DA_ARC_COUNTS);
        put32(to, (uint32_t)f->n_arc_counts * 8);
        for (int k = 0; k < f->n_arc_counts; k++)
            put64(to, __atomic_load_n(&da->arc_counts[at++], __ATOMIC_RELAXED));
    }
    total(o, &own);
    if (o->native)
        put_native(to, o, program);
    put_summary(to, DA_OBJECT_SUM, &own);
    put_summary(to, DA_PROGRAM_SUM, program);
}

struct record {
    uint32_t tag;
    struct cursor data;
};

static struct record take(struct cursor *c)
{
    struct record r = {.tag = get32(c)};
    r.data = cursor_part(c, get32(c));
    return r;
}

static bool same_bytes(struct cursor a, struct cursor b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Files being summed. `out` is a copy of our image, changed in place; `next` is where in it the
 * next function of the old file ought to be. */
struct sum {
    struct buffer *out;
    size_t functions_at, next, group_at;
    uint32_t n_functions, seen;
    size_t native_at; /* of our record of runs in `out`, 0: none */
    bool has_runs;    /* the group said how many it is of */
    bool is_shuffled; /* the group has its functions in another order than we */
    bool subtract;
    const char *why;
};

static enum verdict say(struct sum *s, enum verdict v, const char *why)
{
    s->why = why;
    return v;
}

/* Which of its like the function is, counted from `from` up to `end`. */
static uint32_t likes(const unsigned char *bytes, size_t from, size_t end, struct cursor key)
{
    struct cursor c = cursor_on(bytes, end);
    uint32_t n = 0;
    c.used = from;
    while (c.used < end && !c.is_short) {
        struct record r = take(&c);
        n += r.tag == DA_FUNCTION && same_bytes(r.data, key);
    }
    return n;
}

/* Finds our function; what follows its record is at s->next then. */
static bool find(struct sum *s, const struct cursor *old, size_t record_at, struct cursor key)
{
    struct cursor c = cursor_on(s->out->at, s->out->used);
    c.used = s->next;
    if (!s->is_shuffled && same_bytes(take(&c).data, key)) {
        s->next = c.used;
        return true;
    }
    s->is_shuffled = true;
    if (s->n_functions > SEARCH_MAX)
        return false;
    uint32_t before = likes(old->at, s->group_at, record_at, key);
    c.used = s->functions_at;
    for (uint32_t i = 0; i < s->n_functions; i++) {
        struct record r = take(&c);
        if (same_bytes(r.data, key) && before-- == 0) {
            s->next = c.used;
            return true;
        }
        take(&c);
    }
    return false;
}

static uint64_t changed(const struct sum *s, uint64_t now, uint64_t other)
{
    const uint64_t largest = INT64_MAX;
    if (s->subtract)
        return now > other ? now - other : 0;
    return now > largest - (other < largest ? other : largest) ? largest : now + other;
}

/* Overwrites the 64-bit item at `where` with itself and `other`. */
static void change64(struct sum *s, size_t where, uint64_t other)
{
    struct cursor c = cursor_on(s->out->at, s->out->used);
    struct buffer b = *s->out;
    c.used = b.used = where;
    put64(&b, changed(s, get64(&c), other));
}

static enum verdict add_function(struct sum *s, struct cursor *old, size_t record_at,
                                 struct cursor key)
{
    struct record counts = take(old);
    struct cursor mine = cursor_on(s->out->at, s->out->used);
    if (old->is_short || counts.tag != DA_ARC_COUNTS)
        return say(s, VERDICT_DAMAGED, "a function has no counters");
    if (!find(s, old, record_at, key))
        return say(s, VERDICT_OTHER, "it has other functions");
    mine.used = s->next;
    struct record own = take(&mine);
    if (own.data.size != counts.data.size)
        return say(s, VERDICT_OTHER, "a function has a different number of arcs");
    for (size_t at = 0; at < counts.data.size; at += 8)
        change64(s, s->next + 8 + at, get64(&counts.data));
    s->next = mine.used;
    s->seen++;
    return VERDICT_FINE;
}

/* Sums are summed; the largest count stays that of one run. */
static void add_summary(struct sum *s, size_t where, struct cursor old)
{
    struct cursor c = cursor_on(s->out->at, s->out->used);
    struct buffer b = *s->out;
    get32(&old);
    change64(s, where + 12, get64(&old));
    c.used = b.used = where + 20;
    uint64_t max = get64(&c), other = get64(&old);
    put64(&b, other > max ? other : max);
}

/* A group that does not say is one run. */
static void add_runs(struct sum *s, uint32_t runs, uint64_t sum_max)
{
    struct cursor c = cursor_on(s->out->at, s->out->used);
    struct buffer b = *s->out;
    size_t where = s->native_at + 8 + GCDA_RUNS;
    c.used = b.used = where;
    uint64_t all = changed(s, get32(&c), runs);
    put32(&b, all < UINT32_MAX ? (uint32_t)all : UINT32_MAX);
    change64(s, where + 4, sum_max);
    s->has_runs = true;
}

static void add_native(struct sum *s, struct cursor record)
{
    if (!s->native_at || s->has_runs || record.size < GCDA_BYTES)
        return;
    record.used = GCDA_RUNS;
    uint32_t runs = get32(&record);
    add_runs(s, runs, get64(&record));
}

static enum verdict end_group(struct sum *s, const struct cursor *old)
{
    if (s->seen != s->n_functions)
        return say(s, VERDICT_OTHER, "it has fewer functions");
    s->seen = 0;
    s->has_runs = s->is_shuffled = false;
    s->next = s->functions_at;
    s->group_at = old->used;
    return VERDICT_FINE;
}

static enum verdict add_record(struct sum *s, struct cursor *old)
{
    size_t record_at = old->used, summaries = s->out->used - 2 * (8 + SUMMARY_BYTES);
    struct record r = take(old);
    if (old->is_short)
        return say(s, VERDICT_DAMAGED, "a record runs past the end of the file");
    if (r.tag == DA_FUNCTION)
        return add_function(s, old, record_at, r.data);
    if (r.tag == DA_GCDA)
        add_native(s, r.data);
    if (r.tag != DA_OBJECT_SUM && r.tag != DA_PROGRAM_SUM)
        return r.tag == DA_ARC_COUNTS ? say(s, VERDICT_DAMAGED, "counters belong to no function")
                                      : VERDICT_FINE;
    if (r.data.size < SUMMARY_BYTES)
        return say(s, VERDICT_DAMAGED, "a summary is incomplete");
    if (r.tag == DA_PROGRAM_SUM && s->native_at && !s->has_runs) {
        struct cursor largest = r.data;
        get32(&largest);
        get64(&largest);
        add_runs(s, 1, get64(&largest));
    }
    add_summary(s, r.tag == DA_OBJECT_SUM ? summaries : summaries + 8 + SUMMARY_BYTES, r.data);
    return r.tag == DA_PROGRAM_SUM ? end_group(s, old) : VERDICT_FINE;
}

static enum verdict add_header(struct sum *s, struct cursor *old, uint32_t version)
{
    uint32_t magic = get32(old), theirs = get32(old);
    if (old->is_short || magic != DA_MAGIC)
        return say(s, VERDICT_DAMAGED, "it is not a da file");
    if (theirs != version)
        return say(s, VERDICT_OTHER, "it was made by another version of the compiler");
    s->group_at = old->used;
    return VERDICT_FINE;
}

static enum verdict add_file(struct sum *s, uint32_t version, struct cursor old)
{
    enum verdict v = add_header(s, &old, version);
    while (v == VERDICT_FINE && cursor_left(&old) > 0) {
        if (s->seen == 0 && le32toh(cursor_peek(&old)) == DA_MAGIC)
            v = add_header(s, &old, version);
        else
            v = add_record(s, &old);
    }
    if (v == VERDICT_FINE && (s->seen != 0 || s->group_at != old.size || old.size <= 8))
        v = say(s, VERDICT_DAMAGED, "its end is missing");
    return v;
}

static enum verdict combine(const struct object *o, struct cursor now, struct cursor old,
                            struct buffer *out, bool subtract, const char **why)
{
    struct sum s = {.out = out, .functions_at = 8, .next = 8, .subtract = subtract};
    s.n_functions = (uint32_t)o->da->n_functions;
    buffer_bytes(out, now.at, now.size);
    if (out->is_full)
        return VERDICT_NO_ROOM;
    if (o->native)
        s.native_at = out->used - 2 * (8 + SUMMARY_BYTES) - native_bytes(o);
    enum verdict v = old.size ? add_file(&s, o->da->version, old) : VERDICT_FINE;
    *why = s.why;
    return v;
}

static enum verdict add(const struct object *o, struct cursor now, struct cursor old,
                        struct buffer *out, const char **why)
{
    return combine(o, now, old, out, false, why);
}

static enum verdict subtract(const struct object *o, struct cursor now, struct cursor before,
                             struct buffer *out)
{
    const char *why;
    return combine(o, now, before, out, true, &why);
}

static void reset(const struct object *o)
{
    memset(o->da->arc_counts, 0, (size_t)o->da->n_arc_counts * sizeof *o->da->arc_counts);
}

const struct family da_family = {filename, bound, image, add, subtract, total, reset, NULL};

/* From the counters in memory to an image. See info.h.
 *
 * The structures as gcc 12 lays them out; N and the checksum depend on the version
 * (wire/gcov_dialects.h):
 *
 *     gcov_info    version, next, stamp, [checksum,] filename, merge[N], n_functions, functions
 *     function     key, ident, lineno_checksum, cfg_checksum, counters[kinds with a merge function]
 *     counters     num, values
 *
 * A function whose key is not its gcov_info's address is the discarded copy of one that another
 * object has; its place is kept by an empty record. */
#include "info.h"
#include "profilers.h"

#include <string.h>

struct counters {
    uint32_t n;
    int64_t *values;
};

struct function {
    const void *key;
    uint32_t ident, lineno_checksum, cfg_checksum;
    struct counters counters[];
};

typedef void merge_function(int64_t *, uint32_t);

struct plain {
    uint32_t version;
    void *next;
    uint32_t stamp;
    const char *filename;
    merge_function *merge[];
};

struct checked {
    uint32_t version;
    void *next;
    uint32_t stamp, checksum;
    const char *filename;
    merge_function *merge[];
};

struct tail {
    uint32_t n_functions;
    const struct function *const *functions;
};

static enum gcov_rule rule_of(merge_function *f, const struct gcov_dialect *d)
{
    static const struct {
        merge_function *function;
        enum gcov_rule rule;
    } rows[] = {
        {__gcov_merge_add, GCOV_RULE_ADD},          {__gcov_merge_ior, GCOV_RULE_IOR},
        {__gcov_merge_single, GCOV_RULE_VOTE},      {__gcov_merge_time_profile, GCOV_RULE_FIRST},
        {__gcov_merge_delta, GCOV_RULE_VOTE_DELTA}, {__gcov_merge_icall_topn, GCOV_RULE_FOUR_CALLS},
    };
    if (!f)
        return GCOV_RULE_NONE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].function == f)
            return rows[i].rule;
    return d->has_lists ? GCOV_RULE_LISTS : GCOV_RULE_FOUR;
}

bool info_read(struct info *to, const void *at)
{
    const struct plain *p = at;
    const struct checked *c = at;
    const struct gcov_dialect *d = dialect_in_memory(p->version);
    *to = (struct info){.at = at, .dialect = d, .version = p->version};
    if (!d)
        return false;
    merge_function *const *merge = d->has_byte_lengths ? c->merge : p->merge;
    const struct tail *tail = (const struct tail *)(merge + d->merge_functions);
    to->filename = d->has_byte_lengths ? c->filename : p->filename;
    to->stamp = p->stamp;
    to->checksum = d->has_byte_lengths ? c->checksum : 0;
    to->n_functions = tail->n_functions;
    to->functions = tail->functions;
    for (int i = 0; i < d->merge_functions; i++)
        to->rules[i] = rule_of(merge[i], d);
    return true;
}

static const struct function *function_at(const struct info *o, uint32_t i)
{
    const struct function *f = o->functions[i];
    return f && f->key == o->at ? f : NULL;
}

/* The counters of the next kind from *kind on that the object has, NULL after the last. *used is
 * how many were handed out; both start at 0. */
static const struct counters *next_counters(const struct info *o, const struct function *f,
                                            int *kind, int *used)
{
    while (*kind < o->dialect->merge_functions && o->rules[*kind] == GCOV_RULE_NONE)
        ++*kind;
    return *kind < o->dialect->merge_functions ? &f->counters[(*used)++] : NULL;
}

#define FOR_COUNTERS(o, f, kind, c) \
    for (int kind = 0, used_ = 0; (c = next_counters(o, f, &kind, &used_)) != NULL; kind++)

static size_t bound_of(enum gcov_rule rule, uint32_t n)
{
    if (rule == GCOV_RULE_LISTS)
        return 8 + (size_t)n / 3 * (2 + 2 * GCOV_LIST_VALUES) * 8;
    return 8 + (size_t)n * 8;
}

size_t image_bound(const struct info *o)
{
    size_t bytes = (8 + 2 + 9 + GCOV_HISTOGRAM_WORDS) * 4;
    for (uint32_t i = 0; i < o->n_functions; i++) {
        const struct function *f = function_at(o, i);
        const struct counters *c;
        bytes += 5 * 4;
        if (f)
            FOR_COUNTERS(o, f, kind, c)
        bytes += bound_of(o->rules[kind], c->n);
    }
    return bytes;
}

/* Read once: the program may be counting. */
static uint64_t value_now(const int64_t *at)
{
    return (uint64_t)__atomic_load_n(at, __ATOMIC_RELAXED);
}

static void write_list(const int64_t *counter, struct buffer *to)
{
    uint64_t head = value_now(&counter[2]);
    const struct topn_node *node = (const struct topn_node *)(uintptr_t)head;
    size_t n = 0, where = to->used + 8;
    buffer_u64(to, value_now(&counter[0]));
    buffer_u64(to, 0);
    for (; node && n < GCOV_LIST_VALUES; node = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE)) {
        uint64_t count = value_now(&node->count);
        if (count == 0)
            continue;
        buffer_u64(to, value_now(&node->value));
        buffer_u64(to, count);
        n++;
    }
    buffer_set_u32(to, where, (uint32_t)n);
}

static void write_counters(const struct info *o, int kind, const struct counters *c,
                           struct buffer *to)
{
    buffer_u32(to, GCOV_TAG_OF_SLOT(kind));
    size_t length = to->used;
    buffer_u32(to, 0);
    if (o->rules[kind] == GCOV_RULE_LISTS)
        for (uint32_t i = 0; i + 2 < c->n; i += 3)
            write_list(c->values + i, to);
    else
        for (uint32_t i = 0; i < c->n; i++)
            buffer_u64(to, value_now(c->values + i));
    size_t bytes = to->used - length - 4;
    buffer_set_u32(to, length, (uint32_t)(o->dialect->has_byte_lengths ? bytes : bytes / 4));
}

static void write_function(const struct info *o, const struct function *f, struct buffer *to)
{
    buffer_u32(to, GCOV_TAG_FUNCTION);
    buffer_u32(to, !f ? 0 : o->dialect->has_byte_lengths ? 12 : 3);
    if (!f)
        return;
    buffer_u32(to, f->ident);
    buffer_u32(to, f->lineno_checksum);
    buffer_u32(to, f->cfg_checksum);
    const struct counters *c;
    FOR_COUNTERS(o, f, kind, c)
    write_counters(o, kind, c, to);
}

bool info_function(const struct info *o, uint32_t i, struct info_function *to)
{
    const struct function *f = function_at(o, i);
    if (!f)
        return false;
    *to = (struct info_function){f->ident, f->lineno_checksum, f->cfg_checksum, 0, NULL};
    if (o->rules[0] != GCOV_RULE_NONE) {
        to->arcs = f->counters[0].n;
        to->values = f->counters[0].values;
    }
    return true;
}

static void add_arcs(const struct info *o, struct totals *t)
{
    for (uint32_t i = 0; i < o->n_functions; i++) {
        const struct function *f = function_at(o, i);
        if (!f || o->rules[0] == GCOV_RULE_NONE)
            continue;
        const struct counters *arcs = &f->counters[0];
        t->counters += arcs->n;
        for (uint32_t k = 0; k < arcs->n; k++) {
            uint64_t v = value_now(arcs->values + k);
            t->sum += v;
            t->max = v > t->max ? v : t->max;
        }
    }
}

static uint32_t mixed(uint32_t hash, uint32_t word)
{
    return (hash ^ word) * 0x01000193u;
}

void totals_add(struct totals *t, const struct info *o)
{
    t->checksum = mixed(mixed(t->checksum, o->stamp), o->n_functions);
    for (uint32_t i = 0; i < o->n_functions; i++)
        if (function_at(o, i))
            t->checksum = mixed(t->checksum, o->functions[i]->cfg_checksum);
    add_arcs(o, t);
}

static void write_summary(const struct info *o, uint32_t runs, const struct totals *program,
                          struct buffer *to)
{
    if (o->dialect->summary == GCOV_SUMMARY_OBJECT) {
        buffer_u32(to, GCOV_TAG_OBJECT_SUMMARY);
        buffer_u32(to, o->dialect->has_byte_lengths ? 8 : 2);
        buffer_u32(to, runs);
        buffer_u32(to, program->max > UINT32_MAX ? UINT32_MAX : (uint32_t)program->max);
        return;
    }
    int bits = o->dialect->summary == GCOV_SUMMARY_PROGRAM_HISTOGRAM ? GCOV_HISTOGRAM_WORDS : 0;
    buffer_u32(to, GCOV_TAG_PROGRAM_SUMMARY);
    buffer_u32(to, (uint32_t)(9 + bits));
    buffer_u32(to, program->checksum);
    buffer_u32(to, program->counters);
    buffer_u32(to, runs);
    buffer_u64(to, program->sum);
    buffer_u64(to, program->max);
    buffer_u64(to, program->max);
    for (int i = 0; i < bits; i++)
        buffer_u32(to, 0);
}

void image_write(const struct info *o, uint32_t runs, const struct totals *program,
                 struct buffer *to)
{
    buffer_u32(to, GCOV_MAGIC_COUNTERS);
    buffer_u32(to, o->version);
    buffer_u32(to, o->stamp);
    if (o->dialect->has_byte_lengths)
        buffer_u32(to, o->checksum);
    write_summary(o, runs, program, to);
    for (uint32_t i = 0; i < o->n_functions; i++)
        write_function(o, function_at(o, i), to);
    buffer_u32(to, 0);
}

void info_reset(const struct info *o)
{
    for (uint32_t i = 0; i < o->n_functions; i++) {
        const struct function *f = function_at(o, i);
        const struct counters *c;
        if (f)
            FOR_COUNTERS(o, f, kind, c)
        memset(c->values, 0, (size_t)c->n * sizeof *c->values);
    }
}

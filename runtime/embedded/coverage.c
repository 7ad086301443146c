/* The counters of objects compiled with --coverage -fprofile-info-section=monarc_coverage: a walk
 * over the structures that gcc puts into that section, and the stream that its freestanding
 * interface defines: a file name, then the bytes of that gcda file, for each object.
 *
 * The structures are those of the compiler that this file is compiled with: gcc 11 to 16. Objects
 * of another version are left out. With MONARC_LIBGCOV libgcov walks instead, for compilers that
 * are newer than this file; its memory then comes from `allocate` below, and is little. */
#include "control.h"

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 && !defined(MONARC_NO_COVERAGE)

#include <stddef.h>

#if __GNUC__ >= 15
#define KINDS 10
#elif __GNUC__ >= 14
#define KINDS 9
#else
#define KINDS 8
#endif

typedef void merge_function(int64_t *, unsigned);

struct gcov_counters {
    unsigned length;
    int64_t *values;
};

/* One array of counters for each kind that the object has. */
struct gcov_function {
    const struct gcov_object *owner; /* another's: this copy was discarded by the linker */
    unsigned ident, line_checksum, flow_checksum;
    struct gcov_counters counters[];
};

struct gcov_object {
    unsigned version;
    struct gcov_object *next;
    unsigned stamp;
#if __GNUC__ >= 12
    unsigned checksum;
#endif
    const char *filename;
    merge_function *merge[KINDS];
    unsigned functions_length;
    const struct gcov_function *const *functions;
};

extern const struct gcov_object *const __start_monarc_coverage[] __attribute__((weak));
extern const struct gcov_object *const __stop_monarc_coverage[] __attribute__((weak));

enum {
    MAGIC_DATA = 0x67636461,
    MAGIC_NAME = 0x6763666e,
    TAG_FUNCTION = 0x01000000,
    TAG_COUNTERS = 0x01a10000,
    TAG_COUNTERS_STEP = 0x00020000,
    FUNCTION_WORDS = 3,
    KIND_TOPN = 3,
    KIND_INDIRECT_CALLS = 4
};

/* Lengths are bytes from gcc 12 on, words before. */
#if __GNUC__ >= 12
#define LENGTH_UNIT 1u
#else
#define LENGTH_UNIT 4u
#endif

struct coverage_output {
    monarc_embedded_writer *write;
    void *context;
    bool ok;
};

static MONARC_QUIET void coverage_put(struct coverage_output *o, const void *bytes, uint32_t length)
{
    o->ok = o->ok && (!length || o->write(o->context, bytes, length));
}

static MONARC_QUIET void coverage_put_32(struct coverage_output *o, uint32_t value)
{
    coverage_put(o, &value, sizeof value);
}

static MONARC_QUIET void coverage_put_name(struct coverage_output *o,
                                           const struct gcov_object *object)
{
    static const unsigned char padding[4];
    uint32_t length = 1;
    while (object->filename[length - 1])
        length++;
    coverage_put_32(o, MAGIC_NAME);
    coverage_put_32(o, object->version);
    coverage_put_32(o, (length + LENGTH_UNIT - 1) / LENGTH_UNIT);
    coverage_put(o, object->filename, length);
    coverage_put(o, padding, (0 - length) % LENGTH_UNIT);
}

/* Lists of the most frequent values would need their own form: the two kinds are left out. They
 * come with -fprofile-values, not with --coverage. */
static MONARC_QUIET bool is_written(const struct gcov_object *object, unsigned kind)
{
    return object->merge[kind] && kind != KIND_TOPN && kind != KIND_INDIRECT_CALLS;
}

/* What the objects name as merge functions, which are never called here; libgcov's come first if it
 * is linked. */
#define MERGE_FUNCTION(name)                                                       \
    void name(int64_t *values, unsigned length);                                   \
    __attribute__((weak)) MONARC_QUIET void name(int64_t *values, unsigned length) \
    {                                                                              \
        (void)values;                                                              \
        (void)length;                                                              \
    }
MERGE_FUNCTION(__gcov_merge_add)
MERGE_FUNCTION(__gcov_merge_ior)
MERGE_FUNCTION(__gcov_merge_time_profile)
MERGE_FUNCTION(__gcov_merge_topn)

/* 'A' + major / 10, '0' + major % 10, and two letters more. */
static MONARC_QUIET bool is_ours(const struct gcov_object *object)
{
    enum { TENS = 'A' + __GNUC__ / 10, ONES = '0' + __GNUC__ % 10 };
    return object->version >> 16 == (uint32_t)(TENS << 8 | ONES);
}

#ifdef MONARC_LIBGCOV

void __gcov_info_to_gcda(const struct gcov_object *object, void (*name)(const char *, void *),
                         void (*dump)(const void *, unsigned, void *),
                         void *(*allocate)(unsigned, void *), void *context);

static MONARC_QUIET void libgcov_dump(const void *bytes, unsigned length, void *context)
{
    coverage_put(context, bytes, length);
}

static MONARC_QUIET void libgcov_name(const char *name, void *context)
{
    (void)name;
    (void)context;
}

/* Of the lists of most frequent values, which have no room here. */
static MONARC_QUIET void *libgcov_allocate(unsigned length, void *context)
{
    (void)length;
    (void)context;
    return NULL;
}

static MONARC_QUIET void coverage_put_any(struct coverage_output *o,
                                          const struct gcov_object *object)
{
    if (!is_ours(object)) {
        o->ok = false; /* where its name stands is not known */
        return;
    }
    coverage_put_name(o, object);
    __gcov_info_to_gcda(object, libgcov_name, libgcov_dump, libgcov_allocate, o);
}

#else

/* The low half comes first in either byte order. */
static MONARC_QUIET void coverage_put_64(struct coverage_output *o, int64_t value)
{
    coverage_put_32(o, (uint32_t)value);
    coverage_put_32(o, (uint32_t)((uint64_t)value >> 32));
}

/* All zero: a negative length says how many. */
static MONARC_QUIET void coverage_put_counters(struct coverage_output *o,
                                               const struct gcov_counters *c, unsigned kind)
{
    unsigned used = 0;
    while (used < c->length && !c->values[used])
        used++;
    uint32_t units = c->length * (8 / LENGTH_UNIT);
    coverage_put_32(o, TAG_COUNTERS + kind * TAG_COUNTERS_STEP);
    coverage_put_32(o, used < c->length ? units : 0 - units);
    for (unsigned i = 0; used < c->length && i < c->length; i++)
        coverage_put_64(o, c->values[i]);
}

static MONARC_QUIET void coverage_put_function(struct coverage_output *o,
                                               const struct gcov_object *object,
                                               const struct gcov_function *f)
{
    bool is_here = f && f->owner == object;
    coverage_put_32(o, TAG_FUNCTION);
    coverage_put_32(o, is_here ? FUNCTION_WORDS * 4 / LENGTH_UNIT : 0);
    if (!is_here)
        return;
    coverage_put_32(o, f->ident);
    coverage_put_32(o, f->line_checksum);
    coverage_put_32(o, f->flow_checksum);
    const struct gcov_counters *c = f->counters;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (is_written(object, kind))
            coverage_put_counters(o, c, kind);
        c += object->merge[kind] != NULL;
    }
}

static MONARC_QUIET void coverage_put_object(struct coverage_output *o,
                                             const struct gcov_object *object)
{
    coverage_put_name(o, object);
    coverage_put_32(o, MAGIC_DATA);
    coverage_put_32(o, object->version);
    coverage_put_32(o, object->stamp);
#if __GNUC__ >= 12
    coverage_put_32(o, object->checksum);
#endif
    for (unsigned i = 0; i < object->functions_length; i++)
        coverage_put_function(o, object, object->functions[i]);
    coverage_put_32(o, 0);
}

static MONARC_QUIET void coverage_put_any(struct coverage_output *o,
                                          const struct gcov_object *object)
{
    if (is_ours(object))
        coverage_put_object(o, object);
}

#endif

MONARC_QUIET bool monarc_embedded_write_coverage(monarc_embedded_writer *write, void *context)
{
    struct coverage_output o;
    o.write = write;
    o.context = context;
    o.ok = true;
    const struct gcov_object *const *at = __start_monarc_coverage;
    for (; at < __stop_monarc_coverage && o.ok; at++)
        coverage_put_any(&o, *at);
    return o.ok;
}

static MONARC_QUIET void clear_counters(const struct gcov_object *object,
                                        const struct gcov_function *f)
{
    const struct gcov_counters *c = f->counters;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (is_written(object, kind))
            monarc_clear(c->values, c->length * 8);
        c += object->merge[kind] != NULL;
    }
}

MONARC_QUIET void monarc_embedded_reset_coverage(void)
{
    const struct gcov_object *const *at = __start_monarc_coverage;
    for (; at < __stop_monarc_coverage; at++)
        for (unsigned i = 0; is_ours(*at) && i < (*at)->functions_length; i++) {
            const struct gcov_function *f = (*at)->functions[i];
            if (f && f->owner == *at)
                clear_counters(*at, f);
        }
}

#else

MONARC_QUIET bool monarc_embedded_write_coverage(monarc_embedded_writer *write, void *context)
{
    (void)write;
    (void)context;
    return true;
}

MONARC_QUIET void monarc_embedded_reset_coverage(void)
{
}

#endif

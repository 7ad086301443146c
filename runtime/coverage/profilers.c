/* The functions that gcc's code calls or names. See profilers.h. What they count is what those of
 * libgcov 12 count, which GCC's manual leaves open and experiments show.
 *
 * A topn counter is {total, n, list}. Nodes come from a pool that is never given back; a thread
 * that loses the race to append leaves its node unused. */
#include "profilers.h"
#include "../common/sys.h"

#include <stdbool.h>

GCOV_API __thread struct indirect_call __gcov_indirect_call;
GCOV_API gcov_value __gcov_time_profiler_counter;

/* Each its own code, so that no linker folds them into one. */
#define TOKEN(name, number)                         \
    GCOV_API void name(int64_t *values, uint32_t n) \
    {                                               \
        *(volatile int64_t *)values += n + number;  \
    }

TOKEN(__gcov_merge_add, 1)
TOKEN(__gcov_merge_single, 2)
TOKEN(__gcov_merge_delta, 3)
TOKEN(__gcov_merge_ior, 4)
TOKEN(__gcov_merge_time_profile, 5)
TOKEN(__gcov_merge_icall_topn, 6)
TOKEN(__gcov_merge_topn, 7)

static void add(gcov_value *at, gcov_value n, bool atomic)
{
    if (atomic)
        __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
    else
        *at += n;
}

static inline void interval(gcov_value *counters, gcov_value value, int start, unsigned steps,
                            bool atomic)
{
    gcov_value at = value - start;
    if (at < 0)
        at = (gcov_value)steps + 1;
    else if (at >= (gcov_value)steps)
        at = steps;
    add(&counters[at], 1, atomic);
}

static inline void pow2(gcov_value *counters, gcov_value value, bool atomic)
{
    uint64_t v = (uint64_t)value;
    add(&counters[v != 0 && (v & (v - 1)) == 0], 1, atomic);
}

static inline void average(gcov_value *counters, gcov_value value, bool atomic)
{
    add(&counters[0], value, atomic);
    add(&counters[1], 1, atomic);
}

static inline void bits(gcov_value *counters, gcov_value value, bool atomic)
{
    if (atomic)
        __atomic_fetch_or(counters, value, __ATOMIC_RELAXED);
    else
        *counters |= value;
}

/* A node of the pool. NULL if there is no memory. */
static struct topn_node *new_node(void)
{
    static struct pool {
        uint32_t used, size;
        struct topn_node nodes[];
    } * pool;
    const uint32_t bytes = 64 << 10;
    struct pool *p = __atomic_load_n(&pool, __ATOMIC_ACQUIRE);
    for (;;) {
        uint32_t i = p ? __atomic_fetch_add(&p->used, 1, __ATOMIC_RELAXED) : 0;
        if (p && i < p->size)
            return &p->nodes[i];
        struct pool *more = sys_pages(bytes);
        if (!more)
            return NULL;
        more->size = (uint32_t)((bytes - sizeof *more) / sizeof more->nodes[0]);
        if (__atomic_compare_exchange_n(&pool, &p, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            p = more;
        else
            sys_pages_free(more, bytes);
    }
}

/* Puts a new value at the end of the list; false if another thread was there first. */
static bool append(gcov_value *counters, struct topn_node *end, gcov_value value)
{
    struct topn_node *n = new_node();
    if (!n)
        return true;
    n->value = value;
    n->count = 1;
    n->next = NULL;
    if (end) {
        struct topn_node *none = NULL;
        if (!__atomic_compare_exchange_n(&end->next, &none, n, false, __ATOMIC_RELEASE,
                                         __ATOMIC_RELAXED))
            return false;
    } else {
        gcov_value none = 0;
        if (!__atomic_compare_exchange_n(&counters[2], &none, (gcov_value)(uintptr_t)n, false,
                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return false;
    }
    __atomic_fetch_add(&counters[1], 1, __ATOMIC_RELAXED);
    return true;
}

/* False if the list changed meanwhile. */
static bool topn_try(gcov_value *counters, gcov_value value, bool atomic)
{
    gcov_value head = __atomic_load_n(&counters[2], __ATOMIC_ACQUIRE);
    struct topn_node *at = (struct topn_node *)(uintptr_t)head, *end = NULL, *least = at;
    unsigned n = 0;
    for (; at; at = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE), n++) {
        if (at->value == value) {
            add(&at->count, 1, atomic);
            return true;
        }
        if (at->count < least->count)
            least = at;
        end = at;
    }
    if (n < GCOV_LIST_VALUES)
        return append(counters, end, value);
    if (least->count > 1) {
        add(&least->count, -1, atomic);
    } else {
        least->value = value;
        least->count = 1;
    }
    return true;
}

static inline void topn(gcov_value *counters, gcov_value value, bool atomic)
{
    add(&counters[0], 1, atomic);
    while (!topn_try(counters, value, atomic))
        ;
}

/* Called first thing by every function that may be the target of an indirect call. */
static inline void indirect_call(gcov_value id, void *function, bool atomic)
{
    struct indirect_call *call = &__gcov_indirect_call;
    if (call->callee && call->callee == function)
        topn(call->counters, id, atomic);
    call->callee = NULL;
}

#define DEFINE_PROFILERS(suffix, atomic)                                                     \
    void __gcov_interval_profiler##suffix(gcov_value *counters, gcov_value value, int start, \
                                          unsigned steps)                                    \
    {                                                                                        \
        interval(counters, value, start, steps, atomic);                                     \
    }                                                                                        \
    void __gcov_pow2_profiler##suffix(gcov_value *counters, gcov_value value)                \
    {                                                                                        \
        pow2(counters, value, atomic);                                                       \
    }                                                                                        \
    void __gcov_average_profiler##suffix(gcov_value *counters, gcov_value value)             \
    {                                                                                        \
        average(counters, value, atomic);                                                    \
    }                                                                                        \
    void __gcov_ior_profiler##suffix(gcov_value *counters, gcov_value value)                 \
    {                                                                                        \
        bits(counters, value, atomic);                                                       \
    }                                                                                        \
    void __gcov_topn_values_profiler##suffix(gcov_value *counters, gcov_value value)         \
    {                                                                                        \
        topn(counters, value, atomic);                                                       \
    }                                                                                        \
    void __gcov_indirect_call_profiler_v4##suffix(gcov_value id, void *function)             \
    {                                                                                        \
        indirect_call(id, function, atomic);                                                 \
    }

DEFINE_PROFILERS(, false)
DEFINE_PROFILERS(_atomic, true)

/* Stable merge sort that hands a context to the comparator.
 *
 * It splits at n/2 from the top and takes from the left half on a tie, exactly as glibc's qsort
 * does; GNU gprof's output depends on that wherever its comparators are not a strict order. */
#ifndef MONARC_BASE_SORT_H
#define MONARC_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef int sort_compare(uint32_t left, uint32_t right, const void *context);

/* Sorts indices. */
void sort_u32(uint32_t *items, size_t len, sort_compare *compare, const void *context);

/* One pass of a stable sort by several keys, the least significant first: items by keys[item]. */
struct keyed;
void sort_by(struct keyed *items, size_t len, const uint64_t *keys);

/* By the items' own keys, then a pass by each of the others, in memory that all of them share. */
void sort_by_keys(struct keyed *items, size_t len, const uint64_t *const *keys, size_t keys_len);

/* Items with a number to sort by. */
struct keyed {
    uint64_t key;
    uint32_t item;
};

/* Sorts by key, ascending and stable, in time linear in the length. */
void sort_keyed(struct keyed *items, size_t len);

/* Sorts items that are sorted by key: those of equal keys among each other by `compare`. */
void sort_equals(struct keyed *items, size_t len, sort_compare *compare, const void *context);

/* A key that sorts numbers from 0 to infinity in descending order. */
static inline uint64_t sort_descending(double value)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return ~bits;
}

/* Binary search in what is sorted.
 *
 *     size_t behind = PARTITION_POINT(n->len, i, n->at[i].start <= address);
 *
 * is how many of the `len` places from 0 on satisfy the condition, given that all that do stand in
 * front of all that do not: the first place that does not, or `len`. The condition is an expression
 * of the index, whose name is the second argument; it stands where it is used, so that the compiler
 * sees through it, and is evaluated log2(len) + 1 times at the most. Where the order does not hold
 * the answer is some number from 0 to `len`. */

#define PARTITION_POINT(len, i, condition)                              \
    __extension__({                                                     \
        __typeof__((len) + 0) low_##i = 0, high_##i = (len);            \
        while (low_##i < high_##i) {                                    \
            __typeof__(low_##i) i = low_##i + (high_##i - low_##i) / 2; \
            if (condition)                                              \
                low_##i = i + 1;                                        \
            else                                                        \
                high_##i = i;                                           \
        }                                                               \
        low_##i;                                                        \
    })

#endif

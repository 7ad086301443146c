/* Two stable sorts.
 *
 * sort_u32() is a top-down merge sort of indices with the caller's comparison, whose depth of
 * recursion is log2 of the length. It splits and merges as glibc's qsort does, since GNU gprof's
 * output depends on that.
 *
 * sort_keyed() is a radix sort, least significant digit first, for items that carry a number:
 * linear in the length, without a comparison. Digits in which all keys agree are skipped, so
 * indices and addresses of one program take two or three passes, not six. Short lists are sorted
 * by insertion.
 *
 * Both need as much memory again as what they sort. */
#include "base/sort.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Merges into `spare` and back; what is left of the right half is in its place already. */
static void sort_part(uint32_t *at, size_t len, uint32_t *spare, sort_compare *compare,
                      const void *context)
{
    if (len < 2)
        return;
    size_t left_len = len / 2, right_len = len - left_len;
    uint32_t *left = at, *right = at + left_len, *to = spare;
    sort_part(left, left_len, spare, compare, context);
    sort_part(right, right_len, spare, compare, context);
    while (left_len && right_len) {
        if (compare(*left, *right, context) <= 0) {
            *to++ = *left++;
            left_len--;
        } else {
            *to++ = *right++;
            right_len--;
        }
    }
    memcpy(to, left, left_len * sizeof *to);
    memcpy(at, spare, (len - right_len) * sizeof *at);
}

void sort_u32(uint32_t *items, size_t len, sort_compare *compare, const void *context)
{
    if (len < 2)
        return;
    uint32_t *spare = memory_resized(NULL, len * sizeof *spare);
    sort_part(items, len, spare, compare, context);
    memory_free(spare);
}

/* Digits of short arrays are small: clearing the table of a large one costs more than passes. */
enum { MOST_BITS = 11, FEW_BITS = 8, FEW = 2048 };

static size_t digit(uint64_t key, int shift, int bits)
{
    return key >> shift & ((1u << bits) - 1);
}

/* Counts, then sums, then places: one pass of a counting sort. */
static void radix_pass(const struct keyed *from, struct keyed *to, size_t len, int shift, int bits)
{
    uint32_t place[1 << MOST_BITS];
    memset(place, 0, sizeof *place << bits);
    for (size_t i = 0; i < len; i++)
        place[digit(from[i].key, shift, bits)]++;
    uint32_t sum = 0;
    for (size_t d = 0; d < 1u << bits; d++) {
        uint32_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < len; i++)
        to[place[digit(from[i].key, shift, bits)]++] = from[i];
}

/* `spare` has room for as many; NULL: it is made where it is needed. */
static void sort_with(struct keyed *items, size_t len, struct keyed *spare)
{
    enum { SHORT = 64 };
    if (len < SHORT) {
        for (size_t i = 1; i < len; i++) {
            struct keyed moving = items[i];
            size_t k = i;
            for (; k && items[k - 1].key > moving.key; k--)
                items[k] = items[k - 1];
            items[k] = moving;
        }
        return;
    }
    /* The bits in which keys differ. */
    uint64_t all = UINT64_MAX, any = 0;
    for (size_t i = 0; i < len; i++) {
        all &= items[i].key;
        any |= items[i].key;
    }
    uint64_t varying = all ^ any;
    if (!varying)
        return;
    struct keyed *made = spare ? NULL : memory_resized(NULL, len * sizeof *made);
    struct keyed *from = items, *to = spare ? spare : made;
    int bits = len < FEW ? FEW_BITS : MOST_BITS;
    for (int shift = 0; shift < 64; shift += bits) {
        if (!digit(varying, shift, bits))
            continue;
        radix_pass(from, to, len, shift, bits);
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, len * sizeof *items);
    memory_free(made);
}

void sort_keyed(struct keyed *items, size_t len)
{
    sort_with(items, len, NULL);
}

void sort_by(struct keyed *items, size_t len, const uint64_t *keys)
{
    for (size_t i = 0; i < len; i++)
        items[i].key = keys[items[i].item];
    sort_keyed(items, len);
}

void sort_by_keys(struct keyed *items, size_t len, const uint64_t *const *keys, size_t keys_len)
{
    struct keyed *spare = memory_resized(NULL, len * sizeof *spare);
    sort_with(items, len, spare);
    for (size_t k = 0; k < keys_len; k++) {
        for (size_t i = 0; i < len; i++)
            items[i].key = keys[k][items[i].item];
        sort_with(items, len, spare);
    }
    memory_free(spare);
}

static void sort_run(struct keyed *items, size_t len, sort_compare *compare, const void *context)
{
    uint32_t *order = memory_resized(NULL, len * sizeof *order);
    for (size_t i = 0; i < len; i++)
        order[i] = items[i].item;
    sort_u32(order, len, compare, context);
    for (size_t i = 0; i < len; i++)
        items[i].item = order[i];
    memory_free(order);
}

void sort_equals(struct keyed *items, size_t len, sort_compare *compare, const void *context)
{
    for (size_t first = 0, next; first < len; first = next) {
        for (next = first + 1; next < len && items[next].key == items[first].key;)
            next++;
        if (next > first + 1)
            sort_run(&items[first], next - first, compare, context);
    }
}

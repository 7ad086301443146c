/* Top-down merge sort of 32-bit indices. The depth of recursion is log2 of the length. */
#include "base/sort.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

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
    uint32_t *spare = malloc(len * sizeof *spare);
    if (!spare)
        memory_exhausted(len * sizeof *spare);
    sort_part(items, len, spare, compare, context);
    free(spare);
}

/* Large arrays can grow without being copied: each lies in one mapping, which mremap() can move. */
#include "base/vec.h"
#include "cases.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Where the mapping begins that holds an address. */
static uintptr_t mapping_of(const void *at)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t low = 0, high = 0;
    char line[4096];
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) &&
           (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || high <= (uintptr_t)at))
        ;
    fclose(maps);
    return low;
}

CASE(test_growing)
{
    VEC(uint64_t) v = {0};
    enum { LARGE = 8 << 20 }; /* more than malloc() ever takes from its heap */
    for (size_t n = LARGE; n <= 4 * LARGE; n *= 2) {
        vec_reserve(&v, n);
        char *first = (char *)v.at - 2 * sizeof(size_t), *last = (char *)(v.at + v.cap) - 1;
        assert_true(mapping_of(first) == mapping_of(last));
        v.at[n - 1] = n;
    }
    vec_free(&v);
}

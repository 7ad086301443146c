/* What gcc calls to copy and clear structures, where it does not do so in place. libc's functions
 * use vector registers, in which the arguments of a function whose entry is counted may lie. */
#include <stddef.h>
#include <stdint.h>

#define OURS __attribute__((visibility("hidden")))

OURS void *memcpy(void *restrict to, const void *restrict from, size_t n);
OURS void *memset(void *to, int byte, size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    while (n-- > 0)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    uint8_t *t = to;
    while (n-- > 0)
        *t++ = (uint8_t)byte;
    return to;
}

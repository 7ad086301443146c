/* UTF-8 in texts of which nobody knows what they hold. */
#ifndef MONARC_BASE_UTF8_H
#define MONARC_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at `at`, of which `left` bytes (at least one) may be read as
 * far as they are continued; 0 if there is none. Table 3-7 of the Unicode Standard. */
static inline size_t utf8_length(const uint8_t *at, size_t left)
{
    uint8_t c = at[0], low = 0x80, high = 0xbf;
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
    if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || n > left)
        return 0;
    if (c == 0xe0 || c == 0xf0)
        low = c == 0xe0 ? 0xa0 : 0x90;
    if (c == 0xed || c == 0xf4)
        high = c == 0xed ? 0x9f : 0x8f;
    for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
        if (at[i] < low || at[i] > high)
            return 0;
    return n;
}

/* How much of `len` bytes to keep when `most` are allowed: a character is not cut in two. */
static inline size_t utf8_cut(const uint8_t *at, size_t len, size_t most)
{
    enum { LONGEST = 4 };
    size_t cut = len < most ? len : most;
    while (cut && cut < len && cut + LONGEST > most && (at[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

/* Writes a character, which must be one, and returns where the next one goes. */
static inline char *utf8_put(char *to, uint32_t c)
{
    static const uint8_t LEADS[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    *to++ = (char)(LEADS[more] | c >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

/* Stands for what is no character. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

#endif

/* Numbers as text, in fields, straight into memory that the caller has made room for.
 *
 * Each function writes at `to` and returns the end of what it wrote, at most DIGITS_ROOM bytes
 * further on. The results are printf's, to the last digit. */
#ifndef MONARC_OUTPUT_DIGITS_H
#define MONARC_OUTPUT_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_ROOM = 352 };

/* How many decimal digits a number has, four a step: most numbers of reports are short. */
static inline unsigned digits_count(uint64_t value)
{
    unsigned n = 1;
    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Two digits are written at once: half the divisions. */
static const char digits_pairs[] = "00010203040506070809101112131415161718192021222324"
                                   "25262728293031323334353637383940414243444546474849"
                                   "50515253545556575859606162636465666768697071727374"
                                   "75767778798081828384858687888990919293949596979899";

/* Writes exactly `n` digits. */
static inline void digits_put(char *to, uint64_t value, unsigned n)
{
    for (; n >= 2; n -= 2, value /= 100)
        memcpy(to + n - 2, digits_pairs + value % 100 * 2, 2);
    if (n)
        *to = (char)('0' + value % 10);
}

/* Writes as many digits as there are so that they end before `end`. */
static inline void digits_back(char *end, uint32_t value)
{
    for (; value >= 100; value /= 100, end -= 2)
        memcpy(end - 2, digits_pairs + value % 100 * 2, 2);
    if (value >= 10)
        memcpy(end - 2, digits_pairs + value * 2, 2);
    else
        end[-1] = (char)('0' + value);
}

static inline char *digits_spaces(char *to, size_t n)
{
    memset(to, ' ', n);
    return to + n;
}

/* `%*lu`, width up to 64. */
static inline char *digits_u64(char *to, uint64_t value, unsigned width)
{
    unsigned n = digits_count(value);
    for (; n < width; width--)
        *to++ = ' ';
    digits_put(to, value, n);
    return to + n;
}

/* `%-*lu` */
static inline char *digits_u64_left(char *to, uint64_t value, unsigned width)
{
    unsigned n = digits_count(value);
    digits_put(to, value, n);
    to += n;
    for (; n < width; n++)
        *to++ = ' ';
    return to;
}

/* `%lx` */
static inline char *digits_hex(char *to, uint64_t value)
{
    unsigned n = 1;
    while (n < 16 && value >> 4 * n)
        n++;
    for (unsigned i = n; i-- > 0; value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
    return to + n;
}

/* `%*.*f` for what digits_fixed() leaves over: negative, huge and special values. */
char *digits_fixed_rare(char *to, double value, unsigned width, unsigned decimals);

/* Whether value * power, computed as `scaled` with a fraction of exactly one half, is to be rounded
 * up: the product's rounding error decides, and without one, evenness. */
bool digits_half_rounds_up(double value, double power, double scaled);

/* value * power to the nearest whole number, as printf rounds, for values from 0 whose product is
 * below 2^50. The computed product is the nearest double to the exact one; as the distance of its
 * fraction from one half is a whole number of its last places, only a fraction of exactly one half
 * leaves the direction open. */
static inline uint64_t digits_round(double value, double power)
{
    double scaled = value * power;
    uint64_t whole = (uint64_t)scaled;
    double fraction = scaled - (double)whole;
    return whole +
           (fraction > 0.5 || (fraction == 0.5 && digits_half_rounds_up(value, power, scaled)));
}

/* `%*.*f` with 1 to 6 decimals, width up to 64. */
static inline char *digits_fixed(char *to, double value, unsigned width, unsigned decimals)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t power = powers[decimals];
    bool is_rare = !(value * power < 0x1p50) || !(value > 0);
    if (is_rare && (value != 0 || 1 / value < 0))
        return digits_fixed_rare(to, value, width, decimals);
    uint64_t whole = digits_round(value, power), integer = whole / power;
    to = digits_u64(to, integer, width > decimals ? width - decimals - 1 : 0);
    *to++ = '.';
    digits_put(to, whole - integer * power, decimals);
    return to + decimals;
}

/* Two decimals ending before `end`, over a field that already has its point. Only for values from 0
 * to below a million. */
static inline void digits_back_cents(char *end, double value)
{
    uint32_t cents = (uint32_t)digits_round(value, 100);
    memcpy(end - 2, digits_pairs + cents % 100 * 2, 2);
    digits_back(end - 3, cents / 100);
}

#endif

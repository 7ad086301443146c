/* Counts in text: digits, and what some tools make of them: decimals, exponents, a minus. */
#include "coverage/format/count.h"

#include <stddef.h>

struct text {
    const char *at, *end;
};

static bool is_decimal(struct text part)
{
    for (const char *c = part.at; c < part.end; c++)
        if (*c == '.' || *c == 'e' || *c == 'E')
            return true;
    return false;
}

/* Digits alone; more than there are numbers for are the largest. */
static bool whole(struct text part, uint64_t *out)
{
    uint64_t value = 0;
    for (const char *c = part.at; c < part.end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            value = UINT64_MAX;
    }
    *out = value;
    return part.at < part.end;
}

/* Multiplied by ten to the `exponent`, cut to a whole number, at most INT64_MAX. */
static uint64_t scaled(uint64_t value, int64_t exponent)
{
    for (; exponent < 0 && value; exponent++)
        value /= 10;
    for (; exponent > 0 && value && value <= INT64_MAX; exponent--)
        value = value > UINT64_MAX / 10 ? UINT64_MAX : value * 10;
    return value > INT64_MAX ? INT64_MAX : value;
}

/* "1.5e3", whatever the locale's decimal point is: digits with a point among them, an exponent. */
static bool decimal(struct text part, uint64_t *out)
{
    enum { MOST_EXPONENT = 1000 };
    uint64_t value = 0, power = 0;
    int64_t exponent = 0;
    unsigned digits = 0, points = 0;
    const char *c = part.at;
    for (; c < part.end && *c != 'e' && *c != 'E'; c++) {
        if (*c == '.' && !points++)
            continue;
        if (*c < '0' || *c > '9')
            return false;
        bool is_kept = value <= (UINT64_MAX - 9) / 10; /* no double has more digits */
        value = is_kept ? value * 10 + (uint64_t)(*c - '0') : value;
        exponent += !is_kept - (int64_t)points;
        digits++;
    }
    bool has_power = c < part.end, is_minus = has_power && c + 1 < part.end && c[1] == '-';
    bool has_sign = is_minus || (has_power && c + 1 < part.end && c[1] == '+');
    if (has_power && !whole((struct text){c + 1 + has_sign, part.end}, &power))
        return false;
    int64_t shift = (int64_t)(power < MOST_EXPONENT ? power : MOST_EXPONENT);
    *out = scaled(value, exponent + (is_minus ? -shift : shift));
    return digits > 0;
}

bool count_read(const char *at, const char *end, uint64_t *out, uint64_t *negative)
{
    bool is_negative = at < end && *at == '-';
    struct text part = {at + is_negative, end};
    if (!(is_decimal(part) ? decimal(part, out) : whole(part, out)))
        return false;
    if (is_negative) {
        *negative += *out > 0;
        *out = 0;
    }
    return true;
}

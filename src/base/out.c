/* Output buffer and number formatting. */
#include "base/out.h"

#include "base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 64 * 1024 };

void out_init(struct out *o, int fd)
{
    *o = (struct out){.fd = fd};
}

void out_deinit(struct out *o)
{
    free(o->at);
    *o = (struct out){.fd = -1};
}

void out_flush(struct out *o)
{
    for (size_t done = 0; done < o->len && !o->error;) {
        ssize_t n = write(o->fd, o->at + done, o->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EINTR)
            o->error = errno;
    }
    o->len = 0;
}

bool out_finish(struct out *o, const char *name, struct err *e)
{
    if (o->fd >= 0)
        out_flush(o);
    return o->error ? err_errno(e, name, o->error) : true;
}

void out_room(struct out *o, size_t n)
{
    if (o->cap - o->len >= n)
        return;
    if (o->fd >= 0)
        out_flush(o);
    if (o->cap - o->len >= n)
        return;
    size_t cap = o->cap ? o->cap * 2 : BUFFER;
    while (cap - o->len < n)
        cap *= 2;
    char *grown = realloc(o->at, cap);
    if (!grown)
        memory_exhausted(cap);
    o->at = grown;
    o->cap = cap;
}

void out_bytes(struct out *o, const char *text, size_t len)
{
    if (o->cap - o->len < len)
        out_room(o, len);
    memcpy(o->at + o->len, text, len);
    o->len += len;
}

void out_printf(struct out *o, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *room = o->at ? o->at + o->len : NULL;
    size_t space = o->cap - o->len;
    int len = vsnprintf(room, space, format, args);
    va_end(args);
    if (len > 0 && (size_t)len >= space) {
        out_room(o, (size_t)len + 1);
        vsnprintf(o->at + o->len, (size_t)len + 1, format, again);
    }
    va_end(again);
    o->len += len > 0 ? (size_t)len : 0;
}

void out_spaces(struct out *o, size_t n)
{
    out_room(o, n);
    memset(o->at + o->len, ' ', n);
    o->len += n;
}

/* Writes the digits of `value` so that they end at `end`; returns where they start. */
static char *digits_before(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

static void out_padded(struct out *o, const char *text, size_t len, int width)
{
    if (width > 0 && len < (size_t)width)
        out_spaces(o, (size_t)width - len);
    out_bytes(o, text, len);
}

void out_u64(struct out *o, uint64_t value, int width)
{
    char text[20], *end = text + sizeof text, *start = digits_before(end, value);
    out_padded(o, start, (size_t)(end - start), width);
}

void out_u64_left(struct out *o, uint64_t value, int width)
{
    char text[20], *end = text + sizeof text, *start = digits_before(end, value);
    size_t len = (size_t)(end - start);
    out_bytes(o, start, len);
    if (width > 0 && len < (size_t)width)
        out_spaces(o, (size_t)width - len);
}

/* The product value * 10^decimals carries a relative error of 2^-53. While it is below 2^40 its
 * absolute error is below 2^-13, so that the last digit is certain unless the fraction lies that
 * close to one half; those, and what is out of range, are left to printf. */
void out_fixed(struct out *o, double value, int width, int decimals)
{
    static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    bool in_range = decimals >= 1 && decimals <= 6 && value >= 0 && !signbit(value);
    double scaled = in_range ? value * power[decimals] : -1;
    if (!in_range || !(scaled < 0x1p40)) {
        out_printf(o, "%*.*f", width, decimals, value);
        return;
    }
    uint64_t whole = (uint64_t)scaled;
    double fraction = scaled - (double)whole;
    if (fabs(fraction - 0.5) < 0x1p-12) {
        out_printf(o, "%*.*f", width, decimals, value);
        return;
    }
    whole += fraction > 0.5;
    char text[32], *end = text + sizeof text, *start = end;
    for (int i = 0; i < decimals; i++, whole /= 10)
        *--start = (char)('0' + whole % 10);
    *--start = '.';
    start = digits_before(start, whole);
    out_padded(o, start, (size_t)(end - start), width);
}

void out_shortest(struct out *o, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    out_str(o, text);
}

void out_field(struct out *o, const char *text, int width)
{
    size_t len = strnlen(text, (size_t)width);
    out_bytes(o, text, len);
    out_spaces(o, (size_t)width - len);
}

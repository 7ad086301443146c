/* Output buffer and number formatting. */
#include "output/out.h"

#include "base/arena.h"
#include "output/digits.h"

#include <errno.h>
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
    free(o->lacking);
    *o = (struct out){.fd = -1};
}

static void write_all(struct out *o, const char *text, size_t len)
{
    for (size_t done = 0; done < len && !o->error;) {
        ssize_t n = write(o->fd, text + done, len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EINTR)
            o->error = errno;
    }
}

void out_flush(struct out *o)
{
    write_all(o, o->at, o->len);
    o->len = 0;
}

bool out_finish(struct out *o, const char *name, struct err *e)
{
    if (o->fd >= 0)
        out_flush(o);
    if (o->error)
        return err_errno(e, name, o->error);
    return !o->lacking || err_set(e, "%s", o->lacking);
}

void out_lacks(struct out *o, const struct err *why)
{
    if (!errno_is_trouble(why->system) || o->lacking)
        return;
    o->lacking = strdup(why->line);
    if (!o->lacking)
        memory_exhausted(strlen(why->line));
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

void out_bytes_slowly(struct out *o, const char *text, size_t len)
{
    if (o->fd >= 0 && len >= BUFFER / 2) { /* not worth a copy */
        out_flush(o);
        write_all(o, text, len);
        return;
    }
    out_room(o, len);
    memcpy(o->at + o->len, text, len);
    o->len += len;
}

void out_printf(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out_vprintf(o, format, args);
    va_end(args);
}

void out_vprintf(struct out *o, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    char *room = o->at ? o->at + o->len : NULL;
    size_t space = o->cap - o->len;
    int len = vsnprintf(room, space, format, args);
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

void out_u64(struct out *o, uint64_t value, int width)
{
    out_room(o, DIGITS_ROOM);
    o->len = (size_t)(digits_u64(o->at + o->len, value, (unsigned)width) - o->at);
}

void out_u64_left(struct out *o, uint64_t value, int width)
{
    out_room(o, DIGITS_ROOM);
    o->len = (size_t)(digits_u64_left(o->at + o->len, value, (unsigned)width) - o->at);
}

void out_fixed(struct out *o, double value, int width, int decimals)
{
    out_room(o, DIGITS_ROOM);
    o->len =
        (size_t)(digits_fixed(o->at + o->len, value, (unsigned)width, (unsigned)decimals) - o->at);
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

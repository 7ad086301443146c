/* Buffered text output with the number formats of reports.
 *
 * An `out` writes to a file descriptor, or grows in memory when `fd` is -1. A failed write is kept
 * in `error` (an errno) and everything after it is dropped; out_close() reports it once. */
#ifndef MONARC_OUTPUT_OUT_H
#define MONARC_OUTPUT_OUT_H

#include "base/err.h"

#include <stdarg.h>
#include <string.h>

struct out {
    char *at;
    size_t len, cap;
    int fd;
    int error;
    char *lacking; /* out_lacks(): the first reason */
};

void out_init(struct out *o, int fd);
void out_deinit(struct out *o);
void out_flush(struct out *o);

/* Flushes and says whether everything arrived; `name` is what the message calls the output. */
MUST_CHECK bool out_finish(struct out *o, const char *name, struct err *e);

/* The output goes on without something that could not be had, if the system is to blame for it
 * (errno_is_trouble); out_finish() then fails with the first such reason. */
void out_lacks(struct out *o, const struct err *why);

/* Room for `n` more bytes at o->at + o->len. */
void out_room(struct out *o, size_t n);

/* A place for at most `n` bytes that a report puts together itself, in loops that are worth it; and
 * the end of what was written there. Nothing else may be printed in between. */
static inline char *out_begin(struct out *o, size_t n)
{
    if (o->cap - o->len < n)
        out_room(o, n);
    return o->at + o->len;
}

static inline void out_end(struct out *o, const char *end)
{
    o->len = (size_t)(end - o->at);
}

/* For what out_bytes() has no room for. */
void out_bytes_slowly(struct out *o, const char *text, size_t len);

static inline void out_bytes(struct out *o, const char *text, size_t len)
{
    if (!len) /* there may be no buffer yet */
        return;
    if (o->cap - o->len < len) {
        out_bytes_slowly(o, text, len);
        return;
    }
    memcpy(o->at + o->len, text, len);
    o->len += len;
}

/* printf; %s takes any bytes, so that names go through text_name() instead. */
void out_printf(struct out *o, const char *format, ...) PRINTF_LIKE(2, 3);
void out_vprintf(struct out *o, const char *format, va_list args);

static inline void out_str(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

static inline void out_char(struct out *o, char c)
{
    if (o->len == o->cap)
        out_room(o, 1);
    o->at[o->len++] = c;
}

/* For indentation and blank columns. */
void out_spaces(struct out *o, size_t n);

/* printf's `%*.*f` with 1 to 6 decimals and a width up to 64, to the last digit. */
void out_fixed(struct out *o, double value, int width, int decimals);

/* The shortest decimal that reads back as the same finite double. */
void out_shortest(struct out *o, double value);

/* printf's `%*lu` and, for out_u64_left, `%-*lu`. */
void out_u64(struct out *o, uint64_t value, int width);
void out_u64_left(struct out *o, uint64_t value, int width);

/* Text in a field: `%-*.*s` (left) with both width and maximum. Counts bytes, as printf does. */
void out_field(struct out *o, const char *text, int width);

/* Calls print(i, o, context) for each i below `pieces`, several at a time on up to `threads`
 * threads (0: as many as this process may use), each with a buffer `o` of its own, and appends what
 * they print to `out` in order. Some dozens of pieces are in memory at once; at about 64 kB each
 * they stay in the caches. One thread prints to `out` itself. */
void out_parallel(struct out *out, size_t pieces, unsigned threads,
                  void (*print)(size_t i, struct out *o, void *context), void *context);

#endif

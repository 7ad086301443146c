/* The buffer in which every report is written, numbers as digits, and printing on several threads.
 *
 * Bytes collect in one block of memory and leave it in writes of 64 KiB; a text of half that size
 * passes by without a copy. Without a descriptor the block grows instead, by doubling, so that what
 * is printed costs a constant time a byte. The first error of a write is kept and ends all output:
 * a full disk is reported once, by out_finish(), and not by each of a thousand printers.
 *
 * printf is called where its format is worth the time (some 100 ns a number); columns of numbers go
 * through digits_fixed(), which gives the same digits in a tenth of that. Only negative, huge and
 * special values are left to printf there, and a fraction of exactly one half needs a look at the
 * rounding error of the product: both stand here.
 *
 * out_parallel() prints pieces of a report on several threads into a ring of buffers. */
#include "output/out.h"

#include "base/arena.h"
#include "base/parallel.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
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

/* A write that is interrupted goes on; one that fails ends all output of this `out`. */
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

/* Prose of which nothing is printed yet is still to come. */
void out_flush(struct out *o)
{
    bool is_ahead = o->prose == o->len + 1;
    out_prose_end(o);
    write_all(o, o->at, o->len);
    o->len = 0;
    o->prose = is_ahead;
}

bool out_finish(struct out *o, const char *name, struct err *e)
{
    if (o->fd >= 0)
        out_flush(o);
    if (o->error)
        return err_errno(e, name, o->error);
    return !o->lacking || err_set(e, "%s", o->lacking);
}

/* Only the first reason is reported: later ones mostly follow from it. */
void out_lacks(struct out *o, const struct err *why)
{
    if (!errno_hides_file(why->system) || o->lacking)
        return;
    o->lacking_errno = why->system;
    o->lacking = strdup(why->line);
    if (!o->lacking)
        memory_exhausted(strlen(why->line));
}

/* With a descriptor what is there leaves first, so that the block stays at its size but for a
 * single text that is larger. */
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

/* printf into the block itself: a second time, with room, where the text did not fit the first. */
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
    if (!n) /* of an empty buffer there is no place yet */
        return;
    out_room(o, n);
    memset(o->at + o->len, ' ', n);
    o->len += n;
}

void out_u64(struct out *o, uint64_t value, int width)
{
    out_end(o, digits_u64(out_begin(o, DIGITS_ROOM), value, (unsigned)width));
}

void out_u64_left(struct out *o, uint64_t value, int width)
{
    out_end(o, digits_u64_left(out_begin(o, DIGITS_ROOM), value, (unsigned)width));
}

void out_fixed(struct out *o, double value, int width, int decimals)
{
    char *to = out_begin(o, DIGITS_ROOM);
    out_end(o, digits_fixed(to, value, (unsigned)width, (unsigned)decimals));
}

/* What `%.15g` writes of a number with few decimals, as most amounts are; NULL for others. A whole
 * number below 2^53 and a power of ten are exact, so that their quotient is the double that the
 * decimal reads back as. Smaller numbers have an exponent. */
static char *digits_short(char *to, double value)
{
    enum { MOST_DECIMALS = 9 };
    const double most = 1e15 - 1, least = 1e-4;
    double power = 1;
    if (!(value >= least) && (value != 0 || 1 / value < 0))
        return NULL;
    for (unsigned decimals = 0; decimals <= MOST_DECIMALS; decimals++, power *= 10) {
        if (value * power >= most)
            return NULL;
        uint64_t whole = (uint64_t)(value * power + 0.5), divisor = (uint64_t)power;
        if ((double)whole / power != value)
            continue;
        to = digits_u64(to, whole / divisor, 0);
        if (decimals)
            *to++ = '.';
        digits_put(to, whole % divisor, decimals);
        return to + decimals;
    }
    return NULL;
}

/* 15 digits are enough for most doubles that people meet, 17 for every one. */
void out_shortest(struct out *o, double value)
{
    char text[32], *end = digits_short(out_begin(o, DIGITS_ROOM), value);
    if (end) {
        out_end(o, end);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    out_str(o, text);
}

/* --- numbers ---------------------------------------------------------------------------------- */

char *digits_fixed_rare(char *to, double value, unsigned width, unsigned decimals)
{
    return to + snprintf(to, DIGITS_ROOM, "%*.*f", (int)width, (int)decimals, value);
}

bool digits_half_rounds_up(double value, double power, double scaled)
{
    double error = fma(value, power, -scaled);
    return error > 0 || (error == 0 && (uint64_t)scaled % 2);
}

/* --- several threads -------------------------------------------------------------------------- */

/* The thread that finds the oldest piece ready appends it; others print the next one, as long as
 * the ring has a free buffer. The lock is let go while either works, so that a slow write does not
 * stop the printing, and pieces reach `out` in the order of their numbers.
 *
 * As many buffers as keep threads from waiting for each other; more would only take memory. */
enum { RING_BUFFERS = 24, BUFFERS_A_THREAD = 4 };

struct ring {
    void (*print)(size_t i, struct out *o, void *context);
    void *context;
    struct out *out;
    size_t pieces, buffers_len;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t started, appended; /* pieces appended <= started <= appended + buffers_len */
    bool is_appending;
    bool is_ready[RING_BUFFERS];
    struct out buffers[RING_BUFFERS];
};

static void ring_work(size_t thread, void *context)
{
    (void)thread;
    struct ring *b = context;
    pthread_mutex_lock(&b->lock);
    while (b->appended < b->pieces) {
        size_t oldest = b->appended % b->buffers_len;
        if (b->is_ready[oldest] && !b->is_appending) {
            /* Appending comes first: it is what makes room for further pieces. */
            struct out *buffer = &b->buffers[oldest];
            b->is_appending = true;
            pthread_mutex_unlock(&b->lock);
            if (b->out->fd >= 0 && buffer->len >= BUFFER / 2)
                out_bytes_slowly(b->out, buffer->at, buffer->len);
            else
                out_bytes(b->out, buffer->at, buffer->len);
            buffer->len = 0;
            pthread_mutex_lock(&b->lock);
            b->is_ready[b->appended++ % b->buffers_len] = false;
            b->is_appending = false;
            pthread_cond_broadcast(&b->changed);
        } else if (b->started < b->pieces && b->started < b->appended + b->buffers_len) {
            size_t i = b->started++;
            pthread_mutex_unlock(&b->lock);
            b->print(i, &b->buffers[i % b->buffers_len], b->context);
            pthread_mutex_lock(&b->lock);
            b->is_ready[i % b->buffers_len] = true;
            pthread_cond_broadcast(&b->changed);
        } else {
            pthread_cond_wait(&b->changed, &b->lock);
        }
    }
    pthread_mutex_unlock(&b->lock);
}

/* With one thread pieces go to `out` directly: the bytes are the same. */
void out_parallel(struct out *out, size_t pieces, unsigned threads,
                  void (*print)(size_t i, struct out *o, void *context), void *context)
{
    threads = threads ? threads : parallel_cpus();
    if (threads == 1 || pieces == 1) {
        for (size_t i = 0; i < pieces; i++)
            print(i, out, context);
        return;
    }
    size_t workers = threads < pieces ? threads : pieces;
    struct ring b = {.print = print,
                     .context = context,
                     .out = out,
                     .pieces = pieces,
                     .buffers_len = workers * BUFFERS_A_THREAD < RING_BUFFERS
                                        ? workers * BUFFERS_A_THREAD
                                        : RING_BUFFERS,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    for (size_t i = 0; i < RING_BUFFERS; i++)
        out_init(&b.buffers[i], -1);
    parallel_for(workers, (unsigned)workers, ring_work, &b);
    for (size_t i = 0; i < RING_BUFFERS; i++)
        out_deinit(&b.buffers[i]);
}

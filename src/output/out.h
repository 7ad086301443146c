/* Text on its way out: a buffer; numbers in fields; names and markup that are safe to print;
 * packing what is whole; and how far a long command is.
 *
 * An `out` writes to a file descriptor, or grows in memory when `fd` is -1. A failed write is kept
 * in `error` (an errno) and everything after it is dropped; out_close() reports it once. */
#ifndef MONARC_OUTPUT_OUT_H
#define MONARC_OUTPUT_OUT_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct out {
    char *at;
    size_t len, cap;
    int fd;
    int error;
    char *lacking;     /* out_lacks(): the first reason */
    int lacking_errno; /* and its errno */
    int columns;       /* of the terminal it goes to, at which prose folds; 0: it never does */
    size_t prose;      /* where prose begins in the buffer, + 1; 0: there is none */
};

void out_init(struct out *o, int fd);
void out_deinit(struct out *o);
void out_flush(struct out *o);

/* Flushes and says whether everything arrived; `name` is what the message calls the output. */
MUST_CHECK bool out_finish(struct out *o, const char *name, struct err *e);

/* The output goes on without something that may be there but could not be read
 * (errno_hides_file); out_finish() then fails with the first such reason. */
void out_lacks(struct out *o, const struct err *why);

/* The words of a text in the columns from `indent`, where the line is now, to `width`. A word
 * longer than that stands alone, uncut: a path or an option that was broken could not be copied.
 * Columns are counted in bytes. */
void text_words(struct out *o, const char *text, int indent, int width);

/* What is printed from here to out_prose_end(), or to the next empty line, is sentences: their
 * lines fold between words at `columns`. A figure stays with its unit. */
void out_prose(struct out *o);
void out_prose_end(struct out *o);

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

/* Calls print(i, o, context) for each i below `pieces`, several at a time on up to `threads`
 * threads (0: as many as this process may use), each with a buffer `o` of its own, and appends what
 * they print to `out` in order. Some dozens of pieces are in memory at once; at about 64 kB each
 * they stay in the caches. One thread prints to `out` itself. */
void out_parallel(struct out *out, size_t pieces, unsigned threads,
                  void (*print)(size_t i, struct out *o, void *context), void *context);

/* ---- Numbers as text, in fields, straight into memory that the caller has made room for.
 *
 * Each function writes at `to` and returns the end of what it wrote, at most DIGITS_ROOM bytes
 * further on. The results are printf's, to the last digit. */

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

/* ---- Text for people and for markup: names without control characters, amounts in columns, heat;
 * texts in Markdown, XML, SVG and Graphviz' language.
 *
 * Names come from files of unknown origin. Whatever their bytes are, a terminal does not obey them,
 * a line does not end in them, and markup does not take them for its own. */

enum name_style { NAME_SHOWN, NAME_LINKAGE_TOO };

struct text_style {
    bool has_colour;
    enum name_style names;
    int width; /* rows should fit this many columns; 0: all columns, and names are whole */
};

/* A control byte, also a lone one of C1, as `?`; a C1 control (U+0080 to U+009F) or a character
 * that turns the direction of writing (U+202A to U+202E, U+2066 to U+2069) as `\u202e`: symbols may
 * hold any byte, terminals obey them, and a name with the latter reads as another. */
void text_name(struct out *out, const char *name);

/* Its columns. A character counts as one: wide ones of East Asia and combining marks are rare in
 * names. */
int text_name_width(const char *name, size_t len);

/* The same, with each character `bad` as `good`. */
void text_name_without(struct out *out, const char *name, char bad, char good);

/* The ending of a noun after a number: "1 run", "2 runs". */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* What a list leaves out, as its last line: "[2 more lines, not shown: --all]". `noun` names one of
 * them; "": the list says what they are. `how` is the option that shows them; NULL: the reader has
 * chosen how many to see. Nothing where `n` is 0. */
void text_more(struct out *out, uint64_t n, const char *noun, const char *how);
void text_name_n(struct out *out, const char *name, size_t len);

/* " [libx.so]", after the name of what is in it; names with brackets of their own get none. */
void text_object(struct out *out, const char *name);

/* The number of the character at `at` that text_name() escapes, which takes *len bytes; 0 if there
 * is none. `left`: how many bytes there are, at least one. */
uint32_t text_hidden(const char *at, size_t left, size_t *len);

/* The same of a name of `len` bytes in at most `room` columns: of a longer one the middle is left
 * out, since names differ at both ends. A character counts as one column. */
void text_name_within(struct out *out, const char *name, size_t len, int room);

/* On a terminal, as much of a text as its line has room for after `used` columns, up to the end of
 * a clause; elsewhere all of it. */
void text_clause(struct out *out, const char *text, int used);

/* The same of a path, which loses its beginning: the end of a path tells files apart. */
void text_path_within(struct out *out, const char *path, size_t len, int room);

/* "SIGKILL"; "SIG34" where the C library has no name for it. */
void text_signal(char *into, size_t size, int number);

/* At most four digits and a unit, "12.34 us"; the abbreviation is the dimension's. 14 bytes are
 * enough. `error` is what the amount may be off by, as a part of it: of 0.3 two digits are left,
 * "12 us", and of 1 or more one, "10 us". */
void text_amount(char *into, size_t size, double amount, double error, char abbreviation);

/* The rule of decimals, for each figure that may be off: of an error's first two digits both are
 * shown up to 35, and the first alone from 36 on, as the Particle Data Group rounds ("Review of
 * Particle Physics", 5.3): 18.3 +- 2.4, 18 +- 4, 0.0123 +- 0.0005. At most six. */
int text_error_decimals(double error);

/* A figure of a column: with the decimals that its error leaves, `decimals` at most, and blanks for
 * those that it has not, so that points stand below each other. `error` 0: it is exact. */
void text_known(struct out *out, double value, double error, int width, int decimals);

/* How many decimals that are, for text without columns. */
int text_known_decimals(double error, int decimals);

/* The same of a change, with its sign and a mark at its end, which takes no part of the width. */
void text_known_change(struct out *out, double change, double error, int width, int decimals,
                       const char *mark);

/* The same for a share, 0 to 1, as percent. It has one decimal at least, however unsure it is, as
 * figures without a point would be taken for counts; 100 % has all, to say that nothing is missing.
 */
void text_known_share(struct out *out, double share, double error, int width, int decimals);

/* The size of a file for people: "512 bytes", "9.8 kB", "418 kB", "1.3 MB"; a kB has 1000. */
void text_bytes(struct out *out, uint64_t bytes);

/* Starts and ends the colour that a share of all time deserves. */
void text_heat_on(struct out *out, const struct text_style *style, double share);
void text_heat_off(struct out *out, const struct text_style *style, double share);

/* Decimal digits of a number. */
int text_digits(uint64_t value);

/* --- markup ----------------------------------------------------------------------------------- */

/* Text that stays text in Markdown, in a table too. */
void text_markdown(struct out *out, const char *value);

/* Text in XML 1.0; what XML cannot hold is U+FFFD. An attribute is a space, the key, and the value
 * in quotes. */
void xml_text(struct out *out, const char *value);
void xml_attribute(struct out *out, const char *key, const char *value);

/* Text of an element of SVG or of an attribute in double quotes. Other than xml_text() it takes a
 * length, and a control byte is `?`: pictures are for viewing, not for parsing. */
void svg_text(struct out *out, const char *text, size_t len);

static inline void svg_str(struct out *out, const char *text)
{
    svg_text(out, text, strlen(text));
}

/* The same in at most `room` characters: of a longer one the middle is left out. Nothing if so
 * little room is left that it would say nothing. */
void svg_text_within(struct out *out, const char *text, size_t len, int room);

/* ` name="value"`, in hundredths of a pixel. */
void svg_length(struct out *out, const char *name, double value);

/* What stands between quotes in Graphviz' language: the text cannot end there, and is UTF-8. */
void dot_quoted(struct out *out, const char *text, size_t len);

/* ---- Packed and re-coded bytes: DEFLATE, gzip, base64. All take a text that is whole in memory.
 */

/* A bare DEFLATE stream (RFC 1951), which browsers call deflate-raw. malloc'ed; the caller frees
 * what `at` points to. */
struct bytes deflate_raw(struct bytes bytes);

/* One gzip member (RFC 1952); owned as above. */
struct bytes gzip_pack(struct bytes bytes);

/* Writes `bytes` compressed by gzip to `path`, which it makes or empties first. */
MUST_CHECK bool gzip_write(const char *path, struct bytes bytes, struct err *e);

/* Base64 text (RFC 4648), without line breaks. */
void base64_write(struct out *out, struct bytes bytes);

/* ---- How far a long command is, as one line on a terminal's standard error that is gone in the
 * end.
 *
 * Nothing is said in the first second, nor where standard error is no terminal, is TERM=dumb's, or
 * is another process group's. A thread of its own writes the line, so that work without pieces to
 * count shows for how long it goes on. All functions take NULL, which says nothing. */

struct progress;

/* NULL where there is no terminal to write to. End it before anything else is written to the
 * terminal. */
struct progress *progress_start(void);

/* What is done from now on: "reading profiles"; `what` outlives the phase. `pieces` is how many
 * steps it takes; 0: that is not known. */
void progress_phase(struct progress *p, const char *what, size_t pieces);

/* One piece more is done; from any thread. */
void progress_step(struct progress *p);

/* Takes the line away. */
void progress_end(struct progress *p);

#endif

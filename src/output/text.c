/* Names as people may see them, amounts, heat, folded prose, and the escapes of four languages of
 * markup.
 *
 * A symbol, a path or a comment in a tracefile may hold any byte. Three kinds of them do harm where
 * they are shown: control bytes below 0x20, 0x7f and lone ones from 0x80 to 0x9f, which a terminal
 * obeys and which end a line; the latter as UTF-8 (C1: a terminal takes U+009B for ESC [); and the
 * characters that turn the direction of writing, with which a name reads as another one ("Trojan
 * Source", CVE-2021-42574). The first become `?`, one column each, as they always did in tables;
 * the others are rare and become their number, so that a reader can look it up.
 *
 * In XML 1.0 (sections 2.2 and 2.4), SVG and Graphviz a text must be UTF-8 besides: what is not
 * becomes U+FFFD. */
#include "output/out.h"

#include "base/arena.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- names ------------------------------------------------------------------------------------ */

/* In UTF-8: C1 is c2 80 to c2 9f, the directions are e2 80 aa to ae and e2 81 a6 to a9. */
uint32_t text_hidden(const char *at, size_t left, size_t *len)
{
    const uint8_t *c = (const uint8_t *)at;
    if (c[0] == 0xc2 && left > 1 && c[1] >= 0x80 && c[1] < 0xa0) {
        *len = 2;
        return c[1];
    }
    if (c[0] != 0xe2 || left < 3)
        return 0;
    *len = 3;
    if (c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae)
        return 0x2000u + (c[2] & 0x3f);
    return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9 ? 0x2040u + (c[2] & 0x3f) : 0;
}

/* Of eight bytes none is a control character, DEL or a part of a longer character. */
static bool text_is_plain(uint64_t eight)
{
    return !((eight | (eight - 0x2020202020202020) | (eight + 0x0101010101010101)) &
             0x8080808080808080);
}

void text_name_n(struct out *out, const char *name, size_t len)
{
    enum { ESCAPE = 6, SHORTEST = 2 }; /* `\u0080` for two bytes */
    char *begin = out_begin(out, len / SHORTEST * ESCAPE + len % SHORTEST + 1), *to = begin;
    for (size_t i = 0, n; i < len;) {
        /* Nearly all names are plain ASCII: eight bytes at once, as long as all of them are plain.
         * What is left over is the end of the last eight, if all before was plain as well. */
        uint64_t eight;
        while (i + sizeof eight <= len) {
            memcpy(&eight, name + i, sizeof eight);
            if (!text_is_plain(eight))
                break;
            memcpy(to, name + i, sizeof eight);
            to += sizeof eight;
            i += sizeof eight;
        }
        if (i >= sizeof eight && i < len && len - i < sizeof eight && to == begin + i) {
            memcpy(&eight, name + len - sizeof eight, sizeof eight);
            if (text_is_plain(eight)) {
                memcpy(begin + len - sizeof eight, &eight, sizeof eight);
                to = begin + len;
                break;
            }
        }
        if (i == len)
            break;
        uint32_t hidden = (unsigned char)name[i] < 0xc2 ? 0 : text_hidden(name + i, len - i, &n);
        if (hidden) {
            to += sprintf(to, "\\u%04" PRIx32, hidden);
            i += n;
            continue;
        }
        n = shown_length((const uint8_t *)name + i, len - i);
        if (n)
            memcpy(to, name + i, n);
        else
            *to = '?', n = 1;
        to += n;
        i += n;
    }
    out_end(out, to);
}

void text_name_without(struct out *out, const char *name, char bad, char good)
{
    for (size_t n;; name += n + 1) {
        n = strcspn(name, (char[]){bad, 0});
        text_name_n(out, name, n);
        if (!name[n])
            break;
        out_char(out, good);
    }
}

void text_name(struct out *out, const char *name)
{
    text_name_n(out, name, strlen(name));
}

void text_signal(char *into, size_t size, int number)
{
#ifdef HAVE_SIGABBREV_NP /* glibc 2.32 */
    const char *name = sigabbrev_np(number);
    if (name) {
        snprintf(into, size, "SIG%s", name);
        return;
    }
#endif
    snprintf(into, size, "SIG%d", number);
}

void text_more(struct out *out, uint64_t n, const char *noun, const char *how)
{
    size_t len = strlen(noun);
    bool is_entry = n != 1 && len && noun[len - 1] == 'y'; /* "entries" */
    if (!n)
        return;
    out_printf(out, "[%" PRIu64 " more%s%.*s%s, not shown", n, len ? " " : "", (int)len - is_entry,
               noun,
               is_entry ? "ies"
               : len    ? text_plural(n)
                        : "");
    out_printf(out, how ? ": %s]\n" : "]\n", how);
}

void text_object(struct out *out, const char *name)
{
    out_str(out, *name == '[' ? " " : " [");
    text_name(out, name);
    out_str(out, *name == '[' ? "" : "]");
}

static bool is_continued(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

int text_name_width(const char *name, size_t len)
{
    int columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += !is_continued(name[i]);
    return columns;
}

/* The byte at which column `column` begins. */
static size_t text_byte_of(const char *name, size_t len, int column)
{
    size_t i = 0;
    for (; i < len; i++)
        if (!is_continued(name[i]) && column-- == 0)
            break;
    return i;
}

static const char GAP[] = "...";

/* The beginning goes, since the end of a path tells files apart. */
void text_path_within(struct out *out, const char *path, size_t len, int room)
{
    int columns = text_name_width(path, len), kept = room - (int)sizeof GAP + 1;
    size_t from = columns > room && kept > 0 ? text_byte_of(path, len, columns - kept) : 0;
    if (from)
        out_str(out, GAP);
    text_name_n(out, path + from, len - from);
}

/* The middle goes, since names differ at both ends: namespaces in front, parameters at the end. */
void text_name_within(struct out *out, const char *name, size_t len, int room)
{
    enum { LEAST = 2 + sizeof GAP };
    int columns = text_name_width(name, len), kept = room - (int)sizeof GAP + 1;
    if (columns <= room || room < LEAST) {
        text_name_n(out, name, len);
        return;
    }
    size_t tail = text_byte_of(name, len, columns - kept / 2);
    text_name_n(out, name, text_byte_of(name, len, kept - kept / 2));
    out_str(out, GAP);
    text_name_n(out, name + tail, len - tail);
}

void text_clause(struct out *out, const char *text, int used)
{
    size_t len = strlen(text), end = 0;
    int room = out->columns - used;
    for (size_t i = 1; i < len && (int)i <= room; i++)
        if ((strchr(":;,", text[i]) && text[i + 1] == ' ') || !strncmp(text + i, " (", 2))
            end = i;
    text_name_n(out, text, (int)len <= room || room <= 0 || !end ? len : end);
}

/* --- amounts and heat ------------------------------------------------------------------------- */

/* A unit below one thousandth of the dimension is never needed: prefixes go down to femto. */
void text_amount(char *into, size_t size, double amount, double error, char abbreviation)
{
    enum { MOST = 4 };
    static const char prefixes[] = "fpnum";
    size_t prefix = sizeof prefixes - 1; /* none */
    /* The last digit that is shown is the first one of the error, or a better one. */
    double wanted = error > 0 ? 1 - floor(log10(error)) : MOST;
    int digits = wanted < 1 ? 1 : wanted > MOST ? MOST : (int)wanted;
    if (amount > 0) {
        double last = pow(10, floor(log10(amount)) + 1 - digits);
        amount = digits < MOST ? round(amount / last) * last : amount;
    }
    double shown = amount;
    while (shown > 0 && shown < 0.99995 && prefix) {
        shown *= 1000;
        prefix--;
    }
    /* Digits before the point as they will be after rounding. */
    int whole = shown < 9.9995 ? 1 : shown < 99.995 ? 2 : shown < 999.95 ? 3 : 4;
    int decimals = digits > whole ? digits - whole : 0;
    bool is_visible = abbreviation > ' ' && abbreviation <= '~';
    char unit = is_visible ? abbreviation : '?', text[DIGITS_ROOM + 3], *end = text;
    if (amount <= 0)
        *end++ = '0';
    else if (decimals)
        end = digits_fixed(end, shown, 0, (unsigned)decimals);
    else if (shown < 0x1p50)
        end = digits_u64(end, digits_round(shown, 1), 0);
    else
        end += sprintf(end, "%.0f", shown);
    *end++ = ' ';
    if (amount > 0 && prefixes[prefix])
        *end++ = prefixes[prefix];
    *end++ = unit;
    size_t len = (size_t)(end - text) < size ? (size_t)(end - text) : size - 1;
    memcpy(into, text, len);
    into[len] = '\0';
}

int text_error_decimals(double error)
{
    enum { MOST = 6 };
    const double one_digit = 3.55; /* from here on the second digit of the error says too little */
    int decimals = 0;
    for (; decimals < MOST && error < one_digit; error *= 10)
        decimals++;
    return decimals;
}

int text_known_decimals(double error, int decimals)
{
    int known = error > 0 ? text_error_decimals(error) : decimals;
    return known < decimals ? known : decimals;
}

void text_known_change(struct out *out, double change, double error, int width, int decimals,
                       const char *mark)
{
    int known = text_known_decimals(error, decimals);
    int blanks = known < decimals ? decimals - known + !known : 0;
    /* What rounds to nothing has no sign. */
    bool is_nothing = fabs(change) < 0.5 * pow(10, -known);
    out_printf(out, is_nothing ? "%*.*f%s%*s" : "%+*.*f%s%*s", width - blanks, known,
               is_nothing ? 0. : change, mark, blanks, "");
}

/* printf is for what out_fixed() and out_u64() do not know. */
void text_known(struct out *out, double value, double error, int width, int decimals)
{
    int known = text_known_decimals(error, decimals);
    int blanks = known < decimals ? decimals - known + !known : 0;
    width = width > blanks ? width - blanks : 0;
    if (known)
        out_fixed(out, value, width, known);
    else if (value >= 0 && value < 0x1p52)
        out_u64(out, (uint64_t)llrint(value), width);
    else
        out_printf(out, "%*.0f", width, value);
    out_spaces(out, (size_t)blanks);
}

void text_known_share(struct out *out, double share, double error, int width, int decimals)
{
    const double most = 3.5; /* of an error that leaves one decimal */
    bool is_all = share > 1 - 1e-6;
    text_known(out, 100 * share, is_all ? 0 : fmin(100 * error, most), width, decimals);
}

/* Two digits at least; 999.5 of a unit are one of the next. */
void text_bytes(struct out *out, uint64_t bytes)
{
    static const char units[] = "kMGTPE";
    double shown = (double)bytes / 1000;
    size_t unit = 0;
    if (bytes < 1000) {
        out_printf(out, "%" PRIu64 " byte%s", bytes, text_plural(bytes));
        return;
    }
    for (; shown >= 999.5; shown /= 1000)
        unit++;
    out_printf(out, "%.*f %cB", shown < 9.95 ? 1 : 0, shown, units[unit]);
}

enum { WARM = 2, HOT = 10 }; /* percent of all time */

void text_heat_on(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, 100 * share >= HOT ? "\033[1;31m" : "\033[33m");
}

void text_heat_off(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, "\033[0m");
}

int text_digits(uint64_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

/* --- prose ------------------------------------------------------------------------------------ */

/* A table keeps to the width by its columns, sentences by line breaks between words. What is
 * printed from out_prose() on stays in the buffer; where the prose ends, each line of it that is
 * too long becomes several:
 *
 *     0.262 s of CPU in 0.567 s: 29 % in memmove       a sentence goes on two columns further in,
 *       [libc.so.6], called by copy                    so that it is no new one
 *     Program  ./a.out --with=many                     what follows a label, below its text
 *              --options
 *
 * A word is never cut: a path, a name or an option that was broken could not be copied. One that is
 * longer than the line sticks out of it. Linear in the prose, some hundred bytes of a report. */
enum { LABEL = 9, LEAST_TEXT = 24, SENTENCE = 2 };

/* Columns of the text up to `len`; colour takes none. */
static int fold_width(const char *at, size_t len)
{
    int columns = 0;
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '\033')
            while (i < len && at[i] != 'm')
                i++;
        else
            columns += ((unsigned char)at[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* Where a line goes on. "Profile  a.monarc" and "         of it: ..." have nine columns of their
 * own, and so has no sentence: a word of it ends in one space. */
static int fold_indent(const char *line, size_t len, int columns)
{
    size_t blanks = 0, word = 0;
    if (len && *line == '\033') {
        const char *end = memchr(line, 'm', len);
        size_t colour = end ? (size_t)(end - line) + 1 : 0;
        line += colour;
        len -= colour;
    }
    while (blanks < len && line[blanks] == ' ')
        blanks++;
    while (word < len && line[word] != ' ')
        word++;
    bool has_label = len > LABEL && word < LABEL - 1 && line[LABEL] != ' ';
    for (size_t i = word; i < LABEL && has_label; i++)
        has_label = line[i] == ' ';
    int indent = has_label                               ? LABEL
                 : len > 4 && !memcmp(line, "+-: ", 4)   ? 4
                 : len > 6 && !memcmp(line, "Next: ", 6) ? 6 + SENTENCE
                                                         : (int)blanks + SENTENCE;
    return columns - indent < LEAST_TEXT ? SENTENCE : indent;
}

/* A command that "Next: " proposes is copied as a whole: it ends in the first gap of two spaces, or
 * with the line, and what is said of it folds to a line of its own. */
static size_t fold_command(const char *line, size_t len)
{
    static const char next[] = "Next: ", blanks[] = "      ";
    enum { BEFORE = sizeof next - 1 };
    if (len <= BEFORE || line[BEFORE] == ' ' ||
        (memcmp(line, next, BEFORE) != 0 && memcmp(line, blanks, BEFORE) != 0))
        return 0;
    const char *gap = memmem(line + BEFORE, len - BEFORE, "  ", 2);
    return gap ? (size_t)(gap - line) : len;
}

/* Whether the space at `at` holds together what is one figure: "29 %", "0.262 s", "4 +- 1". */
static bool fold_is_tied(const char *line, size_t len, size_t at)
{
    static const char *const UNITS[] = {"%", "s", "ms", "us", "ns", "kB", "MB", "GB", "+-"};
    size_t n = 0;
    if (at >= 2 && !memcmp(line + at - 2, "+-", 2))
        return true;
    if (!at || line[at - 1] < '0' || line[at - 1] > '9')
        return false;
    while (at + 1 + n < len && !strchr(" ,;:.)", line[at + 1 + n]))
        n++;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (n == strlen(UNITS[i]) && !memcmp(line + at + 1, UNITS[i], n))
            return true;
    return false;
}

/* One line, without its end. */
static void fold_line(struct out *o, const char *line, size_t len, int columns)
{
    int indent = fold_indent(line, len, columns), used = 0;
    size_t from = 0, command = fold_command(line, len), at = command;
    if (fold_width(line, len) <= columns) {
        out_bytes(o, line, len);
        return;
    }
    while (!command && at < len && line[at] == ' ')
        at++;
    for (bool is_first = true; from < len; is_first = false) {
        while (at < len && (line[at] != ' ' || fold_is_tied(line, len, at)))
            at++;
        int width = fold_width(line + from, at - from);
        if (is_first || used + width <= columns) {
            out_bytes(o, line + from, at - from);
            used = command ? columns : used + width;
            command = 0;
        } else {
            while (line[from] == ' ')
                from++;
            out_char(o, '\n');
            out_spaces(o, (size_t)indent);
            out_bytes(o, line + from, at - from);
            used = indent + fold_width(line + from, at - from);
        }
        from = at;
        while (at < len && line[at] == ' ')
            at++;
        if (at == len) /* blanks at its end */
            break;
    }
}

void text_words(struct out *o, const char *text, int indent, int width)
{
    const char *start = text;
    size_t len = strlen(text);
    int column = indent;
    while (*text) {
        int word = 0;
        while (text[word] &&
               (text[word] != ' ' || fold_is_tied(start, len, (size_t)(text + word - start))))
            word++;
        if (column > indent && column + 1 + word > width) {
            out_char(o, '\n');
            out_spaces(o, (size_t)indent);
            column = indent;
        } else if (column > indent) {
            out_char(o, ' ');
            column++;
        }
        text_name_n(o, text, (size_t)word);
        column += word;
        text += word + (text[word] == ' ');
    }
}

void out_prose(struct out *o)
{
    out_prose_end(o);
    if (o->columns)
        o->prose = o->len + 1;
}

void out_prose_end(struct out *o)
{
    if (!o->prose)
        return;
    size_t from = o->prose - 1, len = o->len - from, done = 0;
    o->prose = 0; /* what is printed below is no prose any more */
    if (!len)
        return;
    char *text = malloc(len);
    if (!text)
        memory_exhausted(len);
    memcpy(text, o->at + from, len);
    o->len = from;
    while (done < len && text[done] == '\n')
        out_char(o, text[done++]);
    while (done < len) {
        const char *end = memchr(text + done, '\n', len - done);
        size_t line = end ? (size_t)(end - text) - done : len - done;
        if (!line) /* the first empty line ends the prose */
            break;
        fold_line(o, text + done, line, o->columns);
        done += line;
        if (end)
            out_char(o, text[done++]);
    }
    out_bytes(o, text + done, len - done);
    free(text);
}

/* --- markup ----------------------------------------------------------------------------------- */

void text_markdown(struct out *out, const char *value)
{
    for (size_t n; *value; value += n) {
        uint32_t hidden = text_hidden(value, strnlen(value, 3), &n);
        if (hidden) {
            out_printf(out, "\\\\u%04" PRIx32, hidden);
            continue;
        }
        if (strchr("\\`*_{}[]<>#|~&", *value))
            out_char(out, '\\');
        n = shown_length((const uint8_t *)value, strnlen(value, 4));
        if (n)
            out_bytes(out, value, n);
        else
            out_char(out, '?'), n = 1;
    }
}

/* Of the characters that end markup or begin an entity; NULL of the others. */
static const char *xml_escape(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* U+FFFE and U+FFFF are well-formed UTF-8, and no characters of XML. */
static bool xml_is_noncharacter(const uint8_t *at, size_t len)
{
    return len == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

/* Spaces that an attribute would lose, and controls that XML can hold and a terminal would obey,
 * are references by number. */
void xml_text(struct out *out, const char *value)
{
    const uint8_t *at = (const uint8_t *)value;
    for (size_t len; *at; at += len ? len : 1) {
        bool is_space = *at == '\t' || *at == '\n' || *at == '\r';
        len = *at < ' ' ? is_space : utf8_length(at, 4); /* no byte of a character is the NUL */
        if (xml_escape((char)*at))
            out_str(out, xml_escape((char)*at));
        else if (len && !shown_length(at, len))
            out_printf(out, "&#%u;", at[len - 1]);
        else if (len && !xml_is_noncharacter(at, len))
            out_bytes(out, (const char *)at, len);
        else
            out_str(out, UTF8_REPLACEMENT), len = 1;
    }
}

void xml_attribute(struct out *out, const char *key, const char *value)
{
    out_printf(out, " %s=\"", key);
    xml_text(out, value);
    out_char(out, '"');
}

void svg_text(struct out *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_length(at + i, len - i);
        const char *escape = xml_escape(text[i]);
        if (!n || xml_is_noncharacter(at + i, n))
            out_str(out, UTF8_REPLACEMENT);
        else if (!shown_length(at + i, n))
            out_char(out, '?');
        else if (escape)
            out_str(out, escape);
        else
            out_bytes(out, text + i, n);
    }
}

void svg_text_within(struct out *out, const char *text, size_t len, int room)
{
    enum { LEAST = 10 };
    struct out shortened;
    out_init(&shortened, -1);
    text_name_within(&shortened, text, len, room < LEAST ? LEAST : room);
    if (text_name_width(shortened.at, shortened.len) <= room)
        svg_text(out, shortened.at, shortened.len);
    out_deinit(&shortened);
}

/* Hundredths of a pixel are more than any screen shows, and keep pictures small. */
void svg_length(struct out *out, const char *name, double value)
{
    const double hundred = 100;
    out_printf(out, " %s=\"", name);
    out_shortest(out, round(value * hundred) / hundred);
    out_char(out, '"');
}

/* `&` would begin an entity, a backslash an escape. */
void dot_quoted(struct out *out, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_length((const uint8_t *)text + i, len - i);
        if (!n)
            out_str(out, UTF8_REPLACEMENT);
        else if (text[i] == '"' || text[i] == '\\')
            out_printf(out, "\\%c", text[i]);
        else if (text[i] == '&')
            out_str(out, "&amp;");
        else if (!shown_length((const uint8_t *)text + i, n))
            out_char(out, '?');
        else
            out_bytes(out, text + i, n);
    }
}

/* Reads and writes lcov tracefiles (.info). The bytes: docs/formats/lcov.md.
 *
 * A tracefile is sections of one source each, a record a line. Those of lcov 1 and 2 are read (with
 * aliases of functions, branches of exceptions, conditions); totals say nothing new and are passed
 * over, unknown records are counted. A known record outside a section is an error.
 *
 * A section counts only when its end_of_record is there: of a file that breaks off, the sections
 * that were whole are kept. Functions are found by name in a map of the section, texts are copied,
 * and time is linear in the file. Counts may be decimals with exponents, as some tools write them;
 * they are cut to whole numbers, and negative ones are 0 and are counted. Sections are written one
 * after the other with lcov 1's records, and lcov 2's `e` and MCDC where there is something to say
 * with them.
 *
 *     TN:test  SF:source             begin a section
 *     FN: FNDA: FNL: FNA:            functions     DA: lines     BRDA: branches    MCDC: conditions
 *     end_of_record                  ends it */
#include "coverage/format/format.h"

#include "base/bytes.h"
#include "base/map.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* --- counts in text: digits, and what some tools make of them -------------------------------- */

/* A stretch of the file; it has no NUL. */
struct text {
    const char *at, *end;
};

/* Whether there is a point or an exponent, so that most numbers take the short way. */
static bool is_decimal(struct text part)
{
    for (const char *c = part.at; c < part.end; c++)
        if (*c == '.' || *c == 'e' || *c == 'E')
            return true;
    return false;
}

/* Digits alone; more than there are numbers for are the largest. Saturates, as a tool may well have
 * overflowed before. */
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

/* Multiplied by ten to the `exponent`, cut to a whole number, at most INT64_MAX. Ends early: a
 * value that is 0 or beyond the limit does not change any more. */
static uint64_t scaled(uint64_t value, int64_t exponent)
{
    for (; exponent < 0 && value; exponent++)
        value /= 10;
    for (; exponent > 0 && value && value <= INT64_MAX; exponent--)
        value = value > UINT64_MAX / 10 ? UINT64_MAX : value * 10;
    return value > INT64_MAX ? INT64_MAX : value;
}

/* "1.5e3", whatever the locale's decimal point is: digits with a point among them, an exponent.
 * Digits beyond 64 bits are dropped and raise the exponent; those after the point lower it. */
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

/* --- reading --------------------------------------------------------------------------------- */

/* A line, or the rest of it. */

/* State of one file; what belongs to a section is emptied when it ends. */
struct reading {
    struct tracefile *out;
    const char *name;
    uint64_t number; /* of the line */
    const char *test;
    bool is_open;         /* between SF and end_of_record */
    struct map functions; /* lcov 2: index of FNL and 0 or 1 -> first or last line */
    struct intern names;  /* of the section's functions */
    struct err *e;
};

/* Errors of texts name a line, not an offset. */
static bool lcov_fail(struct reading *r, const char *what)
{
    return err_in(r->e, r->name, "line %llu: %s", (unsigned long long)r->number, what);
}

static bool lcov_starts(const struct text *t, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(t->end - t->at) >= len && !memcmp(t->at, word, len);
}

/* Takes `word` from the front. */
static bool lcov_take(struct text *t, const char *word)
{
    if (!lcov_starts(t, word))
        return false;
    t->at += strlen(word);
    return true;
}

/* The text up to the next comma, which is passed. At the end of the line it is empty. */
static struct text lcov_field(struct text *t)
{
    const char *comma = t->at < t->end ? memchr(t->at, ',', (size_t)(t->end - t->at)) : NULL;
    struct text part = {t->at, comma ? comma : t->end};
    t->at = comma ? comma + 1 : t->end;
    return part;
}

/* Unlike a count a number of a line must fit: it is an index. */
static bool lcov_whole(struct text part, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (part.at == part.end)
        return false;
    for (const char *c = part.at; c < part.end; c++) {
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    }
    *out = value;
    return value <= max;
}

/* A number of hits; "-" is never. */
static bool lcov_hits(struct reading *r, struct text part, uint64_t *out)
{
    *out = 0;
    return (part.end - part.at == 1 && *part.at == '-') ||
           count_read(part.at, part.end, out, &r->out->negative);
}

static bool lcov_line_number(struct text part, uint32_t *out)
{
    uint64_t value = 0;
    bool ok = lcov_whole(part, UINT32_MAX, &value);
    *out = (uint32_t)value;
    return ok;
}

static const char *lcov_copy(struct reading *r, struct text t)
{
    return arena_copy(&r->out->arena, t.at, (size_t)(t.end - t.at));
}

/* Numbers and names of functions are those of one section. */
static void lcov_leave_section(struct reading *r)
{
    r->is_open = false;
    map_deinit(&r->functions);
    intern_deinit(&r->names);
}

static void lcov_close_section(struct reading *r)
{
    if (!r->is_open)
        return;
    tracefile_end(r->out);
    lcov_leave_section(r);
}

/* Drops the read part of a section that then broke. */
static void lcov_drop_section(struct reading *r)
{
    if (!r->is_open)
        return;
    tracefile_drop(r->out);
    lcov_leave_section(r);
}

/* DA:line,hits[,checksum]. The checksum is of the source's text and is ignored. Line 0 is no line
 * of a source, and is passed over. */
static bool lcov_data(struct reading *r, struct text t)
{
    struct trace_line l;
    if (!lcov_line_number(lcov_field(&t), &l.line) || !lcov_hits(r, lcov_field(&t), &l.count))
        return lcov_fail(r, "DA needs a line number and a count");
    if (l.line)
        vec_push(&r->out->lines, l);
    return true;
}

/* The function of this section with that name, made if there is none. Names are numbered as they
 * come, as functions are: the number is the index in the section. */
static struct trace_function *lcov_function_named(struct reading *r, struct text name)
{
    struct tracefile *out = r->out;
    uint32_t number = intern_kept(&r->names, name.at, (size_t)(name.end - name.at));
    size_t i = (&r->out->sections.at[r->out->sections.len - 1])->first_function + number;
    if (i == out->functions.len)
        vec_push(&out->functions, (struct trace_function){.name = lcov_copy(r, name)});
    return &out->functions.at[i];
}

/* FN:start[,end],name. A name may have commas; a second number before it is the end. */
static bool lcov_function(struct reading *r, struct text t)
{
    uint32_t start, end = 0;
    if (!lcov_line_number(lcov_field(&t), &start))
        return lcov_fail(r, "FN needs a line number");
    struct text rest = t, second = lcov_field(&rest);
    if (second.end < t.end && lcov_line_number(second, &end))
        t = rest;
    if (t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
        return lcov_fail(r, "FN names no function");
    struct trace_function *f = lcov_function_named(r, t);
    f->start_line = start;
    f->end_line = end;
    return true;
}

/* FNDA:hits,name Several of one name add up, and stop at the largest number. */
static bool lcov_function_data(struct reading *r, struct text t)
{
    uint64_t count;
    if (!lcov_hits(r, lcov_field(&t), &count) || t.at == t.end ||
        memchr(t.at, 0, (size_t)(t.end - t.at)))
        return lcov_fail(r, "FNDA needs a count and a function");
    struct trace_function *f = lcov_function_named(r, t);
    f->count = f->count + count < count ? UINT64_MAX : f->count + count;
    return true;
}

/* FNL:index,start[,end] of lcov 2: where functions are; then FNA:index,hits,name for each of them
 * or of its aliases. Kept as one function an alias. */
static bool lcov_function_place(struct reading *r, struct text t)
{
    uint64_t index;
    uint32_t start, end = 0;
    if (!lcov_whole(lcov_field(&t), UINT32_MAX, &index) ||
        !lcov_line_number(lcov_field(&t), &start) ||
        (t.at < t.end && !lcov_line_number(lcov_field(&t), &end)))
        return lcov_fail(r, "FNL needs an index and a line number");
    map_set(&r->functions, index, 0, start);
    map_set(&r->functions, index, 1, end);
    return true;
}

static bool lcov_function_alias(struct reading *r, struct text t)
{
    uint64_t index, count;
    if (!lcov_whole(lcov_field(&t), UINT32_MAX, &index) || !lcov_hits(r, lcov_field(&t), &count) ||
        t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
        return lcov_fail(r, "FNA needs an index, a count and a function");
    const uint32_t *start = map_find(&r->functions, index, 0);
    if (!start)
        return lcov_fail(r, "FNA has an index that no FNL before it has");
    struct trace_function *f = lcov_function_named(r, t);
    f->start_line = *start;
    f->end_line = *map_find(&r->functions, index, 1);
    f->count = f->count + count < count ? UINT64_MAX : f->count + count;
    return true;
}

/* BRDA:line,[e|U]block,branch,taken. The branch may be an expression: lcov 2 takes any text. Block
 * and branch are folded to 32 bits: they only distinguish branches of one line. An expression that
 * is no number stands for one by its hash. */
static bool lcov_branch(struct reading *r, struct text t)
{
    struct trace_branch b = {0};
    uint64_t block, number;
    if (!lcov_line_number(lcov_field(&t), &b.line))
        return lcov_fail(r, "BRDA needs a line number");
    struct text part = lcov_field(&t), expression = lcov_field(&t);
    for (; part.at < part.end && (*part.at == 'e' || *part.at == 'U' || *part.at == 'f'); part.at++)
        b.is_exception |= *part.at == 'e';
    bool has_block = lcov_whole(part, UINT64_MAX, &block);
    struct text taken = lcov_field(&t);
    while (t.at < t.end) /* an expression with commas */
        taken = lcov_field(&t);
    if (!has_block || expression.at == expression.end || !lcov_hits(r, taken, &b.count))
        return lcov_fail(r, "BRDA needs a block, a branch and a count");
    if (!lcov_whole(expression, UINT64_MAX, &number))
        number = hash_fnv64(expression.at, (size_t)(taken.at - expression.at));
    b.block = (uint32_t)(block ^ block >> 32);
    b.branch = (uint32_t)(number ^ number >> 32);
    if (b.line)
        vec_push(&r->out->branches, b);
    return true;
}

/* MCDC:line,[U]terms,t|f,taken,index,expression 64 terms at most, since a mask has a bit for each.
 */
static bool lcov_condition(struct reading *r, struct text t)
{
    struct trace_condition c = {0};
    uint64_t terms, index;
    if (!lcov_line_number(lcov_field(&t), &c.line))
        return lcov_fail(r, "MCDC needs a line number");
    struct text size = lcov_field(&t), sense = lcov_field(&t);
    size.at += size.at < size.end && *size.at == 'U';
    c.sense = sense.at < sense.end && *sense.at == 't';
    if (!lcov_whole(size, 64, &terms) || sense.end - sense.at != 1 ||
        (!c.sense && *sense.at != 'f') || !lcov_hits(r, lcov_field(&t), &c.count) ||
        !lcov_whole(lcov_field(&t), UINT32_MAX, &index))
        return lcov_fail(r, "MCDC needs terms (at most 64), t or f, a count and an index");
    if (index >= terms)
        return lcov_fail(r, "MCDC has an index beyond its terms");
    c.terms = (uint32_t)terms;
    c.term = (uint32_t)index;
    if (c.line)
        vec_push(&r->out->conditions, c);
    return true;
}

/* Sums and versions follow from the rest. */
static bool lcov_says_nothing(struct reading *r, struct text t)
{
    (void)r, (void)t;
    return true;
}

/* The most frequent first: the table is searched from the front for every line. */
static const struct {
    const char *key;
    bool (*read)(struct reading *r, struct text t);
} RECORDS[] = {
    {"DA:", lcov_data},
    {"BRDA:", lcov_branch},
    {"FN:", lcov_function},
    {"FNDA:", lcov_function_data},
    {"FNL:", lcov_function_place},
    {"FNA:", lcov_function_alias},
    {"MCDC:", lcov_condition},
    {"LF:", lcov_says_nothing},
    {"LH:", lcov_says_nothing},
    {"BRF:", lcov_says_nothing},
    {"BRH:", lcov_says_nothing},
    {"FNF:", lcov_says_nothing},
    {"FNH:", lcov_says_nothing},
    {"MCF:", lcov_says_nothing},
    {"MRF:", lcov_says_nothing},
    {"MRH:", lcov_says_nothing},
    {"VER:", lcov_says_nothing},
};

/* TN holds until the next one. Comments and empty lines are passed over. */
static bool lcov_take_record(struct reading *r, struct text t)
{
    if (t.at == t.end || *t.at == '#')
        return true;
    if (lcov_take(&t, "TN:")) {
        r->test = lcov_copy(r, t);
        return true;
    }
    if (lcov_take(&t, "SF:")) {
        /* An SF within a section ends that one, as whole. A NUL would cut the path. */
        lcov_close_section(r);
        if (t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
            return lcov_fail(r, "SF names no source");
        tracefile_begin(r->out, lcov_copy(r, t), r->test);
        r->is_open = true;
        return true;
    }
    if (t.end - t.at == 13 && lcov_starts(&t, "end_of_record")) {
        if (!r->is_open)
            return lcov_fail(r, "end_of_record without SF");
        lcov_close_section(r);
        return true;
    }
    for (size_t i = 0; i < sizeof RECORDS / sizeof *RECORDS; i++) {
        if (!lcov_take(&t, RECORDS[i].key))
            continue;
        if (!r->is_open)
            return lcov_fail(r, "this record belongs to a source, but no SF is before it");
        return RECORDS[i].read(r, t);
    }
    r->out->unknown_records++;
    return true;
}

/* The next line without its end; false after the last. Line ends of DOS are cut too. */
static bool lcov_next_line(struct text *rest, struct text *line)
{
    if (rest->at == rest->end)
        return false;
    const char *newline = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    *line = (struct text){rest->at, newline ? newline : rest->end};
    rest->at = newline ? newline + 1 : rest->end;
    while (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    return true;
}

static struct text lcov_text_of(struct bytes in)
{
    const char *at = in.len ? (const char *)in.at : "";
    return (struct text){at, at + in.len};
}

/* The first line that is no comment must be TN or SF. */
bool lcov_probe(struct bytes in)
{
    struct text rest = lcov_text_of(in), line;
    while (lcov_next_line(&rest, &line))
        if (line.at < line.end && *line.at != '#')
            return lcov_starts(&line, "TN:") || lcov_starts(&line, "SF:");
    return false;
}

/* On failure the open section is dropped: a source of which half the lines are missing would look
 * like one of half the size. */
bool lcov_read(struct bytes in, const char *name, struct tracefile *out, struct err *e)
{
    struct reading r = {.out = out, .name = name, .test = "", .e = e};
    struct text rest = lcov_text_of(in), line;
    while (lcov_next_line(&rest, &line)) {
        r.number++;
        if (!lcov_take_record(&r, line)) {
            lcov_drop_section(&r);
            return false;
        }
    }
    if (r.is_open) {
        r.number++;
        lcov_drop_section(&r);
        return lcov_fail(&r, "the file ends within a section, before end_of_record");
    }
    return true;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Ends the record: a text is always its last field, since it may hold commas. */
static void lcov_put_text(struct writer *w, const char *text)
{
    writer_bytes(w, text, strlen(text));
    writer_bytes(w, "\n", 1);
}

/* A line end would begin a record, and a number in front of a function's name be taken for a line.
 */
static bool lcov_can_hold(const char *text, bool is_function, struct err *e)
{
    const char *c = text;
    while (*c >= '0' && *c <= '9')
        c++;
    if (!*text || strpbrk(text, "\r\n") || (is_function && c > text && *c == ','))
        return err_set(e, "a tracefile cannot hold the name '%s'", text);
    return true;
}

/* Places and counts in turn, one function after the other: lcov does not mind the order. */
static bool lcov_put_functions(struct writer *w, const struct trace_function *f, uint32_t len,
                               struct err *e)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (!lcov_can_hold(f[i].name, true, e))
            return false;
        writer_printf(w, "FN:%" PRIu32 ",", f[i].start_line);
        if (f[i].end_line)
            writer_printf(w, "%" PRIu32 ",", f[i].end_line);
        lcov_put_text(w, f[i].name);
        writer_printf(w, "FNDA:%" PRIu64 ",", f[i].count);
        lcov_put_text(w, f[i].name);
        hit += f[i].count > 0;
    }
    if (len)
        writer_printf(w, "FNF:%" PRIu32 "\nFNH:%" PRIu32 "\n", len, hit);
    return true;
}

/* Exceptions are marked as lcov 2 marks them. */
static void lcov_put_branches(struct writer *w, const struct trace_branch *b, uint32_t len)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        writer_printf(w, "BRDA:%" PRIu32 ",%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", b[i].line,
                      b[i].is_exception ? "e" : "", b[i].block, b[i].branch, b[i].count);
        hit += b[i].count > 0;
    }
    if (len)
        writer_printf(w, "BRF:%" PRIu32 "\nBRH:%" PRIu32 "\n", len, hit);
}

/* The number of the term stands for its text, which is not known. */
static void lcov_put_conditions(struct writer *w, const struct trace_condition *c, uint32_t len)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        writer_printf(w, "MCDC:%" PRIu32 ",%" PRIu32 ",%c,%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n",
                      c[i].line, c[i].terms, c[i].sense ? 't' : 'f', c[i].count, c[i].term,
                      c[i].term);
        hit += c[i].count > 0;
    }
    if (len)
        writer_printf(w, "MCF:%" PRIu32 "\nMCH:%" PRIu32 "\n", len, hit);
}

/* Sums are computed from what is written, never copied. */
static bool lcov_put_section(struct writer *w, const struct tracefile *t,
                             const struct trace_section *s, struct err *e)
{
    if ((*s->test && !lcov_can_hold(s->test, false, e)) || !lcov_can_hold(s->source, false, e))
        return false;
    writer_printf(w, "TN:");
    lcov_put_text(w, s->test);
    writer_printf(w, "SF:");
    lcov_put_text(w, s->source);
    if (!lcov_put_functions(w, vec_from(&t->functions, s->first_function), s->functions, e))
        return false;
    lcov_put_branches(w, vec_from(&t->branches, s->first_branch), s->branches);
    lcov_put_conditions(w, vec_from(&t->conditions, s->first_condition), s->conditions);
    const struct trace_line *l = vec_from(&t->lines, s->first_line);
    uint32_t len = s->lines;
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        writer_printf(w, "DA:%" PRIu32 ",%" PRIu64 "\n", l[i].line, l[i].count);
        hit += l[i].count > 0;
    }
    writer_printf(w, "LF:%" PRIu32 "\nLH:%" PRIu32 "\n", len, hit);

    lcov_put_text(w, "end_of_record");
    return true;
}

bool lcov_write(struct writer *w, const struct tracefile *t, struct err *e)
{
    for (size_t i = 0; i < t->sections.len; i++)
        if (!lcov_put_section(w, t, &t->sections.at[i], e))
            return false;
    return true;
}

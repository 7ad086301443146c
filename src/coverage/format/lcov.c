/* Reading lcov tracefiles: one record a line, KEY:FIELD,FIELD,... between SF and end_of_record.
 *
 * Specification: "TRACEFILE FORMAT" in lcov's manual, geninfo(1), of 1.16 and 2.2; what others
 * write is read as well: counts with decimals or below 0, a new SF before end_of_record, CRLF.
 * Records of unknown kinds are counted and skipped. A line number of 0 says nothing and is skipped.
 */
#include "coverage/format/lcov.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* A line, or what is left of it. */
struct text {
    const char *at, *end;
};

struct reading {
    struct tracefile *out;
    const char *name;
    uint64_t number; /* of the line */
    const char *test;
    bool is_open;         /* between SF and end_of_record */
    struct map functions; /* lcov 2: index of FNL and 0 or 1 -> first or last line */
    struct map names;     /* lcov 1: hash of a name -> functions */
    struct err *e;
};

static bool fail(struct reading *r, const char *what)
{
    return err_in(r->e, r->name, "line %llu: %s", (unsigned long long)r->number, what);
}

static bool starts(const struct text *t, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(t->end - t->at) >= len && !memcmp(t->at, word, len);
}

/* Takes `word` from the front. */
static bool take(struct text *t, const char *word)
{
    if (!starts(t, word))
        return false;
    t->at += strlen(word);
    return true;
}

/* The text up to the next comma, which is passed. */
static struct text field(struct text *t)
{
    const char *comma = t->at < t->end ? memchr(t->at, ',', (size_t)(t->end - t->at)) : NULL;
    struct text part = {t->at, comma ? comma : t->end};
    t->at = comma ? comma + 1 : t->end;
    return part;
}

static bool whole(struct text part, uint64_t max, uint64_t *out)
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

/* A number of hits. Damaged data has made negative ones, other tools decimals; "-" is never. */
static bool hits(struct reading *r, struct text part, uint64_t *out)
{
    *out = 0;
    if (part.end - part.at == 1 && *part.at == '-')
        return true;
    bool is_negative = part.at < part.end && *part.at == '-';
    part.at += is_negative;
    const char *point = part.at;
    while (point < part.end && *point != '.' && *point != 'e' && *point != 'E')
        point++;
    if (point < part.end) {
        char copy[64], *end;
        size_t len = (size_t)(part.end - part.at);
        if (len >= sizeof copy)
            return false;
        memcpy(copy, part.at, len);
        copy[len] = 0;
        double value = strtod(copy, &end);
        if (*end || end == copy || !(value >= 0))
            return false;
        *out = value < 0x1p63 ? (uint64_t)value : INT64_MAX;
    } else {
        struct text digits = part;
        if (!whole(digits, UINT64_MAX, out)) {
            for (const char *c = part.at; c < part.end; c++)
                if (*c < '0' || *c > '9')
                    return false;
            if (part.at == part.end)
                return false;
            *out = UINT64_MAX;
        }
    }
    if (is_negative) {
        r->out->negative += *out > 0;
        *out = 0;
    }
    return true;
}

static bool line_number(struct text part, uint32_t *out)
{
    uint64_t value = 0;
    bool ok = whole(part, UINT32_MAX, &value);
    *out = (uint32_t)value;
    return ok;
}

static const char *copy(struct reading *r, struct text t)
{
    return arena_copy(&r->out->arena, t.at, (size_t)(t.end - t.at));
}

static struct trace_section *section(struct reading *r)
{
    return &r->out->sections.at[r->out->sections.len - 1];
}

static void close_section(struct reading *r)
{
    struct tracefile *t = r->out;
    if (!r->is_open)
        return;
    struct trace_section *s = section(r);
    s->functions = (uint32_t)(t->functions.len - s->first_function);
    s->lines = (uint32_t)(t->lines.len - s->first_line);
    s->branches = (uint32_t)(t->branches.len - s->first_branch);
    s->conditions = (uint32_t)(t->conditions.len - s->first_condition);
    r->is_open = false;
    map_deinit(&r->functions);
    map_deinit(&r->names);
}

/* Drops what was read of a section that then broke. */
static void drop_section(struct reading *r)
{
    struct tracefile *t = r->out;
    if (!r->is_open)
        return;
    const struct trace_section *s = section(r);
    t->functions.len = s->first_function;
    t->lines.len = s->first_line;
    t->branches.len = s->first_branch;
    t->conditions.len = s->first_condition;
    t->sections.len--;
    r->is_open = false;
    map_deinit(&r->functions);
    map_deinit(&r->names);
}

static bool source(struct reading *r, struct text t)
{
    struct tracefile *out = r->out;
    close_section(r);
    if (t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
        return fail(r, "SF names no source");
    vec_push(&out->sections,
             (struct trace_section){.source = copy(r, t),
                                    .test = r->test,
                                    .first_function = (uint32_t)out->functions.len,
                                    .first_line = (uint32_t)out->lines.len,
                                    .first_branch = (uint32_t)out->branches.len,
                                    .first_condition = (uint32_t)out->conditions.len});
    r->is_open = true;
    return true;
}

/* DA:line,hits[,checksum] */
static bool data(struct reading *r, struct text t)
{
    struct trace_line l;
    if (!line_number(field(&t), &l.line) || !hits(r, field(&t), &l.count))
        return fail(r, "DA needs a line number and a count");
    if (l.line)
        vec_push(&r->out->lines, l);
    return true;
}

static uint64_t name_hash(struct text t)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; t.at < t.end; t.at++)
        h = (h ^ (uint8_t)*t.at) * 0x100000001b3u;
    return h;
}

/* The function of this section with that name, made if there is none. Names with one hash: they
 * differ in `attempt`. */
static struct trace_function *function_named(struct reading *r, struct text name)
{
    struct tracefile *out = r->out;
    uint64_t hash = name_hash(name);
    size_t len = (size_t)(name.end - name.at);
    for (uint32_t attempt = 0;; attempt++) {
        bool is_new;
        uint32_t i = *map_at(&r->names, hash, attempt, (uint32_t)out->functions.len, &is_new);
        if (is_new)
            vec_push(&out->functions, (struct trace_function){.name = copy(r, name)});
        struct trace_function *f = &out->functions.at[i];
        if (!strncmp(f->name, name.at, len) && strlen(f->name) == len)
            return f;
    }
}

/* FN:start[,end],name. A name may have commas; a second number before it is the end. */
static bool function(struct reading *r, struct text t)
{
    uint32_t start, end = 0;
    if (!line_number(field(&t), &start))
        return fail(r, "FN needs a line number");
    struct text rest = t, second = field(&rest);
    if (second.end < t.end && line_number(second, &end))
        t = rest;
    if (t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
        return fail(r, "FN names no function");
    struct trace_function *f = function_named(r, t);
    f->start_line = start;
    f->end_line = end;
    return true;
}

/* FNDA:hits,name */
static bool function_data(struct reading *r, struct text t)
{
    uint64_t count;
    if (!hits(r, field(&t), &count) || t.at == t.end || memchr(t.at, 0, (size_t)(t.end - t.at)))
        return fail(r, "FNDA needs a count and a function");
    struct trace_function *f = function_named(r, t);
    f->count = f->count + count < count ? UINT64_MAX : f->count + count;
    return true;
}

/* FNL:index,start[,end] of lcov 2: where functions are; then FNA:index,hits,name for each of them
 * or of its aliases. Kept as one function an alias. */
static bool function_place(struct reading *r, struct text t)
{
    uint64_t index;
    uint32_t start, end = 0;
    if (!whole(field(&t), UINT32_MAX, &index) || !line_number(field(&t), &start) ||
        (t.at < t.end && !line_number(field(&t), &end)))
        return fail(r, "FNL needs an index and a line number");
    *map_at(&r->functions, index, 0, 0, NULL) = start;
    *map_at(&r->functions, index, 1, 0, NULL) = end;
    return true;
}

static bool function_alias(struct reading *r, struct text t)
{
    uint64_t index, count;
    if (!whole(field(&t), UINT32_MAX, &index) || !hits(r, field(&t), &count) || t.at == t.end ||
        memchr(t.at, 0, (size_t)(t.end - t.at)))
        return fail(r, "FNA needs an index, a count and a function");
    const uint32_t *start = map_find(&r->functions, index, 0);
    if (!start)
        return fail(r, "FNA has an index that no FNL before it has");
    struct trace_function *f = function_named(r, t);
    f->start_line = *start;
    f->end_line = *map_find(&r->functions, index, 1);
    f->count = f->count + count < count ? UINT64_MAX : f->count + count;
    return true;
}

/* BRDA:line,[e|U]block,branch,taken. The branch may be an expression: lcov 2 takes any text. */
static bool branch(struct reading *r, struct text t)
{
    struct trace_branch b = {0};
    uint64_t block, number;
    if (!line_number(field(&t), &b.line))
        return fail(r, "BRDA needs a line number");
    struct text part = field(&t), expression = field(&t);
    for (; part.at < part.end && (*part.at == 'e' || *part.at == 'U' || *part.at == 'f'); part.at++)
        b.is_exception |= *part.at == 'e';
    bool has_block = whole(part, UINT64_MAX, &block);
    struct text taken = field(&t);
    while (t.at < t.end) /* an expression with commas */
        taken = field(&t);
    if (!has_block || expression.at == expression.end || !hits(r, taken, &b.count))
        return fail(r, "BRDA needs a block, a branch and a count");
    if (!whole(expression, UINT64_MAX, &number))
        number = name_hash((struct text){expression.at, taken.at});
    b.block = (uint32_t)(block ^ block >> 32);
    b.branch = (uint32_t)(number ^ number >> 32);
    if (b.line)
        vec_push(&r->out->branches, b);
    return true;
}

/* MCDC:line,[U]terms,t|f,taken,index,expression */
static bool condition(struct reading *r, struct text t)
{
    struct trace_condition c = {0};
    uint64_t terms, index;
    if (!line_number(field(&t), &c.line))
        return fail(r, "MCDC needs a line number");
    struct text size = field(&t), sense = field(&t);
    size.at += size.at < size.end && *size.at == 'U';
    c.sense = sense.at < sense.end && *sense.at == 't';
    if (!whole(size, 64, &terms) || sense.end - sense.at != 1 || (!c.sense && *sense.at != 'f') ||
        !hits(r, field(&t), &c.count) || !whole(field(&t), UINT32_MAX, &index))
        return fail(r, "MCDC needs terms (at most 64), t or f, a count and an index");
    if (index >= terms)
        return fail(r, "MCDC has an index beyond its terms");
    c.terms = (uint32_t)terms;
    c.term = (uint32_t)index;
    if (c.line)
        vec_push(&r->out->conditions, c);
    return true;
}

/* Sums and versions follow from the rest. */
static bool says_nothing(struct reading *r, struct text t)
{
    (void)r, (void)t;
    return true;
}

static const struct {
    const char *key;
    bool (*read)(struct reading *r, struct text t);
} RECORDS[] = {
    {"DA:", data},
    {"BRDA:", branch},
    {"FN:", function},
    {"FNDA:", function_data},
    {"FNL:", function_place},
    {"FNA:", function_alias},
    {"MCDC:", condition},
    {"LF:", says_nothing},
    {"LH:", says_nothing},
    {"BRF:", says_nothing},
    {"BRH:", says_nothing},
    {"FNF:", says_nothing},
    {"FNH:", says_nothing},
    {"MCF:", says_nothing},
    {"MRF:", says_nothing},
    {"MRH:", says_nothing},
    {"VER:", says_nothing},
};

static bool inside(struct reading *r, struct text t)
{
    for (size_t i = 0; i < sizeof RECORDS / sizeof *RECORDS; i++) {
        if (!take(&t, RECORDS[i].key))
            continue;
        if (!r->is_open)
            return fail(r, "this record belongs to a source, but no SF is before it");
        return RECORDS[i].read(r, t);
    }
    r->out->unknown_records++;
    return true;
}

static bool record(struct reading *r, struct text t)
{
    if (t.at == t.end || *t.at == '#')
        return true;
    if (take(&t, "TN:")) {
        r->test = copy(r, t);
        return true;
    }
    if (take(&t, "SF:"))
        return source(r, t);
    if (t.end - t.at == 13 && starts(&t, "end_of_record")) {
        if (!r->is_open)
            return fail(r, "end_of_record without SF");
        close_section(r);
        return true;
    }
    return inside(r, t);
}

/* The next line without its end; false behind the last. */
static bool next_line(struct text *rest, struct text *line)
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

static struct text text_of(struct bytes in)
{
    const char *at = in.len ? (const char *)in.at : "";
    return (struct text){at, at + in.len};
}

bool lcov_probe(struct bytes in)
{
    struct text rest = text_of(in), line;
    while (next_line(&rest, &line))
        if (line.at < line.end && *line.at != '#')
            return starts(&line, "TN:") || starts(&line, "SF:");
    return false;
}

bool lcov_read(struct bytes in, const char *name, struct tracefile *out, struct err *e)
{
    struct reading r = {.out = out, .name = name, .test = "", .e = e};
    struct text rest = text_of(in), line;
    while (next_line(&rest, &line)) {
        r.number++;
        if (!record(&r, line)) {
            drop_section(&r);
            return false;
        }
    }
    if (r.is_open) {
        r.number++;
        drop_section(&r);
        return fail(&r, "the file ends within a section, before end_of_record");
    }
    return true;
}

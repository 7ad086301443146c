/* lcov tracefiles: docs/formats/lcov.md. Branches that are left out of the report are left out
 * here, too; so are unknown lines and functions, of which a tracefile cannot say that they are. */
#include "report/cover.h"

#include "base/digits.h"
#include "base/out_parallel.h"

#include <inttypes.h>

/* Names with line ends would begin a record of their own. */
static void name(struct out *out, const char *text)
{
    size_t len = strlen(text), start;
    if (!len) /* there may be no buffer yet */
        return;
    out_room(out, len);
    start = out->len;
    memcpy(out->at + start, text, len);
    out->len += len;
    if (!memchr(text, '\n', len) && !memchr(text, '\r', len))
        return;
    for (char *c = out->at + start; c < out->at + out->len; c++)
        *c = *c == '\n' || *c == '\r' ? '?' : *c;
}

/* Records of numbers are written straight into the buffer: most of a tracefile is these. */
enum { RECORD_ROOM = 128 };

static char *record(struct out *out, const char *key)
{
    size_t len = strlen(key);
    out_room(out, RECORD_ROOM);
    memcpy(out->at + out->len, key, len);
    return out->at + out->len + len;
}

static char *number(char *to, uint64_t value, char after)
{
    to = digits_u64(to, value, 0);
    *to = after;
    return to + 1;
}

static void record_end(struct out *out, const char *to)
{
    out->len = (size_t)(to - out->at);
}

static void pair(struct out *out, const char *key, uint64_t all, uint64_t hit)
{
    out_printf(out, "%sF:%" PRIu64 "\n%sH:%" PRIu64 "\n", key, all, key, hit);
}

static void functions1(struct out *out, const struct cover_result *r, const struct result_source *s)
{
    if (!s->functions)
        return;
    const struct result_function *f = r->functions.at + s->first_function;
    for (uint32_t i = 0; i < s->functions; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        record_end(out, number(record(out, "FN:"), f[i].start_line, ','));
        name(out, f[i].linkage);
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < s->functions; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        record_end(out, number(record(out, "FNDA:"), f[i].count, ','));
        name(out, f[i].linkage);
        out_char(out, '\n');
    }
}

/* Functions that begin on one line are aliases of one place. */
static void functions2(struct out *out, const struct cover_result *r, const struct result_source *s)
{
    if (!s->functions)
        return;
    const struct result_function *f = r->functions.at + s->first_function;
    uint32_t place = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < s->functions; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        if (place == UINT32_MAX || f[i].start_line != last) {
            place++;
            last = f[i].start_line;
            out_printf(out, "FNL:%" PRIu32 ",%" PRIu32, place, last);
            if (f[i].end_line >= last)
                out_printf(out, ",%" PRIu32, f[i].end_line);
            out_char(out, '\n');
        }
        out_printf(out, "FNA:%" PRIu32 ",%" PRIu64 ",", place, f[i].count);
        name(out, f[i].linkage);
        out_char(out, '\n');
    }
}

static void branches(struct out *out, const struct cover_result *r, const struct result_source *s,
                     bool is_lcov2)
{
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        for (uint32_t k = 0; k < l->branches && l->state != RESULT_UNKNOWN; k++) {
            const struct result_branch *b = &r->branches.at[l->first_branch + k];
            char *to = number(record(out, "BRDA:"), l->line, ',');
            if (is_lcov2 && b->flags & OUTCOME_THROW)
                *to++ = 'e';
            to = number(number(to, b->block, ','), k, ',');
            if (b->was_reached) {
                to = number(to, b->count, '\n');
            } else {
                *to++ = '-';
                *to++ = '\n';
            }
            record_end(out, to);
        }
    }
}

static void conditions(struct out *out, const struct cover_result *r, const struct result_source *s)
{
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        for (uint32_t k = 0; k < l->conditions && l->state != RESULT_UNKNOWN; k++) {
            const struct result_condition *c = &r->conditions.at[l->first_condition + k];
            for (uint32_t t = 0; t < c->terms; t++)
                for (int sense = 1; sense >= 0; sense--)
                    out_printf(out, "MCDC:%" PRIu32 ",%" PRIu32 ",%c,%d,%" PRIu32 ",%" PRIu32 "\n",
                               l->line, c->terms, sense ? 't' : 'f',
                               (int)((sense ? c->on : c->off) >> t & 1), t, t);
        }
    }
}

static void lines(struct out *out, const struct cover_result *r, const struct result_source *s)
{
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        if (l->state == RESULT_UNKNOWN)
            continue;
        record_end(out, number(number(record(out, "DA:"), l->line, ','), l->count, '\n'));
    }
}

static void known(struct out *out, const char *key, const struct cover_ratio *ratio)
{
    pair(out, key, ratio->all - ratio->unknown, ratio->hit);
}

struct tracing {
    const struct cover_result *r;
    const char *test;
    bool is_lcov2;
};

static void section(size_t i, struct out *out, void *context)
{
    const struct tracing *t = context;
    const struct cover_result *r = t->r;
    const struct result_source *source = &r->sources.at[i];
    bool is_lcov2 = t->is_lcov2;
    out_str(out, "TN:");
    name(out, t->test);
    out_str(out, "\nSF:");
    name(out, source->whole);
    out_char(out, '\n');
    if (is_lcov2)
        functions2(out, r, source);
    else
        functions1(out, r, source);
    known(out, "FN", &source->sums.functions);
    branches(out, r, source, is_lcov2);
    if (source->sums.branches.all)
        known(out, "BR", &source->sums.branches);
    if (is_lcov2 && source->sums.conditions.all) {
        conditions(out, r, source);
        known(out, "MC", &source->sums.conditions);
    }
    lines(out, r, source);
    known(out, "L", &source->sums.lines);
    out_str(out, "end_of_record\n");
}

void cover_lcov(struct out *out, const struct cover_story *s, bool is_lcov2)
{
    const struct cover_result *r = s->result;
    struct tracing t = {r, s->test ? s->test : r->tests.len == 1 ? r->tests.at[0] : "", is_lcov2};
    for (size_t i = 0; i < s->problems->at.len; i++) {
        if (s->problems->at.at[i].kind == PROBLEM_NOTE)
            continue;
        out_str(out, "# ");
        name(out, s->problems->at.at[i].text);
        out_char(out, '\n');
    }
    out_parallel(out, r->sources.len, s->threads, section, &t);
}

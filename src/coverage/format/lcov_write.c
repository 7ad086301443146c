/* Writes tracefiles as they are read: one section after the other, lcov 1's records, with `e` and
 * MCDC of lcov 2 where there are such branches and conditions. */
#include "coverage/format/lcov.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PRINTF_LIKE(2, 3) static void lcov_put(struct writer *w, const char *format, ...)
{
    char text[128];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    writer_bytes(w, text, (size_t)len);
}

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

static bool lcov_put_functions(struct writer *w, const struct trace_function *f, uint32_t len,
                               struct err *e)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (!lcov_can_hold(f[i].name, true, e))
            return false;
        lcov_put(w, "FN:%" PRIu32 ",", f[i].start_line);
        if (f[i].end_line)
            lcov_put(w, "%" PRIu32 ",", f[i].end_line);
        lcov_put_text(w, f[i].name);
        lcov_put(w, "FNDA:%" PRIu64 ",", f[i].count);
        lcov_put_text(w, f[i].name);
        hit += f[i].count > 0;
    }
    if (len)
        lcov_put(w, "FNF:%" PRIu32 "\nFNH:%" PRIu32 "\n", len, hit);
    return true;
}

static void lcov_put_branches(struct writer *w, const struct trace_branch *b, uint32_t len)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        lcov_put(w, "BRDA:%" PRIu32 ",%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", b[i].line,
                 b[i].is_exception ? "e" : "", b[i].block, b[i].branch, b[i].count);
        hit += b[i].count > 0;
    }
    if (len)
        lcov_put(w, "BRF:%" PRIu32 "\nBRH:%" PRIu32 "\n", len, hit);
}

static void lcov_put_conditions(struct writer *w, const struct trace_condition *c, uint32_t len)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        lcov_put(w, "MCDC:%" PRIu32 ",%" PRIu32 ",%c,%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n",
                 c[i].line, c[i].terms, c[i].sense ? 't' : 'f', c[i].count, c[i].term, c[i].term);
        hit += c[i].count > 0;
    }
    if (len)
        lcov_put(w, "MCF:%" PRIu32 "\nMCH:%" PRIu32 "\n", len, hit);
}

static void lcov_put_lines(struct writer *w, const struct trace_line *l, uint32_t len)
{
    uint32_t hit = 0;
    for (uint32_t i = 0; i < len; i++) {
        lcov_put(w, "DA:%" PRIu32 ",%" PRIu64 "\n", l[i].line, l[i].count);
        hit += l[i].count > 0;
    }
    lcov_put(w, "LF:%" PRIu32 "\nLH:%" PRIu32 "\n", len, hit);
}

static bool lcov_put_section(struct writer *w, const struct tracefile *t,
                             const struct trace_section *s, struct err *e)
{
    if ((*s->test && !lcov_can_hold(s->test, false, e)) || !lcov_can_hold(s->source, false, e))
        return false;
    lcov_put(w, "TN:");
    lcov_put_text(w, s->test);
    lcov_put(w, "SF:");
    lcov_put_text(w, s->source);
    if (!lcov_put_functions(w, vec_from(&t->functions, s->first_function), s->functions, e))
        return false;
    lcov_put_branches(w, vec_from(&t->branches, s->first_branch), s->branches);
    lcov_put_conditions(w, vec_from(&t->conditions, s->first_condition), s->conditions);
    lcov_put_lines(w, vec_from(&t->lines, s->first_line), s->lines);
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

/* Cobertura XML, valid by coverage-04.dtd, for the services that show coverage beside code.
 *
 * A package is a folder, a class a source. A line with branches has one condition for each block
 * that decides. Names may hold any byte; what XML cannot is written as U+FFFD. */
#include "coverage/report/coverage_report.h"

#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct xml {
    struct out *out;
    const struct cover_story *s;
};

/* Length of the UTF-8 character at `at` if XML 1.0 allows it, else 0. */
static size_t character(const unsigned char *at)
{
    if (*at < 0x80)
        return *at >= ' ' || *at == '\t' || *at == '\n' || *at == '\r';
    size_t len = *at >= 0xf0 && *at < 0xf5 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0;
    if (*at >= 0xf5)
        return 0;
    uint32_t code = len ? *at & (0x7fu >> len) : 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < LEAST[len] || is_surrogate || code == 0xfffe || code == 0xffff || code > 0x10ffff
               ? 0
               : len;
}

static void text(struct out *out, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    while (*at) {
        size_t len = character(at);
        if (*at == '&')
            out_str(out, "&amp;");
        else if (*at == '<')
            out_str(out, "&lt;");
        else if (*at == '>')
            out_str(out, "&gt;");
        else if (*at == '"')
            out_str(out, "&quot;");
        else if (len == 1 && *at < ' ')
            out_printf(out, "&#%u;", *at);
        else if (len)
            out_bytes(out, (const char *)at, len);
        else
            out_str(out, "\xef\xbf\xbd");
        at += len ? len : 1;
    }
}

static void attribute(struct out *out, const char *key, const char *value)
{
    out_printf(out, " %s=\"", key);
    text(out, value);
    out_char(out, '"');
}

static double rate(const struct cover_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? (double)r->hit / (double)all : 1;
}

static void rates(struct out *out, const struct cover_ratio *lines,
                  const struct cover_ratio *branches)
{
    out_printf(out, " line-rate=\"%.6g\" branch-rate=\"%.6g\" complexity=\"0\"", rate(lines),
               rate(branches));
}

static void methods(const struct xml *x, const struct result_source *s)
{
    struct out *out = x->out;
    out_str(out, "        <methods>\n");
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const struct result_function *f = &x->s->result->functions.at[i];
        if (f->state == RESULT_UNKNOWN)
            continue;
        struct cover_ratio lines = {1, f->count > 0, 0}, none = {0};
        out_str(out, "         <method");
        attribute(out, "name", f->name);
        out_str(out, " signature=\"\"");
        rates(out, &lines, &none);
        out_printf(out,
                   "><lines><line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"/></lines>"
                   "</method>\n",
                   f->start_line, f->count);
    }
    out_str(out, "        </methods>\n");
}

/* One condition a block: how many of its ways were taken. */
static void conditions(const struct xml *x, const struct result_line *l)
{
    const struct result_branch *at = x->s->result->branches.at + l->first_branch;
    uint32_t taken = 0, number = 0;
    for (uint32_t i = 0; i < l->branches; i++)
        taken += at[i].count > 0;
    out_printf(x->out,
               " branch=\"true\" condition-coverage=\"%" PRIu64 "%% (%" PRIu32 "/%" PRIu32 ")\">"
               "<conditions>",
               (uint64_t)100 * taken / l->branches, taken, l->branches);
    for (uint32_t i = 0, end; i < l->branches; i = end) {
        uint32_t hit = 0;
        for (end = i; end < l->branches && at[end].block == at[i].block; end++)
            hit += at[end].count > 0;
        out_printf(x->out, "<condition number=\"%" PRIu32 "\" type=\"jump\" coverage=\"%u%%\"/>",
                   number++, (unsigned)((uint64_t)100 * hit / (end - i)));
    }
    out_str(x->out, "</conditions></line>\n");
}

static void lines(const struct xml *x, const struct result_source *s)
{
    struct out *out = x->out;
    out_str(out, "        <lines>\n");
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &x->s->result->lines.at[i];
        if (l->state == RESULT_UNKNOWN)
            continue;
        out_str(out, "         <line number=\"");
        out_u64(out, l->line, 0);
        out_str(out, "\" hits=\"");
        out_u64(out, l->count, 0);
        out_char(out, '"');
        if (l->branches)
            conditions(x, l);
        else
            out_str(out, " branch=\"false\"/>\n");
    }
    out_str(out, "        </lines>\n");
}

static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static void class(const struct xml *x, const struct result_source *s)
{
    struct out *out = x->out;
    size_t folder = folder_len(s->path);
    out_str(out, "      <class");
    attribute(out, "name", s->path + folder + (s->path[folder] == '/'));
    attribute(out, "filename", s->path);
    rates(out, &s->sums.lines, &s->sums.branches);
    out_str(out, ">\n");
    methods(x, s);
    lines(x, s);
    out_str(out, "      </class>\n");
}

static int by_folder(uint32_t left, uint32_t right, const void *context)
{
    const struct cover_result *r = context;
    const char *a = r->sources.at[left].path, *b = r->sources.at[right].path;
    size_t first = folder_len(a), second = folder_len(b);
    int order = memcmp(a, b, first < second ? first : second);
    return order ? order : first < second ? -1 : first > second;
}

static void add(struct cover_ratio *sum, const struct cover_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

static void package(const struct xml *x, const uint32_t *sources, size_t len)
{
    const struct cover_result *r = x->s->result;
    struct cover_ratio lines_sum = {0}, branches_sum = {0};
    const char *path = r->sources.at[sources[0]].path;
    struct arena scratch = {0};
    for (size_t i = 0; i < len; i++) {
        add(&lines_sum, &r->sources.at[sources[i]].sums.lines);
        add(&branches_sum, &r->sources.at[sources[i]].sums.branches);
    }
    char *name = arena_copy(&scratch, path, folder_len(path));
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '.' : *c;
    out_str(x->out, "    <package");
    attribute(x->out, "name", name);
    rates(x->out, &lines_sum, &branches_sum);
    out_str(x->out, ">\n     <classes>\n");
    for (size_t i = 0; i < len; i++)
        class(x, &r->sources.at[sources[i]]);
    out_str(x->out, "     </classes>\n    </package>\n");
    arena_deinit(&scratch);
}

static void packages(const struct xml *x)
{
    const struct cover_result *r = x->s->result;
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, r->sources.len + 1);
    for (uint32_t i = 0; i < r->sources.len; i++)
        order[i] = i;
    sort_u32(order, r->sources.len, by_folder, r);
    out_str(x->out, "  <packages>\n");
    for (size_t i = 0, end; i < r->sources.len; i = end) {
        for (end = i + 1; end < r->sources.len && !by_folder(order[i], order[end], r);)
            end++;
        package(x, order + i, end - i);
    }
    out_str(x->out, "  </packages>\n");
    arena_deinit(&scratch);
}

/* A comment cannot hold two hyphens. */
static void problems(const struct xml *x)
{
    for (size_t i = 0; i < x->s->problems->at.len; i++) {
        const char *at = x->s->problems->at.at[i].text;
        if (x->s->problems->at.at[i].kind == PROBLEM_NOTE)
            continue;
        out_str(x->out, "<!-- ");
        for (; *at; at++)
            out_char(x->out,
                     (unsigned char)*at >= 0x80 || (*at == '-' && at[1] == '-') ? '_' : *at);
        out_str(x->out, " -->\n");
    }
}

void cover_cobertura(struct out *out, const struct cover_story *s)
{
    const struct cover_sums *sums = &s->result->sums;
    struct xml x = {out, s};
    out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE coverage SYSTEM "
                 "'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n");
    problems(&x);
    out_printf(out,
               "<coverage line-rate=\"%.6g\" branch-rate=\"%.6g\" lines-covered=\"%" PRIu64
               "\" lines-valid=\"%" PRIu64 "\" branches-covered=\"%" PRIu64
               "\" branches-valid=\"%" PRIu64 "\" complexity=\"0\" timestamp=\"%" PRId64
               "\" version=\"monarc " MONARC_VERSION "\">\n",
               rate(&sums->lines), rate(&sums->branches), sums->lines.hit,
               sums->lines.all - sums->lines.unknown, sums->branches.hit,
               sums->branches.all - sums->branches.unknown, s->timestamp);
    out_str(out, "  <sources>\n    <source>");
    text(out, s->root);
    out_str(out, "</source>\n  </sources>\n");
    packages(&x);
    out_str(out, "</coverage>\n");
}

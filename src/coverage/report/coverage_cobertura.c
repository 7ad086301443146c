/* Cobertura XML, valid by coverage-04.dtd, for the services that show coverage beside code.
 *
 * A package is a folder, a class a source. A line with branches has one condition for each block
 * that decides. */
#include "base/path.h"
#include "coverage/report/coverage_report.h"
#include "output/xml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct xml {
    struct out *out;
    const struct coverage_report *s;
};

static double cobertura_rate(const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? (double)r->hit / (double)all : 1;
}

static void cobertura_rates(struct out *out, const struct coverage_ratio *lines,
                            const struct coverage_ratio *branches)
{
    out_printf(out, " line-rate=\"%.6g\" branch-rate=\"%.6g\" complexity=\"0\"",
               cobertura_rate(lines), cobertura_rate(branches));
}

static void cobertura_methods(const struct xml *x, const struct result_source *s)
{
    struct out *out = x->out;
    out_str(out, "        <methods>\n");
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const struct result_function *f = &x->s->result->functions.at[i];
        if (f->state == RESULT_UNKNOWN)
            continue;
        struct coverage_ratio lines = {1, f->count > 0, 0}, none = {0};
        out_str(out, "         <method");
        xml_attribute(out, "name", f->name);
        out_str(out, " signature=\"\"");
        cobertura_rates(out, &lines, &none);
        out_printf(out,
                   "><lines><line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"/></lines>"
                   "</method>\n",
                   f->start_line, f->count);
    }
    out_str(out, "        </methods>\n");
}

/* One condition a block: how many of its ways were taken. */
static void cobertura_conditions(const struct xml *x, const struct result_line *l)
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

static void cobertura_lines(const struct xml *x, const struct result_source *s)
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
            cobertura_conditions(x, l);
        else
            out_str(out, " branch=\"false\"/>\n");
    }
    out_str(out, "        </lines>\n");
}

static void cobertura_class(const struct xml *x, const struct result_source *s)
{
    struct out *out = x->out;
    size_t folder = path_folder_length(s->path);
    out_str(out, "      <class");
    xml_attribute(out, "name", s->path + folder + (s->path[folder] == '/'));
    xml_attribute(out, "filename", s->path);
    cobertura_rates(out, &s->sums.lines, &s->sums.branches);
    out_str(out, ">\n");
    cobertura_methods(x, s);
    cobertura_lines(x, s);
    out_str(out, "      </class>\n");
}

static void cobertura_package(const struct xml *x, const uint32_t *sources, size_t len)
{
    const struct coverage_result *r = x->s->result;
    struct coverage_ratios sums = {0};
    const char *path = r->sources.at[sources[0]].path;
    struct arena scratch = {0};
    for (size_t i = 0; i < len; i++)
        ratios_add(&sums, &r->sources.at[sources[i]].sums);
    char *name = arena_copy(&scratch, path, path_folder_length(path));
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '.' : *c;
    out_str(x->out, "    <package");
    xml_attribute(x->out, "name", name);
    cobertura_rates(x->out, &sums.lines, &sums.branches);
    out_str(x->out, ">\n     <classes>\n");
    for (size_t i = 0; i < len; i++)
        cobertura_class(x, &r->sources.at[sources[i]]);
    out_str(x->out, "     </classes>\n    </package>\n");
    arena_deinit(&scratch);
}

static void cobertura_packages(const struct xml *x)
{
    const struct coverage_result *r = x->s->result;
    struct arena scratch = {0};
    const uint32_t *order = sources_by_folder(r, &scratch);
    out_str(x->out, "  <packages>\n");
    for (size_t i = 0, end; i < r->sources.len; i = end) {
        end = sources_folder_end(r, order, i);
        cobertura_package(x, order + i, end - i);
    }
    out_str(x->out, "  </packages>\n");
    arena_deinit(&scratch);
}

/* A comment cannot hold two hyphens. */
static void cobertura_problems(const struct xml *x)
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

void coverage_cobertura(struct out *out, const struct coverage_report *s,
                        const struct coverage_style *style)
{
    (void)style;
    const struct coverage_ratios *sums = &s->result->sums;
    struct xml x = {out, s};
    out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE coverage SYSTEM "
                 "'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n");
    cobertura_problems(&x);
    out_printf(out,
               "<coverage line-rate=\"%.6g\" branch-rate=\"%.6g\" lines-covered=\"%" PRIu64
               "\" lines-valid=\"%" PRIu64 "\" branches-covered=\"%" PRIu64
               "\" branches-valid=\"%" PRIu64 "\" complexity=\"0\" timestamp=\"%" PRId64
               "\" version=\"monarc " MONARC_VERSION "\">\n",
               cobertura_rate(&sums->lines), cobertura_rate(&sums->branches), sums->lines.hit,
               sums->lines.all - sums->lines.unknown, sums->branches.hit,
               sums->branches.all - sums->branches.unknown, s->timestamp);
    out_str(out, "  <sources>\n    <source>");
    xml_text(out, s->root);
    out_str(out, "</source>\n  </sources>\n");
    cobertura_packages(&x);
    out_str(out, "</coverage>\n");
}

/* Clover's XML, for services that read it.
 *
 * A package is a folder; every line is a statement, every function's first line a method, and each
 * block that decides between ways a conditional: how often its first way was taken, and how often
 * the others. What is unknown stands in no line. */
#include "coverage/report/coverage_report.h"

#include "base/path.h"
#include "base/saturating.h"
#include "output/xml.h"

#include <inttypes.h>
#include <string.h>

struct clover_sums {
    uint64_t files, methods, methods_hit, conditionals, conditionals_hit, statements,
        statements_hit;
};

/* A conditional's two outcomes; `end` is behind its branches. */
struct clover_conditional {
    uint64_t first, others;
    uint32_t end;
};

static struct clover_conditional clover_next(const struct coverage_result *r,
                                             const struct result_line *l, uint32_t at)
{
    const struct result_branch *b = r->branches.at + l->first_branch;
    struct clover_conditional c = {b[at].count, 0, at + 1};
    for (; c.end < l->branches && b[c.end].block == b[at].block; c.end++)
        c.others = add_saturating(c.others, b[c.end].count);
    return c;
}

static void clover_add(struct clover_sums *sum, const struct clover_sums *part)
{
    sum->files += part->files;
    sum->methods += part->methods;
    sum->methods_hit += part->methods_hit;
    sum->conditionals += part->conditionals;
    sum->conditionals_hit += part->conditionals_hit;
    sum->statements += part->statements;
    sum->statements_hit += part->statements_hit;
}

static struct clover_sums clover_count(const struct coverage_result *r,
                                       const struct result_source *s)
{
    struct clover_sums sums = {.files = 1,
                               .methods = s->sums.functions.all - s->sums.functions.unknown,
                               .methods_hit = s->sums.functions.hit,
                               .statements = s->sums.lines.all - s->sums.lines.unknown,
                               .statements_hit = s->sums.lines.hit};
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        for (uint32_t k = 0; k < l->branches && l->state != RESULT_UNKNOWN;) {
            struct clover_conditional c = clover_next(r, l, k);
            sums.conditionals += 2;
            sums.conditionals_hit += (c.first > 0) + (c.others > 0);
            k = c.end;
        }
    }
    return sums;
}

static void clover_metrics(struct out *out, const struct clover_sums *s, const char *what)
{
    out_str(out, "<metrics");
    if (*what)
        out_printf(out, " %s=\"%" PRIu64 "\"", what, s->files);
    out_printf(out,
               " loc=\"%" PRIu64 "\" ncloc=\"%" PRIu64 "\" classes=\"0\" methods=\"%" PRIu64
               "\" coveredmethods=\"%" PRIu64 "\" conditionals=\"%" PRIu64
               "\" coveredconditionals=\"%" PRIu64 "\" statements=\"%" PRIu64
               "\" coveredstatements=\"%" PRIu64 "\" elements=\"%" PRIu64
               "\" coveredelements=\"%" PRIu64 "\" complexity=\"0\"/>\n",
               s->statements, s->statements, s->methods, s->methods_hit, s->conditionals,
               s->conditionals_hit, s->statements, s->statements_hit,
               s->methods + s->conditionals + s->statements,
               s->methods_hit + s->conditionals_hit + s->statements_hit);
}

static void clover_line(struct out *out, const struct coverage_result *r,
                        const struct result_line *l)
{
    out_printf(out, "        <line num=\"%" PRIu32 "\" type=\"stmt\" count=\"%" PRIu64 "\"/>\n",
               l->line, l->count);
    for (uint32_t k = 0; k < l->branches;) {
        struct clover_conditional c = clover_next(r, l, k);
        out_printf(out,
                   "        <line num=\"%" PRIu32 "\" type=\"cond\" truecount=\"%" PRIu64
                   "\" falsecount=\"%" PRIu64 "\"/>\n",
                   l->line, c.first, c.others);
        k = c.end;
    }
}

static void clover_file(struct out *out, const struct coverage_result *r,
                        const struct result_source *s)
{
    struct clover_sums sums = clover_count(r, s);
    const char *name = s->path + path_folder_length(s->path);
    out_str(out, "      <file");
    xml_attribute(out, "name", *name == '/' ? name + 1 : name);
    xml_attribute(out, "path", s->whole);
    out_str(out, ">\n        ");
    clover_metrics(out, &sums, "");
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const struct result_function *f = &r->functions.at[i];
        if (f->state == RESULT_UNKNOWN)
            continue;
        out_printf(out, "        <line num=\"%" PRIu32 "\" type=\"method\"", f->start_line);
        xml_attribute(out, "signature", f->name);
        out_printf(out, " count=\"%" PRIu64 "\"/>\n", f->count);
    }
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++)
        if (r->lines.at[i].state != RESULT_UNKNOWN)
            clover_line(out, r, &r->lines.at[i]);
    out_str(out, "      </file>\n");
}

static void clover_package(struct out *out, const struct coverage_result *r,
                           const uint32_t *sources, size_t len)
{
    struct clover_sums sums = {0};
    struct arena scratch = {0};
    const char *path = r->sources.at[sources[0]].path;
    for (size_t i = 0; i < len; i++) {
        struct clover_sums part = clover_count(r, &r->sources.at[sources[i]]);
        clover_add(&sums, &part);
    }
    out_str(out, "    <package");
    xml_attribute(out, "name", arena_copy(&scratch, path, path_folder_length(path)));
    out_str(out, ">\n      ");
    clover_metrics(out, &sums, "files");
    for (size_t i = 0; i < len; i++)
        clover_file(out, r, &r->sources.at[sources[i]]);
    out_str(out, "    </package>\n");
    arena_deinit(&scratch);
}

void coverage_clover(struct out *out, const struct coverage_report *s,
                     const struct coverage_style *style)
{
    (void)style;
    struct arena scratch = {0};
    struct clover_sums sums = {0};
    const struct coverage_result *r = s->result;
    const uint32_t *order = sources_by_folder(r, &scratch);
    for (size_t i = 0; i < r->sources.len; i++) {
        struct clover_sums part = clover_count(r, &r->sources.at[i]);
        clover_add(&sums, &part);
    }
    out_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<coverage generated=\"%" PRId64 "\" clover=\"monarc " MONARC_VERSION "\">\n"
               "  <project timestamp=\"%" PRId64 "\">\n    ",
               s->timestamp, s->timestamp);
    clover_metrics(out, &sums, "files");
    for (size_t i = 0, end; i < r->sources.len; i = end) {
        end = sources_folder_end(r, order, i);
        clover_package(out, r, order + i, end - i);
    }
    out_str(out, "  </project>\n</coverage>\n");
    arena_deinit(&scratch);
}

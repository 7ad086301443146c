/* Coverage in the XML that other tools read: Cobertura, Clover, JaCoCo, SonarQube.
 *
 * All of them have fewer words than the report: none can say that something is unknown, so unknown
 * lines and functions are left out, and totals are those of what is left. Packages are folders.
 * They differ in what a branch is, which the comment above each says.
 *
 * All are streamed, and cost one pass over the lines, Clover three more for its sums. */
#include "base/path.h"
#include "base/bytes.h"
#include "coverage/report/coverage_report.h"
#include "output/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Cobertura ------------------------------------------------------------------------------- */

/* Cobertura XML, valid by coverage-04.dtd, for the services that show coverage beside code.
 *
 * A package is a folder, a class a source. A line with branches has one condition for each block
 * that decides.
 *
 *     <coverage line-rate branch-rate lines-covered lines-valid branches-... timestamp version>
 *       <sources><source>ROOT</source></sources>
 *       <packages><package name="src.lib" line-rate branch-rate>
 *         <classes><class name="a.c" filename="src/lib/a.c" line-rate branch-rate>
 *           <methods><method name signature><lines><line number hits/></lines></method></methods>
 *           <lines><line number hits branch="false"/>
 *                  <line number hits branch="true" condition-coverage="50% (1/2)">
 *                    <conditions><condition number type="jump" coverage="50%"/></conditions></line>
 *           </lines></class></classes></package></packages></coverage> */

struct xml {
    struct out *out;
    const struct coverage_report *s;
};

/* Of nothing all is covered: a folder without branches shall not fail a gate on them. One missed
 * line of millions has the decimals that show it, as a rate of 1 would pass every gate. */
static void cobertura_rate(struct out *out, const char *name, const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    double rate = all ? (double)r->hit / (double)all : 1;
    out_printf(out, " %s-rate=\"%.*g\"", name, rate < 1 && rate > 0.999999 ? 17 : 6, rate);
}

/* The document type wants a complexity; it is not measured. */
static void cobertura_rates(struct out *out, const struct coverage_ratio *lines,
                            const struct coverage_ratio *branches)
{
    cobertura_rate(out, "line", lines);
    cobertura_rate(out, "branch", branches);
    out_str(out, " complexity=\"0\"");
}

/* A method has one line, its first, and as rate 0 or 1. */
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

/* One condition a block: how many of its ways were taken. Branches of a block lie beside each
 * other. */
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

/* Numbers are written by out_u64(): this is most of a document. */
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

/* A class is a source: Cobertura knows no functions outside of one. */
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

/* Names are folders with dots for slashes, since readers take them for Java's. */
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

/* A package is a folder. */
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

/* A comment cannot hold two hyphens. Bytes above ASCII may be no UTF-8, which no comment may hold
 * either. */
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
    out_str(out, "<coverage");
    cobertura_rates(out, &sums->lines, &sums->branches);
    out_printf(out,
               " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
               "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64
               "\" timestamp=\"%" PRId64 "\" version=\"monarc " MONARC_VERSION "\">\n",
               sums->lines.hit, sums->lines.all - sums->lines.unknown, sums->branches.hit,
               sums->branches.all - sums->branches.unknown, s->timestamp);
    out_str(out, "  <sources>\n    <source>");
    xml_text(out, s->root);
    out_str(out, "</source>\n  </sources>\n");
    cobertura_packages(&x);
    out_str(out, "</coverage>\n");
}

/* --- Clover ---------------------------------------------------------------------------------- */

/* Clover's XML, for services that read it.
 *
 * A package is a folder; every line is a statement, every function's first line a method, and each
 * block that decides between ways a conditional: how often its first way was taken, and how often
 * the others. What is unknown stands in no line.
 *
 *     <coverage generated clover><project timestamp><metrics .../>
 *       <package name="src/lib"><metrics .../>
 *         <file name="a.c" path="/src/lib/a.c"><metrics .../>
 *           <line num type="method" signature count/>
 *           <line num type="cond" truecount falsecount/>
 *           <line num type="stmt" count/> */

struct clover_sums {
    uint64_t files, methods, methods_hit, conditionals, conditionals_hit, statements,
        statements_hit;
};

/* A conditional's two outcomes; `end` is after its branches. */
struct clover_conditional {
    uint64_t first, others;
    uint32_t end;
};

/* `at`: the branch of the line with which the conditional begins. */
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

/* Of one source. Conditionals have two outcomes each, however many ways the block has. */
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

/* `what` names the count of files, where the element has one: project and package, not a file. */
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

/* Sums precede the files, so that these are walked twice. */
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

/* --- JaCoCo ---------------------------------------------------------------------------------- */

/* JaCoCo's XML, valid by its report.dtd 1.1, for whatever reads Java's coverage.
 *
 * A package is a folder, a class a source. It has no counts: a line is one instruction, covered or
 * missed. What is unknown stands in no line and no counter.
 *
 *     <report name><package name="src/lib">
 *       <class name="src/lib/a.c" sourcefilename="a.c"><method name desc line><counter/></method>
 *         <counter type="INSTRUCTION|BRANCH|LINE|METHOD" missed covered/></class>
 *       <sourcefile name="a.c"><line nr mi ci mb cb/><counter/></sourcefile>
 *       <counter/></package><counter/></report> */

/* Of nothing there is no counter: that is how JaCoCo says it. */
static void jacoco_counter(struct out *out, const char *type, const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    if (all)
        out_printf(out, "<counter type=\"%s\" missed=\"%" PRIu64 "\" covered=\"%" PRIu64 "\"/>",
                   type, all - r->hit, r->hit);
}

/* In the order of JaCoCo's own reports. */
static void jacoco_counters(struct out *out, const struct coverage_ratios *sums)
{
    jacoco_counter(out, "INSTRUCTION", &sums->lines);
    jacoco_counter(out, "BRANCH", &sums->branches);
    jacoco_counter(out, "LINE", &sums->lines);
    jacoco_counter(out, "METHOD", &sums->functions);
}

/* `desc` is a descriptor of Java; the linkage name stands in for it, as it distinguishes overloads.
 */
static void jacoco_class(struct out *out, const struct coverage_result *r,
                         const struct result_source *s)
{
    const char *name = s->path + path_folder_length(s->path);
    out_str(out, "    <class");
    xml_attribute(out, "name", s->path);
    xml_attribute(out, "sourcefilename", *name == '/' ? name + 1 : name);
    out_str(out, ">\n");
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const struct result_function *f = &r->functions.at[i];
        if (f->state == RESULT_UNKNOWN)
            continue;
        out_str(out, "      <method");
        xml_attribute(out, "name", f->name);
        xml_attribute(out, "desc", f->linkage);
        out_printf(out, " line=\"%" PRIu32 "\">", f->start_line);
        jacoco_counter(out, "METHOD", &(struct coverage_ratio){1, f->count > 0, 0});
        out_str(out, "</method>\n");
    }
    out_str(out, "      ");
    jacoco_counters(out, &s->sums);
    out_str(out, "\n    </class>\n");
}

/* mi and ci are instructions missed and covered, mb and cb branches. */
static void jacoco_source(struct out *out, const struct coverage_result *r,
                          const struct result_source *s)
{
    const char *name = s->path + path_folder_length(s->path);
    out_str(out, "    <sourcefile");
    xml_attribute(out, "name", *name == '/' ? name + 1 : name);
    out_str(out, ">\n");
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        uint32_t taken = 0;
        if (l->state == RESULT_UNKNOWN)
            continue;
        for (uint32_t k = 0; k < l->branches; k++)
            taken += r->branches.at[l->first_branch + k].count > 0;
        out_printf(out,
                   "      <line nr=\"%" PRIu32 "\" mi=\"%d\" ci=\"%d\" mb=\"%" PRIu32
                   "\" cb=\"%" PRIu32 "\"/>\n",
                   l->line, !l->count, l->count > 0, l->branches - taken, taken);
    }
    out_str(out, "      ");
    jacoco_counters(out, &s->sums);
    out_str(out, "\n    </sourcefile>\n");
}

/* Classes first, then their sources, as JaCoCo has them. */
static void jacoco_package(struct out *out, const struct coverage_result *r,
                           const uint32_t *sources, size_t len)
{
    struct coverage_ratios sums = {0};
    struct arena scratch = {0};
    const char *path = r->sources.at[sources[0]].path;
    out_str(out, "  <package");
    xml_attribute(out, "name", arena_copy(&scratch, path, path_folder_length(path)));
    out_str(out, ">\n");
    for (size_t i = 0; i < len; i++) {
        jacoco_class(out, r, &r->sources.at[sources[i]]);
        ratios_add(&sums, &r->sources.at[sources[i]].sums);
    }
    for (size_t i = 0; i < len; i++)
        jacoco_source(out, r, &r->sources.at[sources[i]]);
    out_str(out, "    ");
    jacoco_counters(out, &sums);
    out_str(out, "\n  </package>\n");
    arena_deinit(&scratch);
}

void coverage_jacoco(struct out *out, const struct coverage_report *s,
                     const struct coverage_style *style)
{
    (void)style;
    struct arena scratch = {0};
    const struct coverage_result *r = s->result;
    const uint32_t *order = sources_by_folder(r, &scratch);
    out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\">\n"
                 "<report");
    xml_attribute(out, "name", s->root ? s->root : "");
    out_str(out, ">\n");
    for (size_t i = 0, end; i < r->sources.len; i = end) {
        end = sources_folder_end(r, order, i);
        jacoco_package(out, r, order + i, end - i);
    }
    out_str(out, "  ");
    jacoco_counters(out, &r->sums);
    out_str(out, "\n</report>\n");
    arena_deinit(&scratch);
}

/* --- SonarQube ------------------------------------------------------------------------------- */

/* SonarQube's generic coverage, version 1. It has no counts, only whether a line ran, and how many
 * of its branches were taken. What is unknown stands in no line.
 *
 *     <coverage version="1"><file path="a.c">
 *       <lineToCover lineNumber="12" covered="true" branchesToCover="2" coveredBranches="1"/> */

static void sonarqube_line(struct out *out, const struct coverage_result *r,
                           const struct result_line *l)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < l->branches; i++)
        taken += r->branches.at[l->first_branch + i].count > 0;
    out_printf(out, "    <lineToCover lineNumber=\"%u\" covered=\"%s\"", l->line,
               l->count ? "true" : "false");
    if (l->branches)
        out_printf(out, " branchesToCover=\"%u\" coveredBranches=\"%u\"", l->branches, taken);
    out_str(out, "/>\n");
}

void coverage_sonarqube(struct out *out, const struct coverage_report *s,
                        const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n");
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *source = &r->sources.at[i];
        out_str(out, "  <file");
        xml_attribute(out, "path", source->path);
        out_str(out, ">\n");
        for (uint32_t k = source->first_line; k < source->first_line + source->lines; k++)
            if (r->lines.at[k].state != RESULT_UNKNOWN)
                sonarqube_line(out, r, &r->lines.at[k]);
        out_str(out, "  </file>\n");
    }
    out_str(out, "</coverage>\n");
}

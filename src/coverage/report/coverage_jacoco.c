/* JaCoCo's XML, valid by its report.dtd 1.1, for whatever reads Java's coverage.
 *
 * A package is a folder, a class a source. It has no counts: a line is one instruction, covered or
 * missed. What is unknown stands in no line and no counter. */
#include "coverage/report/coverage_report.h"

#include "base/path.h"
#include "output/xml.h"

#include <inttypes.h>
#include <string.h>

static void jacoco_counter(struct out *out, const char *type, const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    if (all)
        out_printf(out, "<counter type=\"%s\" missed=\"%" PRIu64 "\" covered=\"%" PRIu64 "\"/>",
                   type, all - r->hit, r->hit);
}

static void jacoco_counters(struct out *out, const struct coverage_ratios *sums)
{
    jacoco_counter(out, "INSTRUCTION", &sums->lines);
    jacoco_counter(out, "BRANCH", &sums->branches);
    jacoco_counter(out, "LINE", &sums->lines);
    jacoco_counter(out, "METHOD", &sums->functions);
}

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

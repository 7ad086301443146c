/* SonarQube's generic coverage, version 1. It has no counts, only whether a line ran, and how many
 * of its branches were taken. What is unknown stands in no line. */
#include "coverage/report/coverage_report.h"

#include "output/xml.h"

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

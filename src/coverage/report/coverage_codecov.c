/* Codecov's own JSON: of each source the count of each line, or "1/2" where it has branches: taken
 * of all. What is unknown stands in no line: the format has no word for it. */
#include "coverage/report/coverage_report.h"

#include "output/json.h"

#include <stdio.h>

static void codecov_line(struct json *j, const struct coverage_result *r,
                         const struct result_line *l)
{
    char text[32];
    uint32_t taken = 0;
    for (uint32_t i = 0; i < l->branches; i++)
        taken += r->branches.at[l->first_branch + i].count > 0;
    snprintf(text, sizeof text, "%u", l->line);
    json_key(j, text);
    snprintf(text, sizeof text, "%u/%u", taken, l->branches);
    if (l->branches && l->count)
        json_str(j, text);
    else
        json_u64(j, l->count);
}

void coverage_codecov(struct out *out, const struct coverage_report *s,
                      const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    json_key(&j, "coverage"), json_begin(&j, '{');
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *source = &r->sources.at[i];
        json_key(&j, source->path), json_begin(&j, '{');
        for (uint32_t k = source->first_line; k < source->first_line + source->lines; k++)
            if (r->lines.at[k].state != RESULT_UNKNOWN)
                codecov_line(&j, r, &r->lines.at[k]);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

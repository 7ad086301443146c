/* gcovr's JSON, format 0.3, as gcovr 5 writes it and reads with --add-tracefile. It has no calls
 * and no conditions; what is unknown stands in no line. */
#include "coverage/report/coverage_report.h"

#include "output/json.h"

static void gcovr_functions(struct json *j, const struct coverage_result *r,
                            const struct result_source *s)
{
    json_key(j, "functions"), json_begin(j, '[');
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const struct result_function *f = &r->functions.at[i];
        if (f->state == RESULT_UNKNOWN)
            continue;
        json_begin(j, '{');
        json_pair_u64(j, "execution_count", f->count);
        json_pair_u64(j, "lineno", f->start_line);
        json_pair_str(j, "name", f->name);
        json_end(j);
    }
    json_end(j);
}

static void gcovr_line(struct json *j, const struct coverage_result *r, const struct result_line *l)
{
    json_begin(j, '{');
    json_key(j, "branches"), json_begin(j, '[');
    for (uint32_t k = 0; k < l->branches; k++) {
        const struct result_branch *b = &r->branches.at[l->first_branch + k];
        json_begin(j, '{');
        json_pair_u64(j, "count", b->count);
        json_key(j, "fallthrough"), json_bool(j, b->flags & OUTCOME_FALLTHROUGH);
        json_key(j, "throw"), json_bool(j, b->flags & OUTCOME_THROW);
        json_end(j);
    }
    json_end(j);
    json_pair_u64(j, "count", l->count);
    json_key(j, "gcovr/excluded"), json_bool(j, false);
    json_key(j, "gcovr/noncode"), json_bool(j, false);
    json_pair_u64(j, "line_number", l->line);
    json_end(j);
}

void coverage_gcovr(struct out *out, const struct coverage_report *s,
                    const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    json_key(&j, "files"), json_begin(&j, '[');
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *source = &r->sources.at[i];
        json_begin(&j, '{');
        json_pair_str(&j, "file", source->path);
        gcovr_functions(&j, r, source);
        json_key(&j, "lines"), json_begin(&j, '[');
        for (uint32_t k = source->first_line; k < source->first_line + source->lines; k++)
            if (r->lines.at[k].state != RESULT_UNKNOWN)
                gcovr_line(&j, r, &r->lines.at[k]);
        json_end(&j);
        json_end(&j);
    }
    json_end(&j);
    json_pair_str(&j, "gcovr/format_version", "0.3");
    json_end(&j);
}

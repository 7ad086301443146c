/* Totals, what was read and left out, gates, and the lines of a patch. */
#include "page/coverage_data.h"

#include "page/blame_data.h"
#include "page/columns.h"

static void ratio(struct json *j, const char *key, const struct coverage_ratio *r)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

static void totals_data(struct json *j, const char *key, const struct coverage_ratios *s)
{
    json_key(j, key), json_begin(j, '{');
    ratio(j, "lines", &s->lines);
    ratio(j, "functions", &s->functions);
    ratio(j, "branches", &s->branches);
    ratio(j, "conditions", &s->conditions);
    json_end(j);
}

static void inputs_data(struct json *j, const struct page_coverage *c)
{
    const struct coverage_result *r = c->result;
    json_key(j, "inputs"), json_begin(j, '{');
    json_pair_u64(j, "objects", c->objects);
    json_pair_u64(j, "unrun", c->unrun);
    json_pair_u64(j, "counters", c->counters);
    json_pair_u64(j, "tracefiles", c->traces);
    json_end(j);
    json_key(j, "left_out"), json_begin(j, '{');
    json_pair_u64(j, "lines", r->left_out.lines);
    json_pair_u64(j, "functions", r->left_out.functions);
    json_pair_u64(j, "branches", r->left_out.branches);
    json_pair_u64(j, "exception_branches", r->left_out.exception_branches);
    json_pair_u64(j, "compilers_branches", r->left_out.hidden_branches);
    json_end(j);
}

static void problems_data(struct json *j, const struct page_coverage *c)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"error", "warning", "note"};
    column_begin(j, "problems");
    for (size_t i = 0; i < c->problems->at.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[c->problems->at.at[i].kind]);
        json_pair_str(j, "text", c->problems->at.at[i].text);
        json_end(j);
    }
    for (size_t i = 0; i < c->result->notes.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[PROBLEM_NOTE]);
        json_pair_str(j, "text", c->result->notes.at[i]);
        json_end(j);
    }
    json_end(j);
}

static void gates_data(struct json *j, const struct page_coverage *c)
{
    column_begin(j, "gates");
    for (size_t i = 0; i < c->gates_len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "name", c->gates[i].name);
        json_pair_double(j, "limit", c->gates[i].limit);
        json_pair_double(j, "percent", c->gates[i].percent);
        json_key(j, "has_failed"), json_bool(j, c->gates[i].has_failed);
        json_end(j);
    }
    json_end(j);
}

static uint32_t file_of_source(const struct measured_sources *files, uint32_t source)
{
    for (uint32_t i = 0; i < files->all.len; i++)
        if (source != UINT32_MAX && files->all.at[i].coverage == source)
            return i;
    return UINT32_MAX;
}

static void diff_data(struct json *j, const struct page_coverage *c,
                      const struct measured_sources *files)
{
    json_key(j, "diff");
    if (!c->diff) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "patch", c->patch);
    ratio(j, "lines", &c->diff->sum);
    ratio(j, "branches", &c->diff->branches);
    column_begin(j, "files");
    for (size_t i = 0; i < c->diff->files.len; i++) {
        const struct diff_file *f = &c->diff->files.at[i];
        json_begin(j, '{');
        json_pair_str(j, "path", f->path);
        json_key(j, "file"), column_index(j, file_of_source(files, f->source));
        json_pair_u64(j, "added", f->added);
        ratio(j, "lines", &f->lines);
        column_begin(j, "changed");
        for (uint32_t k = f->first_line; k < f->first_line + f->len; k++)
            json_u64(j, c->result->lines.at[c->diff->lines.at[k]].line);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void coverage_data(struct json *j, const struct page_coverage *c,
                   const struct measured_sources *files)
{
    totals_data(j, "totals", &c->result->sums);
    if (c->base)
        totals_data(j, "base", &c->base->sums);
    inputs_data(j, c);
    problems_data(j, c);
    gates_data(j, c);
    blame_sums_data(j, c);
    diff_data(j, c, files);
}

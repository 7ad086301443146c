/* Coverage compared, as JSON: docs/schema/diff_coverage.schema.json. */
#include "coverage/report/change_report.h"

#include "output/json.h"

static void change_json_ratio(struct json *j, const char *key, const struct coverage_ratio *r)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

static void change_json_sums(struct json *j, const char *key, const struct coverage_ratios *s)
{
    json_key(j, key), json_begin(j, '{');
    change_json_ratio(j, "lines", &s->lines);
    change_json_ratio(j, "functions", &s->functions);
    change_json_ratio(j, "branches", &s->branches);
    change_json_ratio(j, "conditions", &s->conditions);
    json_end(j);
}

static void change_json_lines(struct json *j, const char *key, const struct changed_line *lines,
                              uint32_t len)
{
    json_key(j, key), json_begin(j, '[');
    for (uint32_t i = 0; i < len; i++)
        json_u64(j, lines[i].line);
    json_end(j);
}

static void change_json_source(struct json *j, const struct coverage_change *c,
                               const struct source_change *s)
{
    json_begin(j, '{');
    json_pair_str(j, "path", s->path);
    json_key(j, "old");
    if (s->old == NO_SOURCE)
        json_none(j);
    else
        json_begin(j, '{'), change_json_sums(j, "sums", &s->old_sums), json_end(j);
    json_key(j, "new");
    if (s->new == NO_SOURCE)
        json_none(j);
    else
        json_begin(j, '{'), change_json_sums(j, "sums", &s->new_sums), json_end(j);
    json_pair_u64(j, "compared_lines", s->compared);
    change_json_lines(j, "no_longer_run", source_lost(c, s), s->lost);
    change_json_lines(j, "run_now", source_gained(c, s), s->gained);
    json_end(j);
}

void change_json(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    struct json j = {.out = out};
    size_t shown = 0;
    json_document_begin(&j, "diff_coverage");
    json_pair_str(&j, "old", r->old);
    json_pair_str(&j, "new", r->new);
    json_key(&j, "summary"), json_begin(&j, '{');
    change_json_sums(&j, "old", &c->old_sums);
    change_json_sums(&j, "new", &c->new_sums);
    json_pair_u64(&j, "sources", c->sources.len);
    json_pair_u64(&j, "changed", change_count(c));
    json_end(&j);
    json_key(&j, "sources"), json_begin(&j, '[');
    for (size_t i = 0; i < c->sources.len && (!r->limit || shown < r->limit); i++) {
        const struct source_change *s = &c->sources.at[i];
        if (!r->shows_all && !source_change_is_any(s))
            continue;
        change_json_source(&j, c, s);
        shown++;
    }
    json_end(&j);
    json_end(&j);
}

/* JSON: docs/schema/cover.schema.json. Everything the other forms know, one line of text a line of
 * source. What is unknown has no count: null. */
#include "coverage/report/coverage_report.h"

#include "profile/report/summary.h"

static void ratio(struct json *j, const char *key, const struct cover_ratio *r)
{
    json_key(j, key);
    json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

static void sums(struct json *j, const char *key, const struct cover_sums *s)
{
    json_key(j, key);
    json_begin(j, '{');
    ratio(j, "lines", &s->lines);
    ratio(j, "functions", &s->functions);
    ratio(j, "branches", &s->branches);
    ratio(j, "conditions", &s->conditions);
    ratio(j, "calls", &s->calls);
    json_end(j);
}

static void pair_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_bool(j, value);
}

static void count(struct json *j, uint64_t value, uint8_t state)
{
    json_key(j, "count");
    if (state == RESULT_UNKNOWN)
        json_none(j);
    else
        json_u64(j, value);
}

static void function(struct json *j, const struct result_function *f)
{
    struct arena scratch = {0};
    json_begin(j, '{');
    j->is_compact = true;
    json_pair_str(j, "name", f->name);
    json_pair_str(j, "linkage_name", f->linkage);
    json_pair_u64(j, "start_line", f->start_line);
    json_pair_u64(j, "end_line", f->end_line);
    count(j, f->count, f->state);
    if (f->is_partly_unknown)
        json_pair_str(j, "unknown", cover_unknown_reason(f, &scratch));
    if (f->is_repaired)
        pair_bool(j, "is_repaired", true);
    json_end(j);
    j->is_compact = false;
    arena_deinit(&scratch);
}

static const char *name_of(const struct cover_result *r, uint32_t function)
{
    return function < r->functions.len ? r->functions.at[function].linkage : NULL;
}

static void branch(struct json *j, const struct cover_result *r, const struct result_line *l,
                   const struct result_branch *b)
{
    json_begin(j, '{');
    json_pair_u64(j, "block", b->block);
    count(j, b->count, b->count ? RESULT_HIT : l->state);
    if (b->flags & OUTCOME_FALLTHROUGH)
        pair_bool(j, "is_fallthrough", true);
    if (b->flags & OUTCOME_THROW)
        pair_bool(j, "is_throw", true);
    if (l->branches > 1 && name_of(r, b->function))
        json_pair_str(j, "function", name_of(r, b->function));
    json_end(j);
}

static void condition(struct json *j, const struct result_condition *c)
{
    json_begin(j, '{');
    json_pair_u64(j, "terms", c->terms);
    json_pair_u64(j, "hit", condition_hit(c));
    json_key(j, "outcomes"), json_begin(j, '[');
    for (uint32_t t = 0; t < c->terms; t++) {
        json_begin(j, '[');
        json_bool(j, c->on >> t & 1);
        json_bool(j, c->off >> t & 1);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void line(struct json *j, const struct cover_result *r, const struct result_line *l)
{
    json_begin(j, '{');
    j->is_compact = true;
    json_pair_u64(j, "line", l->line);
    count(j, l->count, l->state);
    if (l->branches) {
        json_key(j, "branches"), json_begin(j, '[');
        for (uint32_t i = 0; i < l->branches; i++)
            branch(j, r, l, &r->branches.at[l->first_branch + i]);
        json_end(j);
    }
    if (l->conditions) {
        json_key(j, "conditions"), json_begin(j, '[');
        for (uint32_t i = 0; i < l->conditions; i++)
            condition(j, &r->conditions.at[l->first_condition + i]);
        json_end(j);
    }
    if (l->calls) {
        json_pair_u64(j, "calls", l->calls);
        json_pair_u64(j, "calls_made", l->calls_made);
    }
    json_end(j);
    j->is_compact = false;
}

static void source(struct json *j, const struct cover_result *r, const struct result_source *s)
{
    json_begin(j, '{');
    json_pair_str(j, "path", s->path);
    sums(j, "totals", &s->sums);
    json_key(j, "functions"), json_begin(j, '[');
    for (uint32_t i = 0; i < s->functions; i++)
        function(j, &r->functions.at[s->first_function + i]);
    json_end(j);
    json_key(j, "lines"), json_begin(j, '[');
    for (uint32_t i = 0; i < s->lines; i++)
        line(j, r, &r->lines.at[s->first_line + i]);
    json_end(j);
    json_end(j);
}

static void left_out(struct json *j, const struct cover_story *s)
{
    const struct cover_result *r = s->result;
    json_key(j, "left_out"), json_begin(j, '{');
    pair_bool(j, "system_sources", s->leaves_system);
    pair_bool(j, "unwanted_sources", s->leaves_unwanted);
    json_pair_u64(j, "exception_branches", r->left_out.exception_branches);
    json_pair_u64(j, "compilers_branches", r->left_out.hidden_branches);
    json_pair_u64(j, "marked_lines", r->left_out.lines);
    json_pair_u64(j, "marked_functions", r->left_out.functions);
    json_pair_u64(j, "marked_branches", r->left_out.branches);
    json_end(j);
}

static void problems(struct json *j, const struct cover_story *s)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"lost", "partial", "note"};
    json_key(j, "problems"), json_begin(j, '[');
    for (size_t i = 0; i < s->problems->at.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "kind", WORDS[s->problems->at.at[i].kind]);
        json_pair_str(j, "text", s->problems->at.at[i].text);
        json_end(j);
    }
    for (size_t i = 0; i < s->result->notes.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "kind", WORDS[PROBLEM_NOTE]);
        json_pair_str(j, "text", s->result->notes.at[i]);
        json_end(j);
    }
    json_end(j);
}

static void missed_lines(struct json *j, const struct cover_story *s, const struct diff_file *f,
                         uint8_t state)
{
    for (uint32_t i = f->first_line; i < f->first_line + f->len; i++) {
        const struct result_line *l = &s->result->lines.at[s->diff->lines.at[i]];
        if (l->state == state)
            json_u64(j, l->line);
    }
}

static void diff(struct json *j, const struct cover_story *s)
{
    json_key(j, "diff");
    if (!s->diff) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "patch", s->patch);
    ratio(j, "lines", &s->diff->sum);
    ratio(j, "branches", &s->diff->branches);
    json_key(j, "files"), json_begin(j, '[');
    for (size_t i = 0; i < s->diff->files.len; i++) {
        const struct diff_file *f = &s->diff->files.at[i];
        json_begin(j, '{');
        json_pair_str(j, "path", f->path);
        pair_bool(j, "is_known", f->source != (uint32_t)COVER_NONE);
        json_pair_u64(j, "added", f->added);
        ratio(j, "lines", &f->lines);
        json_key(j, "missed"), json_begin(j, '[');
        missed_lines(j, s, f, RESULT_MISSED);
        json_end(j);
        json_key(j, "unknown"), json_begin(j, '[');
        missed_lines(j, s, f, RESULT_UNKNOWN);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void gates(struct json *j, const struct cover_story *s)
{
    json_key(j, "gates"), json_begin(j, '[');
    for (size_t i = 0; i < s->gates_len; i++) {
        const struct cover_gate *g = &s->gates[i];
        json_begin(j, '{');
        json_pair_str(j, "name", g->name);
        json_pair_double(j, "limit", g->limit);
        json_pair_double(j, "percent", g->percent);
        pair_bool(j, "has_failed", g->has_failed);
        json_end(j);
    }
    json_end(j);
}

void cover_json(struct out *out, const struct cover_story *s)
{
    const struct cover_result *r = s->result;
    struct json j = {.out = out};
    json_begin(&j, '{');
    json_pair_u64(&j, "schema_version", 1);
    json_pair_str(&j, "report", "cover");
    json_pair_str(&j, "root", s->root);
    json_key(&j, "inputs"), json_begin(&j, '{');
    json_pair_u64(&j, "objects", s->objects);
    json_pair_u64(&j, "objects_without_counters", s->unrun);
    json_pair_u64(&j, "counters", s->counters);
    json_pair_u64(&j, "tracefiles", s->traces);
    json_end(&j);
    json_key(&j, "tests"), json_begin(&j, '[');
    for (size_t i = 0; i < r->tests.len; i++)
        json_str(&j, r->tests.at[i]);
    json_end(&j);
    sums(&j, "totals", &r->sums);
    left_out(&j, s);
    problems(&j, s);
    gates(&j, s);
    diff(&j, s);
    json_key(&j, "sources"), json_begin(&j, '[');
    for (size_t i = 0; i < r->sources.len; i++)
        source(&j, r, &r->sources.at[i]);
    json_end(&j);
    json_end(&j);
}

/* Coverage as JSON: monarc's own form, which has everything that the other forms know, and those of
 * gcovr, Coveralls and Codecov, which have less.
 *
 * In monarc's own what is unknown has no count: null. The others cannot say so, and unknown lines
 * stand in none of them. All are streamed, source by source.
 *
 *     monarc      null is unknown; functions, branches, conditions, calls, patch, gates, problems
 *     gcovr       functions, branches; from 0.15 conditions       unknown lines left out
 *     Coveralls   lines as an array by number, branches           unknown lines null
 *     Codecov     lines as an object by number, "taken/all"       unknown lines left out
 *
 * Branches of lines that are unknown are not known to be missed. Cost: one pass; gcovr's share of a
 * function's lines is a pass over the source's lines for each function. */
#include "base/file.h"
#include "base/path.h"
#include "coverage/report/coverage_report.h"
#include "coverage/analysis/llvm_coverage.h"
#include "output/formats.h"

#include <stdio.h>

/* --- monarc's own ---------------------------------------------------------------------------- */

/* JSON: docs/schema/cover.schema.json. Everything the other forms know, one line of text a line of
 * source. What is unknown has no count: null. */

/* `hit` of `all`, of which `unknown` are neither hit nor missed. No percentage: a reader that wants
 * one decides what the unknown count as. */
static void json_ratio(struct json *j, const char *key, const struct coverage_ratio *r)
{
    json_key(j, key);
    json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

/* The same six kinds for the whole and for each source. Calls are those that lines make, and how
 * many of them were made. */
static void json_sums(struct json *j, const char *key, const struct coverage_ratios *s)
{
    json_key(j, key);
    json_begin(j, '{');
    json_ratio(j, "lines", &s->lines);
    json_ratio(j, "functions", &s->functions);
    json_ratio(j, "branches", &s->branches);
    json_ratio(j, "conditions", &s->conditions);
    json_ratio(j, "calls", &s->calls);
    json_ratio(j, "regions", &s->regions);
    json_end(j);
}

/* `count` null is unknown; 0 is a measurement. */
static void json_count(struct json *j, uint64_t value, uint8_t state)
{
    json_key(j, "count");
    if (state == RESULT_UNKNOWN)
        json_none(j);
    else
        json_u64(j, value);
}

/* One line of text a function: files of thousands stay readable and can be compared by lines.
 * `unknown` is a sentence why, also of functions that ran in one object and are unknown in another:
 * their count is then at least so much. `is_repaired` says that lost counts were worked out. */
static void json_function(struct json *j, const struct result_function *f)
{
    struct arena scratch = {0};
    json_begin(j, '{');
    j->is_compact = true;
    json_pair_str(j, "name", f->name);
    json_pair_str(j, "linkage_name", f->linkage);
    json_pair_u64(j, "start_line", f->start_line);
    json_pair_u64(j, "end_line", f->end_line);
    json_count(j, f->count, f->state);
    if (f->is_partly_unknown)
        json_pair_str(j, "unknown", function_unknown_reason(f, &scratch));
    if (f->is_repaired)
        json_pair_bool(j, "is_repaired", true);
    json_end(j);
    j->is_compact = false;
    arena_deinit(&scratch);
}

/* NULL where a branch is of no function that is listed. */
static const char *json_name_of(const struct coverage_result *r, uint32_t function)
{
    return function < r->functions.len ? r->functions.at[function].linkage : NULL;
}

/* Of an unknown line a branch that was taken is known all the same. `block` groups branches of one
 * decision. The function is named where a line may have several, as lines of templates and inline
 * functions do. */
static void json_branch(struct json *j, const struct coverage_result *r,
                        const struct result_line *l, const struct result_branch *b)
{
    json_pair_u64(j, "block", b->block);
    json_count(j, b->count, b->count ? RESULT_HIT : l->state);
    if (b->flags & OUTCOME_FALLTHROUGH)
        json_pair_bool(j, "is_fallthrough", true);
    if (b->flags & OUTCOME_THROW)
        json_pair_bool(j, "is_throw", true);
    if (l->branches > 1 && json_name_of(r, b->function))
        json_pair_str(j, "function", json_name_of(r, b->function));
}

/* Of each term whether it was seen true, and false. Bit t of `on` and `off`: term t decided the
 * outcome (masking MC/DC, as GCC 14 records it) being true, and being false. */
static void json_condition(struct json *j, const struct result_condition *c)
{
    json_pair_u64(j, "terms", c->terms);
    json_pair_u64(j, "hit", condition_hit(c));
    JSON_ITEMS(j, "outcomes", t, c->terms) {
        json_begin(j, '[');
        json_bool(j, c->on >> t & 1);
        json_bool(j, c->off >> t & 1);
        json_end(j);
    }
}

/* One line of text a line of source, likewise. */
static void json_line(struct json *j, const struct coverage_result *r, const struct result_line *l)
{
    json_begin(j, '{');
    j->is_compact = true;
    json_pair_u64(j, "line", l->line);
    json_count(j, l->count, l->state);
    if (l->branches) {
        JSON_ROWS(j, "branches", i, l->branches)
            json_branch(j, r, l, &r->branches.at[l->first_branch + i]);
    }
    if (l->conditions) {
        JSON_ROWS(j, "conditions", i, l->conditions)
            json_condition(j, &r->conditions.at[l->first_condition + i]);
    }
    if (l->calls) {
        json_pair_u64(j, "calls", l->calls);
        json_pair_u64(j, "calls_made", l->calls_made);
    }
    if (l->regions.all) {
        json_pair_u64(j, "regions", l->regions.all);
        json_pair_u64(j, "regions_hit", l->regions.hit);
    }
    json_end(j);
    j->is_compact = false;
}

/* Totals first: a reader that wants no more can pass over the rest. */
static void json_source(struct json *j, const struct coverage_result *r,
                        const struct result_source *s)
{
    json_pair_str(j, "path", s->path);
    json_sums(j, "totals", &s->sums);
    JSON_ITEMS(j, "functions", i, s->functions)
        json_function(j, &r->functions.at[s->first_function + i]);
    JSON_ITEMS(j, "lines", i, s->lines)
        json_line(j, r, &r->lines.at[s->first_line + i]);
}

/* Numbers of the patch's lines in one state. Those that ran are the rest. */
static void json_missed_lines(struct json *j, const struct coverage_report *s,
                              const struct diff_file *f, uint8_t state)
{
    for (uint32_t i = f->first_line; i < f->first_line + f->len; i++) {
        const struct result_line *l = &s->result->lines.at[s->diff->lines.at[i]];
        if (l->state == state)
            json_u64(j, l->line);
    }
}

/* Changed lines by file; null: there was no patch. A file that coverage does not know (`is_known`
 * false) has lines that were added, and no figures. */
static void json_diff(struct json *j, const struct coverage_report *s)
{
    json_key(j, "diff");
    if (!s->diff) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "patch", s->patch);
    json_ratio(j, "lines", &s->diff->sum);
    json_ratio(j, "branches", &s->diff->branches);
    JSON_ROWS(j, "files", i, s->diff->files.len) {
        const struct diff_file *f = &s->diff->files.at[i];
        json_pair_str(j, "path", f->path);
        json_pair_bool(j, "is_known", f->source != (uint32_t)NO_INDEX);
        json_pair_u64(j, "added", f->added);
        json_ratio(j, "lines", &f->lines);
        json_key(j, "missed"), json_begin(j, '[');
        json_missed_lines(j, s, f, RESULT_MISSED);
        json_end(j);
        json_key(j, "unknown"), json_begin(j, '[');
        json_missed_lines(j, s, f, RESULT_UNKNOWN);
        json_end(j);
    }
    json_end(j);
}

/* A vector: true, false, or null for what was not evaluated; as many as there are conditions, in
 * their order. */
static void json_vector(struct json *j, const struct explained_decision *d,
                        const struct mcdc_vector *v)
{
    json_begin(j, '[');
    for (uint32_t k = 0; k < d->len; k++) {
        if (v->evaluated >> k & 1)
            json_bool(j, v->values >> k & 1);
        else
            json_none(j);
    }
    json_end(j);
}

/* A condition of a decision, and the runs that would show it: one, if a run that was seen is the
 * other half of the pair, else two. Columns count bytes from 1. */
static void json_decision_term(struct json *j, const struct explained_decision *d, uint32_t k)
{
    const struct mcdc_need *need = &d->needs[k];
    const struct llvm_place *at = &d->terms[k];
    json_pair_u64(j, "line", at->line);
    json_pair_u64(j, "column", at->column);
    json_pair_u64(j, "end_line", at->end_line);
    json_pair_u64(j, "end_column", at->end_column);
    json_pair_bool(j, "is_folded", d->folded >> k & 1);
    json_pair_bool(j, "unique_cause", d->shown >> k & 1);
    json_pair_bool(j, "masking", d->masking >> k & 1);
    JSON_ITEMS(j, "needs", i, need->len)
        json_vector(j, d, &need->runs[i]);
}

/* Of clang's conditions, with the vectors that were seen; those of sources that are shown. They
 * stand beside the sources, not in their lines: lines have outcomes of any compiler's conditions,
 * and these are what only clang can say.
 *
 *     "decisions": [{"path": "a.c", "line": 4,
 *                    "conditions": [{"line": 4, "column": 9, ..., "unique_cause": true,
 *                                    "masking": true, "needs": []}, ...],
 *                    "vectors": [{"values": [true, false, null], "outcome": false}, ...]}] */
static void json_decisions(struct json *j, const struct coverage_report *s)
{
    const struct coverage_result *r = s->result;
    const struct result_source *source = NULL;
    size_t k;
    JSON_ITEMS(j, "decisions", i, s->decisions_len) {
        const struct explained_decision *d = &s->decisions[i];
        if (!i || d->path != s->decisions[i - 1].path)
            for (source = NULL, k = 0; k < r->sources.len && !source; k++)
                if (!strcmp(r->sources.at[k].whole, d->path))
                    source = &r->sources.at[k];
        if (!source || d->line > source->last_line)
            continue;
        json_begin(j, '{');
        json_pair_str(j, "path", source->path);
        json_pair_u64(j, "line", d->line);
        JSON_ROWS(j, "conditions", term, d->len)
            json_decision_term(j, d, term);
        JSON_ROWS(j, "vectors", seen, d->seen_len) {
            json_key(j, "values"), json_vector(j, d, &d->seen[seen]);
            json_pair_bool(j, "outcome", d->seen[seen].outcome);
        }
        json_end(j);
    }
}

void json_left_out(struct json *j, const struct coverage_report *s)
{
    const struct coverage_result *r = s->result;
    json_key(j, "left_out"), json_begin(j, '{');
    json_pair_bool(j, "system_sources", s->leaves_system);
    json_pair_bool(j, "unwanted_sources", s->leaves_unwanted);
    json_pair_u64(j, "outside_sources", r->left_out.outside_sources);
    json_pair_u64(j, "absent_sources", r->left_out.absent_sources);
    json_pair_u64(j, "absent_lines", r->left_out.absent_lines);
    json_pair_u64(j, "lines_behind", r->left_out.lines_behind);
    json_pair_u64(j, "exception_branches", r->left_out.exception_branches);
    json_pair_u64(j, "compilers_branches", r->left_out.hidden_branches);
    json_pair_u64(j, "marked_lines", r->left_out.lines);
    json_pair_u64(j, "marked_functions", r->left_out.functions);
    json_pair_u64(j, "marked_branches", r->left_out.branches);
    json_end(j);
}

void json_problems(struct json *j, const struct coverage_report *s)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"lost", "partial", "note"};
    const struct coverage_result *r = s->result;
    json_key(j, "problems"), json_begin(j, '[');
    for (size_t i = 0; i < s->problems->at.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "kind", WORDS[s->problems->at.at[i].kind]);
        json_pair_str(j, "text", s->problems->at.at[i].text);
        json_end(j);
    }
    for (size_t i = 0; i < r->notes.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "kind", WORDS[PROBLEM_NOTE]);
        json_pair_str(j, "text", r->notes.at[i]);
        json_end(j);
    }
    json_end(j);
}

/* Head, what was read, totals, what was left out, problems, gates, patch, then sources, the largest
 * part, at the end. Problems that lost data come as `lost` and `partial`; notes change nothing. */
void coverage_json(struct out *out, const struct coverage_report *s,
                   const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    struct json j = {.out = out};
    json_document_begin(&j, "cover");
    json_pair_str(&j, "root", s->root);
    json_key(&j, "inputs"), json_begin(&j, '{');
    json_pair_u64(&j, "objects", s->objects);
    json_pair_u64(&j, "objects_without_counters", s->unrun);
    json_pair_u64(&j, "counters", s->counters);
    json_pair_u64(&j, "tracefiles", s->traces);
    json_end(&j);
    json_pair_str(&j, "instances", instance_rule_name(s->instances));
    JSON_ITEMS(&j, "tests", i, r->tests.len)
        json_str(&j, r->tests.at[i]);
    json_sums(&j, "totals", &r->sums);
    json_left_out(&j, s);
    json_decisions(&j, s);
    json_problems(&j, s);
    JSON_ROWS(&j, "gates", i, s->gates_len) {
        const struct coverage_gate *g = &s->gates[i];
        json_pair_str(&j, "name", g->name);
        json_pair_double(&j, "limit", g->limit);
        json_pair_double(&j, "percent", g->percent);
        json_pair_bool(&j, "has_failed", g->verdict == GATE_FAILED);
        json_pair_str(&j, "verdict", gate_verdict_names[g->verdict]);
    }
    json_diff(&j, s);
    JSON_ROWS(&j, "sources", i, r->sources.len)
        json_source(&j, r, &r->sources.at[i]);
    json_end(&j);
}

/* --- gcovr's ---------------------------------------------------------------------------------- */

/* gcovr reads with --add-tracefile what has exactly the version that it writes: 0.3 is gcovr 5's,
 * as Debian 12 has it, 0.15 that of gcovr 8.6. Neither has calls; what is unknown stands in no
 * line.
 *
 *     0.3   functions by the name that is shown; lines say that they are neither excluded nor
 *           without code
 *     0.15  functions by linkage name, with the shown one beside it and a share of blocks that ran,
 *           for which lines stand here; conditions with the terms that were not seen; branches by
 *           number, as gcovr 8.7 takes those without one for the same
 *
 * gcovr asks for a shown name only beside a linkage name without brackets. */

/* Percent of the lines of a function that ran. */
static double gcovr_lines_percent(const struct coverage_result *r, const struct result_source *s,
                                  const struct result_function *f)
{
    uint32_t all = 0, hit = 0;
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        bool is_inside = l->line >= f->start_line && l->line <= f->end_line;
        all += is_inside && l->state != RESULT_UNKNOWN;
        hit += is_inside && l->state == RESULT_HIT;
    }
    return all ? 100.0 * hit / all : f->count ? 100 : 0;
}

/* Version 0.3 has one name, 0.15 two. Unknown functions have no execution_count that would be true.
 */
static void gcovr_functions(struct json *j, const struct coverage_result *r,
                            const struct result_source *s, bool is_new)
{
    JSON_ITEMS(j, "functions", i, s->functions) {
        const struct result_function *f = &r->functions.at[s->first_function + i];
        bool has_both = is_new && f->linkage && !strchr(f->linkage, '(');
        if (f->state == RESULT_UNKNOWN)
            continue;
        json_begin(j, '{');
        if (is_new)
            json_pair_double(j, "blocks_percent", gcovr_lines_percent(r, s, f));
        if (has_both)
            json_pair_str(j, "demangled_name", f->name);
        json_pair_u64(j, "execution_count", f->count);
        json_pair_u64(j, "lineno", f->start_line);
        json_pair_str(j, "name", has_both ? f->linkage : f->name);
        json_end(j);
    }
}

/* Terms that were never true, or never false; `seen`: a bit a term. gcovr lists what is missing, by
 * number from 0. */
static void gcovr_terms(struct json *j, const char *key, uint64_t seen, uint32_t terms)
{
    JSON_ITEMS(j, key, t, terms)
        if (!(seen >> t & 1))
            json_u64(j, t);
}

/* Members stand in the order of the alphabet, as gcovr's own writer sorts them. */
static void gcovr_line(struct json *j, const struct coverage_result *r, const struct result_line *l,
                       bool is_new)
{
    json_begin(j, '{');
    JSON_ROWS(j, "branches", k, l->branches) {
        const struct result_branch *b = &r->branches.at[l->first_branch + k];
        if (is_new)
            json_pair_u64(j, "branchno", k);
        json_pair_u64(j, "count", b->count);
        json_pair_bool(j, "fallthrough", b->flags & OUTCOME_FALLTHROUGH);
        json_pair_bool(j, "throw", b->flags & OUTCOME_THROW);
    }
    if (is_new && l->conditions)
        JSON_ROWS(j, "conditions", k, l->conditions) {
            const struct result_condition *c = &r->conditions.at[l->first_condition + k];
            json_pair_u64(j, "count", 2 * c->terms);
            json_pair_u64(j, "covered", condition_hit(c));
            gcovr_terms(j, "not_covered_false", c->off, c->terms);
            gcovr_terms(j, "not_covered_true", c->on, c->terms);
        }
    json_pair_u64(j, "count", l->count);
    if (!is_new) {
        json_pair_bool(j, "gcovr/excluded", false);
        json_pair_bool(j, "gcovr/noncode", false);
    }
    json_pair_u64(j, "line_number", l->line);
    json_end(j);
}

/* The version must be exactly one that gcovr knows: it refuses any other. */
static void gcovr_write(struct out *out, const struct coverage_report *s, const char *version,
                        bool is_new)
{
    const struct coverage_result *r = s->result;
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    JSON_ROWS(&j, "files", i, r->sources.len) {
        const struct result_source *source = &r->sources.at[i];
        json_pair_str(&j, "file", source->path);
        gcovr_functions(&j, r, source, is_new);
        const struct result_line *lines = r->lines.at + source->first_line;
        JSON_ITEMS(&j, "lines", k, source->lines)
            if (lines[k].state != RESULT_UNKNOWN)
                gcovr_line(&j, r, &lines[k], is_new);
    }
    json_pair_str(&j, "gcovr/format_version", version);
    json_end(&j);
}

/* The form of gcovr 5: what Debian 12 has merges it. */
void coverage_gcovr(struct out *out, const struct coverage_report *s,
                    const struct coverage_style *style)
{
    (void)style;
    gcovr_write(out, s, "0.3", false);
}

/* The form of gcovr 8.6, under a name of its own, since neither version reads the other's. */
void coverage_gcovr_0_15(struct out *out, const struct coverage_report *s,
                         const struct coverage_style *style)
{
    (void)style;
    gcovr_write(out, s, "0.15", true);
}

/* --- Coveralls ------------------------------------------------------------------------------- */

/* The source files of Coveralls' JSON: of each line its count, null of those without code or of
 * unknown count; of branches line, block, number and count. The uploader adds the job's own
 * members: service_name, repo_token, git. A source that cannot be read has no digest.
 *
 *     {"source_files": [{"name": "a.c",
 *       "source_digest": "32 hexadecimal digits of MD5",
 *       "coverage": [null, 5, 0, null],              element i is line i + 1
 *       "branches": [2, 0, 0, 5,  2, 0, 1, 0]}]}     line, block, branch, count, four by four */

/* Its digest, and how many lines it has; 0 where it cannot be read. The file is read whole for
 * that; the service compares the digest with the source that it has. */
static uint32_t coveralls_digest(struct json *j, const struct result_source *s)
{
    struct file_buffer buffer = {0};
    struct err e;
    uint8_t digest[16];
    char text[33];
    uint32_t lines = 0;
    if (!s->file || !file_read_regular(s->file, &buffer, &e)) {
        file_buffer_deinit(&buffer);
        return 0;
    }
    md5(file_bytes(&buffer), digest);
    bytes_hex(text, digest, sizeof digest);
    for (size_t i = 0; i < buffer.len && lines < UINT32_MAX; i++)
        lines += buffer.at[i] == '\n' || i + 1 == buffer.len;
    json_pair_str(j, "source_digest", text);
    file_buffer_deinit(&buffer);
    return lines;
}

/* A line of tracefiles may have any number: what the source does not have ends the array. Without
 * the source FAR bounds the array: a line number from a damaged tracefile must not fill the disk
 * with nulls. */
static void coveralls_lines(struct json *j, const struct coverage_result *r,
                            const struct result_source *s, uint32_t lines)
{
    enum { FAR = 1000000 };
    uint32_t next = 1;
    json_key(j, "coverage"), json_begin(j, '[');
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        if (l->line > (lines ? lines : FAR))
            break;
        for (; next < l->line; next++)
            json_none(j);
        if (l->state == RESULT_UNKNOWN)
            json_none(j);
        else
            json_u64(j, l->count);
        next = l->line + 1;
    }
    for (; next <= lines; next++)
        json_none(j);
    json_end(j);
}

/* Absent where the source has none. Branches of unknown lines are left out. */
static void coveralls_branches(struct json *j, const struct coverage_result *r,
                               const struct result_source *s)
{
    if (!s->sums.branches.all)
        return;
    JSON_ITEMS(j, "branches", i, s->lines) {
        const struct result_line *l = &r->lines.at[s->first_line + i];
        for (uint32_t k = 0; k < l->branches && l->state != RESULT_UNKNOWN; k++) {
            const struct result_branch *b = &r->branches.at[l->first_branch + k];
            json_u64(j, l->line), json_u64(j, b->block), json_u64(j, k), json_u64(j, b->count);
        }
    }
}

void coverage_coveralls(struct out *out, const struct coverage_report *s,
                        const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    JSON_ROWS(&j, "source_files", i, r->sources.len) {
        const struct result_source *source = &r->sources.at[i];
        json_pair_str(&j, "name", source->path);
        uint32_t lines = coveralls_digest(&j, source);
        coveralls_lines(&j, r, source, lines);
        coveralls_branches(&j, r, source);
    }
    json_end(&j);
}

/* --- Codecov --------------------------------------------------------------------------------- */

/* Codecov's own JSON: of each source the count of each line, or "1/2" where it has branches: taken
 * of all. What is unknown stands in no line: the format has no word for it.
 *
 *     {"coverage": {"a.c": {"12": 5, "13": "1/2", "14": 0}}} */

/* A line with branches that never ran is 0, not "0/2": that is a miss and not a part. */
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

/* Sources are members, named by their path below the root; the service maps these to files of the
 * repository. */
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

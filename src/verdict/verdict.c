/* A verdict: which rules a build breaks, by its comparison with the baseline, and the forms in
 * which people, GitHub and Jenkins read that.
 *
 * A case is a failure, or a rule with all that passed it, or a rule that could not be judged. Three
 * ways of judging:
 *
 *   calls, coverage  are exact: a limit that is exceeded is a failure;
 *   the whole run    (CPU time, elapsed time, memory) fails if it grew by more than is allowed and
 *                    the chance that runs of no growth beyond that differ so much is small;
 *   times, shares    of functions likewise, but of many functions at once: the chances are adjusted
 *                    (chances_adjust(): Holm's method) so that of all rows together a false alarm
 *                    has the probability that --confidence leaves.
 *
 * A rule from the user that lacks its data is no pass: the verdict is "not judged".
 *
 * What only one side has neither grew nor shrank; new functions are counted and said.
 *
 *     failed      max-time-growth: self time of parse grew by 0.1 s +- 0.01, ... (a.c:12)
 *     passed      max-calls-growth: 340 functions judged; 2 not in the baseline
 *     not judged  max-memory-growth: peak memory is not known on both sides
 *     failed: 1 failed, 1 passed, 1 not judged
 *
 * Texts are copied into the verdict, which outlives what it judged. Cost: one pass over the rows
 * for each kind of rule, and a search through the rules for each row. */
#include "verdict/verdict.h"

#include "output/columns.h"
#include "output/out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const case_status_names[] = {
    [CASE_PASSED] = "passed", [CASE_FAILED] = "failed", [CASE_NOT_JUDGED] = "not judged"};

/* The counts of the verdict follow its cases. */
void verdict_add(struct verdict *v, const struct verdict_case *c)
{
    v->passed += c->status == CASE_PASSED;
    v->failed += c->status == CASE_FAILED;
    v->not_judged += c->status == CASE_NOT_JUDGED;
    vec_push(&v->cases, *c);
}

/* A failure is one whatever else lacks its data. */
const char *verdict_word(const struct verdict *v)
{
    if (v->failed)
        return "failed";
    return v->lacks_data || !v->passed ? "not judged" : "passed";
}

/* Texts of cases go with the arena. */
void verdict_deinit(struct verdict *v)
{
    vec_free(&v->cases);
    arena_deinit(&v->arena);
}

/* --- one function ---------------------------------------------------------------------------- */

/* Texts of the comparison may go before the verdict does. */
static const char *verdict_copy(struct verdict *v, const char *text)
{
    return text ? arena_copy(&v->arena, text, strlen(text)) : NULL;
}

/* The case of a function, without its sentence. */
static struct verdict_case verdict_of(struct verdict *v, const struct comparison *c,
                                      const struct change *row, const struct rule *rule)
{
    const struct identity *id = change_identity(c, row);
    return (struct verdict_case){.status = CASE_FAILED,
                                 .rule = rule_names[rule->kind],
                                 .subject = verdict_copy(v, change_name(c, row)),
                                 .file = verdict_copy(v, id->file),
                                 .line = id->line,
                                 .limit = rule->limit,
                                 .chance = -1};
}

/* What is no function of both builds has no growth. */
static const struct rule *verdict_rule(const struct rules *rules, enum rule_kind kind,
                                       const struct comparison *c, const struct change *row)
{
    bool is_profiler = row->new != NO_FUNCTION && c->new->functions[row->new].is_profiler;
    if (is_profiler || row->kind == CHANGE_NEW || row->kind == CHANGE_GONE)
        return NULL;
    return rules_find(rules, kind, change_name(c, row), change_identity(c, row)->name);
}

/* A rule that cannot be applied. Defaults may lack their data; the user's rules may not. */
static void verdict_lacks(struct verdict *v, const struct rules *rules, enum rule_kind kind,
                          bool is_missing, const char *why)
{
    struct verdict_case c = {.status = CASE_NOT_JUDGED,
                             .rule = rule_names[kind],
                             .message = verdict_copy(v, why),
                             .chance = -1};
    c.is_lacking = is_missing && rules->is_asked[kind];
    v->lacks_data |= c.is_lacking;
    verdict_add(v, &c);
}

/* The case of all that passed, unless one failed. `without`: functions that the baseline lacks. */
static void verdict_summary(struct verdict *v, const struct rules *rules, enum rule_kind kind,
                            uint32_t judged, uint32_t failed, uint32_t without)
{
    struct verdict_case c = {.status = CASE_PASSED, .rule = rule_names[kind], .chance = -1};
    const char *more = "";
    if (failed)
        return;
    if (!judged) {
        verdict_lacks(v, rules, kind, true, "the rule is about nothing that both sides have");
        return;
    }
    if (without)
        more = arena_printf(&v->arena, "; %" PRIu32 " not in the baseline", without);
    c.message = arena_printf(&v->arena, "%" PRIu32 " function%s judged%s", judged,
                             text_plural(judged), more);
    verdict_add(v, &c);
}

/* "5 %", as it was given where it has units. */
static const char *verdict_limit(struct verdict *v, const struct rule *rule)
{
    bool is_plain = strspn(rule->text, "0123456789.") == strlen(rule->text);
    return is_plain ? arena_printf(&v->arena, "%s %%", rule->text) : verdict_copy(v, rule->text);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Why the rule cannot be judged is said as `lacks`. */
struct whole_rule {
    enum rule_kind kind;
    const char *total, *lacks;
};

/* The totals of a comparison that rules know, by the names they have there. */
static const struct whole_rule WHOLE_RULES[] = {
    {RULE_CPU, "cpu_time", "the CPU time of both sides must be known"},
    {RULE_ELAPSED, "elapsed_time", "the elapsed time of both sides must be known"},
    {RULE_MEMORY, "peak_memory", "peak memory is not known on both sides"},
};

/* In the unit that messages use: seconds, or megabytes of 10^6. */
static const char *verdict_amount(struct verdict *v, const struct total_change *t, double value)
{
    if (t->unit == TOTAL_SECONDS)
        return arena_printf(&v->arena, "%.3f s", value);
    return arena_printf(&v->arena, "%.1f MB", value / 1e6);
}

/* Growth beyond what is allowed may be there, and chance may hide it: nothing was judged. Where
 * even the most that the interval leaves room for is allowed, the rule holds however wide it is. */
static bool verdict_is_blind(const struct difference *d, double allowed)
{
    return d->margin > allowed && d->change + d->margin > allowed;
}

/* `text`, and what it takes to see a growth beyond what is allowed. */
static const char *verdict_unseen(struct verdict *v, const char *text, const struct difference *d,
                                  double runs, double allowed)
{
    double needed = runs_needed(d, runs, allowed);
    if (!(needed > 0))
        return text;
    return arena_printf(&v->arena, "%s; about %.0f runs a side would show growth beyond the limit",
                        text, needed);
}

/* The old amount may grow by a part of itself and by a fixed amount on top. The chance is that of
 * growth beyond what is allowed, not of growth at all. */
static void verdict_whole(struct verdict *v, const struct rules *rules, const struct comparison *c,
                          const struct whole_rule *w)
{
    const struct rule *rule = rules_find(rules, w->kind, w->total, NULL);
    const struct total_change *t = NULL;
    if (!rule)
        return;
    for (size_t i = 0; !t && i < c->totals.len; i++)
        t = strcmp(c->totals.at[i].name, w->total) ? NULL : &c->totals.at[i];
    if (!t || t->verdict == TOTAL_UNJUDGED) {
        verdict_lacks(v, rules, w->kind, true, t ? t->text : w->lacks);
        return;
    }
    double allowed = t->old * rule->limit / 100 + rule->absolute;
    double chance = difference_growth_chance(&t->difference, allowed);
    bool has_failed = t->new - t->old > allowed &&chance < 1 - rules->confidence;
    if (!has_failed && verdict_is_blind(&t->difference, allowed)) {
        double runs = fmin(t->of_old->runs, t->of_new->runs);
        const char *text = arena_printf(&v->arena, "%s: %s", t->label, t->text);
        verdict_lacks(v, rules, w->kind, true,
                      verdict_unseen(v, text, &t->difference, runs, allowed));
        return;
    }
    struct verdict_case judged = {.status = has_failed ? CASE_FAILED : CASE_PASSED,
                                  .rule = rule_names[w->kind],
                                  .subject = has_failed ? verdict_copy(v, t->label) : NULL,
                                  .old = t->old,
                                  .new = t->new,
                                  .limit = rule->limit,
                                  .chance = chance};
    judged.message = arena_printf(&v->arena, "%s: %s, was %s: %s (limit: %s)", t->label,
                                  verdict_amount(v, t, t->new), verdict_amount(v, t, t->old),
                                  t->text, verdict_limit(v, rule));
    verdict_add(v, &judged);
}

/* --- calls ----------------------------------------------------------------------------------- */

/* Counts are exact: no statistics, and a build that calls more often than allowed has failed. A
 * function that was never called grew by an infinite part, and only an absolute limit lets it pass.
 */
static void verdict_calls(struct verdict *v, const struct rules *rules, const struct comparison *c)
{
    uint32_t judged = 0, failed = 0, without = 0;
    if (!c->compares_calls) {
        verdict_lacks(v, rules, RULE_CALLS, true, "one side counted no calls");
        return;
    }
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *row = &c->rows[i];
        const struct rule *rule = verdict_rule(rules, RULE_CALLS, c, row);
        without += row->kind == CHANGE_NEW;
        if (!rule)
            continue;
        judged++;
        double allowed = row->old_calls * (1 + rule->limit / 100) + rule->absolute;
        double growth = 100 * change_calls_growth(row);
        /* A limit of 2 % of 100 calls lets 102 pass, whatever 100 * 1.02 is as a double. */
        if (!row->calls_differ || !(row->new_calls > allowed * (1 + 1e-12)))
            continue;
        struct verdict_case grown = verdict_of(v, c, row, rule);
        grown.old = row->old_calls;
        grown.new = row->new_calls;
        grown.message =
            isinf(growth)
                ? arena_printf(&v->arena, "%s was not called in the baseline, and %.0f times now",
                               grown.subject, grown.new)
                : arena_printf(&v->arena,
                               "calls of %s grew by %.2f %%, from %.0f to %.0f; %s are allowed",
                               grown.subject, growth, grown.old, grown.new, verdict_limit(v, rule));
        verdict_add(v, &grown);
        failed++;
    }
    verdict_summary(v, rules, RULE_CALLS, judged, failed, without);
}

/* --- time ------------------------------------------------------------------------------------ */

/* What a rule on functions judges: times, or shares. Both sides are asked alike: a mean of the runs
 * with how they differ. */
static struct amount verdict_amount_of(const struct run_set *s, uint32_t function,
                                       enum rule_kind kind)
{
    if (kind == RULE_TIME)
        return run_set_time(s, function, TIME_SELF);
    return run_set_share(s, function, kind == RULE_SELF ? TIME_SELF : TIME_TOTAL);
}

/* How much more than `old` the rule lets pass: a share in points, a time in the old side's unit,
 * with what it may grow by beside its own size: a tenth of 1 ms is no reason to fail a build. */
static double verdict_allowed(const struct comparison *c, const struct rule *rule, double old)
{
    double whole = c->old->runs ? c->old->time / c->old->runs : 0;
    if (rule->kind != RULE_TIME)
        return rule->limit / 100;
    return old * rule->limit / 100 + rule->absolute + whole * rule->of_whole / 100;
}

/* Says by how much, of what, and what the chance of that being chance is. */
static void verdict_time_failed(struct verdict *v, const struct comparison *c,
                                const struct change *row, const struct rule *rule, double chance)
{
    struct verdict_case failed = verdict_of(v, c, row, rule);
    failed.old = verdict_amount_of(c->old, row->old, rule->kind).mean;
    failed.new = verdict_amount_of(c->new, row->new, rule->kind).mean;
    failed.chance = chance;
    if (rule->kind == RULE_TIME) {
        failed.message = arena_printf(
            &v->arena, "self time of %s grew by %.4g %s +- %.2g, from %.4g to %.4g (limit: %s)",
            failed.subject, failed.new - failed.old,
            strcmp(c->new->dimension, "seconds") ? c->new->dimension : "s", row->self_time.margin,
            failed.old, failed.new, verdict_limit(v, rule));
        verdict_add(v, &failed);
        return;
    }
    failed.old *= 100;
    failed.new *= 100;
    failed.message = arena_printf(
        &v->arena,
        "share of %s of %s grew by %.2f points, from %.2f to %.2f %%; %.6g are allowed, and chance "
        "explains so much with a probability of %.2g",
        rule->kind == RULE_SELF ? "self time" : "total time", failed.subject,
        failed.new - failed.old, failed.old, failed.new, rule->limit, chance);
    verdict_add(v, &failed);
}

/* Says why times cannot be judged by this kind of rule; false if they can. */
static bool verdict_time_lacks(struct verdict *v, const struct rules *rules,
                               const struct comparison *c, enum rule_kind kind)
{
    double least = c->old->effective < c->new->effective ? c->old->effective : c->new->effective;
    if (!c->compares_samples)
        verdict_lacks(v, rules, kind, true, "one side has no samples");
    else if (kind == RULE_TIME && !c->compares_time)
        verdict_lacks(v, rules, kind, true, "the samples of both sides are not comparable in time");
    else if (kind == RULE_TOTAL && (!c->old->has_stacks || !c->new->has_stacks))
        verdict_lacks(v, rules, kind, true,
                      "totals without call stacks are estimates, which cannot be judged");
    else if (least < rules->least_samples)
        verdict_lacks(v, rules, kind, false,
                      arena_printf(&v->arena, "one side has %.0f samples, fewer than %.6g", least,
                                   rules->least_samples));
    else
        return false;
    return true;
}

/* The user's rule about functions none of which could have been seen to break it, although one may
 * have: the one that comes nearest to being seen says what it takes. Defaults are about all
 * functions of a program, of which the large ones are judged by the whole as well, and pass. */
static void verdict_time_blind(struct verdict *v, const struct rules *rules,
                               const struct comparison *c, const struct change *row,
                               const struct difference *d, enum rule_kind kind)
{
    double allowed = verdict_allowed(c, verdict_rule(rules, kind, c, row),
                                     verdict_amount_of(c->old, row->old, kind).mean);
    const char *unit = kind != RULE_TIME                           ? "points"
                       : strcmp(c->new->dimension, "seconds") != 0 ? c->new->dimension
                                                                   : "s";
    double shown = (fmax(d->change, 0) + d->margin) * (kind == RULE_TIME ? 1 : 100);
    const char *text = arena_printf(&v->arena, "%s: no growth below %.3g %s can be seen",
                                    change_name(c, row), shown, unit);
    verdict_lacks(v, rules, kind, true,
                  verdict_unseen(v, text, d, fmin(c->old->runs, c->new->runs), allowed));
}

/* Two passes over the rows: the chance of each is known before all are adjusted together. */
static void verdict_time(struct verdict *v, const struct rules *rules, const struct comparison *c,
                         enum rule_kind kind)
{
    struct arena scratch = {0};
    uint32_t judged = 0, asked = 0, failed = 0, without = 0, seen = 0;
    const struct change *nearest = NULL;
    struct difference nearest_difference = {0};
    double least = INFINITY;
    double *chances = ARENA_NEW(&scratch, double, c->len);
    const struct change **rows = ARENA_NEW(&scratch, const struct change *, c->len);
    struct noise noise = c->times;
    if (kind != RULE_TIME)
        noise_assume(&noise, rules->noise, rules->confidence);
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *row = &c->rows[i];
        const struct rule *rule = verdict_rule(rules, kind, c, row);
        struct difference d;
        without += row->kind == CHANGE_NEW;
        if (!rule)
            continue;
        struct amount old = verdict_amount_of(c->old, row->old, kind);
        struct amount new = verdict_amount_of(c->new, row->new, kind);
        difference_make(&d, &old, &new, &noise, comparison_noise_kind(c, row));
        judged++;
        if (!d.is_known) /* too few samples to say anything; asking would cost the others */
            continue;
        double allowed = verdict_allowed(c, rule, old.mean);
        chances[asked] = difference_growth_chance(&d, allowed);
        rows[asked++] = row;
        /* One that was seen is enough: most functions of a program are too small to be. */
        seen += !verdict_is_blind(&d, allowed);
        if (!nearest || d.margin / allowed < least) {
            nearest = row;
            nearest_difference = d;
            least = d.margin / allowed;
        }
    }
    chances_adjust(chances, asked);
    for (uint32_t i = 0; i < asked; i++) {
        if (chances[i] >= 1 - rules->confidence)
            continue;
        verdict_time_failed(v, c, rows[i], verdict_rule(rules, kind, c, rows[i]), chances[i]);
        failed++;
    }
    if (judged && !asked)
        verdict_lacks(v, rules, kind, true, "too few samples of every function that it is about");
    else if (nearest && !failed && !seen && rules->is_asked[kind])
        verdict_time_blind(v, rules, c, nearest, &nearest_difference, kind);
    else
        verdict_summary(v, rules, kind, judged, failed, without);
    arena_deinit(&scratch);
}

/* Whether the user, or the defaults, have one of the kind. */
static bool verdict_has_rule(const struct rules *rules, enum rule_kind kind)
{
    for (size_t i = 0; i < rules->all.len; i++)
        if (rules->all.at[i].kind == kind)
            return true;
    return false;
}

/* Rules on the whole come first in every form: one that fails explains most of the others. */
void verdict_profile(struct verdict *v, const struct rules *rules, const struct comparison *c)
{
    static const enum rule_kind TIMES[] = {RULE_TIME, RULE_SELF, RULE_TOTAL};
    for (size_t i = 0; i < sizeof WHOLE_RULES / sizeof *WHOLE_RULES; i++)
        verdict_whole(v, rules, c, &WHOLE_RULES[i]);
    if (verdict_has_rule(rules, RULE_CALLS))
        verdict_calls(v, rules, c);
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        enum rule_kind kind = TIMES[i];
        if (verdict_has_rule(rules, kind) && !verdict_time_lacks(v, rules, c, kind))
            verdict_time(v, rules, c, kind);
    }
}

/* --- coverage -------------------------------------------------------------------------------- */

/* Of sources that both sides have; what is new or gone neither rose nor fell. Points of the
 * percentage of lines. They are exact, and change with the number of lines as well: removing lines
 * that ran lowers them. */
void verdict_coverage(struct verdict *v, const struct rules *rules, const struct coverage_change *c)
{
    uint32_t judged = 0, failed = 0;
    if (!verdict_has_rule(rules, RULE_COVERAGE))
        return;
    for (size_t i = 0; i < c->sources.len; i++) {
        const struct source_change *s = &c->sources.at[i];
        const struct rule *rule = rules_find(rules, RULE_COVERAGE, s->path, NULL);
        if (!rule || s->old == NO_SOURCE || s->new == NO_SOURCE)
            continue;
        judged++;
        if (!ratio_fell(&s->old_sums.lines, &s->new_sums.lines, rule->limit))
            continue;
        struct verdict_case fallen = {.status = CASE_FAILED,
                                      .rule = rule_names[RULE_COVERAGE],
                                      .subject = verdict_copy(v, s->path),
                                      .old = ratio_percent(&s->old_sums.lines),
                                      .new = ratio_percent(&s->new_sums.lines),
                                      .limit = rule->limit,
                                      .chance = -1};
        const char *lost = "";
        fallen.file = fallen.subject;
        if (s->lost) { /* the first line that no longer runs is where to look */
            fallen.line = c->lost.at[s->first_lost].line;
            lost = arena_printf(&v->arena, "; line %" PRIu32 "%s no longer run%s", fallen.line,
                                s->lost > 1 ? " and others" : "", s->lost > 1 ? "" : "s");
        }
        fallen.message = arena_printf(
            &v->arena, "line coverage of %s fell by %.2f points, from %.2f to %.2f %%%s", s->path,
            fallen.old - fallen.new, fallen.old, fallen.new, lost);
        verdict_add(v, &fallen);
        failed++;
    }
    if (failed)
        return;
    if (!judged) {
        verdict_lacks(v, rules, RULE_COVERAGE, true, "the rule is about no source of both sides");
        return;
    }
    verdict_add(
        v, &(struct verdict_case){.status = CASE_PASSED,
                                  .rule = rule_names[RULE_COVERAGE],
                                  .message = arena_printf(&v->arena, "%" PRIu32 " source%s judged",
                                                          judged, text_plural(judged)),
                                  .chance = -1});
}

/* --- text ------------------------------------------------------------------------------------ */

/* A line a case, with the place in the source where the comparison knows one, and the sum. */
void verdict_text(struct out *out, const struct verdict *v)
{
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        out_printf(out, "%-10s  %s: ", case_status_names[c->status], c->rule);
        text_name(out, c->message);
        if (c->file && c->subject != c->file) {
            out_str(out, " (");
            text_name(out, c->file);
            if (c->line)
                out_printf(out, ":%" PRIu32, c->line);
            out_char(out, ')');
        }
        out_char(out, '\n');
    }
    out_printf(out, "%s: %" PRIu32 " failed, %" PRIu32 " passed, %" PRIu32 " not judged\n",
               verdict_word(v), v->failed, v->passed, v->not_judged);
}

/* --- JSON: docs/schema/check.schema.json ----------------------------------------------------- */

static const char IN_UNIT[] =
    "in the unit of the rule: seconds (or events), bytes, calls, or percent of shares and "
    "coverage";

enum {
    CHECK_STATUS,
    CHECK_RULE,
    CHECK_SUBJECT,
    CHECK_MESSAGE,
    CHECK_FILE,
    CHECK_LINE,
    CHECK_OLD,
    CHECK_NEW,
    CHECK_LIMIT,
    CHECK_CHANCE,
    CHECK_COLUMNS
};
static const struct column columns[CHECK_COLUMNS] = {
    [CHECK_STATUS] = {"status", "passed, failed or not judged"},
    [CHECK_RULE] = {"rule", "the option's name"},
    [CHECK_SUBJECT] = {"subject", "a function or source; null: the rule as a whole"},
    [CHECK_MESSAGE] = {"message", "the verdict in words"},
    [CHECK_FILE] = {"file", "source file; null: unknown"},
    [CHECK_LINE] = {"line", "line in that file; 0: unknown"},
    [CHECK_OLD] = {"old", IN_UNIT},
    [CHECK_NEW] = {"new", IN_UNIT},
    [CHECK_LIMIT] = {"limit", IN_UNIT},
    [CHECK_CHANCE] =
        {"chance", "p-value: probability of such growth if the limit was kept; null: not tested"},
};
const struct column_table verdict_columns = {"Cases in JSON", "check", "cases", columns,
                                             CHECK_COLUMNS};

/* Amounts are absent of rules as a whole, since they are of one subject. */
void verdict_json(struct out *out, const struct verdict *v)
{
    struct json j = {.out = out};
    json_document_begin(&j, "check");
    json_pair_str(&j, "verdict", verdict_word(v));
    json_pair_u64(&j, "failed", v->failed);
    json_pair_u64(&j, "passed", v->passed);
    json_pair_u64(&j, "not_judged", v->not_judged);
    JSON_ROWS(&j, "cases", i, v->cases.len) {
        const struct verdict_case *c = &v->cases.at[i];
        struct field fields[CHECK_COLUMNS] = {
            [CHECK_STATUS] = field_text(case_status_names[c->status]),
            [CHECK_RULE] = field_text(c->rule),
            [CHECK_SUBJECT] = field_text(c->subject),
            [CHECK_MESSAGE] = field_text(c->message),
            [CHECK_FILE] = field_text(c->file),
            [CHECK_LINE] = field_u64(c->line),
            [CHECK_CHANCE] = field_known(c->chance >= 0, field_double(c->chance))};
        if (c->subject) {
            fields[CHECK_OLD] = field_double(c->old);
            fields[CHECK_NEW] = field_double(c->new);
            fields[CHECK_LIMIT] = field_double(c->limit);
        }
        columns_json(&j, columns, CHECK_COLUMNS, fields);
    }
    json_end(&j);
}

/* --- JUnit ----------------------------------------------------------------------------------- */

/* A failure is a failure, a user's rule that lacks its data an error, and one of the defaults that
 * lacks them is skipped: Jenkins marks the build by the first two. */
static void verdict_junit_case(struct out *out, const struct verdict_case *c)
{
    out_str(out, "    <testcase");
    xml_attribute(out, "classname", c->rule);
    xml_attribute(out, "name", c->subject ? c->subject : "all others");
    out_str(out, " time=\"0\"");
    if (c->status == CASE_PASSED) {
        out_str(out, "/>\n");
        return;
    }
    bool is_whole = c->status != CASE_FAILED && !c->is_lacking;
    const char *element = c->status == CASE_FAILED ? "failure" : is_whole ? "skipped" : "error";
    out_printf(out, ">\n      <%s", element);
    xml_attribute(out, "message", c->message);
    if (!is_whole) {
        xml_attribute(out, "type", c->rule);
        out_char(out, '>');
        xml_text(out, c->file ? c->file : "");
        if (c->file && c->line)
            out_printf(out, ":%" PRIu32, c->line);
        out_printf(out, "</%s>\n    </testcase>\n", element);
    } else {
        out_str(out, "/>\n    </testcase>\n");
    }
}

/* One suite; its numbers are those of the cases inside, as readers add them up again. */
static void verdict_junit(struct out *out, const struct verdict *v)
{
    uint32_t errors = 0;
    for (size_t i = 0; i < v->cases.len; i++)
        errors += v->cases.at[i].is_lacking;
    out_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"monarc check\" tests=\"%zu\" failures=\"%" PRIu32
               "\" errors=\"%" PRIu32 "\" time=\"0\">\n"
               "  <testsuite name=\"monarc check\" tests=\"%zu\" failures=\"%" PRIu32
               "\" errors=\"%" PRIu32 "\" skipped=\"%" PRIu32 "\" time=\"0\">\n",
               v->cases.len, v->failed, errors, v->cases.len, v->failed, errors,
               v->not_judged - errors);
    for (size_t i = 0; i < v->cases.len; i++)
        verdict_junit_case(out, &v->cases.at[i]);
    out_str(out, "  </testsuite>\n</testsuites>\n");
}

/* --- GitHub: workflow commands --------------------------------------------------------------- */

/* Of a message, or with `is_property` of what precedes it. */
static void github_text(struct out *out, const char *text, bool is_property)
{
    for (size_t n;; text += n + 1) {
        n = strcspn(text, is_property ? "%\r\n:," : "%\r\n");
        text_name_n(out, text, n);
        if (!text[n])
            break;
        out_printf(out, "%%%02X", (unsigned char)text[n]);
    }
}

/* Annotations on the lines of a pull request. What passed is not said there. */
static void verdict_github(struct out *out, const struct verdict *v)
{
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        if (c->status == CASE_PASSED)
            continue;
        bool is_error = c->status == CASE_FAILED || c->is_lacking;
        out_str(out, is_error ? "::error " : "::notice ");
        if (c->file) {
            out_str(out, "file=");
            github_text(out, c->file, true);
            if (c->line)
                out_printf(out, ",line=%" PRIu32, c->line);
            out_char(out, ',');
        }
        out_str(out, "title=");
        github_text(out, c->rule, true);
        out_str(out, "::");
        github_text(out, c->message, false);
        out_char(out, '\n');
    }
}

/* --- Markdown -------------------------------------------------------------------------------- */

/* A table for a comment on a pull request; failures are bold. */
static void verdict_markdown(struct out *out, const struct verdict *v)
{
    out_printf(out, "## monarc check: %s\n\n| | rule | |\n|---|---|---|\n", verdict_word(v));
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        const char *bold = c->status == CASE_FAILED ? "**" : "";
        out_printf(out, "| %s%s%s | %s | ", bold, case_status_names[c->status], bold, c->rule);
        text_markdown(out, c->message);
        out_str(out, " |\n");
    }
    out_printf(out, "\n%" PRIu32 " failed, %" PRIu32 " passed, %" PRIu32 " not judged\n", v->failed,
               v->passed, v->not_judged);
}

/* --- forms ------------------------------------------------------------------------------------ */

/* All forms print the same cases; a new one is a writer and a row. */
const struct verdict_format verdict_formats[] = {{"text", verdict_text},
                                                 {"json", verdict_json},
                                                 {"junit", verdict_junit},
                                                 {"github", verdict_github},
                                                 {"markdown", verdict_markdown}};
const size_t verdict_formats_len = sizeof verdict_formats / sizeof *verdict_formats;

const struct verdict_format *verdict_format_find(const char *name, size_t len)
{
    for (size_t i = 0; i < verdict_formats_len; i++)
        if (strlen(verdict_formats[i].name) == len && !memcmp(verdict_formats[i].name, name, len))
            return &verdict_formats[i];
    return NULL;
}

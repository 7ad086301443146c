/* Judging a profile by its comparison with the baseline. */
#include "verdict/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const case_status_names[] = {
    [CASE_PASSED] = "passed", [CASE_FAILED] = "failed", [CASE_NOT_JUDGED] = "not judged"};

void verdict_add(struct verdict *v, const struct verdict_case *c)
{
    v->passed += c->status == CASE_PASSED;
    v->failed += c->status == CASE_FAILED;
    v->not_judged += c->status == CASE_NOT_JUDGED;
    vec_push(&v->cases, *c);
}

const char *verdict_word(const struct verdict *v)
{
    if (v->failed)
        return "failed";
    return v->lacks_data || !v->passed ? "not judged" : "passed";
}

void verdict_deinit(struct verdict *v)
{
    vec_free(&v->cases);
    arena_deinit(&v->arena);
}

/* --- one function ---------------------------------------------------------------------------- */

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

/* A rule that cannot be applied. Defaults may lack their data; what was asked for may not. */
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
                             judged == 1 ? "" : "s", more);
    verdict_add(v, &c);
}

/* "5 %", as it was given where it has units. */
static const char *verdict_limit(struct verdict *v, const struct rule *rule)
{
    bool is_plain = strspn(rule->text, "0123456789.") == strlen(rule->text);
    return is_plain ? arena_printf(&v->arena, "%s %%", rule->text) : verdict_copy(v, rule->text);
}

/* --- the whole ------------------------------------------------------------------------------- */

struct whole_rule {
    enum rule_kind kind;
    const char *total, *lacks;
};

static const struct whole_rule WHOLE_RULES[] = {
    {RULE_CPU, "cpu_time", "CPU time of whole runs is not known on both sides"},
    {RULE_ELAPSED, "elapsed_time", "elapsed time of whole runs is not known on both sides"},
    {RULE_MEMORY, "peak_memory", "peak memory is not known on both sides"},
};

static const struct total_change *verdict_find_total(const struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->totals.len; i++)
        if (!strcmp(c->totals.at[i].name, name))
            return &c->totals.at[i];
    return NULL;
}

static const char *verdict_amount(struct verdict *v, const struct total_change *t, double value)
{
    if (t->unit == TOTAL_SECONDS)
        return arena_printf(&v->arena, "%.3f s", value);
    return arena_printf(&v->arena, "%.1f MB", value / 1e6);
}

static void verdict_whole(struct verdict *v, const struct rules *rules, const struct comparison *c,
                          const struct whole_rule *w)
{
    const struct rule *rule = rules_find(rules, w->kind, w->total, NULL);
    const struct total_change *t = verdict_find_total(c, w->total);
    if (!rule)
        return;
    if (!t || t->verdict == TOTAL_UNJUDGED) {
        verdict_lacks(v, rules, w->kind, true, t ? t->text : w->lacks);
        return;
    }
    double allowed = t->old * rule->limit / 100 + rule->absolute;
    double chance = difference_growth_chance(&t->difference, allowed);
    bool has_failed = t->new - t->old > allowed &&chance < 1 - rules->confidence;
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

static void verdict_calls_failed(struct verdict *v, const struct comparison *c,
                                 const struct change *row, const struct rule *rule)
{
    struct verdict_case failed = verdict_of(v, c, row, rule);
    double growth = 100 * change_calls_growth(row);
    failed.old = row->old_calls;
    failed.new = row->new_calls;
    failed.message =
        isinf(growth)
            ? arena_printf(&v->arena, "%s was not called in the baseline, and %.0f times now",
                           failed.subject, failed.new)
            : arena_printf(&v->arena,
                           "calls of %s grew by %.2f %%, from %.0f to %.0f; %s are allowed",
                           failed.subject, growth, failed.old, failed.new, verdict_limit(v, rule));
    verdict_add(v, &failed);
}

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
        if (!row->calls_differ || !(row->new_calls > allowed * (1 + 1e-12)))
            continue;
        verdict_calls_failed(v, c, row, rule);
        failed++;
    }
    verdict_summary(v, rules, RULE_CALLS, judged, failed, without);
}

/* --- time ------------------------------------------------------------------------------------ */

/* What a rule on functions judges: times, or shares. */
static struct amount verdict_amount_of(const struct run_set *s, uint32_t function,
                                       enum rule_kind kind)
{
    if (kind == RULE_TIME)
        return run_set_time(s, function, TIME_SELF);
    return run_set_share(s, function, kind == RULE_SELF ? TIME_SELF : TIME_TOTAL);
}

static double verdict_allowed(const struct comparison *c, const struct rule *rule, double old)
{
    double whole = c->old->runs ? c->old->time / c->old->runs : 0;
    if (rule->kind != RULE_TIME)
        return rule->limit / 100;
    return old * rule->limit / 100 + rule->absolute + whole * rule->of_whole / 100;
}

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

static bool verdict_time_lacks(struct verdict *v, const struct rules *rules,
                               const struct comparison *c, enum rule_kind kind)
{
    double least = c->old->effective < c->new->effective ? c->old->effective : c->new->effective;
    if (!c->compares_samples)
        verdict_lacks(v, rules, kind, true, "one side has no samples");
    else if (kind == RULE_TIME && !c->compares_time)
        verdict_lacks(v, rules, kind, true, "the sides' samples do not stand for comparable times");
    else if (kind == RULE_TOTAL && (!c->old->has_stacks || !c->new->has_stacks))
        verdict_lacks(v, rules, kind, true,
                      "totals without call stacks are estimates, which no test can judge");
    else if (least < rules->least_samples)
        verdict_lacks(v, rules, kind, false,
                      arena_printf(&v->arena, "one side has %.0f samples, fewer than %.6g", least,
                                   rules->least_samples));
    else
        return false;
    return true;
}

static void verdict_time(struct verdict *v, const struct rules *rules, const struct comparison *c,
                         enum rule_kind kind)
{
    struct arena scratch = {0};
    uint32_t judged = 0, asked = 0, failed = 0, without = 0;
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
        chances[asked] = difference_growth_chance(&d, verdict_allowed(c, rule, old.mean));
        rows[asked++] = row;
    }
    chances_adjust(chances, asked);
    for (uint32_t i = 0; i < asked; i++) {
        if (chances[i] >= 1 - rules->confidence)
            continue;
        verdict_time_failed(v, c, rows[i], verdict_rule(rules, kind, c, rows[i]), chances[i]);
        failed++;
    }
    verdict_summary(v, rules, kind, judged, failed, without);
    arena_deinit(&scratch);
}

static bool verdict_has_rule(const struct rules *rules, enum rule_kind kind)
{
    for (size_t i = 0; i < rules->all.len; i++)
        if (rules->all.at[i].kind == kind)
            return true;
    return false;
}

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

static void verdict_source(struct verdict *v, const struct coverage_change *c,
                           const struct source_change *s, const struct rule *rule)
{
    struct verdict_case failed = {.status = CASE_FAILED,
                                  .rule = rule_names[RULE_COVERAGE],
                                  .subject = verdict_copy(v, s->path),
                                  .old = ratio_percent(&s->old_sums.lines),
                                  .new = ratio_percent(&s->new_sums.lines),
                                  .limit = rule->limit,
                                  .chance = -1};
    failed.file = failed.subject;
    if (s->lost)
        failed.line = c->lost.at[s->first_lost].line;
    failed.message = arena_printf(
        &v->arena, "line coverage of %s fell by %.2f points, from %.2f to %.2f %%%s", s->path,
        failed.old - failed.new, failed.old, failed.new,
        s->lost ? arena_printf(&v->arena, "; line %" PRIu32 "%s no longer run%s", failed.line,
                               s->lost > 1 ? " and others" : "", s->lost > 1 ? "" : "s")
                : "");
    verdict_add(v, &failed);
}

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
        if (!(-source_change_points(s) > rule->limit))
            continue;
        verdict_source(v, c, s, rule);
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
                                                          judged, judged == 1 ? "" : "s"),
                                  .chance = -1});
}

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
    v->lacks_data |= is_missing && rules->is_asked[kind];
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
                           "calls of %s grew by %.2f %%, from %.0f to %.0f; %.6g %% are allowed",
                           failed.subject, growth, failed.old, failed.new, rule->limit);
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
        if (!row->calls_differ || !(100 * change_calls_growth(row) > rule->limit))
            continue;
        verdict_calls_failed(v, c, row, rule);
        failed++;
    }
    verdict_summary(v, rules, RULE_CALLS, judged, failed, without);
}

/* --- time ------------------------------------------------------------------------------------ */

static struct measured_share verdict_share(const struct side *s, uint32_t function,
                                           enum rule_kind kind)
{
    return kind == RULE_SELF ? side_self(s, function) : side_total(s, function);
}

static void verdict_time_failed(struct verdict *v, const struct comparison *c,
                                const struct change *row, const struct rule *rule, double chance)
{
    struct verdict_case failed = verdict_of(v, c, row, rule);
    failed.old = 100 * verdict_share(c->old, row->old, rule->kind).share;
    failed.new = 100 * verdict_share(c->new, row->new, rule->kind).share;
    failed.chance = chance;
    failed.message = arena_printf(
        &v->arena,
        "%s of %s grew by %.2f points, from %.2f to %.2f %%; %.6g are allowed, and chance explains "
        "so much with a probability of %.2g",
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
    uint32_t judged = 0, failed = 0, without = 0;
    double *chances = ARENA_NEW(&scratch, double, c->len);
    const struct change **rows = ARENA_NEW(&scratch, const struct change *, c->len);
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *row = &c->rows[i];
        const struct rule *rule = verdict_rule(rules, kind, c, row);
        without += row->kind == CHANGE_NEW;
        if (!rule)
            continue;
        struct measured_share old = verdict_share(c->old, row->old, kind);
        struct measured_share new = verdict_share(c->new, row->new, kind);
        chances[judged] = share_growth_chance(&old, &new, rule->limit / 100);
        rows[judged++] = row;
    }
    chances_adjust(chances, judged);
    for (uint32_t i = 0; i < judged; i++) {
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
    if (verdict_has_rule(rules, RULE_CALLS))
        verdict_calls(v, rules, c);
    for (enum rule_kind kind = RULE_SELF; kind <= RULE_TOTAL; kind++)
        if (verdict_has_rule(rules, kind) && !verdict_time_lacks(v, rules, c, kind))
            verdict_time(v, rules, c, kind);
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

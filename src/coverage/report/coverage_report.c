/* What all forms of the coverage report share: percentages, orders of sources, sentences about what
 * was left out and what gates saw.
 *
 * A percentage never says 100 or 0 of what is not quite so: it is cut towards the side that has
 * something missing. */
#include "coverage/report/coverage_report.h"

#include "base/path.h"
#include "base/sort.h"
#include "coverage/analysis/flow.h"
#include "coverage/analysis/llvm_coverage.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Sorted by one number each; equal ones stay in the order of their paths. Most first for numbers of
 * lines, least first for percentages: what needs work is above. Complements turn the ascending sort
 * around. */
uint32_t *sources_sorted(const struct coverage_result *r, enum source_sort sort, struct arena *a)
{
    size_t len = r->sources.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    uint32_t *ranking = ARENA_NEW(a, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct coverage_ratio *lines = &r->sources.at[i].sums.lines;
        uint64_t key = sort == SORT_MISSED    ? ~(lines->all - lines->hit - lines->unknown)
                       : sort == SORT_LINES   ? ~lines->all
                       : sort == SORT_PERCENT ? (uint64_t)(ratio_percent(lines) * 1e6)
                                              : i;
        items[i] = (struct keyed){key, i};
    }
    sort_keyed(items, len);
    for (size_t i = 0; i < len; i++)
        ranking[i] = items[i].item;
    return ranking;
}

/* 99.96 is no 100: a reader who sees 100.0 stops looking. A dash is nothing that could be covered.
 * One decimal, rounded to the nearest but for the two ends. */
void ratio_text(char *into, size_t size, const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    double percent = round(10 * ratio_percent(r)) / 10;
    if (!all) {
        snprintf(into, size, "-");
        return;
    }
    if (percent >= 100 && r->hit < all)
        percent = 99.9;
    if (percent <= 0 && r->hit)
        percent = 0.1;
    snprintf(into, size, "%.1f", percent);
}

/* The state is that of line `i`; the result is after the last of the run, within the source. */
uint32_t result_lines_end(const struct coverage_result *r, const struct result_source *s,
                          uint32_t i)
{
    uint32_t end = i + 1;
    while (end < s->first_line + s->lines && r->lines.at[end].state == r->lines.at[i].state)
        end++;
    return end;
}

/* Sentences are cut at 511 bytes, and paths in them at 200: a sentence of a report, no data. */
static void say(void (*print)(void *, const char *), void *context, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void say(void (*print)(void *, const char *), void *context, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    print(context, sentence);
}

/* English alone, and only for nouns that take a plain s: branches are spelled out where they come.
 */
/* As the option spells it: reports and JSON use the same word. */
const char *instance_rule_name(uint8_t rule)
{
    return rule == INSTANCES_EACH ? "each" : rule == INSTANCES_WORST ? "worst" : "union";
}

/* Where an option counts what was left out, the sentence names it. A rule that is not the default
 * is said first, as figures are read by it. */
void left_out_sentences(const struct coverage_report *s, void (*print)(void *, const char *),
                        void *context)
{
    const struct coverage_result *r = s->result;
    static const char *const RULES[] = {
        NULL, "branches and conditions of each instance of a template count by themselves",
        "of the instances of a template what all ran counts"};
    if (s->instances)
        say(print, context, "--instances %s: %s", instance_rule_name(s->instances),
            RULES[s->instances]);
    /* The default is named where it made a difference: a reader who compares with gcov, or with
     * older figures, sees why there are fewer branches. */
    uint64_t branches = r->left_out.united_branches, outcomes = r->left_out.united_conditions;
    if (!s->instances && (branches || outcomes)) {
        char conditions[64] = "";
        if (outcomes)
            snprintf(conditions, sizeof conditions, " and %" PRIu64 " outcome%s of conditions",
                     outcomes, text_plural(outcomes));
        say(print, context,
            "--instances union: %" PRIu64 " branch%s%s counted with those of another instance of "
            "the function",
            branches, branches == 1 ? "" : "es", conditions);
    }
    if (s->leaves_system)
        say(print, context, "left out: system sources (--system counts them)");
    if (r->left_out.outside_sources)
        say(print, context,
            "left out: %" PRIu64 " source%s outside of %.200s, such as %.200s (--root names "
            "another folder, --system counts them)",
            r->left_out.outside_sources, text_plural(r->left_out.outside_sources), s->root,
            r->left_out.outside_example);
    if (r->left_out.absent_sources)
        say(print, context,
            "left out: %" PRIu64 " line%s of %" PRIu64 " source%s not here (gates count them as "
            "missed)",
            r->left_out.absent_lines, text_plural(r->left_out.absent_lines),
            r->left_out.absent_sources,
            r->left_out.absent_sources == 1 ? " that is" : "s that are");
    if (r->left_out.lines_behind)
        say(print, context, "left out: %" PRIu64 " line%s beyond the ends of their sources",
            r->left_out.lines_behind, text_plural(r->left_out.lines_behind));
    if (s->leaves_unwanted)
        say(print, context, "left out: sources by --include and --exclude");
    uint64_t exceptions = r->left_out.exception_branches, hidden = r->left_out.hidden_branches;
    char made[64] = "";
    if (hidden && exceptions)
        snprintf(made, sizeof made, ", %" PRIu64 " in code that the compiler made", hidden);
    if (exceptions)
        say(print, context,
            "left out: %" PRIu64 " branch%s that only exceptions take%s (--all-branches counts "
            "them)",
            exceptions, exceptions == 1 ? "" : "es", made);
    else if (hidden)
        say(print, context,
            "left out: %" PRIu64 " branch%s in code that the compiler made (--all-branches counts "
            "them)",
            hidden, hidden == 1 ? "" : "es");
    if (r->left_out.lines || r->left_out.branches || r->left_out.functions)
        say(print, context,
            "left out by markers in the sources: %" PRIu64 " line%s, %" PRIu64 " function%s, "
            "%" PRIu64 " branch%s (--no-markers counts them)",
            r->left_out.lines, text_plural(r->left_out.lines), r->left_out.functions,
            text_plural(r->left_out.functions), r->left_out.branches,
            r->left_out.branches == 1 ? "" : "es");
    if (s->unrun)
        say(print, context,
            "%" PRIu64 " of %" PRIu64 " object%s left no counters: counted as not covered (it did "
            "not run, or ended by _exit or a signal)",
            s->unrun, s->objects, text_plural(s->objects));
    if (s->unknown_functions)
        say(print, context,
            "%" PRIu64 " function%s unknown in some object: neither covered nor missed unless "
            "another object shows it ran",
            s->unknown_functions, s->unknown_functions == 1 ? " is" : "s are");
    if (s->repaired_functions)
        say(print, context, "repaired: the counts of %" PRIu64 " function%s", s->repaired_functions,
            text_plural(s->repaired_functions));
    for (size_t i = 0; i < r->notes.len; i++)
        print(context, r->notes.at[i]);
}

/* The first eight by number: a switch may have hundreds. Numbers begin with 1, in the order of the
 * compiler's arcs. */
bool branches_missed_text(struct out *out, const struct coverage_result *r,
                          const struct result_line *l)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < l->branches; i++)
        missing += !r->branches.at[l->first_branch + i].count;
    if (!missing)
        return false;
    out_printf(out, "branch%s ", missing == 1 ? "" : "es");
    for (uint32_t i = 0, shown = 0; i < l->branches; i++)
        if (!r->branches.at[l->first_branch + i].count && shown++ < 8)
            out_printf(out, "%s%" PRIu32, shown > 1 ? ", " : "", i + 1);
    out_printf(out, "%s of %" PRIu32 " never taken", missing > 8 ? ", ..." : "", l->branches);
    return true;
}

const char *function_unknown_reason(const struct result_function *f, struct arena *a)
{
    bool has_defect = f->reason == FLOW_BAD_NOTES || f->reason == FLOW_BAD_COUNTERS;
    return arena_printf(a, "%s%s", flow_reason_text(f->reason),
                        has_defect ? arcs_defect_text(f->defect) : "");
}

/* The words are those of `monarc check`, in every format. */
const char *const gate_verdict_names[] = {
    [GATE_PASSED] = "passed", [GATE_FAILED] = "failed", [GATE_NOT_JUDGED] = "not judged"};

/* `cover`, `html`, `check` and reports by test ask here, so that no two of them can disagree. The
 * percentage is for the sentence; the verdict compares the fraction itself. */
struct coverage_gate coverage_gate_judge(const char *name, double limit,
                                         const struct coverage_ratio *r)
{
    struct coverage_gate g = {name, limit, 0, GATE_NOT_JUDGED};
    if (r->all) {
        g.percent = 100.0 * (double)r->hit / (double)r->all;
        g.verdict = ratio_is_below(r, limit) ? GATE_FAILED : GATE_PASSED;
    }
    return g;
}

/* A sentence without a full stop. A failure by less than a hundredth has the decimals that show it:
 * "is 99.9999 %, required: 100.0000 %". */
static void gate_sentence(const struct coverage_gate *g, char *into, size_t size)
{
    int digits = 2;
    for (double unit = 0.01;
         g->verdict == GATE_FAILED && digits < 9 && g->limit - g->percent < unit; unit /= 10)
        digits++;
    if (g->verdict != GATE_NOT_JUDGED)
        snprintf(into, size, "%s coverage is %.*f %%, required: %.*f %%", g->name, digits,
                 g->percent, digits, g->limit);
    else if (!strcmp(g->name, "diff"))
        snprintf(into, size, "no changed line holds code that was counted");
    else
        snprintf(into, size, "no %s was counted", g->name);
}

void coverage_gate_text(struct out *out, const struct coverage_gate *g)
{
    char sentence[128];
    gate_sentence(g, sentence, sizeof sentence);
    out_str(out, sentence);
}

/* All that did not pass are in one sentence: whoever mends one limit should not meet the next one
 * in the next run of a pipeline. A failure is worse than a gate without anything to judge, since it
 * is known to be one. */
enum gate_verdict coverage_gates_conclude(const struct coverage_gate *gates, size_t len,
                                          struct err *e)
{
    enum gate_verdict worst = GATE_PASSED;
    char all[512] = "";
    for (size_t i = 0; i < len; i++) {
        char sentence[128], one[192];
        const struct coverage_gate *g = &gates[i];
        if (g->verdict == GATE_PASSED)
            continue;
        if (worst != GATE_FAILED)
            worst = g->verdict;
        gate_sentence(g, sentence, sizeof sentence);
        if (g->verdict == GATE_FAILED)
            snprintf(one, sizeof one, "%s%s", all[0] ? "; " : "", sentence);
        else
            snprintf(one, sizeof one, "%s--fail-under-%s judged nothing: %s", all[0] ? "; " : "",
                     g->name, sentence);
        strncat(all, one, sizeof all - strlen(all) - 1);
    }
    if (worst != GATE_PASSED)
        err_set(e, "%s", all);
    return worst;
}

/* --- sources by folder, for formats that put them into packages ------------------------------ */

/* Folders by their bytes, a folder before those inside of it; equals stay in the order of paths. */
static int by_folder(uint32_t left, uint32_t right, const void *context)
{
    const struct coverage_result *r = context;
    const char *a = r->sources.at[left].path, *b = r->sources.at[right].path;
    size_t first = path_folder_length(a), second = path_folder_length(b);
    int order = memcmp(a, b, first < second ? first : second);
    return order ? order : first < second ? -1 : first > second;
}

/* Folders of one name that lie apart in the order of paths (a/b.c, a/x/c.c, a/z.c) come together.
 */
uint32_t *sources_by_folder(const struct coverage_result *r, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, r->sources.len + 1);
    for (uint32_t i = 0; i < r->sources.len; i++)
        order[i] = i;
    sort_u32(order, r->sources.len, by_folder, r);
    return order;
}

/* `order` is of sources_by_folder(); the result is after the last of the folder. */
size_t sources_folder_end(const struct coverage_result *r, const uint32_t *order, size_t i)
{
    size_t end = i + 1;
    while (end < r->sources.len && !by_folder(order[i], order[end], r))
        end++;
    return end;
}

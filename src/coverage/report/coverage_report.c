/* Percentages, orders and sentences that all forms of the coverage report use. */
#include "coverage/report/coverage_report.h"

#include "coverage/analysis/flow.h"
#include "base/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static uint64_t missed(const struct coverage_ratio *r)
{
    return r->all - r->hit - r->unknown;
}

uint32_t *sources_sorted(const struct coverage_result *r, enum source_sort sort, struct arena *a)
{
    size_t len = r->sources.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    uint32_t *ranking = ARENA_NEW(a, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct coverage_ratio *lines = &r->sources.at[i].sums.lines;
        uint64_t key = sort == SORT_MISSED    ? ~missed(lines)
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

uint32_t result_lines_end(const struct coverage_result *r, const struct result_source *s,
                          uint32_t i)
{
    uint32_t end = i + 1;
    while (end < s->first_line + s->lines && r->lines.at[end].state == r->lines.at[i].state)
        end++;
    return end;
}

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

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void say_marked(const struct result_left_out *l, void (*print)(void *, const char *),
                       void *context)
{
    if (l->lines || l->branches || l->functions)
        say(print, context,
            "left out by markers in the sources: %" PRIu64 " line%s, %" PRIu64 " function%s, "
            "%" PRIu64 " branch%s (--no-markers counts them)",
            l->lines, plural(l->lines), l->functions, plural(l->functions), l->branches,
            l->branches == 1 ? "" : "es");
}

void left_out_sentences(const struct coverage_report *s, void (*print)(void *, const char *),
                        void *context)
{
    const struct coverage_result *r = s->result;
    if (s->leaves_system)
        say(print, context, "left out: sources of the system (--system counts them)");
    if (r->left_out.outside_sources)
        say(print, context,
            "left out: %" PRIu64 " source%s outside of %.200s, such as %.200s (--root names "
            "another folder, --system counts them)",
            r->left_out.outside_sources, plural(r->left_out.outside_sources), s->root,
            r->left_out.outside_example);
    if (s->leaves_unwanted)
        say(print, context, "left out: sources that --include and --exclude do not want");
    if (r->left_out.exception_branches || r->left_out.hidden_branches)
        say(print, context,
            "left out: %" PRIu64 " branch%s that only exceptions take, %" PRIu64
            " in code that no line of the source asks for (--all-branches counts them)",
            r->left_out.exception_branches, r->left_out.exception_branches == 1 ? "" : "es",
            r->left_out.hidden_branches);
    say_marked(&r->left_out, print, context);
    if (s->unrun)
        say(print, context,
            "%" PRIu64 " of %" PRIu64 " object%s left no counters: counted as not covered (it did "
            "not run, or ended by _exit or a signal)",
            s->unrun, s->objects, plural(s->objects));
    if (s->unknown_functions)
        say(print, context,
            "%" PRIu64 " function%s unknown in some object: neither covered nor missed unless "
            "another object shows it ran",
            s->unknown_functions, s->unknown_functions == 1 ? " is" : "s are");
    if (s->repaired_functions)
        say(print, context, "repaired: the counts of %" PRIu64 " function%s", s->repaired_functions,
            plural(s->repaired_functions));
    for (size_t i = 0; i < r->notes.len; i++)
        print(context, r->notes.at[i]);
}

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

void coverage_gate_text(struct out *out, const struct coverage_gate *g)
{
    if (g->is_empty && !strcmp(g->name, "diff"))
        out_str(out, "no changed line holds code that was counted");
    else if (g->is_empty)
        out_printf(out, "no %s was counted", g->name);
    else
        out_printf(out, "%s coverage is %.2f %%, %.2f %% are asked for", g->name, g->percent,
                   g->limit);
}

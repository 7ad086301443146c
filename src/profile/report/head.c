/* Shared text. */
#include "output/text.h"

#include "profile/report/run_head.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void text_name(struct out *out, const char *name)
{
    size_t len = strlen(name);
    out_room(out, len);
    for (const char *c = name; c < name + len; c++)
        out->at[out->len++] = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
}

void text_function(struct out *out, struct names *names, uint32_t function,
                   const struct text_style *style)
{
    const char *shown = names_text(names, function), *linkage = names->functions->at[function].name;
    text_name(out, shown);
    if (style->names == NAME_LINKAGE_TOO && strcmp(shown, linkage)) {
        out_str(out, " {");
        text_name(out, linkage);
        out_char(out, '}');
    }
    const char *object = function_object_label(names->functions, function);
    if (object && !names->functions->at[function].is_made) {
        out_str(out, " [");
        text_name(out, object);
        out_char(out, ']');
    }
    if (function_is_profiler(names->functions, function))
        out_str(out, " [profiling overhead]");
}

int text_time_decimals(const struct summary *s)
{
    int decimals = 3;
    for (double rate = 1000; rate < s->rate && decimals < 6; rate *= 10)
        decimals++;
    return decimals;
}

void text_amount(char *into, size_t size, double amount, char abbreviation)
{
    static const char prefixes[] = "fpnum";
    size_t prefix = sizeof prefixes - 1; /* none */
    double shown = amount;
    while (shown > 0 && shown < 0.99995 && prefix) {
        shown *= 1000;
        prefix--;
    }
    int whole = shown < 9.9995 ? 1 : shown < 99.995 ? 2 : shown < 999.95 ? 3 : 4;
    bool is_visible = abbreviation > ' ' && abbreviation <= '~';
    char unit = is_visible ? abbreviation : '?';
    char letter = prefixes[prefix] ? prefixes[prefix] : ' ';
    if (amount <= 0)
        snprintf(into, size, "0  %c", unit);
    else if (whole == 4)
        snprintf(into, size, "%.0f  %c", shown, unit);
    else
        snprintf(into, size, "%.*f %c%c", 4 - whole, shown, letter, unit);
}

enum { WARM = 2, HOT = 10 }; /* percent */

void text_heat_on(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, 100 * share >= HOT ? "\033[1;31m" : "\033[33m");
}

void text_heat_off(struct out *out, const struct text_style *style, double share)
{
    if (style->has_colour && 100 * share >= WARM)
        out_str(out, "\033[0m");
}

int text_digits(uint64_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void text_samples(struct out *out, const struct summary *s)
{
    if (!s->has_samples) {
        out_str(out, "Samples  none: the profile has no histogram\n");
        return;
    }
    out_printf(out, "Samples  %.0f", s->samples);
    if (s->rate > 0) {
        out_printf(out, " of %.6g ", 1 / s->rate);
        text_name(out, s->dimension);
        out_printf(out, " each: %.*f ", text_time_decimals(s), summary_time(s, s->samples));
        text_name(out, s->dimension);
    } else {
        out_str(out, "; the sampling rate is not known");
    }
    out_char(out, '\n');
    if (s->unattributed > 0)
        out_printf(out, "         %.6g of them (%.2f %%) in no function of the program\n",
                   s->unattributed, 100 * summary_share(s, s->unattributed));
    if (s->stacks && !s->run)
        out_printf(out, "         with call stacks: totals are measured, not modelled\n");
    bool is_aside = s->run && s->run->weights->aside > 0;
    if (s->profiler > 0 && is_aside)
        out_printf(out,
                   "         %.6g more in the recorder's counting of calls, no part of these\n",
                   s->profiler);
    else if (s->profiler > 0)
        out_printf(out, "         %.6g of them (%.2f %%) in the profiler itself\n", s->profiler,
                   100 * summary_share(s, s->profiler));
    if (s->run)
        run_account_text(out, s->run);
}

static void text_calls(struct out *out, const struct summary *s)
{
    if (!s->arcs) {
        out_str(out, "Calls    none were recorded\n");
        return;
    }
    out_printf(out, "Calls    %" PRIu64 " along %" PRIu64 " arc%s\n", s->calls, s->arcs,
               plural(s->arcs));
    if (s->unknown_callers)
        out_printf(out, "         %" PRIu64 " of them from no function of the program\n",
                   s->unknown_callers);
    if (s->unknown_callees)
        out_printf(out, "         %" PRIu64 " of them to no function of the program\n",
                   s->unknown_callees);
}

void text_notes(struct out *out, const struct summary *s)
{
    enum { FEW = 400 }; /* samples: a share of one half is known to within five points */
    if (s->was_forced) {
        out_str(out, "Note     program and profile do not belong together: ");
        text_name(out, s->mismatch);
        out_char(out, '\n');
    }
    for (size_t i = 0; i < s->notes_len; i++) {
        out_str(out, "Note     ");
        text_name(out, s->notes[i]);
        out_char(out, '\n');
    }
    double certain = s->effective > 0 ? s->effective : s->samples;
    if (s->has_samples && certain > 0 && certain < FEW) {
        struct interval half = share_interval(certain / 2, certain);
        out_printf(
            out, "Note     few samples: a share of 50 %% is uncertain by %.0f points (+-, 95 %%)\n",
            50 * (half.high - half.low));
    }
    double cost = summary_mcount_estimate(s);
    bool is_visible = s->rate > 0 && cost > 1 / s->rate; /* more than one sample */
    if (s->profiler == 0 && is_visible && cost > 0.02 * summary_time(s, s->samples))
        out_printf(out,
                   "Note     counting the calls took about %.*f seconds more, outside of these\n"
                   "         samples (an estimate: %d ns a call)\n",
                   text_time_decimals(s), cost, MCOUNT_NANOSECONDS);
}

void text_summary(struct out *out, const struct summary *s)
{
    if (s->run) {
        run_head_text(out, s->run, s->profiles, s->profiles_len);
    } else {
        out_str(out, "Program  ");
        text_name(out, s->program);
        out_str(out, "\nProfile  ");
        text_name(out, s->profiles[0]);
        if (s->profiles_len > 1)
            out_printf(out, " and %zu more", s->profiles_len - 1);
        out_char(out, '\n');
    }
    text_samples(out, s);
    text_calls(out, s);
}

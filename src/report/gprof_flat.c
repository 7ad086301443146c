/* GNU gprof's flat profile. */
#include "report/gprof_text.h"

#include "base/sort.h"

#include <string.h>

/* Units of time per call, from large to small. */
static const struct si_prefix {
    char letter;
    double scale;
} prefixes[] = {{'T', 1e-12}, {'G', 1e-9}, {'M', 1e-6}, {'K', 1e-3}, {' ', 1},   {'m', 1e3},
                {'u', 1e6},   {'n', 1e9},  {'p', 1e12}, {'f', 1e15}, {'a', 1e18}};

enum { PREFIXES = sizeof prefixes / sizeof *prefixes, MILLI = 5 };

struct flat {
    const struct gprof_report *report;
    double cumulative;
    double total;
};

static uint64_t calls_of(const struct gprof_report *r, uint32_t i)
{
    return r->graph ? r->graph->nodes[i].calls : 0;
}

static double children_of(const struct gprof_report *r, uint32_t i)
{
    return r->graph ? r->graph->nodes[i].children : 0;
}

/* Time, then calls, both descending, then name: sorted by the least significant first. */
static uint32_t *sorted_functions(const struct gprof_report *r, struct arena *a)
{
    uint32_t n = r->functions->len, *order = ARENA_NEW(a, uint32_t, n);
    struct keyed *by = ARENA_NEW(a, struct keyed, n);
    for (uint32_t i = 0; i < n; i++)
        by[i] = (struct keyed){r->functions->name_order[i], i};
    sort_keyed(by, n);
    for (uint32_t i = 0; i < n; i++)
        by[i].key = ~calls_of(r, by[i].item);
    sort_keyed(by, n);
    for (uint32_t i = 0; i < n; i++)
        by[i].key = sort_descending(r->time->self[by[i].item]);
    sort_keyed(by, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = by[i].item;
    return order;
}

/* The unit in which the longest call reads as a number from 1 to 999. Where none fits, GNU reads
 * past its table; we stay with the last. */
static const struct si_prefix *choose_unit(const struct gprof_report *r, const uint32_t *order,
                                           uint32_t len)
{
    if (r->bsd)
        return &prefixes[MILLI];
    double longest = 0;
    for (uint32_t i = 0; i < len; i++) {
        uint64_t calls = calls_of(r, order[i]);
        double time = calls ? (r->time->self[order[i]] + children_of(r, order[i])) / (double)calls
                            : 0;
        longest = time > longest ? time : longest;
    }
    if (!(longest > 0))
        return &prefixes[0];
    longest /= r->time->rate;
    for (int i = 0; i < PREFIXES; i++)
        if (prefixes[i].scale * longest >= 1 && prefixes[i].scale * longest < 1000)
            return &prefixes[i];
    return &prefixes[PREFIXES - 1];
}

static void header(struct flat *flat, const struct si_prefix *unit, struct out *out)
{
    const struct gprof_report *r = flat->report;
    const struct attribution *t = r->time;
    char per_call[] = {unit->letter, t->abbreviation, '/', 'c', 'a', 'l', 'l', '\0'};
    if (r->bsd) {
        out_printf(out, "\ngranularity: each sample hit covers %ld byte(s)", gprof_granularity(r));
        if (flat->total > 0)
            out_printf(out, " for %.2f%% of %.2f %s\n\n", 100.0 / flat->total,
                       flat->total / t->rate, t->dimension);
    } else {
        out_printf(out, "\nEach sample counts as %g %s.\n", 1.0 / t->rate, t->dimension);
    }
    if (flat->total <= 0) {
        out_str(out, " no time accumulated\n\n");
        flat->total = 1;
    }
    out_printf(out, "%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "%  ", "cumulative",
               "self  ", "", "self  ", "total ", "");
    out_printf(out, "%5.5s %9.9s  %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "time", t->dimension,
               t->dimension, "calls", per_call, per_call, "name");
}

static void line(struct flat *flat, struct gprof_report *r, uint32_t i, double scale,
                 struct out *out)
{
    double self = r->time->self[i], rate = r->time->rate;
    uint64_t calls = calls_of(r, i);
    if (!r->show_all && !calls && self == 0)
        return;
    flat->cumulative += self;
    out_fixed(out, flat->total > 0 ? 100 * self / flat->total : 0, r->bsd ? 5 : 6, r->bsd ? 1 : 2);
    out_char(out, ' ');
    out_fixed(out, flat->cumulative / rate, r->bsd ? 10 : 9, 2);
    out_char(out, ' ');
    out_fixed(out, self / rate, 8, 2);
    if (calls) {
        out_char(out, ' ');
        out_u64(out, calls, 8);
        out_char(out, ' ');
        out_fixed(out, scale * self / rate / (double)calls, 8, 2);
        out_char(out, ' ');
        out_fixed(out, scale * (self + children_of(r, i)) / rate / (double)calls, 8, 2);
        out_spaces(out, 2);
    } else {
        out_spaces(out, 29);
    }
    if (r->bsd)
        gprof_name(r, i, out);
    else
        out_str(out, names_get(r->names, i));
    out_char(out, '\n');
}

void gprof_flat(struct gprof_report *r, struct out *out)
{
    gprof_new_page(r, out);
    if (!r->bsd)
        out_str(out, "Flat profile:\n");
    else if (!r->brief)
        out_printf(out, "\n\n\nflat profile:\n%s", gprof_flat_explanation);

    struct arena scratch = {0};
    struct flat flat = {r, 0, r->time->total};
    const uint32_t *order = sorted_functions(r, &scratch);

    const struct si_prefix *unit = choose_unit(r, order, r->functions->len);
    header(&flat, unit, out);
    for (uint32_t i = 0; i < r->functions->len; i++)
        if (selection_admits(r->selection, ASK_FLAT, order[i]))
            line(&flat, r, order[i], unit->scale, out);
    arena_deinit(&scratch);
    if (!r->bsd && !r->brief)
        out_str(out, gprof_flat_explanation);
}

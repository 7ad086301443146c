/* GNU gprof's flat profile. */
#include "gnu/gprof/gprof_text.h"

#include "output/digits.h"
#include "output/out_parallel.h"
#include "base/sort.h"

#include <string.h>

/* Units of time per call, from large to small. */
static const struct si_prefix {
    char letter;
    double scale;
} prefixes[] = {{'T', 1e-12}, {'G', 1e-9}, {'M', 1e-6}, {'K', 1e-3}, {' ', 1},   {'m', 1e3},
                {'u', 1e6},   {'n', 1e9},  {'p', 1e12}, {'f', 1e15}, {'a', 1e18}};

enum {
    PREFIXES = sizeof prefixes / sizeof *prefixes,
    MILLI = 5,
    ROWS_A_PIECE = 1024,
    LINE = 7 * DIGITS_ROOM,
};

struct flat {
    struct gprof_report *report;
    const struct si_prefix *unit;
    double total;
    struct flat_row {
        uint32_t function;
        double cumulative;
    } * rows;
    uint32_t len;
};

/* NULL: it has none. */
static const struct graph_node *node_of(const struct gprof_report *r, uint32_t i)
{
    uint32_t node = r->node_of ? r->node_of[i] : i;
    return r->graph && node != NO_NODE ? &r->graph->nodes[node] : NULL;
}

static uint64_t calls_of(const struct gprof_report *r, uint32_t i)
{
    const struct graph_node *n = node_of(r, i);
    return n ? n->calls : 0;
}

static double children_of(const struct gprof_report *r, uint32_t i)
{
    const struct graph_node *n = node_of(r, i);
    return n ? n->children : 0;
}

static bool is_listed(const struct gprof_report *r, uint32_t i)
{
    bool is_zero = !calls_of(r, i) && r->time->self[i] == 0;
    return selection_admits(r->selection, ASK_FLAT, i) && (!is_zero || r->show_all);
}

/* What is listed by time, then calls, both descending, then name. */
static struct keyed *sorted_functions(const struct gprof_report *r, uint32_t *len, struct arena *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->functions->len; i++)
        n += is_listed(r, i);
    uint32_t *function = ARENA_NEW(a, uint32_t, n);
    struct keyed *order = ARENA_NEW(a, struct keyed, n);
    uint64_t *keys = ARENA_NEW(a, uint64_t, n);
    *len = n;
    n = 0;
    for (uint32_t i = 0; i < r->functions->len; i++)
        if (is_listed(r, i))
            function[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct keyed){r->functions->name_order[function[i]], i};
    sort_keyed(order, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = ~calls_of(r, function[i]);
    sort_by(order, n, keys);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = sort_descending(r->time->self[function[i]]);
    sort_by(order, n, keys);
    for (uint32_t i = 0; i < n; i++)
        order[i].item = function[order[i].item];
    return order;
}

/* The unit in which the longest call reads as a number from 1 to 999. Where none fits, GNU reads
 * past its table; we stay with the last. */
static const struct si_prefix *choose_unit(const struct gprof_report *r)
{
    if (r->bsd)
        return &prefixes[MILLI];
    double longest = 0;
    for (uint32_t i = 0; i < r->functions->len; i++) {
        uint64_t calls = calls_of(r, i);
        double time = calls ? (r->time->self[i] + children_of(r, i)) / (double)calls : 0;
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

static void header(struct flat *flat, struct out *out)
{
    const struct gprof_report *r = flat->report;
    const struct attribution *t = r->time;
    char per_call[] = {flat->unit->letter, t->abbreviation, '/', 'c', 'a', 'l', 'l', '\0'};
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

/* The running sum of the times. */
static void sum_rows(struct flat *flat, const struct keyed *order, struct arena *a)
{
    const struct gprof_report *r = flat->report;
    double cumulative = 0;
    flat->rows = ARENA_NEW(a, struct flat_row, flat->len);
    for (uint32_t i = 0; i < flat->len; i++) {
        uint32_t f = order[i].item;
        cumulative += r->time->self[f];
        flat->rows[i] = (struct flat_row){f, cumulative};
        names_get(r->names, f); /* here, since rows are printed by several threads */
    }
}

static void line(const struct flat *flat, const struct flat_row *row, struct out *out)
{
    struct gprof_report *r = flat->report;
    double self = r->time->self[row->function], rate = r->time->rate, scale = flat->unit->scale;
    uint64_t calls = calls_of(r, row->function);
    out_room(out, LINE);
    char *to = out->at + out->len;
    to = digits_fixed(to, flat->total > 0 ? 100 * self / flat->total : 0, r->bsd ? 5 : 6,
                      r->bsd ? 1 : 2);
    *to++ = ' ';
    to = digits_fixed(to, row->cumulative / rate, r->bsd ? 10 : 9, 2);
    *to++ = ' ';
    to = digits_fixed(to, self / rate, 8, 2);
    if (calls) {
        double total = self + children_of(r, row->function);
        *to++ = ' ';
        to = digits_u64(to, calls, 8);
        *to++ = ' ';
        to = digits_fixed(to, scale * self / rate / (double)calls, 8, 2);
        *to++ = ' ';
        to = digits_fixed(to, scale * total / rate / (double)calls, 8, 2);
        to = digits_spaces(to, 2);
    } else {
        to = digits_spaces(to, 29);
    }
    out->len = (size_t)(to - out->at);
    if (r->bsd)
        gprof_name(r, row->function, out);
    else
        gprof_name_and_place(r, row->function, out);
    out_char(out, '\n');
}

static void print_piece(size_t piece, struct out *out, void *context)
{
    const struct flat *flat = context;
    uint32_t end = (uint32_t)(piece + 1) * ROWS_A_PIECE;
    for (uint32_t i = (uint32_t)piece * ROWS_A_PIECE; i < end && i < flat->len; i++)
        line(flat, &flat->rows[i], out);
}

void gprof_flat(struct gprof_report *r, struct out *out)
{
    gprof_new_page(r, out);
    if (!r->bsd)
        out_str(out, "Flat profile:\n");
    else if (!r->brief)
        out_printf(out, "\n\n\nflat profile:\n%s", gprof_flat_explanation);

    struct arena scratch = {0};
    struct flat flat = {.report = r, .total = r->time->total};
    const struct keyed *order = sorted_functions(r, &flat.len, &scratch);
    flat.unit = choose_unit(r);
    header(&flat, out);
    sum_rows(&flat, order, &scratch);
    out_parallel(out, (flat.len + ROWS_A_PIECE - 1) / ROWS_A_PIECE, 0, print_piece, &flat);
    arena_deinit(&scratch);
    if (!r->bsd && !r->brief)
        out_str(out, gprof_flat_explanation);
}

/* GNU gprof's flat profile: its rows, by time, then calls, both descending, then name; and their
 * layout, GNU's own and BSD's (-T).
 *
 * Rows are sorted by radix in three stable passes, the least important key first, instead of by
 * comparing: names have an order already, calls and times become unsigned keys.
 *
 * The unit of the columns "per call" is one for all rows: that in which the longest call of any
 * function, listed or not, reads as a number from 1 to 999. Where none fits, GNU reads past its
 * table; we stay with the last.
 *
 * Printing is divided up among threads by pieces of rows; a piece does not depend on those before
 * it, since sums are in the rows.
 *
 *      %   cumulative   self              self     total
 *     time   seconds   seconds    calls  ms/call  ms/call  name
 *     50.00      0.10     0.10      100     1.00     2.00  f
 *
 * The source of the layout is binutils' gprof/hist.c. */
#include "base/sort.h"
#include "gnu/gprof/gprof.h"
#include "output/out.h"

#include <math.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------------------ */

/* The node of an entry, or NULL: with -l, lines have none. */
static const struct graph_node *node_of(const struct gnu_flat_input *in, uint32_t i)
{
    uint32_t node = in->node_of ? in->node_of[i] : i;
    return in->graph && node != NO_NODE ? &in->graph->nodes[node] : NULL;
}

static uint64_t calls_of(const struct gnu_flat_input *in, uint32_t i)
{
    const struct graph_node *n = node_of(in, i);
    return n ? n->calls : 0;
}

static double children_of(const struct gnu_flat_input *in, uint32_t i)
{
    const struct graph_node *n = node_of(in, i);
    return n ? n->children : 0;
}

/* GNU leaves out what has neither calls nor time, unless -z asks for it. */
static bool is_listed(const struct gnu_flat_input *in, uint32_t i)
{
    bool is_idle = !calls_of(in, i) && in->time->self[i] == 0;
    return selection_admits(in->selection, ASK_FLAT, i) && (!is_idle || in->shows_idle);
}

/* Two passes over the table: to count, then to fill. Keys are complemented or mapped so that
 * ascending order of numbers is the order wanted. O(rows). */
static struct keyed *sorted_functions(const struct gnu_flat_input *in, uint32_t *len,
                                      struct arena *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->functions->len; i++)
        n += is_listed(in, i);
    uint32_t *function = ARENA_NEW(a, uint32_t, n);
    struct keyed *order = ARENA_NEW(a, struct keyed, n);
    uint64_t *calls = ARENA_NEW(a, uint64_t, n), *self = ARENA_NEW(a, uint64_t, n);
    *len = n;
    n = 0;
    for (uint32_t i = 0; i < in->functions->len; i++)
        if (is_listed(in, i))
            function[n++] = i;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (struct keyed){in->functions->name_order[function[i]], i};
        calls[i] = ~calls_of(in, function[i]);
        self[i] = sort_descending(in->time->self[function[i]]);
    }
    const uint64_t *keys[] = {calls, self};
    sort_by_keys(order, n, keys, sizeof keys / sizeof *keys);
    for (uint32_t i = 0; i < n; i++)
        order[i].item = function[order[i].item];
    return order;
}

/* Of all functions, listed or not. */
static double longest_call(const struct gnu_flat_input *in)
{
    double longest = 0;
    for (uint32_t i = 0; i < in->functions->len; i++) {
        uint64_t calls = calls_of(in, i);
        double time = calls ? (in->time->self[i] + children_of(in, i)) / (double)calls : 0;
        longest = time > longest ? time : longest;
    }
    return longest;
}

/* Cumulative times are added in the order of rows, as GNU adds them. */
void gnu_flat_make(struct gnu_flat *t, const struct gnu_flat_input *in, struct arena *a)
{
    struct arena scratch = {0};
    double cumulative = 0;
    *t = (struct gnu_flat){.longest = longest_call(in)};
    t->total = in->time->total > 0 ? in->time->total : 0;
    const struct keyed *order = sorted_functions(in, &t->len, &scratch);
    t->rows = ARENA_NEW(a, struct gnu_flat_row, t->len);
    for (uint32_t i = 0; i < t->len; i++) {
        uint32_t function = order[i].item;
        cumulative += in->time->self[function];
        t->rows[i] = (struct gnu_flat_row){.function = function,
                                           .calls = calls_of(in, function),
                                           .self = in->time->self[function],
                                           .cumulative = cumulative,
                                           .children = children_of(in, function)};
    }
    arena_deinit(&scratch);
}

/* --- layout ---------------------------------------------------------------------------------- */

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

/* What the threads that print share. */
struct flat {
    struct gprof_report *report;
    const struct gnu_flat *table;
    const struct si_prefix *unit;
};

/* The unit in which the longest call reads as a number from 1 to 999. Where none fits, GNU reads
 * past its table; we stay with the last. */
static const struct si_prefix *choose_unit(const struct gprof_report *r, double longest)
{
    if (r->bsd)
        return &prefixes[MILLI];
    if (!(longest > 0))
        return &prefixes[0];
    longest /= r->time->rate;
    for (int i = 0; i < PREFIXES; i++)
        if (prefixes[i].scale * longest >= 1 && prefixes[i].scale * longest < 1000)
            return &prefixes[i];
    return &prefixes[PREFIXES - 1];
}

/* Both layouts' headings. BSD's gives no unit of its own, and states what a hit covers instead.
 * Units stand in the heads as letters: "ms/call" is a prefix and the dimension's abbreviation. */
static void header(const struct flat *flat, struct out *out)
{
    const struct gprof_report *r = flat->report;
    const struct attribution *t = r->time;
    double total = flat->table->total;
    char per_call[] = {flat->unit->letter, t->abbreviation, '/', 'c', 'a', 'l', 'l', '\0'};
    if (r->bsd) {
        out_printf(out, "\ngranularity: each sample hit covers %ld byte(s)", gprof_granularity(r));
        if (total > 0)
            out_printf(out, " for %.2f%% of %.2f %s\n\n", 100.0 / total, total / t->rate,
                       t->dimension);
    } else {
        out_printf(out, "\nEach sample counts as %g %s.\n", 1.0 / t->rate, t->dimension);
    }
    if (total <= 0)
        /* GNU prints the heading of the columns all the same. */
        out_str(out, " no time accumulated\n\n");
    out_printf(out, "%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "%  ", "cumulative",
               "self  ", "", "self  ", "total ", "");
    out_printf(out, "%5.5s %9.9s  %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "time", t->dimension,
               t->dimension, "calls", per_call, per_call, "name");
}

/* What a row has before the name. */
struct amounts {
    double percent, cumulative, self;
    uint64_t calls;
    double per_call, total_per_call; /* 0 without calls */
};

/* Whether all fit their columns. */
static bool are_usual(const struct amounts *a)
{
    const double percent = 999, cumulative = 999999, others = 99999;
    const uint64_t calls = 99999999;
    return a->percent < percent && a->cumulative < cumulative && a->self < others &&
           a->per_call < others && a->total_per_call < others && a->calls <= calls &&
           !(signbit(a->percent) || signbit(a->cumulative) || signbit(a->self) ||
             signbit(a->per_call) || signbit(a->total_per_call));
}

/* Into blanks: see gprof_usual_arc(). */
static char *put_usual(char *to, const struct amounts *a)
{
    static const char blank[] = "   .         .        .                               ";
    memcpy(to, blank, sizeof blank - 1);
    digits_back_cents(to + 6, a->percent);
    digits_back_cents(to + 16, a->cumulative);
    digits_back_cents(to + 25, a->self);
    if (a->calls) {
        to[40] = to[49] = '.';
        digits_back(to + 34, (uint32_t)a->calls);
        digits_back_cents(to + 43, a->per_call);
        digits_back_cents(to + 52, a->total_per_call);
    }
    return to + sizeof blank - 1;
}

/* One row, put together in the output's memory: this is where the time of printing goes. LINE is
 * room for all columns but the name at their widest: a double may have hundreds of digits. */
static void line(const struct flat *flat, const struct gnu_flat_row *row, struct out *out)
{
    struct gprof_report *r = flat->report;
    double self = row->self, rate = r->time->rate, scale = flat->unit->scale;
    double total = flat->table->total > 0 ? flat->table->total : 1;
    char *to = out_begin(out, LINE);
    const struct amounts amounts = {
        100 * self / total,
        row->cumulative / rate,
        self / rate,
        row->calls,
        row->calls ? scale * self / rate / (double)row->calls : 0,
        row->calls ? scale * (self + row->children) / rate / (double)row->calls : 0};
    if (!r->bsd && are_usual(&amounts)) {
        out_end(out, put_usual(to, &amounts));
        gprof_name_and_place(r, row->function, out);
        out_char(out, '\n');
        return;
    }
    to = digits_fixed(to, 100 * self / total, r->bsd ? 5 : 6, r->bsd ? 1 : 2);
    *to++ = ' ';
    to = digits_fixed(to, row->cumulative / rate, r->bsd ? 10 : 9, 2);
    *to++ = ' ';
    to = digits_fixed(to, self / rate, 8, 2);
    if (row->calls) {
        double with_children = self + row->children;
        *to++ = ' ';
        to = digits_u64(to, row->calls, 8);
        *to++ = ' ';
        to = digits_fixed(to, scale * self / rate / (double)row->calls, 8, 2);
        *to++ = ' ';
        to = digits_fixed(to, scale * with_children / rate / (double)row->calls, 8, 2);
        to = digits_spaces(to, 2);
    } else {
        to = digits_spaces(to, 29);
    }
    out_end(out, to);
    if (r->bsd)
        gprof_name(r, row->function, out);
    else
        gprof_name_and_place(r, row->function, out);
    out_char(out, '\n');
}

/* Rows [piece * ROWS_A_PIECE, ...), by one of several threads. */
static void print_piece(size_t piece, struct out *out, void *context)
{
    const struct flat *flat = context;
    uint32_t end = (uint32_t)(piece + 1) * ROWS_A_PIECE;
    for (uint32_t i = (uint32_t)piece * ROWS_A_PIECE; i < end && i < flat->table->len; i++)
        line(flat, &flat->table->rows[i], out);
}

/* BSD explains before the table, GNU after it. */
void gprof_flat(struct gprof_report *r, const struct gnu_flat *table, struct out *out)
{
    gprof_new_page(r, out);
    if (!r->bsd)
        out_str(out, "Flat profile:\n");
    else if (!r->brief)
        out_printf(out, "\n\n\nflat profile:\n%s", gprof_flat_explanation);

    struct flat flat = {r, table, choose_unit(r, table->longest)};
    header(&flat, out);
    for (uint32_t i = 0; i < table->len; i++) /* here, since rows are printed by several threads */
        names_get(r->names, table->rows[i].function);
    out_parallel(out, (table->len + ROWS_A_PIECE - 1) / ROWS_A_PIECE, 0, print_piece, &flat);
    if (!r->bsd && !r->brief)
        out_str(out, gprof_flat_explanation);
}

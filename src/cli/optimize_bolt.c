/* What BOLT takes: samples by function and offset, or, where the CPU noted branches, these by
 * address.
 *
 *     no_lbr cpu                     fdata: llvm-bolt -data=FILE
 *     1 work 23 7                    1 (a name follows), function, offset, samples
 *
 *     B 401156 40114e 950 12         pre-aggregated: perf2bolt --pa -p FILE makes fdata of it;
 *     F 40114e 401156 949            from, to, count, wrongly expected; straight from, to, count
 *     B X:0 401130 1 0               from elsewhere: a library, the kernel
 *
 * Only BOLT itself knows its blocks, by which fdata describes code that ran straight through; so
 * branches are left to perf2bolt, which reads no program of others for it. Equal lines are added
 * up, and come in the order of addresses. Sorting is what it costs.
 *
 * Sources: bolt/include/bolt/Profile/DataAggregator.h and DataReader.h of LLVM. */
#include "cli/optimize.h"

#include "base/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples */

/* BOLT knows a static function by its name and which of that name it is, counted by address. */
static const uint32_t *number_statics(const struct functions *f, struct arena *a)
{
    uint32_t *number = ARENA_NEW(a, uint32_t, f->len + 1u);
    /* Counters by the number of the name, 0 at first. Functions come by address, as BOLT counts. */
    uint32_t *of_name = ARENA_NEW(a, uint32_t, f->len + 1u);
    struct intern names = {0};
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].is_static)
            number[i] = ++of_name[intern_kept(&names, f->at[i].name, strlen(f->at[i].name))];
    intern_deinit(&names);
    return number;
}

/* Samples without branches, hits of one address as one line.
 *
 *     no_lbr cpu
 *     1 work 23 7          function, offset, samples
 *     1 often/2 0 4        the second static function of that name
 *
 * A linker script or --emit-relocs is not needed to read it, but BOLT moves functions only with the
 * latter. */
static void write_samples(const struct source_inputs *s, struct out *out)
{
    const struct functions *f = &s->functions;
    const struct code_measured *m = &s->measured;
    struct arena scratch = {0};
    const uint32_t *number = number_statics(f, &scratch);
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, m->hits.len + 1);
    /* Sorted by address, so that all hits of one place are neighbours and become one line. */
    for (uint32_t i = 0; i < m->hits.len; i++)
        order[i] = (struct keyed){m->hits.at[i].address, i};
    sort_keyed(order, m->hits.len);
    out_str(out, "no_lbr cpu\n");
    for (size_t i = 0, end; i < m->hits.len; i = end) {
        double sum = 0;
        for (end = i; end < m->hits.len && order[end].key == order[i].key; end++)
            sum += m->hits.at[order[end].item].weight;
        /* Parts of samples, of spread bins, are summed up first and rounded once. */
        uint32_t function = functions_find(f, order[i].key);
        /* Names of ours, for code without a symbol, mean nothing to BOLT. */
        uint64_t samples = (uint64_t)llround(sum);
        if (function == NO_FUNCTION || !samples || f->at[function].name[0] == '[')
            continue;
        out_printf(out, "1 %s", f->at[function].name);
        if (number[function])
            out_printf(out, "/%" PRIu32, number[function]);
        /* The offset is hexadecimal, the samples are decimal: so BOLT reads them. */
        out_printf(out, " %" PRIx64 " %" PRIu64 "\n", order[i].key - f->at[function].start,
                   samples);
    }
    arena_deinit(&scratch);
}

/* ---- branches */

struct bolt_line {
    uint64_t from, to, count, missed;
};

static int by_bolt_line(const void *left, const void *right)
{
    const struct bolt_line *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Sorts, and adds up equal ones. */
static size_t sum_lines(struct bolt_line *at, size_t len)
{
    size_t sums = 0;
    qsort(at, len, sizeof *at, by_bolt_line);
    for (size_t i = 0; i < len; i++)
        if (sums && !by_bolt_line(&at[sums - 1], &at[i])) {
            at[sums - 1].count = add_saturating(at[sums - 1].count, at[i].count);
            at[sums - 1].missed = add_saturating(at[sums - 1].missed, at[i].missed);
        } else {
            at[sums++] = at[i];
        }
    return sums;
}

static void bolt_place(struct out *out, uint64_t address)
{
    if (address)
        out_printf(out, " %" PRIx64, address);
    else
        out_str(out, " X:0");
}

/* Addresses are as linked, which BOLT takes as they are. */
static void write_branches(const struct source_inputs *s, struct out *out)
{
    struct arena scratch = {0};
    size_t all = s->measured.branches.len, len = 0;
    struct bolt_line *lines = ARENA_NEW(&scratch, struct bolt_line, all + 1);
    for (size_t i = 0; i < all; i++) {
        const struct code_branch *b = &s->measured.branches.at[i];
        if (!b->is_stretch)
            lines[len++] = (struct bolt_line){b->from, b->to, b->count, b->missed};
    }
    len = sum_lines(lines, len);
    for (size_t i = 0; i < len; i++) {
        out_char(out, 'B');
        bolt_place(out, lines[i].from);
        bolt_place(out, lines[i].to);
        out_printf(out, " %" PRIu64 " %" PRIu64 "\n", lines[i].count, lines[i].missed);
    }
    len = 0;
    for (size_t i = 0; i < all; i++) {
        const struct code_branch *b = &s->measured.branches.at[i];
        if (b->end)
            lines[len++] = (struct bolt_line){b->to, b->end, b->count, 0};
    }
    len = sum_lines(lines, len);
    for (size_t i = 0; i < len; i++)
        out_printf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", lines[i].from, lines[i].to,
                   lines[i].count);
    arena_deinit(&scratch);
}

bool optimize_write_bolt(void *context, struct out *out, struct err *e)
{
    const struct source_inputs *s = context;
    (void)e;
    if (s->measured.branches.len)
        write_branches(s, out);
    else
        write_samples(s, out);
    return true;
}

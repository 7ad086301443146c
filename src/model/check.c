/* Fitting together. */
#include "model/check.h"

#include <inttypes.h>
#include <string.h>

typedef const struct histogram *histogram_ref;

static int by_range(const void *a, const void *b)
{
    return histogram_compare(*(const histogram_ref *)a, *(const histogram_ref *)b);
}

static histogram_ref *sorted_histograms(const struct profile *a, const struct profile *b,
                                        size_t *len)
{
    *len = a->histograms.len + (b ? b->histograms.len : 0);
    histogram_ref *all = malloc((*len + 1) * sizeof *all);
    if (!all)
        memory_exhausted(*len * sizeof *all);
    for (size_t i = 0; i < *len; i++)
        all[i] =
            i < a->histograms.len ? &a->histograms.at[i] : &b->histograms.at[i - a->histograms.len];
    if (*len)
        qsort(all, *len, sizeof *all, by_range);
    return all;
}

static bool same_unit(const struct histogram *a, const struct histogram *b, struct err *e)
{
    if (memcmp(a->dimension, b->dimension, sizeof a->dimension) ||
        a->abbreviation != b->abbreviation)
        return err_set(e, "one histogram counts \"%s\" ('%c'), another \"%s\" ('%c')", a->dimension,
                       a->abbreviation, b->dimension, b->abbreviation);
    return a->rate == b->rate ||
           err_set(e, "one histogram has %" PRIu32 " samples per %s, another %" PRIu32, a->rate,
                   a->dimension[0] ? a->dimension : "unit", b->rate);
}

static bool disjoint_or_same(const struct histogram *a, const struct histogram *b, struct err *e)
{
    if (a->high <= b->low || b->high <= a->low || !histogram_compare(a, b))
        return true;
    return err_set(e,
                   "histogram 0x%" PRIx64 "-0x%" PRIx64 " (%" PRIu32 " bins) overlaps 0x%" PRIx64
                   "-0x%" PRIx64 " (%" PRIu32 " bins)",
                   a->low, a->high, a->bins, b->low, b->high, b->bins);
}

bool check_mergeable(const struct profile *a, const struct profile *b, struct err *e)
{
    size_t len;
    histogram_ref *all = sorted_histograms(a, b, &len);
    bool ok = true;
    for (size_t i = 1; i < len && ok; i++)
        ok = same_unit(all[0], all[i], e) && disjoint_or_same(all[i - 1], all[i], e);
    free(all);
    return ok;
}

/* What must hold of profiles: which fit together, and what is odd about one.
 *
 * Histograms are checked in the order of their ranges, each against the earlier one that reaches
 * furthest, which finds every overlap in n log n. Two of one dimension may be equal or apart,
 * nothing else: summing bins that cover each other in part would invent samples. */
#include "profile/model/profile.h"

#include <inttypes.h>
#include <string.h>

typedef const struct histogram *histogram_ref;

static int check_by_range(const void *a, const void *b)
{
    return histogram_compare(*(const histogram_ref *)a, *(const histogram_ref *)b);
}

/* Dimension by dimension. */
static int check_by_dimension(const void *a, const void *b)
{
    histogram_ref l = *(const histogram_ref *)a, r = *(const histogram_ref *)b;
    int order = strcmp(l->dimension, r->dimension);
    return order ? order : histogram_compare(l, r);
}

/* Of both profiles, `b` may be NULL; the caller's to free. Pointers, as histograms are large. */
static histogram_ref *check_sorted_histograms(const struct profile *a, const struct profile *b,
                                              int (*compare)(const void *, const void *),
                                              size_t *len)
{
    *len = a->histograms.len + (b ? b->histograms.len : 0);
    histogram_ref *all = memory_resized(NULL, (*len + 1) * sizeof *all);
    for (size_t i = 0; i < *len; i++)
        all[i] =
            i < a->histograms.len ? &a->histograms.at[i] : &b->histograms.at[i - a->histograms.len];
    if (*len)
        qsort(all, *len, sizeof *all, compare);
    return all;
}

/* --- fitting together ------------------------------------------------------------------------ */

static bool check_same_dimension(const struct histogram *a, const struct histogram *b)
{
    return !strcmp(a->dimension, b->dimension);
}

/* Same dimension, abbreviation and rate. */
static bool check_same_unit(const struct histogram *a, const struct histogram *b, struct err *e)
{
    if (!check_same_dimension(a, b) || a->abbreviation != b->abbreviation)
        return err_set(e, "one histogram counts \"%s\" ('%c'), another \"%s\" ('%c')", a->dimension,
                       a->abbreviation, b->dimension, b->abbreviation);
    return a->rate == b->rate ||
           err_set(e, "one histogram has a rate of %" PRIu32 ", another of %" PRIu32, a->rate,
                   b->rate);
}

/* Dimensions stand beside each other. */
static bool check_one_unit_a_dimension(const struct histogram *a, const struct histogram *b,
                                       struct err *e)
{
    return !check_same_dimension(a, b) || check_same_unit(a, b, e);
}

/* The two rules of histograms of one dimension: apart, or equal in everything. */
static bool check_disjoint_or_same(const struct histogram *a, const struct histogram *b,
                                   struct err *e)
{
    if (!check_same_dimension(a, b) || a->high <= b->low || b->high <= a->low ||
        !histogram_compare(a, b))
        return true;
    return err_set(e,
                   "histogram 0x%" PRIx64 "-0x%" PRIx64 " of %" PRIu32 " bins overlaps 0x%" PRIx64
                   "-0x%" PRIx64 " of %" PRIu32 " bins",
                   a->low, a->high, a->bins, b->low, b->high, b->bins);
}

/* Calls `pair` on each histogram and the one before it that reaches furthest, by range, in one
 * dimension after the other; on the last of one and the first of the next, too. Returns how often
 * it said no; stops at the first no if `e` is wanted. */
static size_t check_each_neighbour(const struct profile *a, const struct profile *b,
                                   bool (*pair)(const struct histogram *, const struct histogram *,
                                                struct err *),
                                   struct err *e)
{
    size_t len, refused = 0;
    histogram_ref *all = check_sorted_histograms(a, b, check_by_dimension, &len);
    histogram_ref reach = len ? all[0] : NULL;
    for (size_t i = 1; i < len && !(e && refused); i++) {
        refused += !pair(reach, all[i], e);
        if (all[i]->high > reach->high || !check_same_dimension(reach, all[i]))
            reach = all[i];
    }
    memory_free(all);
    return refused;
}

static bool check_has_records(const struct profile *p)
{
    return p->histograms.len || p->arcs.len || p->blocks.len;
}

/* Whether addresses of both mean the same. */
static bool check_same_machine(const struct profile *a, const struct profile *b, struct err *e)
{
    return (a->word == b->word && a->big_endian == b->big_endian) ||
           err_set(e,
                   "one profile is from a %d-bit %s-endian machine, another from a %d-bit "
                   "%s-endian one",
                   8 * a->word, a->big_endian ? "big" : "little", 8 * b->word,
                   b->big_endian ? "big" : "little");
}

/* A profile without records fits everything: it has no addresses that could mean something else. */
bool check_mergeable(const struct profile *a, const struct profile *b, struct err *e)
{
    struct err none;
    e = e ? e : &none;
    if (b && check_has_records(a) && check_has_records(b) && !check_same_machine(a, b, e))
        return false;
    return !check_each_neighbour(a, b, check_one_unit_a_dimension, e) &&
           !check_each_neighbour(a, b, check_disjoint_or_same, e);
}

/* --- oddities -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *sentence;
    bool is_fact; /* of the whole profile: not counted */
} KINDS[FINDINGS] = {
    [FINDING_NO_RECORDS] = {"no-records", "there is no complete record", true},
    [FINDING_TRAILING_BYTES] = {"trailing-bytes", "bytes ignored after the last complete record"},
    [FINDING_EMPTY_RANGE] = {"empty-range", "histograms that end before they begin"},
    [FINDING_NO_BINS] = {"no-bins", "histograms without bins"},
    [FINDING_FINE_BINS] = {"fine-bins", "histograms with less than 2 bytes a bin, of which GNU "
                                        "gprof loses samples"},
    [FINDING_NO_RATE] = {"no-rate", "histograms of rate 0, whose samples have no duration"},
    [FINDING_OVERLAP] = {"overlap", "histograms that overlap another without being the same"},
    [FINDING_MIXED_UNITS] = {"mixed-units", "histograms that differ in dimension or rate"},
    [FINDING_MIXED_SCALES] = {"mixed-scales", "histograms that differ in bytes per bin, which GNU "
                                              "gprof refuses"},
    [FINDING_NO_SAMPLES] = {"no-samples", "no sample was taken", true},
    [FINDING_FULL_BINS] = {"full-bins", "bins at 65535, where 16-bit counters stop or wrap"},
    [FINDING_ARCS_OUTSIDE] = {"arcs-outside", "arcs to addresses that no histogram covers"},
    [FINDING_UNKNOWN_CALLERS] = {"unknown-callers", "arcs from address 0: the caller was not "
                                                    "profiled"},
    [FINDING_IDLE_ARCS] = {"idle-arcs", "arcs with a count of 0"},
};

const char *finding_name(enum finding_kind kind)
{
    return KINDS[kind].name;
}

const char *finding_sentence(enum finding_kind kind, bool *is_counted)
{
    *is_counted = !KINDS[kind].is_fact;
    return KINDS[kind].sentence;
}

static void check_add_finding(struct finding_list *list, enum finding_kind kind, uint64_t count)
{
    if (count)
        list->at[list->len++] = (struct finding){.kind = kind, .count = count};
}

/* GNU gprof compares scales of histograms, which are half their bytes a bin, up to a millionth. */
static bool check_same_scale(const struct histogram *a, const struct histogram *b, struct err *e)
{
    double difference = histogram_bin_bytes(a) / 2 - histogram_bin_bytes(b) / 2;
    return (difference < 1e-6 && difference > -1e-6) || err_set(e, "different scales");
}

struct counts {
    uint64_t empty_range, no_bins, fine_bins, no_rate;
};

/* Figures of all histograms in one pass. */
static struct counts check_count_histograms(const struct profile *p)
{
    struct counts n = {0};
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        double bin_bytes = histogram_bin_bytes(h);
        n.empty_range += h->high <= h->low;
        n.no_bins += !h->bins;
        n.fine_bins += bin_bytes > 0 && bin_bytes < 1.99;
        n.no_rate += !h->rate;
    }
    return n;
}

static void check_histograms(const struct profile *p, struct finding_list *list)
{
    struct counts n = check_count_histograms(p);
    check_add_finding(list, FINDING_EMPTY_RANGE, n.empty_range);
    check_add_finding(list, FINDING_NO_BINS, n.no_bins);
    check_add_finding(list, FINDING_FINE_BINS, n.fine_bins);
    check_add_finding(list, FINDING_NO_RATE, n.no_rate);
    check_add_finding(list, FINDING_OVERLAP,
                      check_each_neighbour(p, NULL, check_disjoint_or_same, NULL));
    check_add_finding(list, FINDING_MIXED_UNITS,
                      check_each_neighbour(p, NULL, check_same_unit, NULL));
    check_add_finding(list, FINDING_MIXED_SCALES,
                      check_each_neighbour(p, NULL, check_same_scale, NULL));
    check_add_finding(list, FINDING_NO_SAMPLES, p->histograms.len && !profile_samples(p));
    check_add_finding(list, FINDING_FULL_BINS, profile_full_bins(p));
}

/* A binary search in ranges sorted by where they begin; overlapping ones may be missed. */
static bool check_is_covered(const histogram_ref *sorted, size_t len, uint64_t address)
{
    size_t first = 0;
    while (len > first) {
        size_t middle = first + (len - first) / 2;
        if (address < sorted[middle]->low)
            len = middle;
        else if (address < sorted[middle]->high)
            return true;
        else
            first = middle + 1;
    }
    return false;
}

/* n log n in histograms, and a search for each arc. */
static void check_arcs(const struct profile *p, struct finding_list *list)
{
    size_t len;
    uint64_t outside = 0, unknown = 0, idle = 0;
    histogram_ref *sorted = check_sorted_histograms(p, NULL, check_by_range, &len);
    for (size_t i = 0; i < p->arcs.len; i++) {
        outside += len && !check_is_covered(sorted, len, p->arcs.at[i].self);
        unknown += !p->arcs.at[i].from;
        idle += !p->arcs.at[i].count;
    }
    memory_free(sorted);
    check_add_finding(list, FINDING_ARCS_OUTSIDE, outside);
    check_add_finding(list, FINDING_UNKNOWN_CALLERS, unknown);
    check_add_finding(list, FINDING_IDLE_ARCS, idle);
}

struct finding_list check_profile(const struct profile *p)
{
    struct finding_list list = {.len = 0};
    check_add_finding(&list, FINDING_NO_RECORDS, !check_has_records(p));
    check_add_finding(&list, FINDING_TRAILING_BYTES, p->trailing_bytes);
    check_histograms(p, &list);
    check_arcs(p, &list);
    return list;
}

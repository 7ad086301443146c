/* From histogram bins to functions. */
#include "profile/analysis/attribute.h"

#include <string.h>

void attribution_init(struct attribution *t, const struct profile *p, uint32_t len, struct arena *a)
{
    *t = (struct attribution){
        .self = ARENA_NEW(a, double, len), .dimension = "seconds", .abbreviation = 's'};
    if (!p->histograms.len)
        return;
    const struct histogram *h = &p->histograms.at[0];
    t->has_histogram = true;
    t->rate = h->rate;
    t->dimension = arena_copy(a, h->dimension, strlen(h->dimension));
    t->abbreviation = h->abbreviation;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The first function at or after `from` that ends at or after `address`. */
static uint32_t first_reaching(const struct address_index *x, uint32_t from, uint64_t address)
{
    while (from < x->len && x->at[from].last < address)
        from++;
    return from;
}

/* Splits the hits of a bin among the functions that overlap it. */
static void split(const struct address_index *x, uint32_t from, const struct sampled_piece *bin,
                  piece_visitor *visit, void *context)
{
    uint64_t low = bin->low, high = bin->high;
    uint64_t covered = 0;
    for (uint32_t i = from; i < x->len && x->at[i].start < high; i++)
        covered += minimum(high - 1, x->at[i].last) - maximum(low, x->at[i].start) + 1;
    if (!covered)
        visit(bin, context);
    for (uint32_t i = from; covered && i < x->len && x->at[i].start < high; i++) {
        struct sampled_piece piece = *bin;
        piece.low = maximum(low, x->at[i].start);
        piece.high = minimum(high - 1, x->at[i].last) + 1;
        piece.function = i;
        piece.samples = bin->of_bin * (double)(piece.high - piece.low) / (double)covered;
        visit(&piece, context);
    }
}

/* The first address of bin i: the recorder counted address a in bin floor((a - low) * bins /
 * range). */
static uint64_t bin_start(const struct histogram *h, uint64_t range, uint32_t i)
{
    unsigned __int128 scaled = (unsigned __int128)range * i;
    return h->low + (uint64_t)((scaled + h->bins - 1) / h->bins);
}

static void histogram_pieces(const struct histogram *h, const struct address_index *x,
                             double counts, piece_visitor *visit, void *context)
{
    uint64_t range = h->high > h->low ? h->high - h->low : 0;
    uint32_t function = 0;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = bin_start(h, range, i), high = bin_start(h, range, i + 1);
        high = high > low ? high : low + 1;
        function = first_reaching(x, function, low);
        double samples = (double)histogram_get(h, i) / counts;
        split(
            x, function,
            &(struct sampled_piece){low, high, NO_RANGE_THERE, samples, low, high, h->low, samples},
            visit, context);
    }
}

void attribute_pieces(const struct profile *p, const struct address_index *x, piece_visitor *visit,
                      void *context)
{
    double counts = p->counts_a_sample > 0 ? p->counts_a_sample : 1;
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_pieces(&p->histograms.at[i], x, counts, visit, context);
}

static void book(const struct sampled_piece *piece, void *context)
{
    struct attribution *t = context;
    if (piece->function == NO_RANGE_THERE)
        t->unattributed += piece->samples;
    else
        t->self[piece->function] += piece->samples;
}

void attribute_native(struct attribution *t, const struct profile *p, const struct address_index *x,
                      struct arena *a)
{
    attribution_init(t, p, x->len, a);
    t->total = (double)profile_samples(p);
    attribute_pieces(p, x, book, t);
}

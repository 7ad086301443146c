/* From histogram bins to functions, by two sets of rules. */
#include "profile/analysis/attribute.h"

#include <string.h>

static void start(struct attribution *t, const struct profile *p, const struct functions *f,
                  struct arena *a)
{
    *t = (struct attribution){
        .self = ARENA_NEW(a, double, f->len), .dimension = "seconds", .abbreviation = 's'};
    if (!p->histograms.len)
        return;
    const struct histogram *h = &p->histograms.at[0];
    t->has_histogram = true;
    t->rate = h->rate;
    t->dimension = arena_copy(a, h->dimension, strlen(h->dimension));
    t->abbreviation = h->abbreviation;
    t->scale = h->bins ? (double)((h->high - h->low) / 2) / h->bins : 0;
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
static uint32_t first_reaching(const struct functions *f, uint32_t from, uint64_t address)
{
    while (from < f->len && f->at[from].last < address)
        from++;
    return from;
}

/* Splits `count` hits among the functions that overlap [low, high). */
static void split(const struct functions *f, uint32_t from, uint64_t low, uint64_t high,
                  double count, piece_visitor *visit, void *context)
{
    uint64_t covered = 0;
    for (uint32_t i = from; i < f->len && f->at[i].start < high; i++)
        covered += minimum(high - 1, f->at[i].last) - maximum(low, f->at[i].start) + 1;
    if (!covered)
        visit(&(struct sampled_piece){low, high, NO_FUNCTION, count}, context);
    for (uint32_t i = from; covered && i < f->len && f->at[i].start < high; i++) {
        struct sampled_piece piece = {.low = maximum(low, f->at[i].start),
                                      .high = minimum(high - 1, f->at[i].last) + 1,
                                      .function = i};
        piece.samples = count * (double)(piece.high - piece.low) / (double)covered;
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

static void histogram_pieces(const struct histogram *h, const struct functions *f, double counts,
                             piece_visitor *visit, void *context)
{
    uint64_t range = h->high > h->low ? h->high - h->low : 0;
    uint32_t function = 0;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = bin_start(h, range, i), high = bin_start(h, range, i + 1);
        high = high > low ? high : low + 1;
        function = first_reaching(f, function, low);
        split(f, function, low, high, (double)histogram_get(h, i) / counts, visit, context);
    }
}

void attribute_pieces(const struct profile *p, const struct functions *f, piece_visitor *visit,
                      void *context)
{
    double counts = p->counts_a_sample > 0 ? p->counts_a_sample : 1;
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_pieces(&p->histograms.at[i], f, counts, visit, context);
}

static void book(const struct sampled_piece *piece, void *context)
{
    struct attribution *t = context;
    if (piece->function == NO_FUNCTION)
        t->unattributed += piece->samples;
    else
        t->self[piece->function] += piece->samples;
}

void attribute_native(struct attribution *t, const struct profile *p, const struct functions *f,
                      struct arena *a)
{
    start(t, p, f, a);
    t->total = (double)profile_samples(p);
    attribute_pieces(p, f, book, t);
}

/* Where function i begins, in units of two bytes; the end of the last one for i == len. */
static uint64_t unit_start(const struct functions *f, uint32_t i)
{
    if (i < f->len)
        return f->at[i].start / 2;
    const struct function *last = &f->at[f->len - 1];
    return last->last >= last->start ? last->last / 2 + 1 : last->start / 2;
}

/* Credits the functions that overlap units [low, high); returns the first that the next bin must
 * look at. */
static uint32_t credit_gnu(struct attribution *t, const struct functions *f,
                           const struct selection *s, uint32_t from, uint64_t low, uint64_t high,
                           double count)
{
    uint32_t next = from;
    for (uint32_t i = from; i < f->len; next = ++i) {
        uint64_t begin = unit_start(f, i), end = unit_start(f, i + 1);
        if (high < begin)
            break;
        if (low >= end || maximum(low, begin) >= minimum(high, end))
            continue;
        double overlap = (double)(minimum(high, end) - maximum(low, begin));
        double credit = overlap * count / t->scale;
        if (selection_admits(s, ASK_FLAT, i))
            t->self[i] += credit;
        else
            t->total -= credit;
    }
    return next ? next - 1 : 0;
}

void attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                   const struct selection *s, struct arena *a)
{
    start(t, p, f, a);
    for (size_t k = 0; k < p->histograms.len; k++) {
        const struct histogram *h = &p->histograms.at[k];
        uint32_t function = 0;
        for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
            double count = (double)histogram_get(h, i);
            t->total += count;
            function = credit_gnu(t, f, s, function, h->low / 2 + (uint64_t)(t->scale * i),
                                  h->low / 2 + (uint64_t)(t->scale * (i + 1.0)), count);
        }
    }
}

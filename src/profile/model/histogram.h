/* Hits of the profiling clock, by address: counters as wide as their largest value needs. */
#ifndef MONARC_PROFILE_MODEL_HISTOGRAM_H
#define MONARC_PROFILE_MODEL_HISTOGRAM_H

#include "base/bytes.h"
#include "base/vec.h"

/* Samples over [low, high): bin i counts hits in the i-th of `bins` equal parts of the range.
 * One histogram of a profile is the sum of all records with the same range, rate and dimension. */
struct histogram {
    uint64_t low, high;
    uint32_t bins;
    uint32_t rate;      /* samples per unit of the dimension, usually per second; 0 if unknown */
    char dimension[16]; /* "seconds"; always NUL-terminated */
    char abbreviation;  /* 's' */
    uint8_t width;      /* bytes a counter takes in memory now: 2, 4 or 8 */
    void *counters;     /* `bins` of them, malloc'ed */
};

/* Counter `i`. histogram_add() adds to it, growing the counters' width where the sum needs it.
 * Saturates at 2^64-1.
 */
uint64_t histogram_get(const struct histogram *h, uint32_t i);

/* The first bin from `i` on that is not zero, or h->bins. */
uint32_t histogram_next(const struct histogram *h, uint32_t i);

void histogram_add(struct histogram *h, uint32_t i, uint64_t count);

/* Adds all counters of `from`, which has as many bins, to those of `into`. */
void histogram_add_all(struct histogram *into, const struct histogram *from);

/* Allocates zeroed counters of h->width bytes (0: 2) for h->bins bins. */
void histogram_alloc(struct histogram *h);
void histogram_deinit(struct histogram *h);

/* Makes counters `width` bytes wide; never narrower than they are. */
void histogram_widen(struct histogram *h, uint8_t width);

/* All samples of `h`, and the most in one bin; saturating. */
uint64_t histogram_total(const struct histogram *h);
uint64_t histogram_peak(const struct histogram *h);

/* Orders by range, then bins, rate, dimension, abbreviation; 0: records of the two can be summed.
 */
int histogram_compare(const struct histogram *a, const struct histogram *b);

/* Bytes of address range per bin; 0 if there are none. */
static inline double histogram_bin_bytes(const struct histogram *h)
{
    return h->bins && h->high > h->low ? (double)(h->high - h->low) / h->bins : 0;
}

#endif

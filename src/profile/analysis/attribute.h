/* Samples booked on functions: the self time of everything. */
#ifndef MONARC_PROFILE_ANALYSIS_ATTRIBUTE_H
#define MONARC_PROFILE_ANALYSIS_ATTRIBUTE_H

#include "profile/analysis/address_index.h"
#include "profile/model/profile.h"

/* All amounts are in samples; divide by `rate` for the dimension's unit. A function's share of a
 * bin it does not fill is a fraction of a sample. */
struct attribution {
    bool has_histogram;
    double *self;        /* per function */
    double total;        /* of all bins */
    double unattributed; /* in bins that touch no function */
    double rate;         /* samples per unit */
    const char *dimension;
    char abbreviation;
};

/* Nothing attributed to `len` functions yet; the unit and the rate are the first histogram's. */
void attribution_init(struct attribution *t, const struct profile *p, uint32_t len,
                      struct arena *a);

/* A part of a function with the samples booked on it: [low, high), never empty. */
struct sampled_piece {
    uint64_t low, high;
    uint32_t function; /* its number in the index */
    double samples;
    uint64_t bin_low, bin_high; /* the bin that it is a part of */
    uint64_t origin;            /* where that bin's histogram begins */
    double of_bin;              /* all samples of the bin */
};
typedef void piece_visitor(const struct sampled_piece *piece, void *context);

/* Visits all pieces that attribute_native() books, in the order of histograms and bins. What it
 * calls unattributed is visited as well, by whole bins with NO_RANGE_THERE. */
void attribute_pieces(const struct profile *p, const struct address_index *x, piece_visitor *visit,
                      void *context);

/* Each bin is split among the functions it overlaps by the addresses they have in it, so that
 * attributed plus unattributed is exactly what was read. */
void attribute_native(struct attribution *t, const struct profile *p, const struct address_index *x,
                      struct arena *a);

#endif

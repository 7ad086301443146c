/* Samples booked on functions: the self time of everything. */
#ifndef MONARC_ANALYSIS_ATTRIBUTE_H
#define MONARC_ANALYSIS_ATTRIBUTE_H

#include "profile/analysis/functions.h"
#include "gnu/gprof/symspec.h"
#include "profile/model/profile.h"

/* All amounts are in samples; divide by `rate` for the dimension's unit. A function's share of a
 * bin it does not fill is a fraction of a sample. */
struct attribution {
    bool has_histogram;
    double *self;        /* per function */
    double total;        /* of all bins; less what a GNU filter took out */
    double unattributed; /* in bins that touch no function (0 under GNU's rules) */
    double rate;         /* samples per unit */
    const char *dimension;
    char abbreviation;
    double scale; /* GNU's: units of two bytes per bin of the first histogram */
};

/* A part of a function with the samples booked on it: [low, high), never empty. */
struct sampled_piece {
    uint64_t low, high;
    uint32_t function;
    double samples;
};
typedef void piece_visitor(const struct sampled_piece *piece, void *context);

/* Visits all pieces that attribute_native() books, in the order of histograms and bins. What it
 * calls unattributed is visited as well, by whole bins with NO_FUNCTION. */
void attribute_pieces(const struct profile *p, const struct functions *f, piece_visitor *visit,
                      void *context);

/* Ours: each bin is split among the functions it overlaps by the addresses they have in it, so that
 * attributed plus unattributed is exactly what was read. */
void attribute_native(struct attribution *t, const struct profile *p, const struct functions *f,
                      struct arena *a);

/* GNU gprof's: addresses in units of two bytes, a bin's bounds rounded down, the first histogram's
 * scale for all, and what a bin holds outside the functions booked nowhere. Functions that the
 * selection keeps out of the flat profile are neither credited nor counted. */
void attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                   const struct selection *s, struct arena *a);

#endif

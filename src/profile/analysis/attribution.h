/* Attribution: samples and calls booked on functions, and what the recorder's coarse counters leave
 * open. */
#ifndef MONARC_PROFILE_ANALYSIS_ATTRIBUTION_H
#define MONARC_PROFILE_ANALYSIS_ATTRIBUTION_H

#include "base/sort.h"
#include "base/vec.h"
#include "objfile/object.h"
#include "profile/analysis/functions.h"
#include "profile/model/profile.h"

/* --- self time ---------------------------------------------------------------------------------
 *
 * Samples booked on functions: the self time of everything. */

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

/* --- shared bins -------------------------------------------------------------------------------
 *
 * Samples that bins cannot separate.
 *
 * A bin that lies over code of several owners counts the hits of all of them in one number. It is
 * booked by bytes, which is a guess: any part of it may be any owner's. So an owner's samples are
 * at least those of the bins that are its alone, and at most those and all of the shared ones. An
 * owner is a function, or a line; code between them (padding) has no owner and takes no part. */

/* The law: least <= what a finer histogram of the same hits has <= most, for each owner. */
struct sharing {
    double *least, *most;      /* per owner, in samples */
    double samples;            /* in shared bins */
    uint64_t bin_bytes;        /* the width of the widest shared bin; 0: none is shared */
    uint64_t separating_bytes; /* bins of this width would not be shared: a power of two */
};

/* `owner`: per range of the index, NO_RANGE_THERE for what takes no part; NULL: each range is one.
 * Only bins that were hit are asked. */
void sharing_find(struct sharing *s, const struct profile *p, const struct address_index *x,
                  const uint32_t *owner, uint32_t owners, struct arena *a);

/* Among functions; pieces are part of theirs. */
void sharing_of_functions(struct sharing *s, const struct profile *p, const struct functions *f,
                          struct arena *a);

/* Sharing is reported from this part of the samples on: less moves no figure by a printed digit. */
enum { SHARING_NOTEWORTHY_PERMILLE = 5 };

/* How much of the samples is shared, and what would separate them, as a sentence. */
const char *sharing_text(const struct sharing *s, double samples, struct arena *a);

/* --- merged calls ------------------------------------------------------------------------------
 *
 * Calls that glibc's recorder of shared objects (LD_PROFILE) books on a neighbour.
 *
 * It finds an arc by its caller and the 32 bytes of code in which the callee begins. Callers
 * outside of the object are all 0, so that two functions that begin in the same 32 bytes have one
 * arc for their calls from outside: that of the one which was called first. The file does not show
 * it. */

/* Functions of which that may be so: they begin beside one that was called from outside, and have
 * no such calls themselves. */
struct merged_calls {
    uint32_t functions;
    uint32_t first, into; /* the first of them, and its neighbour */
};

enum { MERGED_CALLS_BYTES = 32 };

/* `entries`: where functions begin that can be called from outside, by address, with the caller's
 * numbers for them. There is nothing in profiles of other formats. */
void merged_calls_find(struct merged_calls *m, const struct profile *p, const struct keyed *entries,
                       uint32_t len);

/* The same of a table of functions. */
void merged_calls_of(struct merged_calls *m, const struct profile *p, const struct functions *f);

/* --- measured addresses ------------------------------------------------------------------------
 *
 * The addresses that a profile says something about. */

/* Ascending, disjoint, not touching. */
struct measured {
    VEC(struct object_range) ranges;
};

struct functions;

/* Bins with samples, call sites with the byte before the return address, where called functions
 * begin, and blocks. */
void measured_init(struct measured *m, const struct profile *p, const struct functions *f);

void measured_deinit(struct measured *m);

/* For other rules than these: adds ranges in any order; the blocks, last, and puts all in order. */
void measured_add(struct measured *m, uint64_t low, uint64_t high);
void measured_add_blocks(struct measured *m, const struct profile *p);

/* Whether [low, high) has any of them. Calls must ask for ascending ranges; *next, 0 at first, is
 * where the search goes on. */
static inline bool measured_within(const struct measured *m, size_t *next, uint64_t low,
                                   uint64_t high)
{
    while (*next < m->ranges.len && m->ranges.at[*next].high <= low)
        ++*next;
    return *next < m->ranges.len && m->ranges.at[*next].low < high;
}

#endif

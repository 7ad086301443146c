/* What bins cannot tell apart.
 *
 * A bin that lies over code of several owners counts the hits of all of them in one number. It is
 * booked by bytes, which is a guess: any part of it may be any owner's. So an owner's samples are
 * at least those of the bins that are its alone, and at most those and all of the shared ones. An
 * owner is a function, or a line; code between them (padding) is nobody's and takes no part. */
#ifndef MONARC_PROFILE_ANALYSIS_SHARING_H
#define MONARC_PROFILE_ANALYSIS_SHARING_H

#include "profile/analysis/attribute.h"
#include "profile/analysis/functions.h"

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

/* What is worth a word: less changes no figure that anybody reads. */
enum { SHARING_NOTEWORTHY_PERMILLE = 5 };

/* How much of the samples is shared, and what would tell, as a sentence. */
const char *sharing_text(const struct sharing *s, double samples, struct arena *a);

#endif

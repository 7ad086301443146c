/* What makes profiles fit together, and what is odd about one. */
#ifndef MONARC_PROFILE_MODEL_CHECK_H
#define MONARC_PROFILE_MODEL_CHECK_H

#include "profile/model/profile.h"

/* Whether the two (`b` may be NULL) can stand in one profile: recorded with one pointer size and
 * byte order; no histogram overlaps another of its dimension without being the same, and all of one
 * dimension have one rate and abbreviation. */
MUST_CHECK bool check_mergeable(const struct profile *a, const struct profile *b, struct err *e);

enum finding_kind {
    FINDING_NO_RECORDS,
    FINDING_TRAILING_BYTES,
    FINDING_EMPTY_RANGE, /* high <= low */
    FINDING_NO_BINS,
    FINDING_FINE_BINS, /* less than 2 bytes a bin: GNU gprof loses samples */
    FINDING_NO_RATE,
    FINDING_OVERLAP,      /* histograms that cannot be summed */
    FINDING_MIXED_UNITS,  /* of dimension or rate */
    FINDING_MIXED_SCALES, /* of bytes per bin: GNU gprof refuses */
    FINDING_NO_SAMPLES,
    FINDING_FULL_BINS,       /* 16-bit counters at 65535 */
    FINDING_ARCS_OUTSIDE,    /* callees in no histogram's range */
    FINDING_UNKNOWN_CALLERS, /* arcs from address 0 */
    FINDING_IDLE_ARCS,       /* count 0 */
    FINDINGS
};

struct finding {
    enum finding_kind kind;
    uint64_t count; /* of histograms, bins, arcs or bytes it holds for; 1 if for the profile */
};

struct finding_list {
    struct finding at[FINDINGS]; /* at most one of a kind */
    size_t len;
};

/* Everything odd about `p`, in the order of the enumeration. */
struct finding_list check_profile(const struct profile *p);

/* "empty-range": the name of a kind in JSON; and what it means, to be followed by the count where
 * it says so. */
const char *finding_name(enum finding_kind kind);
const char *finding_sentence(enum finding_kind kind, bool *is_counted);

#endif

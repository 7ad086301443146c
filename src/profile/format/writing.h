/* Records that several dialects write alike, and the check that a profile fits into one. */
#ifndef MONARC_PROFILE_FORMAT_WRITING_H
#define MONARC_PROFILE_FORMAT_WRITING_H

#include "profile/format/reading.h"

/* What a dialect can hold, whatever the pointer size. */
struct writing_limits {
    const char *name;
    struct arc_layout arc;
    bool has_one_histogram; /* exactly one, which cannot be repeated */
    bool has_wide_counters; /* of 32 and 64 bits too */
    bool has_dimension;     /* otherwise it is always seconds */
    bool has_rate;
    bool has_blocks;
};

/* Fails with one sentence if `p` does not fit, or would need absurdly many repeated records. */
MUST_CHECK bool writing_fits(const struct profile *p, unsigned word,
                             const struct writing_limits *limits, struct err *e);

/* As much of `left` as a field of `bytes` holds. */
uint64_t writing_part(uint64_t left, unsigned bytes);

/* GNU's histogram header, and counters as u16: those of the `pass`th record, where each record
 * holds up to 65535 of every bin. */
void writing_histogram_header(struct writer *w, const struct histogram *h);
void writing_counters(struct writer *w, const struct histogram *h, uint64_t pass, unsigned width);

/* Records needed so that no bin exceeds 65535 in any. */
uint64_t writing_passes(const struct histogram *h);

/* All arcs; addresses other than 0 are written relative to `base`. */
void writing_arcs(struct writer *w, const struct profile *p, struct arc_layout layout,
                  uint64_t base);

/* Arc records that takes. */
uint64_t writing_arc_records(const struct profile *p, struct arc_layout layout, unsigned word);

#endif

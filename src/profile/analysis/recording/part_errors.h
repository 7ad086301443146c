/* The errors of parts of wholes that were divided by occasional looks. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_PART_ERRORS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_PART_ERRORS_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { NO_PART = UINT32_MAX };

struct part_error {
    uint32_t part, whole, thread;
    double fixed, drawn;
};

/* A zeroed one is empty. */
struct part_errors {
    VEC(struct part_error) all;
    VEC(double) drawn; /* by whole and thread */
    struct map of, drawn_of;
};

/* Adds what was seen of a thread: `fixed` is variance; `drawn` is the squares of amounts of which
 * each was given to one part of the whole by chance. NO_PART: to no requested part. */
void part_errors_add(struct part_errors *e, uint32_t whole, uint32_t part, uint32_t thread,
                     double fixed, double drawn);

/* The same for a part that has parts itself, to one of which it was added. */
void part_errors_add_part(struct part_errors *e, uint32_t whole, uint32_t part, uint32_t thread,
                          double fixed, double drawn);

/* Half the 95 % interval of each part, into out[0, len); 0: exact, or nothing is known. is_shared:
 * threads saw the same, so that their errors have one sign. */
void part_errors_sum(const struct part_errors *e, bool is_shared, double *out, size_t len);

void part_errors_deinit(struct part_errors *e);

#endif

/* What the embedded recorder knows besides calls and samples: how its memory was laid out, what it
 * could not keep, which program it stood in. One for each core.
 *
 * Addresses are those of the program, Thumb's bit cleared. */
#ifndef MONARC_PROFILE_MODEL_EMBEDDED_H
#define MONARC_PROFILE_MODEL_EMBEDDED_H

#include "base/bytes.h"
#include "profile/model/profile.h"

struct embedded_core {
    uint8_t word;
    bool big_endian, has_text_sum;
    uint32_t core, cores;
    uint64_t size_bytes;
    uint32_t rate;                /* samples a second; 0: not given */
    uint32_t text_sum;            /* of the words in [text_low, text_high) */
    uint64_t text_low, text_high; /* both a multiple of 4 */
    uint32_t bytes_per_bin;
    uint32_t slots, used, probes; /* of the table of arcs */

    /* Saturating. */
    uint64_t lost_calls;        /* the table had no room */
    uint64_t nested_calls;      /* from an NMI while the table was locked */
    uint64_t outside_samples;   /* in no window */
    uint64_t saturated_samples; /* their bin was full */
    uint64_t resets;
    uint64_t stack_samples; /* samples with a stack depth */
    uint64_t stack_deepest; /* bytes in use at most, in a sample, and where that was */
    uint64_t stack_deepest_pc;
};

/* All cores of one recording. */
struct embedded {
    VEC(struct embedded_core) cores;
    struct profile time;   /* samples and calls */
    struct profile stacks; /* bytes of stack in use, by address: the sum of all is their mean */
};

void embedded_deinit(struct embedded *m);

/* The sum over all cores of what was lost. */
uint64_t embedded_lost_calls(const struct embedded *m);
uint64_t embedded_lost_samples(const struct embedded *m);

/* What embedded_core.text_sum is of these bytes: words in the machine's byte order, each added to
 * the rotated sum of those before. `len` is a multiple of 4. */
uint32_t embedded_text_sum(uint32_t before, struct bytes text, bool big_endian);

#endif

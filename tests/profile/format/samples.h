/* Profiles made by hand, for tests. */
#ifndef MONARC_TESTS_FORMAT_SAMPLES_H
#define MONARC_TESTS_FORMAT_SAMPLES_H

#include "profile/format/format.h"

/* One that `f` can hold: what each format cannot (several histograms, blocks, counts that need
 * repeated records, other units) is left out for it. */
static inline struct profile sample_profile(const struct format *f, unsigned word, bool big_endian)
{
    struct profile p = {
        .format = f->id, .version = f->version, .word = (uint8_t)word, .big_endian = big_endian};
    bool is_gnu = f->id == PROFILE_GNU;
    for (unsigned i = 0; i < (is_gnu ? 2 : 1); i++) {
        struct histogram h = {.low = 0x401000 + 0x8000 * i,
                              .bins = 64 + i,
                              .rate = 100,
                              .dimension = "seconds",
                              .abbreviation = 's'};
        h.high = h.low + 4 * h.bins;
        histogram_alloc(&h);
        for (uint32_t bin = 0; bin < h.bins; bin += 3)
            histogram_add(&h, bin, bin * 7 + 1);
        histogram_add(&h, 5, is_gnu ? 70000 : f->id == PROFILE_BSD44 ? 65536 : 65535);
        vec_push(&p.histograms, h);
    }
    for (unsigned i = 0; i < 40; i++)
        vec_push(&p.arcs, ((struct arc){0x401010 + 3 * i, 0x401020 + 16 * (i % 5), i * i}));
    p.arcs.at[7].count = word == 4 || f->id != PROFILE_BSD ? UINT64_C(0x2fffffffd) : UINT64_MAX;
    p.arcs.at[9].from = 0;
    for (unsigned i = 0; is_gnu && i < 9; i++)
        vec_push(&p.blocks, ((struct block){0x401000 + 8 * i, i * UINT64_C(0x30000001)}));
    return p;
}

#endif

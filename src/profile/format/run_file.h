/* The file of a run, version 2 of `monarc.side`, written and read. The bytes:
 * docs/formats/recording.md. */
#ifndef MONARC_PROFILE_FORMAT_RUN_FILE_H
#define MONARC_PROFILE_FORMAT_RUN_FILE_H

#include "base/cursor.h"
#include "base/err.h"
#include "base/writer.h"
#include "profile/model/run.h"

enum { RUN_FILE_VERSION = 2 };

/* Whether the bytes begin as a sidecar of version 2 does. */
bool run_probe(struct bytes in);

/* Reads a whole file into a zeroed *out, and checks it (run_check()). After a failure *out holds
 * what came before and must still be freed; it may break the rules of a run. */
MUST_CHECK bool run_read(struct bytes in, const char *name, struct run *out, struct err *e);

/* Appends the file to `w`. The run must pass run_check(). What the root has
 * besides being there is not written, nor are arcs and blocks if there are none. */
void run_write(struct writer *w, const struct run *r);

enum run_tag {
    RUN_TAG_END,
    RUN_TAG_STRINGS,
    RUN_TAG_RUN,
    RUN_TAG_TEXTS,
    RUN_TAG_OBJECTS,
    RUN_TAG_SYMBOLS,
    RUN_TAG_NODES,
    RUN_TAG_PROCESSES,
    RUN_TAG_THREADS,
    RUN_TAG_EVENTS,
    RUN_TAG_SAMPLES,
    RUN_TAG_MARKS,
    RUN_TAG_LOSSES,
    RUN_TAG_ARCS,
    RUN_TAG_BLOCKS,
    RUN_TAG_EXCERPTS = 15,
    RUN_TAG_PEAKS = 18,
    RUN_TAG_PARTS = 21,
};

/* Bits of a sample's first number, below its node. */
enum run_sample_bit {
    RUN_SAMPLE_MOVED = 1,    /* slice, thread or event are not those of the sample before */
    RUN_SAMPLE_WEIGHTED = 2, /* the weight is not count times the event's period */
    RUN_SAMPLE_MANY = 4,     /* the count is not 1 */
    RUN_SAMPLE_BITS = 3
};

enum run_object_bit {
    RUN_OBJECT_DELETED = 1,
    RUN_OBJECT_HAS_UNWIND = 2,
    RUN_OBJECT_LISTED = 4,
    RUN_OBJECT_READ = 8,
    RUN_OBJECT_BITS = 15
};
enum run_process_bit { RUN_PROCESS_HAS_CPU = 1, RUN_PROCESS_HAS_ENDED = 2 };

/* Every step is a bijection of the sum so far, so that damage within one word of eight bytes is
 * always seen. */
static inline uint64_t run_checksum(struct bytes b)
{
    uint64_t sum = UINT64_C(0x9e3779b97f4a7c15) ^ b.len;
    for (size_t i = 0; i < b.len; i += 8) {
        uint64_t word = 0;
        memcpy(&word, b.at + i, b.len - i < 8 ? b.len - i : 8);
        sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
        sum ^= sum >> 32;
    }
    return sum;
}

#endif

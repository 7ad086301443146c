/* The file of a run, version 2 of `monarc.side`, written and read.
 *
 *     u32 magic, version 2, byte order | record | record | ... | END
 *     record: u32 tag | u64 n | n bytes
 *
 * In payloads numbers are LEB128 (v): seven bits a byte, the lowest first, bit 7 set in all but the
 * last. Those with a sign (z) are zigzag: 0, -1, 1, -2 as 0, 1, 2, 3. A text is its number in
 * STRINGS plus one, 0 for none; so is an index that may be missing. The bytes in full:
 * docs/formats/recording.md. */
#ifndef MONARC_PROFILE_FORMAT_RECORDING_FILE_H
#define MONARC_PROFILE_FORMAT_RECORDING_FILE_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"

enum { RECORDING_FILE_VERSION = 2 };

/* Whether the bytes begin as a sidecar of version 2 does. */
bool recording_probe(struct bytes in);

/* Reads a whole file into a zeroed *out, and checks it (recording_check()). After a failure *out
 * holds what came before and must still be freed; it may break the rules of a run. */
MUST_CHECK bool recording_read(struct bytes in, const char *name, struct recording *out,
                               struct err *e);

/* Appends the file to `w`. The run must pass recording_check(). What the root has
 * besides being there is not written, nor are arcs and blocks if there are none. */
void recording_write(struct writer *w, const struct recording *r);

/* Records, in the numbers of their tags; a reader passes over those it does not know. Lists
 * begin with their length:
 *
 *     END        u64 checksum of all before
 *     STRINGS    {v length, bytes}          TEXTS      {key, value}
 *     RUN        machine, method, rate, CPUs, times: the fields of struct recording
 *     OBJECTS    {kind, bits, path, process + 1, low, high - low, n, n bytes of build-id}
 *     SYMBOLS    {object, start (both as differences), size, name}
 *     NODES      {head, [object], z address}
 *     PROCESSES  {pid, parent, program + 1, times, bits, z status, name, why unseen}
 *     THREADS    {process, tid, start, end, has CPU time, CPU time, name}
 *     EVENTS     {name, unit, period, user only}
 *     SAMPLES    {head, [z slice, z thread, event], [count], [z weight]}
 *     MARKS      {at, kind, process + 1, tid, name}
 *     LOSSES     {kind, count, ns, text}
 *     ARCS       {object + 1, z from, object + 1, z self, count}
 *     BLOCKS     {object, z address, count}
 *     EXCERPTS   {object, n, n bytes: objfile/excerpt.h}
 *     PEAKS      {process, bytes}
 *     PARTS      {process, number, z status, padding, seed, elapsed, CPU time}
 *
 * Tags without a name here are passed over like any other unknown one. */
enum recording_tag {
    RECORDING_TAG_END,
    RECORDING_TAG_STRINGS,
    RECORDING_TAG_RUN,
    RECORDING_TAG_TEXTS,
    RECORDING_TAG_OBJECTS,
    RECORDING_TAG_SYMBOLS,
    RECORDING_TAG_NODES,
    RECORDING_TAG_PROCESSES,
    RECORDING_TAG_THREADS,
    RECORDING_TAG_EVENTS,
    RECORDING_TAG_SAMPLES,
    RECORDING_TAG_MARKS,
    RECORDING_TAG_LOSSES,
    RECORDING_TAG_ARCS,
    RECORDING_TAG_BLOCKS,
    RECORDING_TAG_EXCERPTS = 15,
    RECORDING_TAG_PEAKS = 18,
    RECORDING_TAG_PARTS = 21,
};

/* Bits of a sample's first number, below its node. */
enum recording_sample_bit {
    RECORDING_SAMPLE_MOVED = 1,    /* slice, thread or event are not those of the sample before */
    RECORDING_SAMPLE_WEIGHTED = 2, /* the weight is not count times the event's period */
    RECORDING_SAMPLE_MANY = 4,     /* the count is not 1 */
    RECORDING_SAMPLE_BITS = 3
};

/* Bits of an object: the booleans of struct recording_object. */
enum recording_object_bit {
    RECORDING_OBJECT_DELETED = 1,
    RECORDING_OBJECT_HAS_UNWIND = 2,
    RECORDING_OBJECT_LISTED = 4,
    RECORDING_OBJECT_READ = 8,
    RECORDING_OBJECT_BITS = 15
};
enum recording_process_bit { RECORDING_PROCESS_HAS_CPU = 1, RECORDING_PROCESS_HAS_ENDED = 2 };

/* Every step is a bijection of the sum so far, so that damage within one word of eight bytes is
 * always seen. The length goes in first, so that files that differ only in zeros
 * at their end have different sums. */
static inline uint64_t recording_checksum(struct bytes b)
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

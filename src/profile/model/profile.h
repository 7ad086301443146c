/* What was measured: histograms, call-graph arcs and basic-block counts, addresses as recorded.
 *
 * A profile knows no symbols and no program. Counts are 64 bits wide whatever the file's were.
 * 32-bit addresses are zero-extended. A profile owns its memory: profile_deinit() frees it. */
#ifndef MONARC_PROFILE_MODEL_PROFILE_H
#define MONARC_PROFILE_MODEL_PROFILE_H

#include "base/err.h"
#include "base/vec.h"
#include "profile/model/block_names.h"
#include "profile/model/histogram.h"

struct arc {
    uint64_t from; /* an address in the caller, usually the return address; 0: not known */
    uint64_t self; /* an address in the callee, usually its entry */
    uint64_t count;
};

struct block {
    uint64_t address;
    uint64_t count;
};

/* Which of the family's formats the bytes were in. */
enum profile_format {
    PROFILE_NONE, /* made in memory */
    PROFILE_GNU,
    PROFILE_BSD,
    PROFILE_BSD44,
    PROFILE_SPROF,
};

enum record_kind { RECORD_HISTOGRAM, RECORD_ARC, RECORD_BLOCKS };

/* Consecutive records of one kind as they stood in the file; histograms and block lists are one
 * record a run. */
struct record_run {
    enum record_kind kind;
    uint32_t first;  /* index in `histograms`, or of the run's first arc or block */
    uint64_t offset; /* in the file, of the tag where there is one */
    uint64_t len;    /* histogram: bins; arcs, blocks: how many */
};

/* Why reading stopped before the end. The sentence for people is in `struct err`; this is for code
 * that has to phrase it otherwise. */
enum read_failure {
    READ_COMPLETE,
    READ_SHORT_HEADER, /* the file's header is cut off, or it is no header of this format */
    READ_BAD_MAGIC,
    READ_BAD_VERSION,     /* seen: the version */
    READ_BAD_TAG,         /* seen: the tag */
    READ_SHORT_HISTOGRAM, /* cut within a histogram's header */
    READ_SHORT_BINS,      /* seen: counters present, of: counters claimed */
    READ_SHORT_ARC,
    READ_SHORT_BLOCKS, /* cut within a list of blocks */
    READ_AMBIGUOUS,    /* pointer size or byte order cannot be told; nothing was read */
};

struct profile {
    enum profile_format format;
    uint32_t version; /* of GNU's format: 0 or 1 */
    uint8_t word;     /* pointer size of the machine that was measured: 4 or 8 */
    bool big_endian;
    double counts_a_sample; /* of the histograms; 0: 1. Never in files */
    VEC(struct histogram) histograms;
    VEC(struct arc) arcs;           /* in file order; the same pair may occur again */
    VEC(struct block) blocks;       /* likewise */
    struct block_names block_names; /* of version 0's */

    /* Records as they stood in the file(s), before any were summed. */
    uint64_t histogram_records, arc_records, block_records;

    /* Of a profile that was read; a merge leaves them empty. */
    VEC(struct record_run) runs;
    uint64_t
        trailing_bytes; /* after the last whole record, too few for another or without meaning */
    struct {
        enum read_failure what;
        uint64_t seen, of;
    } failure;
};

void profile_deinit(struct profile *p);

/* Empties `p` but keeps memory for the next file. */
void profile_clear(struct profile *p);

/* All samples of all histograms; saturating. */
uint64_t profile_samples(const struct profile *p);

/* All calls of all arcs; saturating. */
uint64_t profile_calls(const struct profile *p);

/* Whether all addresses fit pointers of 32 bits. */
bool profile_fits_32(const struct profile *p);

/* Whether histograms differ in dimension. */
bool profile_has_dimensions(const struct profile *p);

/* Moves the histograms of other dimensions than the first one's into a zeroed *rest, and forgets
 * `runs` if there are any. */
void profile_split_dimension(struct profile *p, struct profile *rest);

/* Leaves out histograms of other dimensions, and forgets `runs`. Fails, naming those that there
 * are, if none is of this one; a profile without histograms is as it was. */
MUST_CHECK bool profile_keep_dimension(struct profile *p, const char *dimension, struct err *e);

/* Sums histograms that compare equal into the first of them; the order of first appearance stays.
 */
void profile_sum_histograms(struct profile *p);

/* Sorts histograms by range, arcs by (from, self), blocks by address, and sums equal ones: two
 * profiles that measured the same are then equal field by field. Forgets `runs`. */
void profile_normalize(struct profile *p);

/* Whether two normalized profiles hold the same measurements; format and word are not compared. */
bool profile_same(const struct profile *a, const struct profile *b);

/* Adds `from` to `into`: histograms of the same range, rate, dimension and bin count are summed bin
 * by bin, others are kept beside each other; arcs with equal (from, self) and blocks with equal
 * address are summed; first appearance decides the order. Fails, leaving `into` as it was, if
 * histograms of one dimension overlap without being the same, or differ in rate, or the machines in
 * pointer size or byte order. Without records (zeroed, say), `into` takes the identity (format,
 * word, byte order) of `from`. Merging many: see
 * profile/model/merge.h. */
MUST_CHECK bool profile_merge(struct profile *into, const struct profile *from, struct err *e);

#endif

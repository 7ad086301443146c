/* Profiles: what was measured, how it is added up, and what must hold of it.
 *
 *     histogram   hits of a clock by address         "where was the time spent"
 *     arc         calls from one place to another    "who called whom, how often"
 *     block       executions of a block of code      "what ran"
 *
 * Everything is kept as it was recorded, by address; names are for analyses. Sums saturate at
 * 2^64 - 1: an unknown count is the largest number, never a small one. */
#ifndef MONARC_PROFILE_MODEL_PROFILE_H
#define MONARC_PROFILE_MODEL_PROFILE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

/* ---- Hits of the profiling clock, by address: counters as wide as their largest value needs. */

/* Samples over [low, high): bin i counts hits in the i-th of `bins` equal parts of the range.
 * One histogram of a profile is the sum of all records with the same range, rate and dimension. */
struct histogram {
    uint64_t low, high;
    uint32_t bins;
    uint32_t rate;      /* samples per unit of the dimension, usually per second; 0 if unknown */
    char dimension[16]; /* "seconds"; always NUL-terminated */
    char abbreviation;  /* 's' */
    uint8_t width;      /* bytes a counter takes in memory now: 2, 4 or 8 */
    void *counters;     /* `bins` of them, malloc'ed */
};

/* Counter `i`. histogram_add() adds to it, growing the counters' width where the sum needs it.
 * Saturates at 2^64-1.
 */
uint64_t histogram_get(const struct histogram *h, uint32_t i);

/* The first bin from `i` on that is not zero, or h->bins. */
uint32_t histogram_next(const struct histogram *h, uint32_t i);

void histogram_add(struct histogram *h, uint32_t i, uint64_t count);

/* Adds all counters of `from`, which has as many bins, to those of `into`. */
void histogram_add_all(struct histogram *into, const struct histogram *from);

/* Allocates zeroed counters of h->width bytes (0: 2) for h->bins bins. */
void histogram_alloc(struct histogram *h);
void histogram_deinit(struct histogram *h);

/* Makes counters `width` bytes wide; never narrower than they are. */
void histogram_widen(struct histogram *h, uint8_t width);

/* All samples of `h`, and the most in one bin. Linear in the bins; both saturate. */
uint64_t histogram_total(const struct histogram *h);
uint64_t histogram_peak(const struct histogram *h);

/* Orders by range, then bins, rate, dimension, abbreviation; 0: records of the two can be summed.
 */
int histogram_compare(const struct histogram *a, const struct histogram *b);

/* Bytes of address range per bin; 0 if there are none. */
static inline double histogram_bin_bytes(const struct histogram *h)
{
    return h->bins && h->high > h->low ? (double)(h->high - h->low) / h->bins : 0;
}

/* Where bin i <= h->bins begins, rounded down or up, h->bins > 0: low + (high - low) * i / bins.
 * The product may need more than 64 bits, which 32-bit machines do not have: quotient and remainder
 * are multiplied instead. The recorder counts address a in bin floor((a - low) * bins / range), so
 * the first address of a bin is rounded up. */
static inline uint64_t histogram_bin_floor(const struct histogram *h, uint32_t i)
{
    uint64_t range = h->high > h->low ? h->high - h->low : 0;
    return h->low + range / h->bins * i + range % h->bins * i / h->bins;
}

static inline uint64_t histogram_bin_ceiling(const struct histogram *h, uint32_t i)
{
    uint64_t range = h->high > h->low ? h->high - h->low : 0;
    return h->low + range / h->bins * i + (range % h->bins * i + h->bins - 1) / h->bins;
}

/* ---- Facts about blocks in gmon.out version 0 beside their counts: group, source file, function
 * and line. Analyses do not use it, as debug information says it more reliably; merging and writing
 * version 0 keep it.
 *
 * An address has one name: that with which it was seen first. */

struct block_name {
    const char *group, *file, *function; /* "" where the file says nothing */
    uint32_t line;
};

/* One row of the table below. */
struct block_name_row {
    uint64_t address;
    uint32_t group, file, function, line; /* texts: numbers in `texts` */
};

/* A zeroed one is empty. */
struct block_names {
    struct intern texts;
    struct map by_address;
    VEC(struct block_name_row) rows;
};

/* Copies the texts. Does nothing if the address has a name or the name says nothing. */
void block_names_add(struct block_names *n, uint64_t address, const struct block_name *name);
void block_names_add_all(struct block_names *n, const struct block_names *from);

/* Empty texts and line 0 where nothing is known. */
struct block_name block_names_find(const struct block_names *n, uint64_t address);

/* ---- What was measured: histograms, call-graph arcs and basic-block counts, addresses as
 * recorded.
 *
 * A profile knows no symbols and no program. Counts are 64 bits wide whatever the file's were.
 * 32-bit addresses are zero-extended. A profile owns its memory: profile_deinit() frees it. */

struct arc {
    uint64_t from; /* an address in the caller, usually the return address; 0: not known */
    uint64_t self; /* an address in the callee, usually its entry */
    uint64_t count;
};

/* A basic block's first address, and how often it ran. */
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

/* Kinds of records that a file consists of. */
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
    READ_AMBIGUOUS,    /* pointer size or byte order is unknown; nothing was read */
};

/* A zeroed one is empty. Lists may be changed in place by those who own the profile, but then
 * `runs` no longer fits. */
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
    uint64_t full_bins; /* of the files of a merge: profile_full_bins() */
    bool is_merged;

    /* Of a profile that was read; a merge leaves them empty. */
    VEC(struct record_run) runs;
    uint64_t
        trailing_bytes; /* after the last whole record, too few for another or without meaning */
    struct {
        enum read_failure what;
        uint64_t seen, of;
    } failure;
};

/* Frees all memory of `p`, which is then empty and may be used again. */
void profile_deinit(struct profile *p);

/* Empties `p` but keeps memory for the next file. */
void profile_clear(struct profile *p);

/* All samples of all histograms; saturating. */
uint64_t profile_samples(const struct profile *p);

/* 16-bit counters of the file, or of the files of a merge, at 65535: they stop or wrap there, so
 * that it is not known how much more was measured. */
uint64_t profile_full_bins(const struct profile *p);

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
 * word, byte order) of `from`. Merging many: struct merger. */
MUST_CHECK bool profile_merge(struct profile *into, const struct profile *from, struct err *e);

/* ---- Summing many profiles, one after the other, without forgetting in between where things are.
 */

/* Positions of records by address, in an open-addressing table of 32-bit slots. */
struct merge_index {
    uint32_t *slots; /* position + 1; 0: free */
    size_t mask, len;
};

/* A zeroed one is ready. `sum` may be taken over when the merger is no longer used. */
struct merger {
    struct profile sum;
    struct merge_index arcs, blocks;
};

/* Adds `from` as profile_merge() does. */
MUST_CHECK bool merger_add(struct merger *m, const struct profile *from, struct err *e);

/* Frees everything, the sum too. */
void merger_deinit(struct merger *m);

/* Frees all but the sum, which becomes the caller's. */
struct profile merger_take(struct merger *m);

/* ---- What makes profiles fit together, and what is odd about one. */

/* Whether the two (`b` may be NULL) can stand in one profile: recorded with one pointer size and
 * byte order; no histogram overlaps another of its dimension without being the same, and all of one
 * dimension have one rate and abbreviation. */
MUST_CHECK bool check_mergeable(const struct profile *a, const struct profile *b, struct err *e);

/* What is odd about a profile. None is an error: such files exist, and are read. */
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

/* ---- The laws of merging. */

/* Merging commutes, associates, and keeps the sums of samples and calls. True if the three cannot
 * be merged. */
MUST_CHECK bool check_merge_laws(const struct profile *a, const struct profile *b,
                                 const struct profile *c, struct err *e);

/* ---- What the embedded recorder knows besides calls and samples: how its memory was laid out,
 * what it could not keep, which program it stood in. One for each core.
 *
 * Addresses are those of the program, Thumb's bit cleared. */

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
    uint64_t stack_deepest;     /* bytes in use at most, in a sample, and where that was */
    uint64_t stack_deepest_pc;
};

/* All cores of one recording. */
struct embedded {
    VEC(struct embedded_core) cores;
    struct profile time;   /* samples and calls */
    struct profile stacks; /* bytes of stack in use, by address: the sum of all is their mean */
};

/* Frees what *m holds. */
void embedded_deinit(struct embedded *m);

/* The sum over all cores of what was lost. */
uint64_t embedded_lost_calls(const struct embedded *m);
uint64_t embedded_lost_samples(const struct embedded *m);

/* What embedded_core.text_sum is of these bytes: words in the machine's byte order, each added to
 * the rotated sum of those before. `len` is a multiple of 4. */
uint32_t embedded_text_sum(uint32_t before, struct bytes text, bool big_endian);

#endif

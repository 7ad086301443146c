/* What was measured: histograms, call-graph arcs and basic-block counts, addresses as recorded.
 *
 * A profile knows no symbols and no program. Counts are 64 bits wide whatever the file's were.
 * 32-bit addresses are zero-extended. A profile owns its memory: profile_deinit() frees it. */
#ifndef MONARC_MODEL_PROFILE_H
#define MONARC_MODEL_PROFILE_H

#include "base/err.h"
#include "base/vec.h"

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

struct arc {
    uint64_t from; /* an address in the caller, usually the return address */
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

struct profile {
    enum profile_format format;
    uint32_t version; /* of GNU's format: 0 or 1 */
    uint8_t word;     /* pointer size of the machine that was measured: 4 or 8 */
    bool big_endian;
    VEC(struct histogram) histograms;
    VEC(struct arc) arcs;     /* in file order; the same pair may occur again */
    VEC(struct block) blocks; /* likewise */

    /* Records as they stood in the file(s), before any were summed. */
    uint64_t histogram_records, arc_records, block_records;
};

void profile_deinit(struct profile *p);

/* Counter `i`; add to it, growing the counters' width where the sum needs it. Saturates at 2^64-1. */
uint64_t histogram_get(const struct histogram *h, uint32_t i);
void histogram_add(struct histogram *h, uint32_t i, uint64_t count);

/* Allocates zeroed 16-bit counters for h->bins bins. */
void histogram_alloc(struct histogram *h);
void histogram_deinit(struct histogram *h);

/* All samples of `h`; of all histograms. */
uint64_t histogram_total(const struct histogram *h);
uint64_t profile_samples(const struct profile *p);

/* Bytes of address range per bin. */
static inline double histogram_bin_bytes(const struct histogram *h)
{
    return h->bins ? (double)(h->high - h->low) / h->bins : 0;
}

/* Adds `from` to `into`: histograms of the same range, rate, dimension and bin count are summed bin
 * by bin, others are kept beside each other; arcs with equal (from, self) and blocks with equal
 * address are summed; first appearance decides the order. Fails, leaving `into` as it was, if
 * histograms overlap without being the same, or differ in dimension or rate. `into` may be empty
 * (zeroed), and then takes the identity (format, word, byte order) of `from`. */
MUST_CHECK bool profile_merge(struct profile *into, const struct profile *from, struct err *e);

/* Sorts histograms by range, arcs by (from, self), blocks by address, and sums equal ones: two
 * profiles that measured the same are then equal field by field. */
void profile_normalize(struct profile *p);

#endif

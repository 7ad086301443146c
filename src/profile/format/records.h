/* One attempt at reading a profile, and choosing between attempts.
 *
 * The files do not state their pointer size, and some not their byte order. So a dialect is a
 * `walk` over records that can run twice: as a trial, which keeps nothing but evidence, once for
 * each layout in question; then for good, with the layout that explains the bytes best. */
#ifndef MONARC_PROFILE_FORMAT_RECORDS_H
#define MONARC_PROFILE_FORMAT_RECORDS_H

#include "base/bytes.h"
#include "profile/format/format.h"

struct reading {
    struct cursor in;    /* with the layout of this attempt */
    struct profile *out; /* NULL: a trial */
    struct err *e;       /* NULL: a trial */
    uint32_t default_rate;
    uint8_t bsd_header;             /* as the hint has it */
    const struct format_sink *sink; /* or NULL */
    uint64_t arc_base;              /* what the addresses of arcs are relative to, 0 aside */

    /* What a trial found. */
    unsigned odd;             /* things no recorder would write */
    uint64_t lowest, highest; /* of the addresses seen; right layouts keep them together */
};

/* Reads all records from r->in to its end, or fails with reading_fail(). */
typedef bool reading_walk(struct reading *r);

/* Deduces what `hint` leaves open, then walks into `out`. `in` stands where the records begin;
 * `order` is what the header says of it. */
MUST_CHECK bool reading_run(struct cursor in, enum byte_order order, const struct format_hint *hint,
                            reading_walk *walk, struct profile *out, struct err *e);

/* Pointer size and byte order number `i` of LAYOUTS, the likelier first; false if `order` (what the
 * header says) or `hint` rules it out. */
enum { LAYOUTS = 4 };
bool reading_layout(struct cursor *in, unsigned i, enum byte_order order,
                    const struct format_hint *hint);

/* The best trial's evidence: whether it came to the end and nothing was odd. */
bool reading_plausible(struct cursor in, const struct format_hint *hint, reading_walk *walk);

/* Ends a walk; `where` is the start of the record to blame. Returns false. */
bool reading_fail(struct reading *r, const struct cursor *where, enum read_failure what,
                  uint64_t seen, uint64_t of, const char *format, ...) PRINTF_LIKE(6, 7);

/* Reads h->bins counters of `width` bytes, then keeps the histogram. */
MUST_CHECK bool reading_bins(struct reading *r, const struct cursor *where, struct histogram *h,
                             unsigned width);

/* GNU's histogram header: range, bins, rate, dimension. Its counters follow. */
MUST_CHECK bool reading_histogram(struct reading *r, const struct cursor *where);

/* An arc: a tag byte perhaps, from, self, and a count of 4 bytes or pointer size. */
struct arc_layout {
    bool is_tagged;
    bool has_wide_count; /* pointer-sized */
};

size_t arc_bytes(struct arc_layout layout, unsigned word);

/* Reads up to `max` arcs: while whole ones are left and, if they have a tag, it is an arc's.
 * Returns how many. */
size_t reading_arcs(struct reading *r, struct arc_layout layout, size_t max);

void reading_block(struct reading *r, uint64_t address, uint64_t count);
void reading_note_run(struct reading *r, const struct cursor *where, enum record_kind kind,
                      size_t first, size_t len);

/* ---- Records that several dialects write alike, and the check that a profile fits into one. */

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

/* ---- The header that GNU gmon.out and glibc's profiles of shared objects have in common. */

/* The version of such a header (0, 1 or 0x1ffff) and the order in which it is one; false if there
 * is none that `hint` allows. */
bool gmon_version(struct bytes in, const struct format_hint *hint, uint32_t *version,
                  enum byte_order *order);

/* Takes the header, of a shared object's profile or of a GNU one; fails with out->failure. */
MUST_CHECK bool gmon_open(struct cursor *at, const struct format_hint *hint, bool is_shared,
                          enum byte_order *order, struct profile *out, struct err *e);

void gmon_write_header(struct writer *w, uint32_t version);

#endif

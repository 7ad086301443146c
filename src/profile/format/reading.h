/* One attempt at reading a profile, and choosing between attempts.
 *
 * The files do not state their pointer size, and some not their byte order. So a dialect is a
 * `walk` over records that can run twice: as a trial, which keeps nothing but evidence, once for
 * each layout in question; then for good, with the layout that explains the bytes best. */
#ifndef MONARC_PROFILE_FORMAT_READING_H
#define MONARC_PROFILE_FORMAT_READING_H

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

#endif

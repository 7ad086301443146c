/* One attempt at reading a profile, and choosing between attempts.
 *
 * The files do not state their pointer size, and some not their byte order. So a dialect is a
 * `walk` over records that can run twice: as a trial, which keeps nothing but evidence, once for
 * each layout in question; then for good, with the layout that explains the bytes best. */
#ifndef MONARC_PROFILE_FORMAT_RECORDS_H
#define MONARC_PROFILE_FORMAT_RECORDS_H

#include "base/bytes.h"
#include "profile/format/format.h"

/* One walk over a file, as a trial or for good.
 *
 * Both run the same code, so that what a trial judges is what would be read. Trials differ in `out`
 * being NULL: they note evidence in the last two fields and allocate nothing. */
struct reading {
    struct cursor in;    /* with the layout of this attempt */
    struct profile *out; /* NULL: a trial */
    struct err *e;       /* NULL: a trial */
    uint32_t default_rate;
    uint8_t bsd_header;             /* as the hint has it */
    const struct format_sink *sink; /* or NULL */
    uint64_t arc_base;              /* base of the addresses of arcs, 0 aside */

    /* What a trial found. `odd` decides between layouts that both come to the end, and the
     * addresses' spread between those that are as odd as each other. */
    unsigned odd;             /* things no recorder would write */
    uint64_t lowest, highest; /* of the addresses seen; right layouts keep them together */
};

/* Reads all records from r->in to its end, or fails with reading_fail(). Must look the same to a
 * trial and to the reading proper: what depends on r->out may keep or drop records, but not take
 * more or fewer bytes. */
typedef bool reading_walk(struct reading *r);

/* Deduces what `hint` leaves open, then walks into `out`. `in` stands where the records begin;
 * `order` is the header's. Fails with READ_AMBIGUOUS, before anything is kept, if two layouts
 * explain the bytes equally well. With both word and order given no trial is made. */
MUST_CHECK bool reading_run(struct cursor in, enum byte_order order, const struct format_hint *hint,
                            reading_walk *walk, struct profile *out, struct err *e);

/* Pointer size and byte order number `i` of LAYOUTS, the likelier first; false if `order` (what the
 * header says) or `hint` rules it out. */
enum { LAYOUTS = 4 };
bool reading_layout(struct cursor *in, unsigned i, enum byte_order order,
                    const struct format_hint *hint);

/* The best trial's evidence: whether it came to the end and nothing was odd. For formats without a
 * magic this is the probe. */
bool reading_plausible(struct cursor in, const struct format_hint *hint, reading_walk *walk);

/* Ends a walk; `where` is the start of the record to blame. Returns false. `seen` and `of` are
 * for code (struct profile's `failure`, whose enumerators say what they mean), the sentence is
 * for people; it needs no file name and no offset, which are put in front. */
bool reading_fail(struct reading *r, const struct cursor *where, enum read_failure what,
                  uint64_t seen, uint64_t of, const char *format, ...) PRINTF_LIKE(6, 7);

/* Reads h->bins counters of `width` bytes (1, 2, 4 or 8), then keeps the histogram, which takes
 * over *h. Counters of one byte are kept as two. `where` is the start of the record. */
MUST_CHECK bool reading_bins(struct reading *r, const struct cursor *where, struct histogram *h,
                             unsigned width);

/* GNU's histogram header: range, bins, rate, dimension. Its counters follow. */
MUST_CHECK bool reading_histogram(struct reading *r, const struct cursor *where);

/* An arc: a tag byte perhaps, from, self, and a count of 4 bytes or pointer size.
 *
 *     GNU gmon.out     u8 1 | word from | word self | u32 count
 *     BSD, 4.4BSD             word from | word self | word count
 *     glibc's sprof           word from | word self | u32 count */
struct arc_layout {
    bool is_tagged;
    bool has_wide_count; /* pointer-sized */
};

/* Reads up to `max` arcs: while whole ones are left and, if they have a tag, it is an arc's.
 * Returns how many. */
size_t reading_arcs(struct reading *r, struct arc_layout layout, size_t max);

/* Takes a block that the walk has read: adds it to the profile, or weighs its address. */
void reading_block(struct reading *r, uint64_t address, uint64_t count);
/* Notes in out->runs that `len` records of a kind began at `where`; `first` is the number of the
 * first of them in its list. Not for trials. */
void reading_note_run(struct reading *r, const struct cursor *where, enum record_kind kind,
                      size_t first, size_t len);

/* ---- Records that several dialects write alike, and the check that a profile fits into one. */

/* What a dialect can hold, whatever the pointer size. Everything that is false here is a reason
 * for writing_fits() to refuse a profile that needs it, rather than to write something else than
 * what was measured. */
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

/* As much of `left` as a field of `bytes` holds. Taking this much until nothing is left gives the
 * records that a count has to be split into. */
uint64_t writing_part(uint64_t left, unsigned bytes);

/* GNU's histogram header, and counters as u16: those of the `pass`th record, where each record
 * holds up to 65535 of every bin. */
void writing_histogram_header(struct writer *w, const struct histogram *h);
void writing_counters(struct writer *w, const struct histogram *h, uint64_t pass, unsigned width);

/* Records needed so that no bin exceeds 65535 in any: at least one, for an empty histogram too. */
uint64_t writing_passes(const struct histogram *h);

/* All arcs, in the profile's order; addresses other than 0 are written relative to `base`. A count
 * that its field cannot hold is several records with the same ends. */
void writing_arcs(struct writer *w, const struct profile *p, struct arc_layout layout,
                  uint64_t base);

/* Arc records that writing_arcs() makes of the profile: as many as it has arcs, or more. */
uint64_t writing_arc_records(const struct profile *p, struct arc_layout layout, unsigned word);

/* ---- The header that GNU gmon.out and glibc's profiles of shared objects have in common. */

/* The version of such a header (0, 1 or 0x1ffff) and the order in which it is one; false if there
 * is none that `hint` allows. */
bool gmon_version(struct bytes in, const struct format_hint *hint, uint32_t *version,
                  enum byte_order *order);

/* Takes the header, of a shared object's profile or of a GNU one; fails with out->failure. */
MUST_CHECK bool gmon_open(struct cursor *at, const struct format_hint *hint, bool is_shared,
                          enum byte_order *order, struct profile *out, struct err *e);

/* "gmon", the version in the writer's byte order, twelve zeros. */
void gmon_write_header(struct writer *w, uint32_t version);

#endif

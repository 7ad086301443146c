/* What gcno and gcda have in common: words, texts, tagged records. Tags, and what differs between
 * versions, are those of wire/gcov_files.h, which says how a record is laid out. */
#ifndef MONARC_COVERAGE_FORMAT_ARCFILE_H
#define MONARC_COVERAGE_FORMAT_ARCFILE_H

#include "base/bytes.h"
#include "coverage/model/coverage.h"

/* --- reading --------------------------------------------------------------------------------- */

/* The contents of a tag of counters, and the slot a kind has (GCOV_SLOTS: none). */
bool arcfile_is_counters(uint32_t tag);
enum counter_kind arcfile_kind(const struct gcov_dialect *dialect, uint32_t tag);
unsigned arcfile_slot(const struct gcov_dialect *dialect, enum counter_kind kind);

/* An open file: the cursor is at the next record. Nothing is owned; the bytes must outlive it. */
struct arcfile {
    struct cursor in;
    const struct gcov_dialect *dialect;
    struct arcs_origin origin;
};

/* Whether a file of `bytes` may be one of compilers' notes or counters, whose header
 * takes `least`. */
bool arcs_size_is_possible(const char *name, size_t bytes, size_t least, const char *kind,
                           struct err *e);

/* Reads magic, version, stamp and, from gcc 12, checksum. Finds the byte order from the magic, and
 * whether lengths are words or bytes. */
MUST_CHECK bool arcfile_open(struct arcfile *f, uint32_t magic, struct bytes in, const char *name,
                             struct err *e);

/* Set by arcfile_next(), which takes the same struct again and again. */
struct arcfile_record {
    uint32_t tag;
    uint32_t length;  /* as written */
    uint64_t offset;  /* of the tag */
    struct cursor in; /* its bytes */
    uint32_t zeros;   /* a negative length: so many counters, all zero */
};

enum arcfile_step { ARCFILE_END, ARCFILE_RECORD, ARCFILE_BROKEN };

/* The next record. ARCFILE_END at a zero tag (which is passed) or the end of the bytes.
 * ARCFILE_BROKEN, with `e` set, if it does not fit into the bytes. */
enum arcfile_step arcfile_next(struct arcfile *f, struct arcfile_record *r, struct err *e);

/* A text: NULL if its length is 0, or (with in->failed) if it is no text. */
const char *arcfile_text(struct cursor *in, bool has_byte_lengths);

/* A 64-bit value, low word first. */
uint64_t arcfile_u64(struct cursor *in);

/* Zero words at the cursor, at most `max`; passes them. */
uint32_t arcfile_zeros(struct cursor *in, uint32_t max);

/* --- writing --------------------------------------------------------------------------------- */

/* Magic, version, stamp and, where the dialect has one, checksum. */
void arcfile_write_header(struct writer *w, uint32_t magic, const struct arcs_origin *origin,
                          const struct gcov_dialect *dialect);

/* Low word first, whatever the byte order. */
void arcfile_write_u64(struct writer *w, uint64_t value);

/* Length and bytes with their NUL; in words, padded. NULL is length 0. */
void arcfile_write_text(struct writer *w, const char *text, bool has_byte_lengths);

/* Tag and a place for the length, which arcfile_end_record() fills in. */
size_t arcfile_start_record(struct writer *w, uint32_t tag);
void arcfile_end_record(struct writer *w, size_t start, bool has_byte_lengths);

#endif

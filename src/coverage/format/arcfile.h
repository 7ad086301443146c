/* What gcno and gcda have in common: words, texts, tagged records, and the layouts of the versions.
 *
 * A word is a u32 in the byte order of whoever wrote the file; a 64-bit value is two of them, the
 * low one first. A record is a tag, a length and that many bytes or (up to gcc 11) words. What
 * differs between versions is data: struct arcfile_layout. */
#ifndef MONARC_FORMAT_ARCFILE_H
#define MONARC_FORMAT_ARCFILE_H

#include "base/cursor.h"
#include "coverage/model/coverage.h"

enum arcfile_magic {
    ARCFILE_NOTES = 0x67636e6f,    /* "gcno" */
    ARCFILE_COUNTERS = 0x67636461, /* "gcda" */
    ARCFILE_NAME = 0x6763666e,     /* "gcfn" */
};

enum arcfile_tag {
    TAG_FUNCTION = 0x01000000,
    TAG_BLOCKS = 0x01410000,
    TAG_ARCS = 0x01430000,
    TAG_LINES = 0x01450000,
    TAG_CONDITIONS = 0x01470000,
    TAG_PATHS = 0x01490000,
    TAG_COUNTERS = 0x01a10000, /* + slot << 17 */
};

#define TAG_OBJECT_SUMMARY  0xa1000000u /* beyond an int */
#define TAG_PROGRAM_SUMMARY 0xa3000000u

enum { COUNTER_SLOTS = 16 };

struct arcfile_layout {
    uint16_t since;        /* first version, major * 100 + minor */
    bool has_cfg_checksum; /* in FUNCTION */
    bool has_exit_second;  /* block 1 is the exit, not the last */
    bool has_columns;      /* artificial, start column, end line in FUNCTION; a block count */
    bool has_directory;    /* cwd in the gcno header; end column; short summaries */
    bool has_zero_runs;    /* negative lengths */
    bool has_byte_lengths; /* and a checksum in the header */
    bool has_histogram;    /* in the program summary */
    uint8_t slots[COUNTER_SLOTS]; /* enum cover_kind */
};

/* The layout of a version, or NULL if there is no such version. */
const struct arcfile_layout *arcfile_layout_of(uint32_t version);

/* 1202 of "B22*", 408 of "408*"; 0 if the word is no version. */
uint16_t arcfile_version_number(uint32_t version);

/* What is behind a tag of counters, and the slot a kind has (COUNTER_SLOTS: none). */
bool arcfile_is_counters(uint32_t tag);
enum cover_kind arcfile_kind(const struct arcfile_layout *layout, uint32_t tag);
unsigned arcfile_slot(const struct arcfile_layout *layout, enum cover_kind kind);

struct arcfile {
    struct cursor in;
    const struct arcfile_layout *layout;
    struct cover_origin origin;
};

/* Reads magic, version, stamp and, from gcc 12, checksum. Finds the byte order from the magic, and
 * whether lengths are words or bytes. */
MUST_CHECK bool arcfile_open(struct arcfile *f, enum arcfile_magic magic, struct bytes in,
                             const char *name, struct err *e);

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

#endif

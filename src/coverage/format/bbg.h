/* The files of the proposal of 2002: bbg (notes) and da (counters).
 *
 * Tagged records, always little-endian; docs/formats/bbg.md and da.md draw the bytes and say how
 * what the proposal leaves open is pinned. */
#ifndef MONARC_FORMAT_BBG_H
#define MONARC_FORMAT_BBG_H

#include "base/cursor.h"
#include "base/writer.h"
#include "coverage/model/coverage.h"

bool bbg_probe(struct bytes in);
bool da_probe(struct bytes in);

/* As gcno_read() and gcda_read(): on failure *out holds what was whole. Groups of counters that
 * were concatenated are summed. */
MUST_CHECK bool bbg_read(struct bytes in, const char *name, struct notes *out, struct err *e);
MUST_CHECK bool da_read(struct bytes in, const char *name, struct counters *out, struct err *e);

/* Fail if a function is in doubt, has no name, or has arcs out of the order of their blocks, which
 * the records imply. */
MUST_CHECK bool bbg_write(struct writer *w, const struct notes *n, struct err *e);
MUST_CHECK bool da_write(struct writer *w, const struct counters *c, struct err *e);

/* The proposal's items. An int32 and an int64 are cursor_u32() and cursor_u64() (writer_u32(),
 * writer_u64()); a string is its length, its characters, a NUL and NULs up to a multiple of 4.
 * Reading fails (in->failed) if the padding is not there or not zero. */
const char *bbg_string(struct cursor *in);
void bbg_write_string(struct writer *w, const char *text);

enum bbg_tag {
    BBG_FUNCTION = 1,
    BBG_BLOCKS = 2,
    BBG_ARCS = 3,
    BBG_LINES = 4,
    BBG_ARC_COUNTS = 5,
    BBG_OBJECT_SUMMARY = 6,
    BBG_PROGRAM_SUMMARY = 7,
};

enum bbg_magic { BBG_MAGIC = 0x67626267, DA_MAGIC = 0x766f6367 };

/* "304e" of the first implementation, in file order. */
enum { BBG_VERSION = 0x65343033 };

/* Passes magic and version; fails with a message. */
MUST_CHECK bool bbg_open(struct cursor *in, enum bbg_magic magic, struct cover_origin *origin,
                         struct err *e);

/* The next record's tag and bytes; false at the end, or (with `e` set) if it is cut off. */
bool bbg_next(struct cursor *in, uint32_t *tag, struct cursor *record, struct err *e);

#endif

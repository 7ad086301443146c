/* The files of the proposal of 2002: bbg (notes) and da (counters).
 *
 * Tagged records, always little-endian; docs/formats/bbg.md and da.md draw the bytes and say how
 * what the proposal leaves open is pinned. */
#ifndef MONARC_COVERAGE_FORMAT_BBG_H
#define MONARC_COVERAGE_FORMAT_BBG_H

#include "coverage/format/bbg_items.h"
#include "coverage/model/coverage.h"

/* These know the files of gcc before 3.4 too (bb.h), which have the same names and no magic: then
 * `in` must be the whole file, up to gcc 3.2. */
bool bbg_probe(struct bytes in);
bool da_probe(struct bytes in);

/* By the magic: the proposal's alone. */
bool bbg_has_magic(struct bytes in);
bool da_has_magic(struct bytes in);

/* As gcno_read() and gcda_read(): on failure *out holds what was whole. Groups of counters that
 * were concatenated are summed. */
MUST_CHECK bool bbg_read(struct bytes in, const char *name, struct notes *out, struct err *e);
MUST_CHECK bool da_read(struct bytes in, const char *name, struct counters *out, struct err *e);

/* Fail if a function is in defect, has no name, or has arcs out of the order of their blocks, which
 * the records imply. */
MUST_CHECK bool bbg_write(struct writer *w, const struct notes *n, struct err *e);
MUST_CHECK bool da_write(struct writer *w, const struct counters *c, struct err *e);

enum bbg_magic { BBG_MAGIC = 0x67626267, DA_MAGIC = 0x766f6367 };

/* "304e" of the first implementation, in file order. */
enum { BBG_VERSION = 0x65343033 };

/* 304 of "304e", 1202 of "C02r"; 0 if the word is no version. And back: BBG_VERSION for a number
 * that no compiler has; `phase` is 'e', 'p' or 'r'. */
uint16_t bbg_version_number(uint32_t version);
uint32_t bbg_version_word(uint16_t number, char phase);

/* Passes magic and version; fails with a message. */
MUST_CHECK bool bbg_open(struct cursor *in, enum bbg_magic magic, struct arcs_origin *origin,
                         struct err *e);

/* The next record's tag and bytes; false at the end, or (with `e` set) if it is cut off. */
bool bbg_next(struct cursor *in, uint32_t *tag, struct cursor *record, struct err *e);

#endif

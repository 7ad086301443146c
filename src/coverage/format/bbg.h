/* The files of the proposal of 2002: bbg (notes) and da (counters).
 *
 * Tagged records, always little-endian; docs/formats/bbg.md and da.md draw the bytes and say how
 * what the proposal leaves open is pinned.
 *
 * And those of gcc before 3.4, which have the same names (docs/formats/bb.md). bbg_read() and
 * da_read() take them too; the bb_ functions are for what one file alone does not say: the lines of
 * the graph, and up to gcc 3.2 the names of functions. */
#ifndef MONARC_COVERAGE_FORMAT_BBG_H
#define MONARC_COVERAGE_FORMAT_BBG_H

#include "base/bytes.h"
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

/* --- gcc before 3.4: bbg (the graph) and bb (names and lines), which together are notes, and da
 * --- */

/* Whether the bytes, of which there may be more than are given, begin as such a file does. There is
 * no magic: up to gcc 3.2 this is that numbers agree with each other. */
bool bb_graph_probe(struct bytes in);
bool bb_counters_probe(struct bytes in);
bool bb_lines_probe(struct bytes in);

/* As bbg_read() and da_read(). */
MUST_CHECK bool bb_graph_read(struct bytes in, const char *name, struct notes *out, struct err *e);
MUST_CHECK bool bb_counters_read(struct bytes in, const char *name, struct counters *out,
                                 struct err *e);

/* Gives the functions of a graph the names, files and lines of its bb file, whose bytes must
 * outlive them. Fails, with the notes as they were, if the files are not of one compilation. */
MUST_CHECK bool bb_lines_read(struct bytes in, const char *name, struct notes *n, struct err *e);

/* Up to gcc 3.2 counters are one row for the whole object: true until they are shared out. */
bool bb_counters_lack_names(const struct counters *c);

/* Shares such a row out to the functions of the notes. Fails if there are more or fewer counters
 * than the notes have arcs for. */
MUST_CHECK bool bb_counters_share(struct counters *c, const struct notes *n, struct err *e);

/* --- what records consist of ----------------------------------------------------------------- */

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
    BBG_LLVM = 0x6d766c6c, /* "llvm", ours: the notes were clang's */
};

#endif

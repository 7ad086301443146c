/* Files of coverage, bytes to model and back: gcov's, those of the proposal of 2002 and of gcc
 * before 3.4, lcov's tracefiles, patches. (LLVM's are in llvm.h.)
 *
 * A probe looks at the first word and no further. Readers take bytes which must outlive what they
 * fill, as names and unknown records stay there; writers append to `w`, in memory, and fail before
 * or within the file: what stands in `w` then is no file. Dialects: wire/gcov_dialects.h. */
#ifndef MONARC_COVERAGE_FORMAT_FORMAT_H
#define MONARC_COVERAGE_FORMAT_FORMAT_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/coverage.h"

#include <stdbool.h>
#include <stdint.h>

/* --- gcno: the notes that gcc (3.4 to 16) and clang leave beside an object file -------------- */

/* Whether the bytes begin as a gcno file of either byte order does. */
bool gcno_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out, whose texts point into `in`. On failure *out holds what
 * was whole, with out->failure set: the function that the file breaks off in has a defect. A file
 * of which nothing can be used leaves out->origin.version 0. */
MUST_CHECK bool gcno_read(struct bytes in, const char *name, struct notes *out, struct err *e);

/* The same by gcov's rule for gcc's files: a record that is no part of a function ends the
 * function, and what follows up to the next one is passed over. */
MUST_CHECK bool gcno_read_as_gnu(struct bytes in, const char *name, struct notes *out,
                                 struct err *e);

/* Writes in the layout and byte order of n->origin. What a compiler wrote, and was not changed,
 * comes out as it was. Fails if a function of the notes has a defect. */
MUST_CHECK bool gcno_write(struct writer *w, const struct notes *n, struct err *e);

/* --- gcda: the counters that a program writes ------------------------------------------------- */

bool gcda_probe(struct bytes in);

/* Reads into a zeroed (or cleared) *out; out->bytes is `in`. On failure *out holds what was whole,
 * with out->failure set. A file without its end mark is cut: what it holds is read, and it fails.
 */
MUST_CHECK bool gcda_read(struct bytes in, const char *name, struct counters *out, struct err *e);

/* Writes in the layout and byte order of c->origin, record by record: a file that was read and not
 * changed comes out as it was, but for what followed its end mark. Fails if a record does not fit
 * its 32-bit length. */
MUST_CHECK bool gcda_write(struct writer *w, const struct counters *c, struct err *e);

/* --- gcfn: a stream of names and gcda files, of freestanding targets ------------------------- */

bool gcfn_probe(struct bytes in);

/* Reads the next pair into a zeroed (or cleared) *out, and the name, which points into the bytes.
 * Fails where the stream breaks off. At the end of `in` there is no next. */
MUST_CHECK bool gcfn_next(struct cursor *in, const char **name, struct counters *out,
                          struct err *e);

/* Appends a pair: the name, and the counters as gcda_write() does. */
MUST_CHECK bool gcfn_write(struct writer *w, const char *name, const struct counters *c,
                           struct err *e);

/* --- counters on a console, as Zephyr writes them --------------------------------------------- */

/* The next `*NAME.gcda<HEX` of a text, with anything before, between and after: the name and the
 * bytes, in `a`. Digits go on over blanks and ends of lines. false: there is none. */
bool console_next(struct cursor *in, struct arena *a, const char **name, struct bytes *gcda);

/* ---- The files of the proposal of 2002: bbg (notes) and da (counters).
 *
 * Tagged records, always little-endian; docs/formats/bbg.md and da.md draw the bytes and say how
 * what the proposal leaves open is pinned.
 *
 * And those of gcc before 3.4, which have the same names (docs/formats/bb.md). bbg_read() and
 * da_read() take them too; the bb_ functions are for what one file alone does not say: the lines of
 * the graph, and up to gcc 3.2 the names of functions. */

/* These know the files of gcc before 3.4 too (below), which have the same names and no magic: then
 * `in` must be the whole file, up to gcc 3.2. */
bool bbg_probe(struct bytes in);
bool da_probe(struct bytes in);

/* By the magic: the proposal's alone. */
bool bbg_has_magic(struct bytes in);
bool da_has_magic(struct bytes in);

/* Adds a group of records to those before it; false if it is cut off or another's. */
MUST_CHECK bool arcs_add_group(struct counters *out, struct counters *group, bool is_whole,
                               struct err *e);

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
    BBG_GCNO = 0x6f6e6367, /* "gcno", ours: what else the notes had, of the file or a function */
    BBG_GCDA = 0x61646367, /* "gcda", ours: what else the counters had, of a group */
};

/* In the records of the file and of a group. */
enum bbg_native_flags {
    BBG_NATIVE_BIG_ENDIAN = 1,
    BBG_NATIVE_NO_CHECKSUM = 2, /* in the header */
    BBG_NATIVE_UNEXECUTED = 4,  /* notes: blocks that did not run are known */
    BBG_NATIVE_DIRECTORY = 8,   /* notes: the compiler's folder is known */
};

/* Version, stamp, checksum and flags, as both records begin. Returns the flags. */
uint32_t bbg_read_native(struct cursor *in, struct arcs_native *native);
void bbg_write_native(struct writer *w, const struct arcs_native *native, uint32_t flags);

/* ---- lcov tracefiles (.info), of lcov 1 and 2 and of all who write them: docs/formats/lcov.md. */

/* Whether the bytes begin as a tracefile does: comments and empty lines, then a known record. */
bool lcov_probe(struct bytes in);

/* Reads into a zeroed *out. On failure *out holds the sections that were whole. A file without any
 * section is no failure: lcov writes that when nothing matches. */
MUST_CHECK bool lcov_read(struct bytes in, const char *name, struct tracefile *out, struct err *e);

/* What lcov_read() gives back as it was; branches' texts that are no numbers have become such.
 * Fails for names that a tracefile cannot hold. */
MUST_CHECK bool lcov_write(struct writer *w, const struct tracefile *t, struct err *e);

/* --- how often something ran, as text of any tool -------------------------------------------- */

/* Reads the number between `at` and `end`. Decimals and exponents are cut to a whole number, what
 * is too large is the largest there is, what is below 0 is 0 and adds to *negative. false: it is no
 * number. */
bool count_read(const char *at, const char *end, uint64_t *out, uint64_t *negative);

/* ---- Unified diffs, as `git diff`, `diff -u`, Mercurial and Subversion write them. */

/* Reads into a zeroed *out. An empty patch changes nothing; text without any hunk or file header is
 * an error: a patch that was not read must not pass as one that changes nothing. */
MUST_CHECK bool patch_read(struct bytes in, const char *name, struct patch *out, struct err *e);

/* ---- Notes and counters from one family or version to another.
 *
 * The exit block changes its number where the layouts disagree; checksums and identities that the
 * target needs are made from what the source has, in the same way for notes and counters, so that
 * the two fit together again. */

/* The version word of gcc `major`.`minor`, or 0 if there is none: "408*", "B22*". */
uint32_t arcs_version_word(unsigned major, unsigned minor);

/* The release of a major version that most of its files are of, which its gcov takes without
 * complaint: "B22*" for 12. */
uint32_t arcs_version_word_of_major(unsigned major);

/* The default version of files made from these: the compiler that they name, if it is a release
 * that gcov's layouts have; 12.2 for the proposal's own "304e". */
uint32_t arcs_version_word_for(const struct arcs_origin *origin);

/* To the proposal's form. The counters take names and checksums from the notes that they belong to,
 * as these were before; those must be gcc's or clang's. */
MUST_CHECK bool arcs_notes_to_rfc(struct notes *n, struct err *e);
MUST_CHECK bool arcs_counters_to_rfc(struct counters *c, const struct notes *n, struct err *e);

/* Gives the proposal's counters the identities, checksums and stamp that their functions have in
 * the notes of a compiler, which they are then counters of, to be solved or written. Fails if a
 * function is not there, by name and the checksum that arcs_notes_to_rfc() would give it. */
MUST_CHECK bool arcs_counters_adopt(struct counters *c, const struct notes *n, struct err *e);

/* To the layout of a version. Kinds of counters that it lacks, or has in another form, are an
 * error. */
MUST_CHECK bool arcs_notes_to_gcov(struct notes *n, uint32_t version, struct err *e);
MUST_CHECK bool arcs_counters_to_gcov(struct counters *c, uint32_t version, struct err *e);

/* Leaves out what is not counts of arcs. */
void arcs_counters_reduce(struct counters *c);

#endif

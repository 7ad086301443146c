/* What arc profiling measured: the notes of a compiler (blocks, arcs, lines) and the counters of a
 * program, of any version, as the files hold them. Solving the one with the other is analysis/flow.
 *
 * Everything is a flat array owned by the file's struct; functions own consecutive slices and refer
 * to each other by index. Texts are not copied: they point into the bytes that were read, which
 * must outlive the struct, and are NUL-terminated there.
 *
 * Nothing that is not known is 0: a function that the file holds only in part has a defect.
 *
 *     functions   [ f0 ][ f1 ][ f2 ]
 *     arcs        | of f0 | of f1   | of f2 |        first_arc, arcs
 *     runs        | of f0 | ...                      first_run, runs: lines of one block and file
 *     lines       | of run 0 | of run 1 | ...        first, lines
 *     block data  | of f0 | of f1 | ...              first_block + block */
#ifndef MONARC_COVERAGE_MODEL_COVERAGE_H
#define MONARC_COVERAGE_MODEL_COVERAGE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "monarc/gcov_files.h"

enum { NO_INDEX = -1 }; /* as uint32_t: no file, no function */

enum arcs_family {
    ARCS_GCOV, /* gcno and gcda */
    ARCS_RFC,  /* bbg and da, the proposal of 2002 */
};

/* Who wrote it. The version word's number is major * 100 + minor: 304, 1202; 0 if unknown. */
struct arcs_origin {
    enum arcs_family family;
    bool big_endian;
    bool is_llvm;          /* clang's, as far as the file shows it */
    bool lacks_checksum;   /* a snapshot of gcc 12, from before its header had one */
    bool is_untagged;      /* bbg, bb and da of gcc before 3.4: no records, no version */
    bool has_byte_lengths; /* lengths of records and texts count bytes (from gcc 12), not words */
    uint32_t version;      /* the word as in the file */
    uint16_t number;       /* what it says; of the layout that is read */
    uint32_t stamp, checksum; /* pair notes with counters; 0 where the layout has none */
};

/* What the files of gcc before 3.4 are said to be, as they have no version: "303r", and "302r" for
 * all before 3.3, which cannot be told apart. */
enum untagged_version { UNTAGGED_33 = 0x72333033, UNTAGGED_OLDER = 0x72323033 };

/* "B22*", "304e": the version's characters in the order in which the compiler names them. */
struct arcs_version_text {
    char text[5];
};
struct arcs_version_text arcs_version_text(const struct arcs_origin *origin);

/* Why something is not known, or not to be trusted. */
enum arcs_defect {
    DEFECT_NONE,
    DEFECT_CUT,         /* the file ends within the function */
    DEFECT_BAD_RECORD,  /* a record's contents do not fit its length or what was before */
    DEFECT_NO_FILE,     /* lines, and no file was named that they are of */
    DEFECT_BAD_BLOCK,   /* an arc, line or condition names a block that does not exist */
    DEFECT_BLOCK_COUNT, /* more blocks than the arcs could connect */
    DEFECTS
};

/* "the file ends within the function". */
const char *arcs_defect_text(enum arcs_defect defect);

enum notes_arc_flags {
    NOTES_ARC_ON_TREE = 1, /* no counter: follows from the others */
    NOTES_ARC_FAKE = 2,    /* a call that did not return, setjmp */
    NOTES_ARC_FALLTHROUGH = 4,
    NOTES_ARC_TRUE = 8, /* gcc 15 */
    NOTES_ARC_FALSE = 16,
};

/* A way from one block to another. Those that are not on the spanning tree have a counter, in the
 * order of the arcs; the others follow, as what flows into a block flows out of it. */
struct notes_arc {
    uint32_t source, target; /* blocks of the function */
    uint32_t flags;
};

/* Lines of one file in one block, in the order of the file. */
struct notes_run {
    uint32_t block;
    uint32_t file;         /* index in files */
    uint32_t first, lines; /* slice of notes.lines */
};

/* Outcomes of a condition (gcc 14): two masks of counters each, one bit a term. */
struct notes_condition {
    uint32_t block, terms;
};

/* A function of one object file. The three numbers pair it with its counters: ident says which one
 * it is, the checksums that source and graph are the same. */
struct notes_function {
    const char *name; /* mangled; NULL if the file has none */
    uint64_t offset;  /* of its record */
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t file, start_line, start_column, end_line, end_column; /* NO_INDEX; 0: not said */
    uint32_t blocks, exit;                                         /* entry is block 0 */
    uint32_t first_block; /* sum of `blocks` before: index into arrays beside the notes */
    uint32_t first_arc, arcs;
    uint32_t first_run, runs; /* sorted by block */
    uint32_t first_condition, conditions;
    uint32_t instrumented; /* arcs not on the tree: counters that the program keeps */
    uint32_t paths;        /* prime paths (gcc 15), if has_paths */
    bool is_artificial, has_conditions, has_paths, is_arcs_sorted /* by source */;
    uint8_t defect;
};

/* Why reading ended before the file did, and where: the offset of the record. */
struct arcs_failure {
    enum arcs_defect what; /* DEFECT_NONE: read to the end */
    uint64_t offset;
};

/* One file of notes. A failed reading leaves what was whole. */
struct notes {
    struct arcs_origin origin;
    const char *directory; /* cwd of the compiler, or NULL */
    bool has_unexecuted;   /* "unexecuted blocks" supported: gcov's `*` marks */
    VEC(struct notes_function) functions;
    VEC(struct notes_arc) arcs;
    VEC(struct notes_run) runs;
    VEC(uint32_t) lines;
    VEC(struct notes_condition) conditions;
    VEC(const char *) files;
    VEC(uint32_t) block_flags; /* by first_block + block; empty while all are 0 */
    uint64_t blocks;           /* of all functions */
    uint64_t unknown_records;
    struct arcs_failure failure;
};

/* Makes room for at least one of everything, so that empty slices have an address. */
void notes_prepare(struct notes *n);
void notes_deinit(struct notes *n);
void notes_clear(struct notes *n); /* keeps the memory for the next file */

/* Gives back what reading reserved beyond what it found. */
void notes_trim(struct notes *n);

/* Copies the names, which lie in the bytes that were read, so that those can go. */
void notes_keep_texts(struct notes *n, struct arena *a);

/* The first run of a block and, in *len, how many it has. */
const struct notes_run *notes_runs_of(const struct notes *n, const struct notes_function *f,
                                      uint32_t block, uint32_t *len);

/* ---- counters */

/* Records keep their order, so that a file is written as it was read. */
enum counted_what {
    COUNTED_FUNCTION,
    COUNTED_ABSENT, /* a placeholder: not in this program, as a COMDAT that another object holds */
    COUNTED_VALUES,
    COUNTED_OBJECT_SUMMARY,
    COUNTED_PROGRAM_SUMMARY,
    COUNTED_OTHER, /* of an unknown tag; kept */
};

/* A record as it stood in the file. */
struct counted_record {
    uint8_t what, kind;
    bool is_zero;   /* all values are 0 and none are stored (gcc 11 on) */
    uint32_t tag;   /* COUNTED_VALUES, COUNTED_OTHER */
    uint32_t len;   /* values: how many; other: bytes */
    uint32_t index; /* function: in functions; summary: in summaries */
    uint64_t first; /* values: in values; other: offset in the file */
};

/* A function's counters are the COUNTED_VALUES among its records, one of each kind. */
struct counted_function {
    const char *name; /* RFC only */
    uint64_t offset;
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t first_record, records; /* its COUNTED_VALUES (and other) records */
    uint8_t defect;
};

/* What a file says of whole runs; which of the fields there are depends on the version. */
struct counters_summary {
    uint32_t checksum, counters, runs;
    uint64_t sum, run_max, sum_max; /* what the record does not hold is 0 */
    uint32_t len;                   /* bytes of the record */
    struct bytes rest;              /* behind the fields: the histogram of gcc 4.8 to 8 */
};

/* One file of counters, or the sum of several. */
struct counters {
    struct arcs_origin origin;
    VEC(struct counted_record) records;
    VEC(struct counted_function) functions; /* without placeholders */
    VEC(uint64_t) values;
    VEC(struct counters_summary) summaries;
    struct bytes bytes;      /* that were read: where other records are */
    uint32_t end_words;      /* zero words at the end: 1, or clang's 2 */
    uint32_t groups;         /* RFC: concatenated runs */
    uint64_t size_bytes;     /* up to and with the end mark */
    uint64_t trailing_bytes; /* behind it */
    uint64_t unknown_records;
    struct arcs_failure failure;
};

void counters_prepare(struct counters *c); /* as notes_prepare() */
void counters_deinit(struct counters *c);
void counters_clear(struct counters *c);

/* A function's record of a kind, or NULL. */
const struct counted_record *
counters_find(const struct counters *c, const struct counted_function *f, enum counter_kind kind);

/* "arcs", "topn": for people and JSON. */
const char *counter_kind_name(enum counter_kind kind);

/* The identity that stands for a name where files have none of their own. */
uint32_t name_ident(const char *name);

/* Value `i` of a record. */
static inline uint64_t counters_value(const struct counters *c, const struct counted_record *r,
                                      uint32_t i)
{
    return r->is_zero ? 0 : c->values.at[r->first + i];
}

/* --- which version of GCC wrote it, as a row of the table in monarc/gcov_dialects.h ---------- */

/* The row for a version word; NULL if the word is not that of a known compiler. */
const struct gcov_dialect *dialect_of_word(uint32_t version);

/* The row that holds for notes or counters; the oldest where the version is not known. */
const struct gcov_dialect *dialect_of(const struct arcs_origin *origin);

#endif

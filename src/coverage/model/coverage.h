/* What arc profiling measured: the notes of a compiler (blocks, arcs, lines) and the counters of a
 * program, of any version, as the files hold them. Solving the one with the other is analysis/flow.
 *
 * Everything is a flat array owned by the file's struct; functions own consecutive slices and refer
 * to each other by index. Texts are not copied: they point into the bytes that were read, which
 * must outlive the struct, and are NUL-terminated there.
 *
 * Nothing that is not known is 0: a function that the file holds only in part has a doubt. */
#ifndef MONARC_MODEL_COVERAGE_H
#define MONARC_MODEL_COVERAGE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

enum { COVER_NONE = -1 }; /* as uint32_t: no file, no function */

enum cover_family {
    COVER_GCOV, /* gcno and gcda */
    COVER_RFC,  /* bbg and da, the proposal of 2002 */
};

/* Who wrote it. The version word's number is major * 100 + minor: 304, 1202; 0 if unknown. */
struct cover_origin {
    enum cover_family family;
    bool big_endian;
    bool is_llvm;          /* clang's, as far as the file shows it */
    bool has_byte_lengths; /* lengths of records and texts count bytes (from gcc 12), not words */
    uint32_t version;      /* the word as in the file */
    uint16_t number;       /* what it says; of the layout that is read */
    uint32_t stamp, checksum; /* pair notes with counters; 0 where the layout has none */
};

/* Why something is not known, or not to be trusted. */
enum cover_doubt {
    COVER_SURE,
    COVER_CUT,         /* the file ends within the function */
    COVER_BAD_RECORD,  /* a record's contents do not fit its length or what was before */
    COVER_NO_FILE,     /* lines, and no file was named that they are of */
    COVER_BAD_BLOCK,   /* an arc, line or condition names a block that does not exist */
    COVER_BLOCK_COUNT, /* more blocks than the arcs could connect */
    COVER_DOUBTS
};

/* "the file ends within the function". */
const char *cover_doubt_text(enum cover_doubt doubt);

enum cover_arc_flags {
    COVER_ON_TREE = 1, /* no counter: follows from the others */
    COVER_FAKE = 2,    /* a call that did not return, setjmp */
    COVER_FALLTHROUGH = 4,
    COVER_TRUE = 8, /* gcc 15 */
    COVER_FALSE = 16,
};

struct cover_arc {
    uint32_t source, target; /* blocks of the function */
    uint32_t flags;
};

/* Lines of one file in one block, in the order of the file. */
struct cover_run {
    uint32_t block;
    uint32_t file;         /* index in files */
    uint32_t first, lines; /* slice of notes.lines */
};

/* Outcomes of a condition (gcc 14): two masks of counters each, one bit a term. */
struct cover_condition {
    uint32_t block, terms;
};

struct cover_function {
    const char *name; /* mangled; NULL if the file has none */
    uint64_t offset;  /* of its record */
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t file, start_line, start_column, end_line, end_column; /* COVER_NONE; 0: not said */
    uint32_t blocks, exit;                                         /* entry is block 0 */
    uint32_t first_block; /* sum of `blocks` before: index into arrays beside the notes */
    uint32_t first_arc, arcs;
    uint32_t first_run, runs; /* sorted by block */
    uint32_t first_condition, conditions;
    uint32_t instrumented; /* arcs not on the tree: counters that the program keeps */
    uint32_t paths;        /* prime paths (gcc 15), if has_paths */
    bool is_artificial, has_conditions, has_paths, is_arcs_sorted /* by source */;
    uint8_t doubt;
};

struct cover_failure {
    enum cover_doubt what; /* COVER_SURE: read to the end */
    uint64_t offset;
};

struct notes {
    struct cover_origin origin;
    const char *directory; /* cwd of the compiler, or NULL */
    bool has_unexecuted;   /* "unexecuted blocks" supported: gcov's `*` marks */
    VEC(struct cover_function) functions;
    VEC(struct cover_arc) arcs;
    VEC(struct cover_run) runs;
    VEC(uint32_t) lines;
    VEC(struct cover_condition) conditions;
    VEC(const char *) files;
    VEC(uint32_t) block_flags; /* by first_block + block; empty while all are 0 */
    uint64_t blocks;           /* of all functions */
    uint64_t unknown_records;
    struct cover_failure failure;
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
const struct cover_run *notes_runs_of(const struct notes *n, const struct cover_function *f,
                                      uint32_t block, uint32_t *len);

/* ---- counters */

enum cover_kind {
    KIND_ARCS,
    KIND_INTERVAL,
    KIND_POW2,
    KIND_SINGLE,
    KIND_TOPN,
    KIND_DELTA,
    KIND_INDIRECT,      /* of single values */
    KIND_INDIRECT_TOPN, /* gcc 10 on */
    KIND_AVERAGE,
    KIND_IOR,
    KIND_TIME,
    KIND_ICALL_TOPN, /* gcc 5 to 9 */
    KIND_CONDITIONS,
    KIND_PATHS,
    KIND_UNKNOWN,
    KINDS
};

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

struct counted_function {
    const char *name; /* RFC only */
    uint64_t offset;
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t first_record, records; /* its COUNTED_VALUES (and other) records */
    uint8_t doubt;
};

struct cover_summary {
    uint32_t checksum, counters, runs;
    uint64_t sum, run_max, sum_max; /* what the record does not hold is 0 */
    uint32_t len;                   /* bytes of the record */
    struct bytes rest;              /* behind the fields: the histogram of gcc 4.8 to 8 */
};

struct counters {
    struct cover_origin origin;
    VEC(struct counted_record) records;
    VEC(struct counted_function) functions; /* without placeholders */
    VEC(uint64_t) values;
    VEC(struct cover_summary) summaries;
    struct bytes bytes;      /* that were read: where other records are */
    uint32_t end_words;      /* zero words at the end: 1, or clang's 2 */
    uint32_t groups;         /* RFC: concatenated runs */
    uint64_t size_bytes;     /* up to and with the end mark */
    uint64_t trailing_bytes; /* behind it */
    uint64_t unknown_records;
    struct cover_failure failure;
};

void counters_prepare(struct counters *c); /* as notes_prepare() */
void counters_deinit(struct counters *c);
void counters_clear(struct counters *c);

/* A function's record of a kind, or NULL. */
const struct counted_record *counters_find(const struct counters *c,
                                           const struct counted_function *f, enum cover_kind kind);

/* "arcs", "topn": for people and JSON. */
const char *cover_kind_name(enum cover_kind kind);

/* The identity that stands for a name where files have none of their own. */
uint32_t cover_ident(const char *name);

/* Value `i` of a record. */
static inline uint64_t counters_value(const struct counters *c, const struct counted_record *r,
                                      uint32_t i)
{
    return r->is_zero ? 0 : c->values.at[r->first + i];
}

#endif

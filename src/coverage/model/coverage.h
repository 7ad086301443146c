/* What arc profiling measured: the notes of a compiler (blocks, arcs, lines) and the counters of a
 * program, of any version, as the files hold them. Solving the one with the other is analysis/flow.
 *
 * Everything is a flat array owned by the file's struct; functions own consecutive slices and refer
 * to each other by index. Texts are not copied: they point into the bytes that were read, which
 * must outlive the struct, and are NUL-terminated there. After them: how counters are added up, and
 * two models that are simpler: of tracefiles, and of patches.
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
#include "wire/gcov_files.h"
#include "wire/gcov_merge.h"

enum { NO_INDEX = -1 }; /* as uint32_t: no file, no function */

enum arcs_family {
    ARCS_GCOV, /* gcno and gcda */
    ARCS_RFC,  /* bbg and da, the proposal of 2002 */
};

/* The header that a gcno or gcda had before it became bbg or da: what these have no place for, and
 * carry in a record of their own. */
struct arcs_native {
    uint32_t version, stamp, checksum; /* version 0: not known */
    bool big_endian, lacks_checksum;
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
    uint32_t stamp, checksum;  /* pair notes with counters; 0 where the layout has none */
    struct arcs_native native; /* of the proposal's family alone */
};

/* The numbers that a function has in gcno and gcda. */
struct arcs_identity {
    uint32_t ident, lineno_checksum, cfg_checksum;
};

/* What the files of gcc before 3.4 are said to be, as they have no version: "303r", and "302r" for
 * all before 3.3, which look alike. */
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
    DEFECT_TOO_LARGE,   /* a count that the proposal has no room for */
    DEFECT_BLOCK_COUNT, /* more blocks than the arcs could connect */
    DEFECTS
};

/* "the file ends within the function". */
const char *arcs_defect_text(enum arcs_defect defect);
/* Notes with it are not written. */
bool notes_refuse_defect(size_t function, enum arcs_defect defect, struct err *e);

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
    bool has_native; /* RFC: `native` is known */
    uint8_t defect;
    struct arcs_identity native;
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

/* The number of `block` once block `from` has become `to` and those between have moved by one. */
uint32_t notes_renumbered(uint32_t block, uint32_t from, uint32_t to);

/* Gives the exit block of a function another number; those between move by one. Fails, with the
 * function as it was, if arcs leave it. */
MUST_CHECK bool notes_move_exit(struct notes *n, struct notes_function *f, uint32_t exit,
                                struct err *e);

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
    bool has_native;                /* RFC: `native` is known */
    uint8_t defect;
    struct arcs_identity native;
};

/* A file's totals of whole runs; which of the fields there are depends on the version. */
struct counters_summary {
    uint32_t checksum, counters, runs;
    uint64_t sum, run_max, sum_max; /* what the record does not hold is 0 */
    uint32_t len;                   /* bytes of the record */
    struct bytes rest;              /* after the fields: the histogram of gcc 4.8 to 8 */
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
    uint64_t trailing_bytes; /* after it */
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

/* --- which version of GCC wrote it, as a row of the table in wire/gcov_dialects.h ---------- */

/* The row for a version word; NULL if the word is not that of a known compiler. */
const struct gcov_dialect *dialect_of_word(uint32_t version);

/* The row that holds for notes or counters; the oldest where the version is not known. */
const struct gcov_dialect *dialect_of(const struct arcs_origin *origin);

/* ---- Summing counters of several runs, scaling them, and the laws of it.
 *
 * Each kind is merged as the recorder of its version merges it: arcs, intervals, powers and
 * averages add; masks (ior, conditions, paths) unite; of first visits the earliest counts; lists of
 * values are joined, the rarest dropped when they grow too long. */

/* --- records --------------------------------------------------------------------------------- */

/* Whether a record of this kind is lists of any length: {total, n, n * (value, count)}*. */
bool kind_is_list(enum counter_kind kind, const struct gcov_dialect *dialect);

/* Adds `len` values of a kind that has no lists, in place. */
void kind_add(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *into,
              const uint64_t *from, size_t len);

/* The caller frees it; joining appends. */
struct value_list {
    VEC(uint64_t) values;
};

/* Whether the values are whole lists; and joining two records of as many lists into *out. */
bool kind_lists_are_whole(const uint64_t *values, size_t len, size_t *lists);
void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out);

/* A fraction, if there is a denominator: exact, or (gcov-tool's way) the value divided and rounded
 * before it is multiplied. Otherwise a factor in single precision, again gcov-tool's. */
struct count_scale {
    float factor;
    int64_t numerator, denominator;
    bool is_exact;
};

/* In place; values of a kind that count nothing stay. */
void kind_scale(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *values,
                size_t len, const struct count_scale *scale);

/* --- files ----------------------------------------------------------------------------------- */

/* Adds `from` to `into`, which takes functions it lacks and keeps its version, byte order and
 * stamp. Counts saturate at 2^63-1. Fails, leaving `into` as it was, if an identity has
 * functions in each whose checksums the other has not, if a function differs in number of counters,
 * if a function of either is in defect, or if the versions keep counters in different ways. An
 * empty `into` becomes a copy. Texts and unknown records of `from` are not copied: its bytes must
 * live as long as `into`. */
MUST_CHECK bool counters_merge(struct counters *into, const struct counters *from, struct err *e);

/* Multiplies what can be added. Masks, first visits and summaries stay. */
void counters_scale(struct counters *c, const struct count_scale *scale);

/* The largest and the sum of the counts of arcs; saturating. */
uint64_t counters_max(const struct counters *c);
uint64_t counters_sum(const struct counters *c);

/* Marks records in which all values are 0, as gcc 11 and later write them without values. */
void counters_mark_zeros(struct counters *c);

/* Whether both hold the same functions with the same values; order, summaries and zero marks aside.
 */
bool counters_same(const struct counters *a, const struct counters *b);

/* ---- What an lcov tracefile says, or another tool's file of that kind: sections, each of one
 * source under one test, with functions, lines, branches and conditions. Flat arrays; sections own
 * consecutive slices of them. */

/* Known by its name within a section; several of one name add up. */
struct trace_function {
    const char *name;
    uint32_t start_line, end_line; /* 0: not said */
    uint64_t count;
};

/* A line may occur again in one section; counts are added up then. */
struct trace_line {
    uint32_t line;
    uint64_t count;
};

/* Branches of one line and block are the ways out of one decision. */
struct trace_branch {
    uint32_t line, block, branch;
    uint64_t count;    /* 0, too, if its block was never run */
    bool is_exception; /* `e` */
};

/* One outcome of one term of a condition. */
struct trace_condition {
    uint32_t line, terms, term;
    bool sense;
    uint64_t count;
};

/* The same source may have several, of other tests or of one: they are added up when they are used.
 */
struct trace_section {
    const char *source, *test; /* test: "" if it has no name */
    uint32_t first_function, functions;
    uint32_t first_line, lines;
    uint32_t first_branch, branches;
    uint32_t first_condition, conditions;
};

/* What a file said and there is no room for here. */
struct trace_loss {
    const char *what; /* in the plural */
    uint64_t number;
};

/* Texts live in `arena`; zeroed it is empty. */
struct tracefile {
    struct arena arena; /* texts */
    VEC(struct trace_section) sections;
    VEC(struct trace_function) functions;
    VEC(struct trace_line) lines;
    VEC(struct trace_branch) branches;
    VEC(struct trace_condition) conditions;
    uint64_t negative;        /* counts below 0, read as 0 */
    uint64_t unknown_records; /* of kinds that are not read */
    VEC(struct trace_loss) losses;
};

/* A section is begun, gets its records at the ends of the arrays, and is ended, or dropped with all
 * of them. The texts must live as long as the tracefile. */
void tracefile_begin(struct tracefile *t, const char *source, const char *test);
void tracefile_end(struct tracefile *t);
void tracefile_drop(struct tracefile *t);

/* Adds to what is left out. `what` is a text that stays. */
void tracefile_lose(struct tracefile *t, const char *what, uint64_t number);

void tracefile_deinit(struct tracefile *t);

/* ---- Which lines of which files a patch adds or changes. */

/* Ascending within a file, without two that touch. */
struct patch_range {
    uint32_t first, lines; /* of the new file */
    uint64_t text;         /* what they say: patch_text_add() of each, from 0 */
};

/* The hash of lines, one after the other, without their ends. */
static inline uint64_t patch_text_add(uint64_t before, const void *line, size_t len)
{
    return before * UINT64_C(0x9e3779b97f4a7c15) + hash_bytes(line, len) + 1;
}

struct patch_file {
    const char *path;       /* the new one, as written, without the folder of its side: `b/` */
    const char *whole_path; /* with it */
    uint32_t first_range, ranges;
    uint32_t chosen; /* of several sources: its index + 1; NO_INDEX: none; 0: the name decides */
    uint64_t added;  /* lines */
};

/* Where the old file was changed. */
struct patch_old_range {
    uint32_t first, lines; /* that were removed or replaced; 0 lines: some were put in before it */
};

/* What a patch does to an old file; of new ones there is none. */
struct patch_old_file {
    const char *path, *whole_path;
    uint32_t first_range, ranges;
};

/* A file that is removed is among the old ones alone, a new one among `files` alone. Texts live in
 * `arena`. */
struct patch {
    struct arena arena;
    VEC(struct patch_file) files;
    VEC(struct patch_range) ranges;
    VEC(struct patch_old_file) old_files;
    VEC(struct patch_old_range) old_ranges;
};

void patch_deinit(struct patch *p);

#endif

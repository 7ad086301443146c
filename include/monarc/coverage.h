/* Arc profiling: the notes of a compiler (gcno, bbg: blocks, arcs, lines of functions), the
 * counters of programs (gcda, da; streams of them, gcfn), and coverage that others sum up (lcov
 * tracefiles).
 *
 * Texts and arrays that are handed out belong to the handle and are valid until it changes. */
#ifndef MONARC_COVERAGE_H
#define MONARC_COVERAGE_H

#include <monarc/formats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who wrote a file of notes or counters. */
struct monarc_arcs_facts {
    enum monarc_format format; /* MONARC_GCNO, MONARC_GCDA, MONARC_BBG, MONARC_DA */
    uint16_t gcc_version;      /* major * 100 + minor: 304, 1202; 0 if unknown */
    bool is_clang;             /* as far as the file shows it */
    uint8_t byte_order;
    uint32_t stamp, checksum; /* pair notes with counters; 0 where the format has none */
    size_t functions;
    uint64_t unknown_records; /* passed over */
};

/* How a file is written. All zero, or NULL instead: as it was read; what was made in memory, or
 * comes from the other family, as gcc 12.2 writes it on a little-endian machine. */
struct monarc_arcs_form {
    uint16_t gcc_version;
    uint8_t byte_order;
};

/* ---- notes */

struct monarc_notes;

struct monarc_function {
    const char *name; /* mangled; NULL: the file has none */
    const char *file; /* NULL: not said */
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t start_line, end_line; /* 0: not said */
    uint32_t blocks, exit;         /* the entry is block 0 */
    uint32_t counters;             /* arcs not on the spanning tree, which the program counts */
    const char *defect;            /* NULL, or why the function cannot be used */
};

enum {
    MONARC_ARC_ON_TREE = 1, /* no counter: follows from the others */
    MONARC_ARC_FAKE = 2,    /* a call that did not return, setjmp */
    MONARC_ARC_FALLTHROUGH = 4
};

struct monarc_flow_arc {
    uint32_t source, target, flags;
};

/* Lines of one file in one block. */
struct monarc_block_lines {
    uint32_t block;
    const char *file;
    const uint32_t *lines;
    size_t len;
};

struct monarc_notes *monarc_notes_new(const struct monarc_memory *memory, struct monarc_error *e);
void monarc_notes_free(struct monarc_notes *n);
void monarc_notes_clear(struct monarc_notes *n);

/* gcno or bbg. After MONARC_BAD_INPUT it holds what was whole; functions that are not say so. */
bool monarc_notes_read(struct monarc_notes *n, const struct monarc_source *in,
                       struct monarc_error *e);

/* To a graph (bbg) of gcc before 3.4, which was read: its bb file, with lines and names. Fails with
 * the notes as they were if the files are not of one compilation. */
bool monarc_notes_read_lines(struct monarc_notes *n, const struct monarc_source *in,
                             struct monarc_error *e);

/* MONARC_GCNO, MONARC_BBG, or MONARC_NO_FORMAT: the one it was read from. Converts as needed. */
bool monarc_notes_write(const struct monarc_notes *n, enum monarc_format format,
                        const struct monarc_arcs_form *form, struct monarc_target *to,
                        struct monarc_error *e);

void monarc_notes_get_facts(const struct monarc_notes *n, struct monarc_arcs_facts *out);
bool monarc_notes_get_function(const struct monarc_notes *n, size_t i, struct monarc_function *out);
const struct monarc_flow_arc *monarc_notes_get_arcs(const struct monarc_notes *n, size_t function,
                                                    size_t *len);

/* Run `i` of a function's lines; they are in the order of blocks. */
bool monarc_notes_get_lines(const struct monarc_notes *n, size_t function, size_t i,
                            struct monarc_block_lines *out);

/* Adds a function: of *f its name, lineno_checksum and number of blocks count, of which the last is
 * the exit. Arcs are in the order of their source, lines in that of blocks. Leaves `n` as it was if
 * it fails. The notes must be empty, or built, or read from bbg. */
bool monarc_notes_add_function(struct monarc_notes *n, const struct monarc_function *f,
                               const struct monarc_flow_arc *arcs, size_t arcs_len,
                               const struct monarc_block_lines *lines, size_t lines_len,
                               struct monarc_error *e);

/* ---- counters */

struct monarc_counters;

/* What is counted. The numbers are this library's, not those of the files. */
enum monarc_counter {
    MONARC_COUNT_ARCS,
    MONARC_COUNT_INTERVAL,
    MONARC_COUNT_POW2,
    MONARC_COUNT_SINGLE,
    MONARC_COUNT_TOPN,
    MONARC_COUNT_DELTA,
    MONARC_COUNT_INDIRECT,
    MONARC_COUNT_INDIRECT_TOPN,
    MONARC_COUNT_AVERAGE,
    MONARC_COUNT_IOR,
    MONARC_COUNT_TIME,
    MONARC_COUNT_ICALL_TOPN,
    MONARC_COUNT_CONDITIONS,
    MONARC_COUNT_PATHS,
    MONARC_COUNTERS
};

const char *monarc_counter_name(enum monarc_counter kind); /* "arcs" */

struct monarc_counted_function {
    const char *name; /* da; NULL in gcda */
    uint32_t ident, lineno_checksum, cfg_checksum;
    const char *defect;
};

struct monarc_counters *monarc_counters_new(const struct monarc_memory *memory,
                                            struct monarc_error *e);
void monarc_counters_free(struct monarc_counters *c);
void monarc_counters_clear(struct monarc_counters *c);

/* gcda or da, whose groups are summed. As monarc_notes_read(). */
bool monarc_counters_read(struct monarc_counters *c, const struct monarc_source *in,
                          struct monarc_error *e);

/* MONARC_GCDA, MONARC_DA, or MONARC_NO_FORMAT: the one it was read from. From gcda to da the notes
 * that belong to it say the names; otherwise they may be NULL. */
bool monarc_counters_write(const struct monarc_counters *c, enum monarc_format format,
                           const struct monarc_arcs_form *form, const struct monarc_notes *notes,
                           struct monarc_target *to, struct monarc_error *e);

/* A pair of a stream (gcfn): a file's name, and the counters as gcda. One after the other they are
 * the stream. */
bool monarc_counters_write_pair(const struct monarc_counters *c, const char *name,
                                const struct monarc_arcs_form *form, struct monarc_target *to,
                                struct monarc_error *e);

void monarc_counters_get_facts(const struct monarc_counters *c, struct monarc_arcs_facts *out);
bool monarc_counters_get_function(const struct monarc_counters *c, size_t i,
                                  struct monarc_counted_function *out);

/* How many values of a kind function `i` has; and up to `len` of them from `first` on. */
size_t monarc_counters_get_len(const struct monarc_counters *c, size_t i, enum monarc_counter kind);
size_t monarc_counters_get_values(const struct monarc_counters *c, size_t i,
                                  enum monarc_counter kind, size_t first, size_t len,
                                  uint64_t *out);

/* Adds a function with its counts of arcs, in the order of the notes' arcs that are not on the
 * tree: with a name, for da; or, after monarc_counters_begin(), by `ident` and both checksums.
 * Leaves `c` as it was if it fails. */
bool monarc_counters_add_function(struct monarc_counters *c,
                                  const struct monarc_counted_function *f, const uint64_t *counts,
                                  size_t len, struct monarc_error *e);

/* Empties `c` for counters of a gcda file that belongs to these notes. */
bool monarc_counters_begin(struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e);

/* Counters of gcc before 3.3 are one row for the object, a function without a name: shares them out
 * to the functions of its notes. */
bool monarc_counters_share(struct monarc_counters *c, const struct monarc_notes *n,
                           struct monarc_error *e);

/* Adds `from` as the program's own runtime would. Fails with MONARC_UNFIT, leaving `into` as it
 * was, if the two are of different builds or versions. An empty `into` becomes a copy. */
bool monarc_counters_merge(struct monarc_counters *into, const struct monarc_counters *from,
                           struct monarc_error *e);

/* Whether the counters belong to the notes: each of their functions is there with the same
 * checksums and as many counters, and bbg and da, which have no stamp, are of one version. Fails
 * with MONARC_UNFIT, naming the function. */
bool monarc_counters_check(const struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_error *e);

/* Whether merging commutes and associates for these three (or they do not merge). */
bool monarc_counters_check_laws(const struct monarc_counters *a, const struct monarc_counters *b,
                                const struct monarc_counters *c, struct monarc_error *e);

/* Hands each pair of a stream (gcfn) to `each`, in its order; what it gets is valid until it
 * returns, and false ends the call with MONARC_STOPPED. */
bool monarc_counters_walk(const struct monarc_source *in, const struct monarc_memory *memory,
                          bool (*each)(void *context, const char *name,
                                       const struct monarc_counters *c),
                          void *context, struct monarc_error *e);

/* ---- tracefiles */

struct monarc_trace;

/* Consecutive records of one source under one test. */
struct monarc_trace_section {
    const char *source, *test; /* test: "" if it has no name */
    size_t functions, lines, branches;
};

struct monarc_trace_function {
    const char *name;
    uint32_t start_line, end_line; /* 0: not said */
    uint64_t count;
};

struct monarc_trace_line {
    uint32_t line;
    uint64_t count;
};

struct monarc_trace_branch {
    uint32_t line, block, branch;
    uint64_t count;
    bool is_exception;
};

struct monarc_trace *monarc_trace_new(const struct monarc_memory *memory, struct monarc_error *e);
void monarc_trace_free(struct monarc_trace *t);
void monarc_trace_clear(struct monarc_trace *t);
bool monarc_trace_read(struct monarc_trace *t, const struct monarc_source *in,
                       struct monarc_error *e);

/* The sections in their order; conditions (MCDC) of a tracefile that was read are kept, texts of
 * branches have become numbers. Fails for names that a tracefile cannot hold, with line ends. */
bool monarc_trace_write(const struct monarc_trace *t, struct monarc_target *to,
                        struct monarc_error *e);

/* Adds a section; of *s the names and the three lengths count, which those of the arrays are.
 * Leaves `t` as it was if it fails. */
bool monarc_trace_add_section(struct monarc_trace *t, const struct monarc_trace_section *s,
                              const struct monarc_trace_function *functions,
                              const struct monarc_trace_line *lines,
                              const struct monarc_trace_branch *branches, struct monarc_error *e);

/* Appends the sections of `from` to those of `into`. Sections of one source and test add up to one:
 * that is what the format means by several. */
bool monarc_trace_merge(struct monarc_trace *into, const struct monarc_trace *from,
                        struct monarc_error *e);

size_t monarc_trace_count_sections(const struct monarc_trace *t);
bool monarc_trace_get_section(const struct monarc_trace *t, size_t section,
                              struct monarc_trace_section *out);
bool monarc_trace_get_function(const struct monarc_trace *t, size_t section, size_t i,
                               struct monarc_trace_function *out);
bool monarc_trace_get_line(const struct monarc_trace *t, size_t section, size_t i,
                           struct monarc_trace_line *out);
bool monarc_trace_get_branch(const struct monarc_trace *t, size_t section, size_t i,
                             struct monarc_trace_branch *out);

/* ---- what ran */

/* Functions of the notes, by whether their counts are known. */
struct monarc_solved {
    uint64_t functions;
    uint64_t solved;  /* with a count for each block and arc */
    uint64_t absent;  /* not in this program, which has another object's copy: counted as 0 */
    uint64_t unknown; /* no counters, those of another build, or contradictory ones: no rows */
};

/* Solves counters with the notes that they belong to and adds to `into` a section for each source:
 * functions, lines by GNU gcov's definition, and branches. `c` NULL: the program never ran, so that
 * all counts are 0. `out` may be NULL. Leaves `into` as it was if it fails: MONARC_UNFIT for files
 * that cannot be of one compilation. Of several objects, solve each into one tracefile. */
bool monarc_counters_solve(const struct monarc_counters *c, const struct monarc_notes *notes,
                           struct monarc_trace *into, struct monarc_solved *out,
                           struct monarc_error *e);

#ifdef __cplusplus
}
#endif

#endif

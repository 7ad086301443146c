/* Where profiles and coverage meet: counts of lines, their places in a program, and the sources
 * that both are about.
 *
 * Counts of lines: how often each line of each function was entered, of many pairs of notes and
 * counters.
 *
 * A line's count is GNU gcov's, and here it is taken apart: every block at which the line is
 * entered from elsewhere has how often that was, so that the entries of a line add up to its count.
 * Blocks of the line that only others of it lead to are none; blocks that never ran are one entry
 * of 0. What loops within the line add goes to the block that they lead back to.
 *
 * The exit belongs to no line in gcov. Here it is an entry of the function's last line if nothing
 * else is there. */
#ifndef MONARC_BRIDGE_BRIDGE_H
#define MONARC_BRIDGE_BRIDGE_H

#include "base/map.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/analysis/flow.h"
#include "profile/analysis/functions.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/source_mapping.h"
#include "profile/model/profile.h"
#include "source/source.h"

/* One entry of a line. Numbers of names and files are those of struct line_counts. */
struct line_count {
    uint32_t file, line;
    uint32_t function; /* in names */
    uint32_t ordinal;  /* of the entry, in the order of blocks */
    bool is_start;     /* the line on which the function is declared */
    bool is_end;       /* the exit: counts only where the line has nothing else */
    uint64_t count;
    uint64_t ran; /* how often the block ran, within the line's own loops as well */
};

/* How often a function was entered, for the calls of counted_calls_put(). */
struct called_function {
    uint32_t name, file;
    uint64_t count;
    uint32_t start, end; /* lines of its declaration and its last brace; end 0: not known */
};

/* Zeroed at first; grows with each unit that is added, and may be asked once it is settled. */
struct line_counts {
    struct intern names; /* of functions: linkage names */
    struct intern files; /* the caller's */
    VEC(struct line_count) at;
    VEC(struct called_function) functions;
};

/* Adds the functions of one unit that are solved and in the program. `files` has the number in
 * c->files of each of the notes'. */
void line_counts_add(struct line_counts *c, const struct notes *n, const struct flow *flow,
                     const uint32_t *files);

/* The same counts as a profile by source position, for compilers: lines from the declaration of the
 * function that they stand in, which is not that which they were compiled in where it was inlined
 * before counters were put in. *report: what found no function. */
struct line_positions_report {
    uint64_t lines, unplaced; /* of functions; in none, or in one of several instances */
    const char *file;         /* the first of these */
    uint32_t line;
};
/* The program to be optimised, which says what is inlined where; object NULL: nothing does. */
struct line_positions_program {
    struct object *object;
    const struct functions *functions;
};
void line_counts_to_positions(const struct line_counts *c, enum source_compiler target,
                              const struct line_positions_program *program,
                              struct source_profile *out, struct line_positions_report *report);

/* Sorts by file, line, function and ordinal, and sums what agrees in these. */
void line_counts_settle(struct line_counts *c);
void line_counts_deinit(struct line_counts *c);

/* Counters of arcs as calls of a program's functions: how often each was entered is counted; who
 * called it is not, but the program's code has the direct calls.
 *
 * The calls of a function are split among those that call it directly and ran themselves, as they
 * ran: an estimate, as gprof's model is one of times. A function without such callers was called
 * from nowhere. The calls of a function add up to what was counted. */

/* Appends arcs to *out. Returns how many functions with counts the program does not have; it may be
 * another build of the same sources. Functions of one name are taken for the first of them.
 * *unread is why not all code could be read for calls, or NULL. */
uint64_t counted_calls_put(const struct line_counts *counts, const struct functions *f,
                           struct object *o, struct profile *out, const char **unread);

/* ---- Counts of lines given addresses in a program: block records for gmon.out.
 *
 * Only functions and lines say where a count belongs, so the program need not be the one that was
 * counted: another build of the same sources has the same lines. A function's line is placed on
 *
 *   1. the first code of the line in the function, out of line or inlined; clones (.part.0, .cold)
 *      are the function;
 *   2. the function's first address, if it is the line of the declaration, which has no code where
 *      the brace is on a line of its own, and if that first code has no count of its own;
 *   3. the first code of the line in any function: copies that an optimiser left no code of count
 * on the line, too, which so has gcov's count.
 *
 * The entries of a line go to the rows that the line table has there, one after the other, and what
 * is left to the last of them. Where other functions with counts have code of the line as well, as
 * copies of inlined functions, they get a record of 0, so that the count of the code before is
 * not taken for theirs. The sum of a line's records is its count. */

struct placing {
    const struct line_counts *counts; /* settled */
    struct object *object;
    const struct functions *functions;
    const struct source_search *maps; /* for the program's paths; those of the counts are mapped */
    bool adds_calls;                  /* an arc from nowhere to each function that was called */
};

/* What was not placed, with the first of each kind. Texts live as long as the input. */
struct placed {
    uint64_t lines;             /* of functions that the program has */
    uint64_t no_code, executed; /* of these without code; of these with a count that is not 0 */
    const char *line_file, *line_function;
    uint32_t line;
    uint64_t missing_functions; /* that the program lacks */
    const char *function;
    uint64_t missing_files;     /* that it does not mention */
    const char *file, *similar; /* a file of the program with the same last component, or NULL */
};

/* Appends blocks and arcs to *out, unsorted, and fills *report. */
void place_counts(const struct placing *in, struct profile *out, struct placed *report,
                  struct arena *a);

/* ---- The sources that a measurement is about: those that a profile's lines are of and those that
 * coverage is of, each once. */

/* One source of the list. `self` are the samples on all of its lines. */
struct measured_source {
    const char *shown;     /* as people read it */
    const char *path;      /* where it can be read, or NULL */
    bool is_outside;       /* it is there, but in none of the folders that may be shown */
    uint32_t coverage;     /* source of the result, or UINT32_MAX */
    uint32_t first_listed; /* of the profile's files, linked by `next_listed`; or UINT32_MAX */
    double self;
};

struct measured_sources {
    struct arena arena;
    VEC(struct measured_source) all;
    struct intern known;   /* paths, or names where there is no file; numbers are those of `all` */
    size_t outside;        /* how many sources are */
    uint32_t *next_listed; /* per file of the profile's lines: another one of the same source */
    struct path_numbers recorded; /* names as debug information has them */
    VEC(uint32_t) of_recorded;    /* of these: in `all` */
};

/* Where sources come from; they live as long as the list. */
struct measured_sources_input {
    const struct coverage_result *coverage; /* NULL: there is none */
    const struct source_lines *lines;       /* likewise */
    const struct source_search *search;     /* where sources are read */
    const struct source_folders *folders;   /* only sources in these are read; NULL: all */
    const char *folder; /* names of a profile's sources below it are shown without it */
};

/* O(sources); where a source is read is looked up once for each. The list may grow by
 * measured_source_of(), which is therefore not for several threads. */
void measured_sources_make(struct measured_sources *f, const struct measured_sources_input *in);
void measured_sources_deinit(struct measured_sources *f);

/* The number of a file by its recorded name, or UINT32_MAX. */
uint32_t measured_source_of(struct measured_sources *f, const char *recorded);

#endif

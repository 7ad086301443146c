/* What `monarc cover` works with: notes, counters and tracefiles, found, read and added up, and a
 * patch beside them.
 *
 *    coverage_files_look()   folders --> notes, counters, tracefiles
 *    coverage_files_pair()   counters --> the object that they are of
 *    coverage_read()         each object: solved, added to a thread's table
 *    project_find()          which of the sources are the user's
 *    coverage_result_build() tables --> one result, in scope, by source and line */
#ifndef MONARC_SESSION_COVERAGE_H
#define MONARC_SESSION_COVERAGE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "coverage/analysis/coverage_change.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/analysis/llvm_coverage.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"
#include "coverage/report/coverage_report.h"
#include "output/out.h"
#include "source/source.h"

#include <stdbool.h>

/* --- names of sources (coverage_sources.c) ---------------------------------------------------- */

/* What the user wants to see of the sources that notes name. */
struct source_filter {
    const char *root;                   /* whole path; patterns may be relative to it */
    struct source_search *maps;         /* FROM=TO of --path-map */
    VEC(const char *) include, exclude; /* glob patterns */
    bool keeps_system;                  /* sources of the system, such as its headers */
};

/* One thread's; zeroed but for the first members. */
struct source_names {
    const struct source_filter *filter;
    struct coverage_table *table;
    struct arena arena;
    struct intern raw;       /* names as they are in the notes, with their folders */
    VEC(uint32_t) sources;   /* of raw names: in the table, or NO_INDEX */
    VEC(char) text;          /* scratch */
    const char *project;     /* the real folder of --root or of its working copy */
    uint64_t system_sources; /* left out */
    uint64_t unwanted_sources;
};

/* The table's number of a source, or NO_INDEX if it is not wanted. `directory` is where the
 * compiler ran, or NULL; `beside` the file that names it. */
uint32_t source_names_number(struct source_names *n, const char *name, const char *directory,
                             const char *beside);
void source_names_deinit(struct source_names *n);

/* The whole path of something relative to the current folder. */
char *path_absolute(const char *path, struct arena *a);

/* The path without links, as far as it exists; the rest as it is named. */
char *path_real(const char *path, struct arena *a);

/* --- files (coverage_files.c) ----------------------------------------------------------------- */

/* An object: its notes, and the counters of its runs. */
struct coverage_object {
    const char *notes;
    uint64_t size;           /* of the notes, in bytes */
    uint32_t first_counters; /* in counters, linked by `next`; NO_INDEX: never ran */
    bool is_rfc;             /* bbg, not gcno */
    bool is_known;           /* counters went to other notes of this object: it did run */
    bool has_stamp;          /* `stamp` was read */
    uint32_t stamp;          /* in the header of the notes */
    const char *left_out;    /* its da, if a gcda of that name is there */
    uint32_t test;           /* in tests and operands: where the notes were found */
};

/* One file of counters. Several of one object are several runs of it. */
struct counters_file {
    const char *path;
    uint32_t next; /* of the same object, or NO_INDEX */
    bool is_paired;
    bool is_rfc;     /* da, not gcda */
    bool is_by_name; /* its stamp was not compared: coverage_files_is_pair() */
    uint32_t test;   /* in tests */
};

/* A profile of clang or rustc. */
struct llvm_profile_file {
    const char *path;
    uint32_t test; /* in tests */
};

/* A file that may be what left such profiles. */
struct llvm_program {
    const char *path;
    bool is_named; /* not met in a folder */
    bool is_archive;
};

/* All that was found, in the order in which it was; numbers in it are indices of these lists. The
 * arena owns paths. */
struct coverage_files {
    struct arena arena;
    VEC(struct coverage_object) objects;
    VEC(struct counters_file) counters;
    VEC(const char *) traces;
    VEC(uint32_t) trace_tests; /* parallel: in tests */
    VEC(struct llvm_profile_file) profiles;
    VEC(struct llvm_program) programs;
    VEC(const char *) tests;      /* what was searched, one after the other */
    VEC(const char *) operands;   /* the same, as it was named: what builds are called */
    VEC(const char *) left_out;   /* profiles that are made of those beside them */
    VEC(const char *) unreadable; /* sentences about unreadable folders and files */
    bool has_trouble;             /* one of them may well be read the next time */
    struct map stems;             /* number of a path without suffix -> objects */
    struct intern names;
    struct map files;  /* device and inode: seen */
    struct map inodes; /* of entries of folders -> counters, or NO_INDEX: they are in `files` */
    bool knows_all;    /* all counters are in `files` */
};

/* After the first of n problems. */
#define COVERAGE_AND_MORE(n) ((n) > 1 ? ", and more like it" : "")

/* Said of each that is left out. */
#define COVERAGE_LEFT_OUT                                                                        \
    "%s: left out, as raw profiles lie next to it, whose sum it may be; name it to count it as " \
    "well"

/* How folders are searched, and where programs were set to place their counters (libgcov's
 * GCOV_PREFIX). */
struct find_rules {
    bool follows_links; /* symbolic links to folders, inside those that were named */
    const char *prefix; /* as GCOV_PREFIX when the program ran, or NULL */
    unsigned strip;     /* GCOV_PREFIX_STRIP */
    bool trusts_names;  /* stamps are left to whoever reads the counters */
};

/* Looks at a folder or file that was named. Counters in it are of a test of that name. */
MUST_CHECK bool coverage_files_look(struct coverage_files *f, const char *path,
                                    const struct find_rules *rules, struct err *e);

/* The same of every folder in a folder, in the order of their names: each is a test. */
MUST_CHECK bool coverage_files_look_at_runs(struct coverage_files *f, const char *path,
                                            const struct find_rules *rules, struct err *e);

/* Whether it is a raw, indexed or text profile of LLVM: by the name, which is all that text has, or
 * by the first bytes, as LLVM_PROFILE_FILE may name raw ones in any way. */
bool is_llvm_profile(const char *path);

/* After all were found, where there are profiles of LLVM's: looks for the programs that left them,
 * executables and shared objects, in the folder. */
MUST_CHECK bool coverage_files_find_programs(struct coverage_files *f, const char *path,
                                             const struct find_rules *rules, struct err *e);

/* After all were found: gives counters to objects, gcda to gcno and da to bbg, or to gcno where
 * there is no bbg. First by name; then where GCOV_PREFIX put them; what is left goes to an object
 * with the same file name and stamp; among several, to the one whose path has the longest end in
 * common with it. */
void coverage_files_pair(struct coverage_files *f, const struct find_rules *rules);

/* Whether the stamps of the two files are the same. */
bool coverage_files_is_pair(const char *notes, const char *counters);

/* After some were found not to be a pair: gives all that went by name alone by stamps, too. */
void coverage_files_pair_by_stamps(struct coverage_files *f);
void coverage_files_deinit(struct coverage_files *f);

/* --- reading (coverage.c) --------------------------------------------------------------------- */

struct object_pair;

/* Which parts of the found files are read. */
struct read_rules {
    unsigned threads;          /* 0: as many as there are */
    bool leaves_unrun;         /* objects without counters */
    bool repairs;              /* damaged counts */
    uint8_t instances;         /* enum instance_rule */
    bool by_test;              /* lines' counts are kept apart by test, too */
    bool by_build;             /* likewise by build: by program, or folder of notes */
    const char *only;          /* what this test counted alone; NULL: all */
    struct progress *progress; /* counts finished work; NULL: not wanted */
};

/* Tables of the threads, still apart, and what reading met. Numbers are of files, or of
 * functions. */
struct coverage_reading {
    VEC(struct coverage_table) tables;
    struct problems problems;
    struct llvm_coverage llvm;                 /* whose decisions are explained */
    uint64_t objects, unrun, counters, traces; /* that were read */
    uint64_t system_sources, unwanted_sources; /* names left out, over all objects' */
    uint64_t unknown_functions, repaired_functions;
    bool is_wrong; /* counters went by name to notes that they are not of; all else is unfinished */
};

/* What clang and rustc have of their own (coverage_llvm.c): profiles are summed, programs' mappings
 * read, and what they say together becomes one more table. */
void coverage_read_llvm(const struct coverage_files *found, const struct source_filter *filter,
                        const struct read_rules *rules, struct coverage_reading *out);

/* Reads everything into a zeroed *out. What cannot be used is a problem there. */
void coverage_read(const struct coverage_files *found, const struct source_filter *filter,
                   const struct read_rules *rules, struct coverage_reading *out);
void coverage_reading_deinit(struct coverage_reading *r);

/* --- the project (coverage_sources.c) --------------------------------------------------------- */

/* Which sources are the user's project, so that a report on coverage is about these and not about
 * the libraries that were built along with them. */
struct project_tables {
    const struct coverage_table *at; /* their paths are all sources */
    size_t len;
};

/* Both are whole paths. */
struct project {
    const char *root;  /* names below it are shown without it */
    const char *scope; /* sources elsewhere are left out; NULL: none are */
};

/* The working copy that the current folder or `named` (NULL: none) is in, if it has any of the
 * sources; otherwise the current folder, if it has; otherwise, as in a build folder beside the
 * sources, the folder that all sources are in. Texts are in `a`, which also owns *out's. */
/* The working copy of a version-control system around a folder, else the folder itself. */
const char *project_folder(const char *folder, struct arena *a);

void project_find(const struct project_tables *tables, const char *here, const char *named,
                  struct arena *a, struct project *out);

/* Whether a whole path is of the project. CMake fetches other projects' sources into a folder
 * `_deps` of the build folder, which may be below the root: those are not. */
bool project_has(const char *scope, const char *path);

/* --- all of it (coverage.c) ---------------------------------------------------------------------
 */

/* Borrowed by the session: texts and vectors must outlive it. */
struct coverage_options {
    struct find_rules find;
    struct source_filter filter; /* with a root */
    struct read_rules read;
    struct result_rules result; /* its root is the session's */
    bool has_root;              /* the filter's root was named; else a better one may be found */
    const char *patch;          /* "-": standard input; NULL: none */
    const char *runs;           /* a folder of folders of counters, each a test's; NULL: none */
    char **paths;               /* none: the current folder */
    size_t paths_len;
};

/* From files to result, in the order in which they are made. */
struct coverage_session {
    struct arena arena;
    struct coverage_files files;
    struct coverage_reading reading;
    struct coverage_result result;
    struct patch patch;
    struct patch_coverage diff; /* of the patch, if there is one */
    const char *root;           /* sources below it are shown without it */
};

/* Into a zeroed *s. What cannot be used is among reading.problems; false if nothing is there, or
 * the patch cannot be read. coverage_session_close() after failure, too. */
MUST_CHECK bool coverage_session_open(struct coverage_session *s, const struct coverage_options *o,
                                      struct err *e);
void coverage_session_close(struct coverage_session *s);

/* Whether all that was there could be used: inputs whole, and sources for their markers. If not, *e
 * has the first reason: a comparison or a sum of the rest would look like a change. */
MUST_CHECK bool coverage_session_is_whole(const struct coverage_session *s, struct err *e);

/* Its description in a report: what was read, by which rules, what was left out, what went wrong.
 * The session must outlive it; patch, gates, date and test are the caller's. */
struct coverage_report coverage_session_report(const struct coverage_session *s,
                                               const struct coverage_options *o);

/* --- single files ----------------------------------------------------------------------------- */

/* A tracefile of lcov by itself, or another coverage tool's file of that kind. */
struct trace_file {
    const char *format, *title; /* of what it is */
    struct tracefile found;
};

/* Whether the bytes begin as such a file. */
bool trace_file_is(struct bytes in);

/* Into a zeroed *f. On failure `found` holds the sections that were whole. */
MUST_CHECK bool trace_file_read(struct trace_file *f, struct bytes in, const char *name,
                                struct err *e);

/* Runs `git blame` on a source: git decides what belongs to whom; what it prints is input like any
 * other. Into a zeroed *out. False if git is not there, or knows nothing of the file: *out has no
 * lines then. */
MUST_CHECK bool git_blame(const char *path, struct blame *out, struct err *e);

#endif

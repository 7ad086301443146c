/* Lines: from solved arcs and blocks of one or several units to counts per line of each source.
 *
 * A line's count is how often it was entered from elsewhere plus how often loops within it went
 * round. A block belongs to the highest line of each of its runs; a line that only shares blocks
 * with others has their plain sum. That is GNU gcov's definition, kept to the last digit. clang's
 * blocks belong to each of their lines instead, as llvm-cov counts.
 *
 * Functions that begin at the same line of the same source (instances of a template, a header's
 * function in several units) keep lines of their own, so that each can be shown; the source's line
 * is their sum.
 *
 * Everything is a flat array; slices are (first, how many). Nothing here prints. */
#ifndef MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_H
#define MONARC_COVERAGE_ANALYSIS_LINE_COVERAGE_H

#include "coverage/analysis/coverage_unit.h"

struct line_coverage_rules {
    bool absent_is_zero;   /* functions that this program lacks count 0; else they are left out */
    bool unknown_is_zero;  /* functions without usable counts too */
    bool keeps_artificial; /* functions that the compiler made up */
    bool has_no_sums;      /* instances are not added into the source's lines */
    bool has_no_totals;    /* nor branches and calls into the source's totals */
    bool has_gnu_exit;     /* takes the last block for the exit, as gcov does for all versions */
    bool carries_lines;    /* a block without lines belongs to the line of the one before: before
                              gcc 8 only changes of the line were written down */
    bool shares_blocks; /* clang: a block belongs to each of its lines, its branches to the last */
    bool has_no_instances; /* functions that begin at one line have no lines of their own */
    bool repeats_blocks;   /* and is counted as often as it names the line: llvm-cov gcov */
    bool sums_blocks;      /* a line's count is the plain sum: gcov before gcc 8, without -a */
    bool adds_instances;   /* lines of instances count in their source's totals as well */
};

enum covered_line_flags {
    LINE_EXISTS = 1,     /* has code */
    LINE_UNEXECUTED = 2, /* some block of it, not exceptional, did not run */
    LINE_PLAIN = 4,      /* some block of it is not exceptional */
    LINE_UNKNOWN = 8,    /* a function without usable counts has code here */
};

struct covered_line {
    uint32_t number;
    uint8_t flags;
    int64_t count;
    uint32_t first_block, blocks; /* in line_coverage.blocks: those that belong to it, in order */
};

struct source_totals {
    uint64_t lines, lines_executed;
    uint64_t branches, branches_executed, branches_taken;
    uint64_t calls, calls_executed;
};

struct covered_source {
    uint32_t first_line, lines; /* ascending, each with LINE_EXISTS or LINE_UNKNOWN */
    uint32_t last_number;       /* highest line number that any function mentions, or 0 */
    int64_t highest;            /* count of a line */
    struct source_totals totals;
};

struct line_coverage {
    VEC(struct covered_source) sources;      /* as the caller numbered them */
    VEC(struct function_instance) instances; /* in the order of units and their notes */
    VEC(struct covered_line) lines;
    VEC(struct instance_block) blocks;
};

/* Builds the table of `sources` sources; zeroed *out. Time and memory are linear in the notes, but
 * for lines that hold loops in loops. */
void line_coverage_build(struct coverage_unit *units, size_t units_len, size_t sources,
                         const struct line_coverage_rules *rules, struct line_coverage *out);
void line_coverage_deinit(struct line_coverage *t);

/* Releases units[i].graph of all. */
void coverage_units_deinit(struct coverage_unit *units, size_t units_len);

#endif

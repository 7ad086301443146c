/* Everything that was measured, by source line: samples, calls and block counts, for the native
 * reports.
 *
 * An instruction belongs to the line that its line table gives, which for inlined code is the line
 * in the inlined function. Samples of a bin are split by bytes, as among functions. Calls are those
 * of the functions that begin on the line. A block belongs to the line its address has.
 *
 * A line without a block of its own that is reached from the block before it, without a jump in
 * between, was executed as often as that; such a count is `inferred`. That holds if every block was
 * recorded, of which counts of 0 are the sign: without any, nothing is inferred.
 *
 * A line's total is what recorded stacks say: the samples that have the line anywhere, each once.
 *
 * The law: self of all files + elsewhere.no_line + elsewhere.not_shown + elsewhere.unattributed are
 * the samples read.
 *
 * source_lines_make() finds rows and files; annotate_make() then chooses the lines to show, reads
 * their text and disassembles their code. */
#ifndef MONARC_PROFILE_ANALYSIS_SOURCE_LINES_H
#define MONARC_PROFILE_ANALYSIS_SOURCE_LINES_H

#include "base/vec.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "source/source.h"

struct source_row {
    uint32_t file, line;
    uint32_t function; /* the first by address that has code there; a symbol */
    const char
        *scope;     /* linkage name of the function that the line is in, inlined or not; or NULL */
    double self;    /* samples */
    double total;   /* and those in code inlined here, and in what was called from here; see
                       has_totals */
    uint64_t calls; /* of functions that begin here */
    uint64_t executions;  /* of its blocks, summed; see is_inferred */
    uint64_t least, most; /* of one block; of an inferred row both are `executions` */
    uint32_t blocks;      /* of its own */
    bool has_count;       /* executions are known */
    bool is_inferred;
    bool has_entry; /* a function begins here */
    bool is_target; /* in the requested function */
};

/* A block on a line. */
struct source_block {
    uint64_t address, count; /* the address as in the table of functions */
    uint32_t function, row;  /* row: index, or NO_ROW */
};

/* A stretch of code of one row. */
struct source_stretch {
    uint64_t start, end; /* [start, end) */
    uint32_t function, row;
};

/* From the first to the last line with code of a function, inlined or not, of those that were
 * walked. */
struct source_extent {
    const char *scope, *file; /* linkage name; as debug information has it */
    uint32_t first, last;
};

struct source_listed_file {
    const char *recorded; /* as debug information has it, or one of several ways to write it */
    uint64_t calls, executions;
    double self;
    uint32_t first, rows; /* in `rows`, ascending by line */
    uint32_t object;      /* of the first function with code in it */
};

enum { NO_ROW = UINT32_MAX };

struct source_lines {
    VEC(struct source_row) rows;          /* by file, then line */
    VEC(struct source_listed_file) files; /* most samples first, then most executions, then calls */
    VEC(struct source_block) blocks;      /* by address */
    VEC(struct source_stretch) stretches; /* by address; empty unless wanted */
    VEC(struct source_extent) extents;    /* in no order; empty unless wanted */
    VEC(struct sampled_piece) pieces;     /* by address */
    bool has_blocks;
    bool has_totals;       /* there are stacks: else those of rows are 0 */
    uint32_t instrumented; /* functions with blocks */
    struct {
        double no_line, not_shown, unattributed;
        uint64_t blocks_no_line; /* blocks on no line */
    } elsewhere;
};

/* What to look at. */
struct source_input {
    const struct functions *functions;
    const struct profile *profile;
    const struct attribution *time;
    const struct graph *graph;
    struct object *const *objects; /* by function.object; NULL elements: not to be had */
    struct names *names;
    const struct stack_lines_input *stacks; /* of a recording; NULL: no totals are wanted */
    const char *only_function; /* as a person writes it, or NULL: its code, wherever it was inlined,
                                * and what was inlined into it */
    const char *only_file;     /* the end of a path, on a boundary between components, or NULL */
    bool only_own;             /* lines of the project's own code alone */
    bool keeps_idle;           /* also rows of code for which there is nothing */
    bool keeps_stretches;
    bool keeps_extents;
};

/* `s` is zeroed before; its lists are freed with source_lines_deinit(), also where nothing was
 * found. The profile, graph and names are read alone; objects read debug information on the way.
 *
 * On return *found says whether the requested function or file has any code (true: nothing in
 * particular was requested). */
void source_lines_make(struct source_lines *s, const struct source_input *in, bool *found,
                       struct arena *a);
void source_lines_deinit(struct source_lines *s);

/* --- annotated source --------------------------------------------------------------------------
 *
 * Source with what was measured beside it: which lines of which files are shown, with their text,
 * and the machine code between them. A plain table that every form of the report prints. */

/* What is shown. */
struct annotate_rules {
    double min_percent; /* of all samples: from there on a line is hot */
    uint64_t context;   /* lines shown around a hot one */
    bool shows_all;     /* whole files */
    uint32_t only_line; /* of every file this line alone, hot or not, and all code of it; 0: no */
    bool is_function;   /* source_input.only_function was given: show all of it */
    bool has_code, is_intel; /* instructions, and how they are spelled */
};

/* An instruction of a line that is shown. */
struct annotated_instruction {
    uint64_t address; /* as linked */
    const char *text;
    const char *target;     /* the function that a branch leads to, or NULL */
    uint64_t target_offset; /* where in it */
    double self;
    uint32_t function;
    bool has_block;
    bool is_after_gap; /* something else lies between it and the one above */
    uint64_t executions;
};

/* A line that is shown, with its instructions: `first` up to first + instructions. */
struct annotated_line {
    uint64_t line;
    uint32_t row; /* or NO_ROW: there is no code */
    bool is_hot;
    bool has_text;
    bool begins_region;
    struct bytes text; /* without line end */
    uint32_t first, instructions;
};

/* A file with lines that are shown: `first` up to first + lines. */
struct annotated_file {
    uint32_t file;      /* in the source lines */
    const char *path;   /* where it was found, or NULL */
    const char *why;    /* why there is no text, or NULL */
    bool is_lost;       /* the file may be there, but could not be read */
    bool is_newer;      /* than the program */
    uint64_t has_lines; /* how many; if there is text */
    uint64_t asks_line; /* the last that debug information has */
    uint32_t first, lines;
    struct source_text text;
};

struct annotated {
    const struct summary *summary;
    const struct source_lines *source;
    VEC(struct annotated_file) files;
    VEC(struct annotated_line) lines;
    VEC(struct annotated_instruction) instructions;
    bool has_code;
    const char *why_no_code; /* of an object whose instructions cannot be shown; NULL: all are */
    struct {
        uint32_t files, lines; /* with samples or counts, not hot enough to show */
        double self;
    } omitted;
};

/* Texts live in `a`, in the names and in the files, which annotate_deinit() closes. A file that
 * cannot be read is listed with the reason. */
void annotate_make(struct annotated *t, const struct source_lines *s, const struct summary *summary,
                   const struct source_input *in, const struct source_search *search,
                   const struct annotate_rules *rules, struct arena *a);
void annotate_deinit(struct annotated *t);

#endif

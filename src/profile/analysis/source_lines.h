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
 * The law: self of all files + elsewhere.no_line + elsewhere.not_shown + elsewhere.unattributed are
 * the samples read. */
#ifndef MONARC_PROFILE_ANALYSIS_SOURCE_LINES_H
#define MONARC_PROFILE_ANALYSIS_SOURCE_LINES_H

#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "base/vec.h"

struct source_row {
    uint32_t file, line;
    uint32_t function; /* the first by address that has code there; a symbol */
    const char
        *scope;     /* linkage name of the function that the line is in, inlined or not; or NULL */
    double self;    /* samples */
    uint64_t calls; /* of functions that begin here */
    uint64_t executions;  /* of its blocks, summed; see is_inferred */
    uint64_t least, most; /* of one block; of an inferred row both are `executions` */
    uint32_t blocks;      /* of its own */
    bool has_count;       /* executions are known */
    bool is_inferred;
    bool has_entry; /* a function begins here */
    bool is_target; /* in the function that was asked for */
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
    const char *only_function; /* as a person writes it, or NULL: its code, wherever it was inlined,
                                * and what was inlined into it */
    const char *only_file;     /* the end of a path, on a boundary between components, or NULL */
    bool keeps_idle;           /* also rows of code for which there is nothing */
    bool keeps_stretches;
    bool keeps_extents;
};

/* On return *found says whether the function or file that was asked for has any code (true: nothing
 * in particular was asked for). */
void source_lines_make(struct source_lines *s, const struct source_input *in, bool *found,
                       struct arena *a);
void source_lines_deinit(struct source_lines *s);

/* Whether a linkage name is what a person calls `wanted`: itself, demangled, without arguments, or
 * the last part of that. */
bool function_is_called(const char *linkage_name, const char *wanted);

#endif

/* From addresses to source positions: what was measured of a program's code, in the form that its
 * compiler reads.
 *
 * A count is how often code ran. Samples are times instead: a block of code that runs as often as
 * another one, but has twice the instructions, gets twice the samples. So the samples of a basic
 * block are divided by its instructions; what is left is proportional to how often it ran, and
 * noise of single instructions is gone. Branches that the CPU noted need no such estimate: between
 * one and the next, all code ran once. Of a position, which may have many pieces of code, the
 * largest count is taken: pieces of a block all run as often as the block. */
#ifndef MONARC_PROFILE_ANALYSIS_SOURCE_MAPPING_H
#define MONARC_PROFILE_ANALYSIS_SOURCE_MAPPING_H

#include "profile/analysis/functions.h"
#include "profile/model/source_profile.h"

struct code_hit {
    uint64_t address;
    double weight; /* in samples */
};

/* A call that was counted, or seen on stacks. */
struct code_called {
    uint64_t from; /* within the call instruction; 0: not known */
    uint64_t to;   /* within the function that was called */
    double count;
};

/* A branch that was taken, and the code after it that ran straight through. */
struct code_branch {
    uint64_t from, to; /* the instruction, and where it led; 0: elsewhere than in the program */
    uint64_t end;      /* the next branch that was taken; 0: not known */
    uint64_t count, missed;
    bool is_edge; /* one of all edges between blocks, those that go straight on as well: a block ran
                     as often as its edges were taken */
    bool is_stretch; /* the code from `to` to `end` alone: its branch is another record's */
};

/* All that was measured of one program, addresses as linked. With branches, counts and calls are
 * theirs, and hits say only where time passed. */
struct code_measured {
    VEC(struct code_hit) hits;
    VEC(struct code_called) calls;
    VEC(struct code_branch) branches;
    bool has_counted_calls; /* of `calls`, that they are how often; else: samples of what was called
                             */
};
void code_measured_deinit(struct code_measured *m);

/* Whose discriminators, names and limits. */
enum source_compiler { COMPILER_GCC, COMPILER_LLVM };

struct source_mapping_input {
    struct object *object;
    const struct functions *functions;
    struct code_measured *measured; /* gets sorted */
    enum source_compiler target;
    bool no_discriminators; /* the program is the other compiler's, whose numbers mean nothing */
};

/* Why samples of the program are not in the profile. */
enum unmapped {
    UNMAPPED_NO_SYMBOL,      /* no function is known there */
    UNMAPPED_NO_LINES,       /* its code has no line numbers */
    UNMAPPED_LINE_ZERO,      /* the compiler says that this code is of no line */
    UNMAPPED_NO_DECLARATION, /* it is not known where the function is declared */
    UNMAPPED_REASONS
};
const char *unmapped_text(enum unmapped reason);

/* The result for one function, by its symbol; and for one line of source. */
struct mapped_function {
    uint32_t function; /* in `functions` */
    double samples, mapped;
    double why[UNMAPPED_REASONS];
};
struct mapped_line {
    const char *file, *function; /* the innermost one's linkage name */
    uint32_t line;
    double samples;
    uint64_t count; /* of the position with the largest one */
};

struct source_mapping {
    double samples, mapped;
    double why[UNMAPPED_REASONS];
    const char *no_code; /* the library that reads code cannot be loaded: why; blocks are guessed */
    uint64_t far_lines;  /* positions beyond 65535 lines from the declaration, or before it */
    VEC(struct mapped_function) functions; /* most samples first */
    VEC(struct mapped_line) lines;         /* likewise */
    struct arena arena;
};
void source_mapping_deinit(struct source_mapping *m);

/* Adds to *out. Linear in the measured code, and reads no more debug information than of that. */
void source_mapping_make(struct source_mapping *m, const struct source_mapping_input *in,
                         struct source_profile *out);

/* How long a name is without what compilers append to clones (.isra.0, .cold, .llvm.123); of gcc's
 * profiles it ends at the first dot. */
size_t source_name_length(const char *name, enum source_compiler target);

/* The discriminator as the compiler's profile has it, of that in the line table; *copies: of how
 * many copies of the block this is one, all of which count. */
uint32_t source_discriminator(uint32_t recorded, enum source_compiler target, uint32_t *copies);

#endif

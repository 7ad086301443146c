/* Source with what was measured beside it: which lines of which files are shown, with their text,
 * and the machine code between them. A plain table that every form of the report prints. */
#ifndef MONARC_PROFILE_ANALYSIS_ANNOTATE_H
#define MONARC_PROFILE_ANALYSIS_ANNOTATE_H

#include "profile/analysis/source_lines.h"
#include "profile/analysis/summary.h"
#include "source/search.h"
#include "source/text.h"

struct annotate_rules {
    double min_percent; /* of all samples: from there on a line is hot */
    uint64_t context;   /* lines shown around a hot one */
    bool shows_all;     /* whole files */
    uint32_t only_line; /* of every file this line alone, hot or not, and all code of it; 0: no */
    bool is_function;   /* source_input.only_function was given: show all of it */
    bool has_code, is_intel; /* instructions, and how they are spelled */
};

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

struct annotated_line {
    uint64_t line;
    uint32_t row; /* or NO_ROW: there is no code */
    bool is_hot;
    bool has_text;
    bool begins_region;
    struct bytes text; /* without line end */
    uint32_t first, instructions;
};

struct annotated_file {
    uint32_t file;      /* in the source lines */
    const char *path;   /* where it was found, or NULL */
    const char *why;    /* why there is no text, or NULL */
    bool is_lost;       /* `why` is the system's trouble, not that there is no such file */
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
    bool has_code, is_machine_unknown; /* the latter: no instructions, since nobody can read them */
    struct {
        uint32_t files, lines; /* with samples or counts, not hot enough to show */
        double self;
    } omitted;
};

void annotate_make(struct annotated *t, const struct source_lines *s, const struct summary *summary,
                   const struct source_input *in, const struct source_search *search,
                   const struct annotate_rules *rules, struct arena *a);
void annotate_deinit(struct annotated *t);

#endif

/* One source file, its lines with time, calls and counts of a profile, and with coverage. */
#ifndef MONARC_TUI_MODEL_SOURCE_H
#define MONARC_TUI_MODEL_SOURCE_H

#include "bridge/measured_sources.h"
#include "source/source.h"
#include "tui/model/measurement.h"

/* What became of a line of coverage since the base. */
enum since { SINCE_NOTHING, SINCE_LOST, SINCE_GAINED };

/* What is known of a line; sums of all code on it. */
struct source_figures {
    double self;
    uint64_t calls, executions;
    const struct result_line *covered; /* NULL: no code, or no coverage */
    uint32_t function;                 /* of the profile, with code here; UINT32_MAX: none */
    bool has_count, has_entry;
    double base;   /* the share of all samples that the line had in the base */
    bool has_base; /* it is sure which line that was */
    bool is_meant; /* its time has changed by more than chance explains */
    enum since since;
};

struct source_table {
    const struct measured_source *source; /* NULL: none was opened */
    uint32_t number;                      /* of the source */
    struct source_text text;
    char missing[1024];               /* why there is no text; "" */
    bool was_changed;                 /* since it was measured */
    VEC(struct source_figures) lines; /* [0] is line 1 */
    const struct coverage_result *coverage;
    double hot; /* samples of the hottest line */
    uint64_t most_calls, most_executions, most_covered;
    bool has_branches, has_conditions;
    bool has_base, has_since; /* there is a base of the profile, and one of coverage */
};

struct source_table_input {
    const struct measured_sources *sources;
    const struct source_lines *lines;       /* NULL: of no profile */
    const struct coverage_result *coverage; /* NULL: of none */
    int64_t measured_at;                    /* seconds since 1970; 0: unknown */
};

/* Reads a source into a zeroed table, or one used before. */
void source_table_open(struct source_table *t, const struct source_table_input *in,
                       uint32_t number);
void source_table_deinit(struct source_table *t);

/* Branches of a line and those of them that were taken. */
void source_branches(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                     uint32_t *taken);

/* Outcomes of the terms of a line's conditions (two each), and those that decided one alone. */
void source_conditions(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                       uint32_t *seen);

/* What one can jump to. */
enum source_jump {
    JUMP_HOT,      /* a line with at least a tenth of what the hottest one has */
    JUMP_MISSED,   /* code that never ran */
    JUMP_UNTAKEN,  /* a line that ran, with a branch that was never taken, or an outcome of a
                      condition not seen */
    JUMP_FUNCTION, /* the beginning of a function */
    JUMP_CHANGED,  /* a line that differs from the base: surely in time, or lost, or gained */
};

/* The next such row behind `row`, or before it, around the ends; `lines.len` if there is none. */
size_t source_find_jump(const struct source_table *t, enum source_jump jump, size_t row,
                        bool is_back);

#endif

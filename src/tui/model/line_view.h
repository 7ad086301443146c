/* Everything about one line of a source: its branches and conditions one by one, and its machine
 * code, copy by copy, as it stands in a function of its own and wherever it was inlined. */
#ifndef MONARC_TUI_MODEL_LINE_VIEW_H
#define MONARC_TUI_MODEL_LINE_VIEW_H

#include "profile/analysis/source_lines.h"
#include "tui/model/source.h"

enum detail_kind {
    DETAIL_TEXT,  /* the line itself, or a fact about it */
    DETAIL_COPY,  /* a copy of its code */
    DETAIL_PLACE, /* where that was inlined */
    DETAIL_CODE   /* an instruction */
};

struct detail {
    enum detail_kind kind;
    double self; /* of a copy and of an instruction: samples */
    const char *text;
    const char *file; /* where one can go from here, as debug information has it; or NULL */
    uint32_t line;
    uint32_t function; /* that a copy is in, and that an instruction calls; or NO_NODE */
};

struct line_view {
    struct arena arena;
    VEC(struct detail) rows;
    uint32_t source, line; /* what they are of; line 0: of nothing */

    /* The code of all lines of one source, kept for the next line. */
    struct arena code_arena;
    struct source_lines code;
    uint32_t code_of; /* the source; UINT32_MAX: none */
    const struct measurement *code_from;
};

struct line_view_input {
    struct measurement *measured; /* NULL: no profile with line numbers */
    struct measured_sources *sources;
    const struct source_search *search;
    const struct source_table *source;
    uint32_t line;
};

/* Into a zeroed *d, or one used before. */
void line_view_make(struct line_view *d, const struct line_view_input *in);
void line_view_deinit(struct line_view *d);

/* Whether the code of that source is at hand: otherwise the next line takes a while. */
bool line_view_has_code(const struct line_view *d, const struct line_view_input *in);

#endif

/* Coverage, in the forms that people and tools read. All print one story and agree. */
#ifndef MONARC_REPORT_COVER_H
#define MONARC_REPORT_COVER_H

#include "coverage/analysis/patch_coverage.h"
#include "coverage/analysis/problems.h"
#include "coverage/analysis/coverage_result.h"
#include "output/out.h"
#include "coverage/model/coverage.h"

struct cover_gate {
    const char *name; /* "line", "branch", "function", "condition", "diff" */
    double limit, percent;
    bool has_failed, is_empty; /* is_empty: there was nothing to count, and percent is 100 */
};

struct cover_story {
    const struct cover_result *result;
    const struct cover_problems *problems;
    const struct cover_diff *diff; /* or NULL */
    const char *patch;             /* its name */
    const struct cover_gate *gates;
    size_t gates_len;
    uint64_t objects, unrun, counters, traces;
    uint64_t unknown_functions, repaired_functions;
    bool leaves_system;      /* sources of the system were left out */
    bool leaves_unwanted;    /* patterns left sources out */
    bool keeps_all_branches; /* those of exceptions, too */
    int64_t timestamp;       /* seconds since 1970, where a form must have one */
    const char *root;
    const char *test; /* name for the tracefile, or NULL */
    unsigned threads; /* 0: as many as there are */
};

enum cover_order { ORDER_NAME, ORDER_PERCENT, ORDER_MISSED, ORDER_LINES };

struct cover_style {
    bool has_colour;
    enum cover_order order;
    uint64_t limit; /* rows; 0: all */
    bool shows_functions;
    bool shows_missing;  /* lines */
    bool shows_branches; /* never taken */
    bool shows_conditions;
    unsigned context; /* lines around what is missing */
};

void cover_text(struct out *out, const struct cover_story *s, const struct cover_style *style);
void cover_markdown(struct out *out, const struct cover_story *s, const struct cover_style *style);
void cover_json(struct out *out, const struct cover_story *s);
void cover_lcov(struct out *out, const struct cover_story *s, bool is_lcov2);
void cover_cobertura(struct out *out, const struct cover_story *s);

/* ---- what the forms share */

/* Sources in the order asked for. */
uint32_t *cover_ranking(const struct cover_result *r, enum cover_order order, struct arena *a);

/* What a gate saw: "line coverage is 71.43 %, 80.00 % are asked for". */
void cover_gate_text(struct out *out, const struct cover_gate *g);

/* A percentage with one decimal that never says 100 or 0 of what is not quite so. 8 bytes. */
void cover_percent_text(char *into, size_t size, const struct cover_ratio *r);

/* Where the lines of a state that begin at `i` end: up to the next line of another state. Lines
 * without code between two of them do not divide them. */
uint32_t cover_run_end(const struct cover_result *r, const struct result_source *s, uint32_t i);

/* What was left out, as sentences; each `print` ends none. */
void cover_left_out(const struct cover_story *s, void (*print)(void *context, const char *sentence),
                    void *context);

/* Branches or outcomes that were never seen, "1, 3 of 4"; false if there are none. */
bool cover_branches_missed(struct out *out, const struct cover_result *r,
                           const struct result_line *l);

/* How a function is unknown: a sentence without a full stop. */
const char *cover_unknown_reason(const struct result_function *f, struct arena *a);

#endif

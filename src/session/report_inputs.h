/* The source lines of a program or recording, with what was measured on each. */
#ifndef MONARC_SESSION_REPORT_INPUTS_H
#define MONARC_SESSION_REPORT_INPUTS_H

#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/tables.h"
#include "profile/analysis/source_lines.h"
#include "profile/report/report.h"
#include "session/session.h"
#include "source/source.h"

/* The search says where sources are read; its arena may be the session's. */
struct sources_options {
    struct session_options session;
    struct source_search search;
    const char *function, *file; /* only lines of these; NULL: of all */
    bool only_own;               /* only lines of the project's own code */
};

/* The program or recording, its profile, and its lines. */
struct sources {
    struct session session;
    struct source_input input;
    struct source_lines lines;
};

/* What totals of lines are measured on, in the session's arena; NULL: no recording. */
const struct stack_lines_input *stack_lines_input_of(struct session *s);

/* Opens, reads and analyses; fails too if the requested function or file is not there. The rest of
 * `input` may be filled before. sources_close() after failure, too. */
MUST_CHECK bool sources_open(struct sources *s, struct sources_options *o, struct err *e);
void sources_close(struct sources *s, struct sources_options *o);

/* A line table of what a session has opened. */

/* All that lines_make() wants but how names are shown and whether inlined code is separate. The
 * session was opened with `places_samples`. false: the program has no lines. */
MUST_CHECK bool session_lines_input(struct session *s, const char *program, struct lines_input *in,
                                    struct err *e);

/* Opening the sides of a comparison, run by run. */

/* Names as they are given: PROGRAM PROFILE..., PROFILE... of a program that is named apart, or
 * recordings. Each profile, and each recording, is a run of its own. */
struct side_names {
    const char *program; /* NULL: the first name is it */
    char *const *names;
    size_t len;
    bool by_lines; /* compare lines instead of functions */
};

/* Into a zeroed *s. `base` says how files are read; its operands are ignored. run_set_deinit()
 * after failure, too. What may not be read by this user is missing on that side, and s->unread says
 * so; trouble with the system is a failure, as it would look like a change. */
MUST_CHECK bool side_open(struct run_set *s, const struct session_options *base,
                          const struct side_names *names, struct err *e);

/* What recorded stacks are shown without: functions that match one of the patterns, or are of one
 * of the objects, by the last part of their paths. Their time goes to their callers, so sums stay.
 */
struct stack_edits {
    struct filter functions; /* its `focus` */
    VEC(const char *) objects;
    bool folds_recursion; /* a function that is on its own stack is shown once */
};

/* Gives them to `frames`; `names` are those of its functions. Fails if a pattern or an object is of
 * no function. Lives in the session's arena. */
MUST_CHECK bool stack_edits_apply(const struct stack_edits *edits, struct named_frames *frames,
                                  struct names *names, struct session *s, struct err *e);
void stack_edits_deinit(struct stack_edits *edits);

static inline bool stack_edits_are_any(const struct stack_edits *edits)
{
    return edits->functions.focus.len || edits->objects.len || edits->folds_recursion;
}

/* Trees of recorded stacks: of all of them, or of the callers or callees of a function. */

/* What is wanted. */
struct call_trees_request {
    enum call_direction direction;
    const char *function;            /* a name as functions_named() takes it; NULL: all stacks */
    struct filter *through;          /* only stacks with a function of its `focus` and places, and
                                      * of those the frames of own code alone (`only_own`) */
    uint64_t depth;                  /* levels; 0: all */
    uint64_t limit;                  /* rows; 0: as many as can be read */
    double min_percent;              /* negative: as is usual */
    bool has_inlines;                /* functions that were inlined stand in the trees as well */
    bool has_chains;                 /* as in call_report */
    const char *demangle;            /* as names_init() takes it */
    const struct stack_edits *edits; /* NULL: stacks are shown as they are */
};

/* `report` points into the rest; names and frames are of all functions, inlined ones too. */
struct call_trees {
    struct session *session;
    const struct call_trees_request *request;
    struct named_frames frames;
    struct names names;
    struct call_tree tree;
    struct function_list wanted; /* one of each requested function */
    struct call_report report;   /* what a report prints */
};

/* Of a session on a recording. False if the function is not there. call_trees_deinit() after
 * failure, too. */
MUST_CHECK bool call_trees_make(struct call_trees *c, struct session *s,
                                const struct call_trees_request *q, struct err *e);

/* Shortens the names of what the trees show. */
void call_trees_shorten_names(struct call_trees *c);
void call_trees_deinit(struct call_trees *c);

#endif

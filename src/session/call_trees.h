/* Trees of recorded stacks: of all of them, or of the callers or callees of a function. */
#ifndef MONARC_SESSION_CALL_TREES_H
#define MONARC_SESSION_CALL_TREES_H

#include "profile/analysis/tables.h"
#include "profile/report/call_tree.h"
#include "session/session.h"

/* What is wanted. */
struct call_trees_request {
    enum call_direction direction;
    const char *function; /* a name as functions_named() takes it; NULL: all stacks */
    uint64_t depth;       /* levels; 0: all */
    uint64_t limit;       /* rows; 0: as many as can be read */
    double min_percent;   /* negative: as is usual */
    bool has_inlines;     /* functions that were inlined stand in the trees as well */
    const char *demangle; /* as names_init() takes it */
};

struct call_trees {
    struct session *session;
    const struct call_trees_request *request;
    struct named_frames frames;
    struct names names;
    struct call_tree tree;
    struct function_list wanted; /* one of each function that is asked for */
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

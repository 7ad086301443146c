/* Shared by the parts of `monarc optimize`: the request, writing one profile, and the way from two
 * builds to a verdict. */
#ifndef MONARC_CLI_OPTIMIZE_H
#define MONARC_CLI_OPTIMIZE_H

#include "cli/cli.h"
#include "session/source_profiles.h"

/* Compilers take positions in sources, BOLT addresses, linkers names: what is read, and how far it
 * is mapped, follows from that. The order is that of --for's values. */
enum optimize_target {
    TARGET_NONE,
    TARGET_GCC,
    TARGET_CLANG,
    TARGET_BOLT,
    TARGET_GCDA,
    TARGET_LLD,
    TARGET_GOLD,
    TARGET_LD,
    TARGET_MOLD,
    TARGET_CALLS,
    TARGET_NAMES
};

/* `limit` is of the tables of --explain. Linkers are the last targets, from TARGET_LLD on; they
 * take `object` and `cluster_bytes`, of which 0 is the best of the sizes of a page, a huge page and
 * one between. */
struct optimize_request {
    struct view_options view;
    struct source_request source;
    enum optimize_target target;
    const char *output;
    uint64_t gcc, limit;
    const char *build, *flags, *run; /* the last step; NULL: the inputs are given */
    uint64_t repeat;
    const char *against; /* of --for gcda: the new build's notes */
    const char *object;
    uint64_t cluster_bytes;
    bool is_binary, explains;
};

/* Reads r->source, writes the profile and reports on `out` how the samples were used. */
MUST_CHECK bool optimize_profile(struct optimize_request *r, struct out *out, struct err *e);

/* --build and --run: builds plain, measures, builds with the profile, runs both in turn, and keeps
 * the profile only if it gained something. An exit status. */
int optimize_build(struct optimize_request *r, struct out *out, struct err *e);

/* --for gcda: the inputs' counters for gcc's -fprofile-use, and their use. */
MUST_CHECK bool optimize_counters(const struct optimize_request *r, struct out *out, struct err *e);

/* --for lld and other linkers: opens the operands, writes the order of functions, and reports what
 * it should bring. An exit status. */
int optimize_order(struct optimize_request *r, const struct command *self,
                   struct operands *operands, struct out *out, struct err *e);

#endif

/* Whether a profile by source position still fits a program: how much of each function's counts the
 * program has code for, after its sources were edited. */
#ifndef MONARC_PROFILE_ANALYSIS_SOURCE_FIT_H
#define MONARC_PROFILE_ANALYSIS_SOURCE_FIT_H

#include "profile/analysis/functions.h"
#include "profile/model/source_profile.h"

enum source_fit_state {
    SOURCE_FITS,
    SOURCE_CHANGED, /* some of its counts have no code, or are of another call than before */
    SOURCE_GONE     /* the program has no code of a function of that name */
};

struct source_fit_function {
    const char *name; /* the profile's */
    enum source_fit_state state;
    uint64_t count;      /* of its positions, summed; of what is inlined in it, too */
    uint64_t without;    /* of these: at lines that have no code now */
    uint64_t at_another; /* of these: of inlined functions that are called at another line now */
};

/* Functions with the most counts that the program cannot use first, then those with most counts. */
struct source_fit {
    struct arena arena;
    VEC(struct source_fit_function) functions;
    uint64_t count, lost; /* of all functions; saturating */
    uint64_t changed, gone;
};

/* Walks all line tables of the program once. Discriminators are left out: they move with each
 * version of a compiler. */
void source_fit_make(struct source_fit *fit, const struct source_profile *p, struct object *object,
                     const struct functions *f);
void source_fit_deinit(struct source_fit *fit);

#endif

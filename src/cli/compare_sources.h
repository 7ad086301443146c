/* Comparing a profile for a compiler with another one, or with a program (monarc diff). */
#ifndef MONARC_CLI_COMPARE_SOURCES_H
#define MONARC_CLI_COMPARE_SOURCES_H

#include "base/err.h"
#include "output/out.h"

/* Below `least` percent in common is a finding. */
struct source_comparison {
    const char *debug_dir; /* of the program; NULL: none */
    bool is_json;
    uint64_t limit; /* functions in text; 0: all */
    uint64_t least;
};

/* Prints what OLD and NEW, or PROGRAM and PROFILE, share, and which functions lost their counts.
 * Returns an exit status. */
int compare_sources(const struct source_comparison *c, char *const *names, struct out *out,
                    struct err *e);

#endif

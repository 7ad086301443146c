/* monarc convert --to gmon --program, and coverage beside a profile: counters of arcs, and profiles
 * of clang's and rustc's coverage, become block counts of a program. */
#ifndef MONARC_SESSION_ARCS_PROFILE_H
#define MONARC_SESSION_ARCS_PROFILE_H

#include "bridge/bridge.h"
#include "profile/analysis/functions.h"
#include "session/profiles.h"
#include "source/source.h"

/* Texts are the command line's. 0 and NULL leave a choice to the program or to the place of the
 * counters. */
struct arcs_profile_request {
    const char *program;
    const char *debug_dir; /* or NULL */
    const char *notes;     /* of all files named, or a folder of them; or NULL: beside */
    const char *output;
    const struct format *to;
    struct source_search maps;
    uint8_t word;          /* 0: as the program */
    enum byte_order order; /* likewise */
    bool adds_calls, repairs;
};

/* Reads counters (files, or folders of gcda) with their notes, and writes the profile. An exit
 * status; what was left out is one line in *e, also if that is 0. */
int arcs_profile(const struct arcs_profile_request *request, char *const *paths, size_t len,
                 struct err *e);

/* For reports that go by calls alone, such as the order of functions for a linker. */
struct arcs_calls_request {
    struct object *object;
    const struct functions *functions; /* of the object */
    bool is_forced;                    /* what cannot be used is passed over */
    struct arena *arena;               /* of arcs_positions(): for what it reports */
    /* Profiles of clang in a folder of gcc's counters, of which the program has no mapping: if this
     * is given, they are passed over, and it is set to the path of the first. */
    const char **passed_over;
};

/* Reads counters with their notes, files or folders of them, and makes calls of the functions they
 * entered (bridge/bridge.h) in a zeroed *out. */
MUST_CHECK bool arcs_calls(const struct arcs_calls_request *request, char *const *paths, size_t len,
                           struct profile *out, struct err *e);

/* Reads coverage of gcc, clang or rustc and appends counts of the program's lines to *out, as block
 * records. *left: one sentence about what the program has no place for, in `a`, or NULL. */
MUST_CHECK bool arcs_blocks(const struct arcs_calls_request *request, char *const *paths,
                            size_t len, struct profile *out, const char **left, struct arena *a,
                            struct err *e);

/* Reads coverage of gcc, clang or rustc and adds its counts to a profile by source position. */
MUST_CHECK bool arcs_positions(const struct arcs_calls_request *request, char *const *paths,
                               size_t len, enum source_compiler target, struct source_profile *out,
                               struct line_positions_report *report, struct err *e);

#endif

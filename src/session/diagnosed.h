/* What `monarc doctor` works with: whatever can be had of a program and a profile, or of a
 * recording, and the diagnosis of it. */
#ifndef MONARC_SESSION_DIAGNOSED_H
#define MONARC_SESSION_DIAGNOSED_H

#include "profile/analysis/diagnosis.h"
#include "session/embedded_files.h"
#include "session/session.h"

/* How the files are to be read, as for any other command. */
struct diagnosed_options {
    struct profile_options read;
    const char *debug_dir, *symbols;
};

/* What the input and the diagnosis point into. */
struct diagnosed {
    struct arena arena;
    struct diagnosis_input input;
    struct diagnosis diagnosis;
    struct functions functions;
    struct profile measured, sum; /* as in the file; equal records summed, as other commands do */
    struct attribution time;
    struct sharing sharing;
    struct graph graph;
    struct names names;
    struct summary summary;
    struct embedded embedded; /* what a target said beside its profile */
    struct session session;   /* of a recording */
    struct session_options session_options;
    struct err object_error, profile_error;
};

/* Into a zeroed *d. The names must outlive it. */
void diagnosed_profile(struct diagnosed *d, const char *program, const char *profile,
                       const struct diagnosed_options *o);
void diagnosed_recording(struct diagnosed *d, char *folder, const struct diagnosed_options *o);
void diagnosed_close(struct diagnosed *d);

#endif

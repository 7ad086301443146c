/* Files of other profilers in the place of recordings. */
#ifndef MONARC_SESSION_IMPORTED_H
#define MONARC_SESSION_IMPORTED_H

#include "base/err.h"
#include "profile/model/recording.h"

#include <stdbool.h>

/* Whether the path can be taken for a recording: a folder, or such a file. */
bool is_recording(const char *path);

/* Whether a folder is one of 'perf record --threads': a perf.data of several files. */
bool is_perf_folder(const char *path);

/* Reads such a folder, or a file ("-": standard input) into a zeroed *out. */
MUST_CHECK bool imported_read(const char *path, struct recording *out, struct err *e);

#endif

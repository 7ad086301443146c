/* Where a counter file goes: GCOV_PREFIX, GCOV_PREFIX_STRIP, %p and %q{VARIABLE}, as in libgcov. */
#ifndef MONARC_COVER_NAMES_H
#define MONARC_COVER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* An environment variable, without libc's lock; NULL if it is not set, and in a set-user-ID
 * program. */
const char *names_variable(const char *name);
/* The path for the file name in an object. False if it is longer than `size`. */
bool names_path(const char *filename, char *to, size_t size);

#endif

/* Messages to the user: one line a problem, on standard error or at the end of GCOV_ERROR_FILE.
 * What hits many files alike (a read-only folder, a full disk) is one line for all of them. */
#ifndef MONARC_COVER_REPORT_H
#define MONARC_COVER_REPORT_H

#include <stdbool.h>

/* One problem: "libmonarc_cover: PATH: TEXT DETAIL". `detail` may be NULL. */
void report(const char *path, const char *text, const char *detail);
/* A file could not be written, for the reason -errno. Collected until report_lost_files. */
void report_lost(const char *path, long error);
void report_lost_files(void);
/* Whether anything was reported. */
bool report_any(void);

#endif

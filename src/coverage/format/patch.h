/* Unified diffs, as `git diff`, `diff -u`, Mercurial and Subversion write them. */
#ifndef MONARC_COVERAGE_FORMAT_PATCH_H
#define MONARC_COVERAGE_FORMAT_PATCH_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/patch.h"

/* Reads into a zeroed *out. An empty patch changes nothing; text without any hunk or file header is
 * an error: a patch that was not read must not pass as one that changes nothing. */
MUST_CHECK bool patch_read(struct bytes in, const char *name, struct patch *out, struct err *e);

#endif

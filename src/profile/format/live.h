/* The live tables of a hosted recorder. The bytes: docs/formats/sidecar.md. */
#ifndef MONARC_PROFILE_FORMAT_LIVE_H
#define MONARC_PROFILE_FORMAT_LIVE_H

#include "base/bytes.h"
#include "profile/model/unfinished.h"

/* Reads into a zeroed *out; unfinished_finish() is the caller's. Extents whose header is damaged
 * are passed over, as the format says; one that is cut off is read as far as it goes. */
MUST_CHECK bool live_read(struct bytes in, const char *name, struct unfinished *out, struct err *e);

#endif

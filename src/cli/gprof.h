/* What `monarc gprof` needs from a profile that GNU gprof reads in its own way. */
#ifndef MONARC_CLI_GPROF_H
#define MONARC_CLI_GPROF_H

#include "cli/as_gprof.h"
#include "model/profile.h"
#include "objfile/object.h"

/* Reads and adds up the profiles, checking as GNU does: same ranges are summed whatever their rate;
 * other overlaps, another scale or dimension are errors. Word size and byte order are the image's. */
MUST_CHECK bool gprof_read_profiles(const struct gprof_options *o, const struct object *image,
                                    struct profile *all, struct out *out, struct err *e);

#endif

/* `monarc gprof -A`: sources found, read and printed, or written into files beside (-y). */
#ifndef MONARC_GNU_GPROF_GPROF_ANNOTATE_H
#define MONARC_GNU_GPROF_GPROF_ANNOTATE_H

#include "gnu/gprof/as_gprof.h"
#include "gnu/gprof/gprof_text.h"

/* A missing source is named on standard error and passed over, as is a file that cannot be written.
 * False: a file was refused, since writing it would have replaced a source. */
MUST_CHECK bool gprof_annotate(const struct gprof_options *o, struct gprof_report *r,
                               struct arena *a, struct out *out);

#endif

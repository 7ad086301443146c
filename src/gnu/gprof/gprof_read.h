/* What `monarc gprof` needs from a profile that GNU gprof reads in its own way.
 *
 * Messages are GNU's, with the program's name as it was started; errors end the command with status
 * 1. */
#ifndef MONARC_GNU_GPROF_GPROF_READ_H
#define MONARC_GNU_GPROF_GPROF_READ_H

#include "gnu/gprof/as_gprof.h"
#include "objfile/object.h"
#include "profile/analysis/graph/graph.h"
#include "profile/model/profile.h"

/* Zeroed at first; profile_deinit() frees what is in it. */
struct gprof_input {
    struct profile profile;
    bool has_arcs;    /* arcs, or a BSD file, which has a place for them */
    uint32_t version; /* of the last file that had one: what -i says of all after it */
};

/* Reads and adds up the profiles, checking as GNU does: same ranges are summed whatever their rate;
 * other overlaps, another scale or dimension are errors. Word size and byte order are the image's.
 */
MUST_CHECK bool gprof_read_profiles(const struct gprof_options *o, const struct object *image,
                                    struct gprof_input *input, struct out *out, struct err *e);

/* `monarc gprof -s`. */

/* Replaces ./gmon.sum by the sum of what was read, in the image's word size and byte order and the
 * format that -O names. `g`: connected, or NULL where there were no arcs. */
MUST_CHECK bool gprof_write_sum(const struct gprof_options *o, const struct object *image,
                                const struct profile *p, const struct functions *f,
                                const struct graph *g, struct err *e);

#endif

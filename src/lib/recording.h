/* What the files of recordings share. */
#ifndef MONARC_LIB_RECORDING_H
#define MONARC_LIB_RECORDING_H

#include "base/map.h"
#include "lib/call.h"
#include "profile/model/recording.h"

#include "monarc/recording.h"

struct monarc_recording {
    struct heap heap;
    struct recording recording;
    struct map node_of; /* (parent and object, address) to the node; of building alone */
    bool is_mapped;     /* node_of has all nodes */
    enum monarc_format format;
};

/* Whether bytes are a sidecar; and reading one into an empty recording: the files that it names are
 * beside `path`, if that is not NULL. After a failure it is to be cleared. */
bool recording_is_side(struct bytes in);
bool recording_read_side(struct monarc_recording *r, const char *path, const struct call_input *in,
                         struct monarc_error *e);

#endif

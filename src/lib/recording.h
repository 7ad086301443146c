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

#endif

/* The rank of a process in a parallel job, from its environment. */
#ifndef MONARC_PROFILE_MODEL_LAUNCHERS_H
#define MONARC_PROFILE_MODEL_LAUNCHERS_H

#include "base/bytes.h"
#include "profile/model/recording.h"

/* A rank as the environment gives it. `order` is the place of its launcher in the table: of a
 * process that several launchers started, one inside another, the least counts. */
struct rank_told {
    struct recording_rank rank; /* without process and host */
    unsigned order;
};

/* Looks through an environment, entries that end in NUL bytes; false: no launcher left a rank. */
bool rank_of_environment(struct bytes environment, struct rank_told *out);

#endif

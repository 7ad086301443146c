/* Which rank of a parallel job a process is, told from its environment. */
#ifndef MONARC_RECORD_RANKS_H
#define MONARC_RECORD_RANKS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "profile/model/recording.h"

#include <sys/types.h>

/* A rank as the environment tells it. `order` is the place of its launcher in the table: of a
 * process that several launchers started, one inside another, the least counts. */
struct rank_told {
    struct recording_rank rank; /* without process and host */
    unsigned order;
};

/* Looks through an environment, entries that end in NUL bytes; false: no launcher left a rank. */
bool rank_of_environment(struct bytes environment, struct rank_told *out);

/* The same for our own, and for a process that runs, as it was started; `is_read`: it has an
 * environment, and that can be read. */
bool rank_of_own(struct rank_told *out);
bool rank_of_process(pid_t pid, struct rank_told *out, bool *is_read);

/* The name of this machine, in `a`. */
const char *rank_host(struct arena *a);

#endif

/* The rank of a process in a parallel job, from its environment. */
#ifndef MONARC_RECORD_RANKS_H
#define MONARC_RECORD_RANKS_H

#include "base/arena.h"
#include "profile/model/launchers.h"

#include <sys/types.h>

/* rank_of_environment() of our own, and for a process that runs, as it was started; `is_read`: it
 * has an environment that can be read, or is gone and never will. */
bool rank_of_own(struct rank_told *out);
bool rank_of_process(pid_t pid, struct rank_told *out, bool *is_read);

/* The name of this machine, in `a`. */
const char *rank_host(struct arena *a);

#endif

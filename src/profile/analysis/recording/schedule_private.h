/* What the files share that make the graph of a job's points. */
#ifndef MONARC_PROFILE_ANALYSIS_SCHEDULE_PRIVATE_H
#define MONARC_PROFILE_ANALYSIS_SCHEDULE_PRIVATE_H

#include "profile/analysis/recording/schedule.h"

/* What kind of call a wait is in decides who may have ended it. */
enum wait_kind {
    WAIT_TIMER,
    WAIT_DEVICE,
    WAIT_CHILD,
    WAIT_THREAD,
    WAIT_PEER,
    WAIT_POLL, /* likewise, or until some time */
    WAIT_ANY,
    WAIT_OTHER, /* of calls without a known kind */
    WAIT_NO_CPU,
    WAIT_STOPPED /* none: recording was off */
};

/* Which threads may end the wait, by its call. */
enum wait_kind schedule_wait_kind(const struct recording *r, uint32_t node);

/* Whether a thread at that place spins until others are ready, which looks like work: in libraries
 * of OpenMP and in loops of the program, until threads of its process are (WAIT_THREAD), in those
 * of MPI until any is (WAIT_PEER). WAIT_OTHER: it does not. */
enum wait_kind schedule_spins_for(const struct schedule *s, uint32_t node);

/* CPU time by thread and slice, and from each sample to its row. Waits are samples too, and have
 * no row: they are off the CPU. */
void schedule_make_rows(struct schedule *s, struct arena *a);

#endif

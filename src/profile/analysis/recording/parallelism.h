/* How many threads of a job ran at a time, and the part of the wall time that each sample stands
 * for.
 *
 * A sample of CPU time while n threads of the job ran stands for 1/n of its weight: what that sums
 * up to is the time in which anything ran (`perf report --latency` of Linux 6.15 weighs likewise).
 * So code that runs alone counts in full, and code that runs beside others for less. */
#ifndef MONARC_PROFILE_ANALYSIS_PARALLELISM_H
#define MONARC_PROFILE_ANALYSIS_PARALLELISM_H

#include "base/arena.h"
#include "profile/analysis/summary.h"
#include "profile/model/recording.h"

/* The names of the events that parallelism_add_event() makes. */
#define PARALLELISM_EVENT     SUMMARY_LATENCY
#define PARALLELISM_CPU_EVENT "CPU"

/* How long how many threads ran; of all processes, whichever are chosen, and of the chosen times.
 * `ns[n]` for n threads; [0] is the time in which none did. */
struct parallelism {
    double *ns;
    uint32_t len;
    double cpu_ns, busy_ns; /* of all threads together; in which any ran */
    bool is_measured;       /* by switches; else estimated from samples */
};

void parallelism_measure(struct parallelism *p, const struct recording *r,
                         const struct recording_choice *c, struct arena *a);

/* Adds two events to a run: the samples of CPU time of `event` (NULL: the first), waits left out,
 * and the same with each moment divided by how many threads ran. Fails if the event is not of time,
 * or there is none. */
MUST_CHECK bool parallelism_add_event(struct recording *r, const char *event, struct err *e);

#endif

/* Which samples of a run are meant: an event, threads, windows of time; and their weights. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_RUN_CHOICE_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_RUN_CHOICE_H

#include "base/arena.h"
#include "profile/model/run.h"

/* A stretch of the run's time. */
struct run_window {
    uint64_t from_ns, to_ns;
    uint32_t process; /* RUN_NONE: all */
};

struct run_choice {
    uint32_t event;
    const bool *threads; /* per thread of the run; NULL: all */
    const struct run_window *windows;
    size_t windows_len; /* 0: all of the time */
};

/* A slice belongs to a window if its middle does: windows are as coarse as slices. */
bool run_choice_admits(const struct run_choice *c, const struct run *r, const struct run_sample *s);

/* Chosen weights in units of the event's period, as if each sample had weighed that. */
struct run_weights {
    double *node; /* per node */
    double total;
    double effective; /* as many samples of equal weight would be as certain */
    uint64_t weight;  /* total in ns, or events */
    uint64_t taken;   /* samples; waits are none */
    double aside;     /* taken out of `node` and `total`: of code that only counts calls for us */
};

void run_weigh(struct run_weights *w, const struct run *r, const struct run_choice *c,
               struct arena *a);

#endif

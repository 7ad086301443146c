/* Which samples of a run are meant: an event, threads, windows of time; and their weights. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_RECORDING_CHOICE_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_RECORDING_CHOICE_H

#include "base/arena.h"
#include "profile/model/recording.h"

/* A stretch of the run's time. */
struct recording_window {
    uint64_t from_ns, to_ns;
    uint32_t process; /* RUN_NONE: all */
};

struct recording_choice {
    uint32_t event;
    const bool *threads; /* per thread of the run; NULL: all */
    const struct recording_window *windows;
    size_t windows_len; /* 0: all of the time */
};

/* A slice belongs to a window if its middle does: windows are as coarse as slices. */
bool recording_choice_admits(const struct recording_choice *c, const struct recording *r,
                             const struct recording_sample *s);

/* Chosen weights in units of the event's period, as if each sample had weighed that. */
struct recording_weights {
    double *node; /* per node */
    double total;
    double effective; /* as many samples of equal weight would be as certain */
    uint64_t weight;  /* total in ns, or events */
    uint64_t taken;   /* samples; waits are none */
    double aside;     /* taken out of `node` and `total`: of code that only counts calls for us */
};

void recording_weigh(struct recording_weights *w, const struct recording *r,
                     const struct recording_choice *c, struct arena *a);

#endif

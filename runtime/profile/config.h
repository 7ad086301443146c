/* The user's settings, read once from the environment (docs/runtime.md lists the names). Copied out
 * of the environment, because programs scribble over theirs. */
#ifndef MONARC_PROFILE_CONFIG_H
#define MONARC_PROFILE_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum sample_event {
    EVENT_CPU, /* time on a CPU, per thread */
    EVENT_WALL,
    EVENT_PAGE_FAULTS,
    EVENT_CONTEXT_SWITCHES,
    EVENT_CYCLES,
    EVENT_INSTRUCTIONS,
    EVENT_CACHE_MISSES,
    EVENT_BRANCH_MISSES,
    EVENTS
};

enum sample_clock { CLOCK_ANY, CLOCK_PERF, CLOCK_TIMER, CLOCK_ITIMER };

struct config {
    bool off;       /* MONARC_OFF, or a program with raised privileges */
    bool paused;    /* MONARC_START=0: monarc_rt_start begins */
    bool monitored; /* MONARC_CONTROL: `monarc run` samples from outside and completes the files */
    bool classic;   /* gmon.out in the working directory at exit, as glibc does */
    bool live;      /* file-backed tables */
    bool arguments; /* are recorded, but for what is probably a secret; else the name alone */
    bool follow_fork;
    bool stacks;
    bool fatal_signals;
    int dump_signal;
    uint32_t rate; /* hertz, or events per sample when the event is not a clock */
    enum sample_event event;
    enum sample_clock clock;
    char out[PATH_MAX];    /* absolute, or empty */
    char prefix[PATH_MAX]; /* GMON_OUT_PREFIX */
    char rank[16];         /* the number of our rank in a parallel job, or empty */
};

extern struct config config __attribute__((visibility("hidden")));

/* One row an event: its name in MONARC_EVENT and the dimension gmon.out and the sidecar carry. */
struct event_row {
    const char *name, *dimension;
    char abbreviation;
    bool is_clock;
};
extern const struct event_row event_rows[EVENTS] __attribute__((visibility("hidden")));

/* All but what a monitor changes: see monitor.h. */
void config_read(void);
/* A variable of the environment, or NULL. */
const char *config_variable(const char *name);

#endif

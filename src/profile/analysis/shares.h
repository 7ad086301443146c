/* How the samples of a recording are shared among its objects, threads or processes. */
#ifndef MONARC_PROFILE_ANALYSIS_SHARES_H
#define MONARC_PROFILE_ANALYSIS_SHARES_H

#include "profile/analysis/summary.h"

/* A function's samples in one thread. */
struct thread_share {
    uint32_t function;
    double self, total;
};

struct share_row {
    const char *name;
    double samples;
    uint64_t calls;                /* objects: of their functions */
    uint32_t thread, pid;          /* threads: the system's numbers; thread 0: several together */
    uint64_t cpu_ns, recording_ns; /* threads: CPU time, and time from start to end or writing */
    const struct thread_share *functions; /* threads: what they ran, most samples first */
    size_t functions_len;
    const struct recording_process *process; /* processes */
};

enum shares_kind { SHARES_OBJECTS, SHARES_THREADS, SHARES_PROCESSES };

/* Rows by samples, most first; processes as they started. What is in no row is unattributed. */
struct shares {
    const struct summary *summary;
    enum shares_kind kind;
    struct share_row *rows;
    uint32_t len;
    double rest;
};

void shares_by_object(struct shares *t, const struct summary *s, const struct space *space,
                      const struct graph *g, struct arena *a);
void shares_by_thread(struct shares *t, const struct summary *s, const struct space *space,
                      const struct functions *f, const struct recording_choice *c, struct arena *a);
void shares_by_process(struct shares *t, const struct summary *s, const struct recording_choice *c,
                       struct arena *a);

#endif

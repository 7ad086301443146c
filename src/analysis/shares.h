/* How the samples of a recording are shared among its objects, or among its threads. */
#ifndef MONARC_ANALYSIS_SHARES_H
#define MONARC_ANALYSIS_SHARES_H

#include "analysis/summary.h"

struct share_row {
    const char *name;
    double samples;
    uint64_t calls;          /* objects: of their functions */
    uint32_t thread;         /* threads: the system's number */
    uint64_t cpu_ns, run_ns; /* threads: CPU time, and time from start to end or writing */
    const struct thread_share *functions; /* threads: what they ran, most samples first */
    size_t functions_len;
};

/* Rows by samples, most first. What is in no row is unattributed. */
struct shares {
    const struct summary *summary;
    bool is_by_thread;
    struct share_row *rows;
    uint32_t len;
    double rest;
};

void shares_by_object(struct shares *t, const struct summary *s, const struct space *space,
                      const struct graph *g, struct arena *a);
/* `stacks`: of the recording; they tell functions apart by thread. */
void shares_by_thread(struct shares *t, const struct summary *s, const struct recording *r,
                      const struct stacks *stacks, struct arena *a);

#endif

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
void shares_by_thread(struct shares *t, const struct summary *s, const struct recording *r,
                      struct arena *a);

#endif

/* GNU gprof's flat profile as a table: which functions are listed, in which order. */
#ifndef MONARC_GNU_GPROF_GNU_FLAT_H
#define MONARC_GNU_GPROF_GNU_FLAT_H

#include "gnu/gprof/symspec.h"

struct gnu_flat_row {
    uint32_t function;
    uint64_t calls; /* 0: none are known */
    double self, cumulative, children;
};

/* All amounts are in samples. */
struct gnu_flat {
    struct gnu_flat_row *rows;
    uint32_t len;
    double total;   /* what percentages refer to; 0: no time was accumulated */
    double longest; /* time of a call of the function whose calls take longest; 0: of none */
};

struct gnu_flat_input {
    const struct functions *functions; /* their names in order */
    const struct attribution *time;
    const struct selection *selection;
    const struct graph *graph; /* NULL: there were no arcs */
    const uint32_t *node_of; /* nodes of functions, where the graph has not all of them, or NULL */
    bool shows_idle;         /* -z: functions without calls and time, too */
};

void gnu_flat_make(struct gnu_flat *t, const struct gnu_flat_input *in, struct arena *a);

#endif

/* An order of functions for the linker: those that call each other often stand together, and what
 * runs stands apart from what does not.
 *
 * The algorithm is C3, call-chain clustering (Ottoni and Maher, "Optimizing Function Placement for
 * Large-Scale Data-Center Applications", CGO 2017; also in lld). Functions are taken from the
 * densest on, density being heat by size. Each one's cluster is appended to the cluster of the
 * caller that calls it most, unless that caller makes less than a tenth of the calls, the two would
 * be larger than a limit, or the caller's cluster would become eight times thinner. The clusters
 * are put down from the densest on.
 *
 * Linkers move sections by name, so that functions of one name (static ones of several files) move
 * together: they are one unit here.
 *
 * What an order gains is estimated for the old and the new one by the same rule
 * (layout_locality()), so that the two figures can be compared, whatever the machine. */
#ifndef MONARC_PROFILE_ANALYSIS_LAYOUT_H
#define MONARC_PROFILE_ANALYSIS_LAYOUT_H

#include "profile/analysis/graph/graph.h"
#include "profile/analysis/recording/stacks.h"

struct layout_rules {
    struct object *file;         /* whose functions are ordered */
    uint32_t object;             /* its number in the table of functions */
    uint64_t cluster_bytes;      /* the limit; 0: find out which serves best */
    const struct stacks *stacks; /* stand in for calls where none were counted; or NULL */
};

/* A function in the new order. */
struct layout_place {
    uint32_t function;
    uint32_t cluster;   /* from 0, in order */
    bool is_named;      /* false: moves with one of the same name */
    bool has_cold_part; /* there is a NAME.cold, wherever it stands */
    double heat;        /* samples, and the calls as much as samples are uncertain */
    uint64_t size;      /* bytes */
    uint64_t after;     /* its address in the new order, like function.start in the old one */
    const char **names; /* all symbols at its address, that of the table first */
    uint32_t names_len;
};

/* Calls between ordered functions, by place. */
struct layout_call {
    uint32_t caller, callee;
    double count;
};

struct layout {
    const struct functions *functions;
    struct layout_place *places;
    uint32_t len, clusters;
    uint64_t cluster_bytes; /* the limit that was used */
    struct layout_call *calls;
    uint32_t calls_len;
    bool has_samples;       /* heat is samples, with calls between equals; else it is calls alone */
    bool calls_are_samples; /* of call stacks */
    double heat;            /* of all places */
    uint64_t size;          /* bytes of all places */
    uint64_t code_size;     /* bytes of all functions that could be moved */
    uint32_t shared;        /* places that are not named */
    uint32_t fixed;         /* functions that ran, but stand in no section of their own */
    double fixed_heat;
};

/* What running the program costs where functions stand. */
struct locality {
    uint64_t pages[4];     /* of 4 KiB, that hold 50, 90, 99 and 100 % of the heat */
    uint64_t large_pages;  /* of 2 MiB, that hold all of it */
    uint64_t faults;       /* until all of it is mapped: stretches of 64 KiB */
    double leaving;        /* share of the calls that leave their page of 4 KiB */
    double distance_bytes; /* from caller to callee, mean over the calls */
    double misses;         /* a call and return, in a TLB of 64 entries for 4 KiB */
    double large_misses;   /* of 8 entries for 2 MiB */
};

extern const unsigned locality_shares[4]; /* 50, 90, 99, 100 */

/* What the same order makes of samples that it was not made by: of pages alone, as calls are the
 * same. */
struct layout_other {
    const char *name;
    double share; /* of all its samples, in the functions that are ordered */
    struct locality before, after;
};

struct layout_gain {
    struct locality before, after;
    const struct layout_other *others; /* other dimensions of the profile, side by side */
    size_t others_len;
};

/* Orders the functions of the rules' file. Everything lives in `a`. The names of `f` are in order.
 * Without a limit, clusters of a page, of sixteen and of a large page are tried, and those are kept
 * after which the TLB misses least, or, where that is much the same, fewest calls leave their page.
 */
void layout_make(struct layout *t, struct layout_gain *gain, const struct functions *f,
                 const struct graph *g, const struct layout_rules *rules, struct arena *a);

/* Adds to the gain of an order what it brings by other measures. */
struct other_measures;
void layout_gain_others(struct layout_gain *gain, const struct layout *t,
                        const struct other_measures *others, struct arena *a);

/* Estimates. The TLB is one that forgets what was used longest ago, and pages are entered
 * independently of each other, as often as calls and returns enter them (Che's approximation). */
void layout_locality(const struct layout *t, bool is_after, struct locality *l);

#endif

/* Why is a profile empty or strange? Everything a program and its profile give away, as a table of
 * symptoms with the evidence and what to do about it. */
#ifndef MONARC_ANALYSIS_DIAGNOSIS_H
#define MONARC_ANALYSIS_DIAGNOSIS_H

#include "profile/analysis/fit.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "base/vec.h"

enum severity {
    SEVERITY_NOTE,    /* good to know; nothing is wrong */
    SEVERITY_WARNING, /* the profile misleads */
    SEVERITY_ERROR,   /* the profile cannot be used */
};

struct symptom {
    const char *name; /* for scripts: "few-samples"; docs/schema/doctor.schema.json lists them */
    enum severity severity;
    const char *finding, *evidence, *remedy; /* sentences without full stop */
};

struct diagnosis {
    VEC(struct symptom) all;
};

/* What was gathered. Parts that could not be had are NULL, with the error in their place. */
struct patient {
    const char *program, *profile; /* paths */
    struct object *object;
    const char *object_error;
    const struct functions *functions; /* with `object` */
    const struct profile *measured;    /* what could be read of the profile; perhaps incomplete */
    const char *profile_error;         /* why the rest could not */
    bool is_missing;                   /* there is no such file */
    const char *candidates;            /* files nearby that may be meant, or NULL */
    int64_t profile_changed;           /* seconds since 1970; 0: unknown */

    /* With both: */
    const struct attribution *time;
    const struct graph *graph;
    const struct summary *summary;
};

/* Texts live in `a`; the list itself is freed with diagnosis_deinit(). Errors come first. */
void diagnose(struct diagnosis *d, const struct patient *p, struct names *names, struct arena *a);
void diagnosis_deinit(struct diagnosis *d);

/* Errors first, otherwise in the order of discovery. */
void diagnosis_sort(struct diagnosis *d);

/* The worst severity; false: there are no symptoms. */
bool diagnosis_worst(const struct diagnosis *d, enum severity *worst);

#endif

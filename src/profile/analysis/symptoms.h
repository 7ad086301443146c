/* Symptoms of a profile that is empty or strange, with the evidence and what to do about each; and
 * what an examination has to find them in. */
#ifndef MONARC_PROFILE_ANALYSIS_SYMPTOMS_H
#define MONARC_PROFILE_ANALYSIS_SYMPTOMS_H

#include "profile/analysis/fit.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "base/vec.h"

struct embedded;

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

void diagnosis_deinit(struct diagnosis *d);

/* Errors first, otherwise in the order of discovery. */
void diagnosis_sort(struct diagnosis *d);

/* The worst severity; false: there are no symptoms. */
bool diagnosis_worst(const struct diagnosis *d, enum severity *worst);

/* What was gathered. Parts that could not be had are NULL, with the error in their place. */
struct diagnosis_input {
    const char *program, *profile; /* paths */
    struct object *object;
    const char *object_error;
    const struct functions *functions; /* with `object` */
    const struct profile *measured;    /* what could be read of the profile; perhaps incomplete */
    const char *profile_error;         /* why the rest could not */
    bool is_missing;                   /* there is no such file */
    const char *candidates;            /* files nearby that may be meant, or NULL */
    int64_t profile_changed;           /* seconds since 1970; 0: unknown */
    const struct embedded *embedded;   /* what the embedded recorder said of itself, or NULL */

    /* With both: */
    const struct attribution *time;
    const struct graph *graph;
    const struct summary *summary;
};

/* An examination while it goes on. */
struct examination {
    struct diagnosis *d;
    const struct diagnosis_input *p;
    struct names *names;
    struct arena *arena;
    bool fits; /* functions mean something for the profile */
};

/* Records a symptom; `evidence` lives in the arena. */
void report_symptom(struct examination *x, enum severity severity, const char *name,
                    const char *finding, const char *evidence, const char *remedy);

#endif

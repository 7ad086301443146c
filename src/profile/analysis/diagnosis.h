/* Symptoms of a profile that is empty or strange, with the evidence and what to do about each; and
 * what an examination has to find them in.
 *
 * diagnose() examines a program with the gmon.out it left, diagnose_run() a recording, and both
 * fill one kind of list. What cannot be opened is no failure but a symptom, so neither returns an
 * error. fit_judge() answers one question alone, for commands that refuse a profile of another
 * program. */
#ifndef MONARC_PROFILE_ANALYSIS_DIAGNOSIS_H
#define MONARC_PROFILE_ANALYSIS_DIAGNOSIS_H

#include "base/vec.h"
#include "objfile/object.h"
#include "profile/analysis/functions.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "profile/model/profile.h"

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

/* Frees the list; texts are the arena's, or constants. */
void diagnosis_deinit(struct diagnosis *d);

/* Errors first, otherwise in the order of discovery. */
void diagnosis_sort(struct diagnosis *d);

/* --- words about a recording, for notes as well ---------------------------------------------- */

/* Whether it was made of another profiler's file. */
bool recording_is_import(const struct recording *r);

/* Whether its processes used less than a tenth of a CPU, for a second or longer, and what they
 * waited for was not recorded. */
bool recording_hides_waits(const struct recording *r);

/* Samples of equal weight. With 400, a share of one half is known to within five points; with fewer
 * than 30, the error of the largest function is about a fifth of it. */
enum { FEW_SAMPLES = 400, VERY_FEW_SAMPLES = 30 };

/* What to do about few samples; lives in `a`. A program that waits needs another measurement. A
 * higher rate gives no more where the kernel throttled this one, and --rate is none of another
 * profiler's options. */
const char *recording_more_samples(const struct recording *r, struct arena *a);

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
    const struct embedded *embedded;   /* the embedded recorder's report on itself, or NULL */

    /* With both: */
    const struct attribution *time;
    const struct graph *graph;
    const struct summary *summary;
};

/* --- a profile ---------------------------------------------------------------------------------
 *
 * Why is a profile empty or strange? Everything a program and its profile give away, as a table of
 * symptoms with the evidence and what to do about it. */

/* Texts live in `a`; the list itself is freed with diagnosis_deinit(). Errors come first. */
void diagnose(struct diagnosis *d, const struct diagnosis_input *p, struct names *names,
              struct arena *a);

/* --- a recording -------------------------------------------------------------------------------
 *
 * The caveats of a recording. */

struct recording_diagnosis_input {
    const struct space *space;
    const struct functions *functions;
    const struct recording_weights *weights;
    const struct stacks *stacks;
    const struct recording_summary *run;
};

/* As diagnose(). Files of the objects must be open, as far as they are to be had. */
void diagnose_run(struct diagnosis *d, const struct recording_diagnosis_input *p, struct arena *a);

/* A recording that cannot be used. */
void diagnose_unreadable(struct diagnosis *d, const char *why);

/* Libraries in which threads spin until others are ready: of OpenMP, for threads of their process;
 * of MPI, for any. */
enum library_spins { LIBRARY_WORKS, LIBRARY_SPINS_FOR_THREADS, LIBRARY_SPINS_FOR_PROCESSES };

enum library_spins diagnosis_library_spins(const char *path);

/* --- whether program and profile fit -----------------------------------------------------------
 *
 * Whether a profile was recorded by this program: files do not say, so it is judged by what cannot
 * be true otherwise.
 *
 *   - pointer size and byte order are the program's;
 *   - the histogram lies over the program's code, and ends where glibc's startup code would have
 *     ended it (only asked of programs with that startup code);
 *   - most samples are in executable sections;
 *   - a counted function calls the recorder once, in its prologue: callees of arcs lie close after
 *     the start of a function, no two in the same one.
 *
 * Profiles of too few arcs and samples can pass by accident; a profile of the right program fails
 * only if it was recorded with a load bias, which is recognised. */

enum fit_kind {
    FIT_WELL,
    FIT_OTHER_WORD,
    FIT_OTHER_ORDER,
    FIT_BIASED,  /* addresses are those of one run of a position-independent program */
    FIT_OUTSIDE, /* no histogram touches the program's code */
    FIT_OTHER_END,
    FIT_SAMPLES_ASTRAY,
    FIT_CALLEES_ASTRAY,
};

struct fit {
    enum fit_kind kind;
    uint64_t bias;                     /* of FIT_BIASED */
    uint64_t code_low, code_high;      /* of executable sections and segments */
    uint64_t range_low, range_high;    /* of all histograms */
    uint64_t samples, samples_outside; /* of executable sections and segments */
    uint64_t callees, callees_astray;  /* distinct addresses */
};

enum { PROLOGUE_BYTES = 64 }; /* from a function's start to the return of its call to mcount */

/* Judges a profile with that of the table's object; `f` may be empty, then callees are not asked
 * about. */
void fit_judge(struct fit *fit, const struct profile *p, struct object *o,
               const struct functions *f);

/* How a misfit was noticed, as the rest of a sentence; in the arena. */
const char *fit_evidence(const struct fit *fit, const struct profile *p, const struct object *o,
                         struct arena *a);

/* --- whether firmware fits ---------------------------------------------------------------------
 *
 * Whether a recording of the embedded recorder stood in this very program: by the sum over its text
 * that the recorder took on the machine. */

enum firmware_match {
    FIRMWARE_SAME,
    FIRMWARE_OTHER,   /* another program, or another build of it */
    FIRMWARE_UNKNOWN, /* the recorder took no sum, or not all of the text is in the file */
};

/* One sentence about anything but FIRMWARE_SAME goes to `why`, which may be NULL. */
enum firmware_match firmware_match(const struct embedded_core *core, struct object *program,
                                   struct err *why);

/* --- for the files that examine ----------------------------------------------------------------
 */

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

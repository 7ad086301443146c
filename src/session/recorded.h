/* Opening recordings: folders that `monarc run` leaves, or the recorder inside a process. */
#ifndef MONARC_SESSION_RECORDED_H
#define MONARC_SESSION_RECORDED_H

#include "profile/analysis/summary.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/parallelism.h"
#include "profile/analysis/recording/stacks.h"
#include "session/profiles.h"
#include "session/symbol_files.h"

enum { RECORDED_MOST_LABELS = 16 };

/* Which part of a run is wanted. Zeroed: all of its first event. */
struct recorded_filter {
    const char *event;        /* NULL: the first */
    const char *program;      /* of that name, or path; NULL: all */
    const char *named_thread; /* of that number or name; NULL: all */
    const char *phase;        /* of that name; NULL: all */
    uint32_t pid;             /* 0: all */
    bool has_thread;          /* of this process, `thread` alone */
    uint32_t thread;          /* the system's number; 0: short-lived ones, put together */
    bool has_from, has_to;
    double from, to;  /* seconds since the start */
    bool has_latency; /* samples weigh their part of the time in which anything ran */
    const char *labels[RECORDED_MOST_LABELS]; /* with all of these, "KEY=VALUE" */
    size_t labels_len;
    const char *by_label; /* values of this key are outermost frames; or NULL */
};

/* Whether a part was requested at all. */
static inline bool recorded_filter_chooses(const struct recorded_filter *f)
{
    return f->event || f->program || f->named_thread || f->phase || f->pid || f->has_from ||
           f->has_to || f->labels_len;
}

/* Everything in one or more folders, and the files it speaks of. */
struct recorded {
    struct arena arena;
    struct recording recording;
    struct space space;
    struct profile profile; /* calls and blocks, at their places; samples on request */
    struct recording_choice choice;
    struct parallelism parallelism; /* with has_latency */
    struct recording_weights weights;
    struct named_frames named; /* where inlined functions are named: all functions, those too */
    struct stacks stacks;
    double *host_self; /* per function: as stacks.self, but of all code in it, inlined or not */
    struct recording_summary summary;
    struct other_measures others; /* all other events, unless one was requested */
    VEC(const char *) notes;      /* what the recording lacks, as sentences */
    struct err unread;   /* a file that may be there but could not be read: .system; 0: none */
    const char *missing; /* an object with samples or calls whose file is not to be had, or NULL */
    bool missing_has_names;     /* the recording has its functions' names */
    const char *missing_why;    /* what opening it said, its name in front; NULL: it is not there */
    const char *replaced;       /* one whose file is another one by now, or NULL */
    const char *damaged;        /* why an object's excerpts cannot be used, or NULL */
    const char *without_code;   /* one whose requested machine code is missing */
    const char *left_out;       /* one whose lines are not all in the recording, nor to be had */
    struct symbol_files *files; /* once needed */
};

/* Each of these costs time or memory, and is left out unless a report needs it. */
struct recorded_options {
    struct profile_options read;
    const char *debug_dir;
    const char *symbols; /* a folder or file that may know more than the recording; or NULL */
    bool wants_files;    /* reports that need the whole tables of symbols */
    bool wants_code;     /* reports that show machine code */
    bool places_samples; /* into the profile, for reports that go by address */
    bool keeps_pieces;   /* .cold and .part as functions of their own */
    bool names_inlined;  /* inlined functions have times of their own */
    bool totals_others;  /* the other events with callees, too */
    bool shows_labels;   /* as a table of its own, not as frames */
    bool no_errors;      /* of times */
    struct recorded_filter filter;
};

/* The folders of the runs that `monarc run --repeat` left in one, in their order; the folder itself
 * if it holds but one run. At least one; the texts are in `a`. */
char **recorded_runs(const char *folder, struct arena *a, size_t *len);

/* All recordings in a folder and the folders in it, if it is none itself; else recorded_runs(). At
 * least one: the folder, whose reader says what is wrong with it. */
char **recorded_below(const char *folder, struct arena *a, size_t *len);

/* The recordings of single ranks in the folder of a job, after their reduction, if there is one;
 * merging knows what is in that already. Folders that are not complete are in the list, so that
 * reading says what is wrong with them. Of any other folder: itself. The texts are in `a`. */
char **recorded_ranks(char *folder, struct arena *a, size_t *len);

/* The folders PID and PID.N in it, which recorders inside its processes left; NULL for trouble. */
char **recorded_processes(const char *folder, struct arena *a, size_t *len, struct err *e);

/* Whether there is a recording of a whole run in the folder: version 2 of the file. */
bool recorded_is_run(const char *folder);

/* A folder as a run, whichever version it is: with calls that recorders inside its processes
 * counted; several runs in it added up; or a file of another profiler. *out is zeroed;
 * recording_deinit() after failure, too. */
MUST_CHECK bool recorded_read(const char *folder, const struct profile_options *o,
                              struct recording *out, struct err *e);

/* The file of a whole run alone, as it is. recording_deinit() after failure, too. */
MUST_CHECK bool recorded_read_alone(const char *folder, struct recording *out, struct err *e);

/* Adds the calls that recorders inside the processes of a run counted; what is damaged becomes a
 * loss. Fails for trouble with the system. */
MUST_CHECK bool recorded_add_calls(const char *folder, const struct profile_options *o,
                                   struct recording *out, struct err *e);

/* recorded_add_symbols() for a run as the file in `folder` has it: with the needs of the calls that
 * recorders inside its processes counted, which are in folders of their own and do not become part
 * of it. */
MUST_CHECK bool recorded_complete(struct recording *r, const char *folder,
                                  const struct profile_options *o, struct symbol_files *files,
                                  uint64_t most_ns, struct recorded_symbols *out, struct err *e);

/* Several folders as one run. */
MUST_CHECK bool recorded_read_all(char *const *folders, size_t len, const struct profile_options *o,
                                  struct recording *out, struct err *e);

/* Reads folders, opens the objects' files and compares build-ids, puts all functions into *f, and
 * measures what was chosen. recorded_close() after failure, too; *f lives until then. */
MUST_CHECK bool recorded_open(struct recorded *r, char *const *folders, size_t len,
                              const struct recorded_options *o, struct functions *f, struct err *e);

/* The two steps of recorded_open() after reading: for a run in r->run. */
MUST_CHECK bool recorded_resolve(struct recorded *r, const char *name,
                                 const struct recorded_options *o, struct functions *f,
                                 struct err *e);

/* The frames of nodes where inlined functions are named; NULL where nodes are one frame each, as
 * nothing was inlined or they are not wanted. */
const struct call_frames *recorded_frames(const struct recorded *r);

/* Per node, whether its thread waits in a loop (schedule_find_spins). */
const bool *recorded_spins(struct recorded *r, const struct functions *f);

/* Adds to r->notes. */
void recorded_take_notes(struct recorded *r, bool has_calls);
void recorded_close(struct recorded *r);

#endif

/* The monitor: starts a program or attaches to one, and records what it and all that comes out of
 * it do, from outside.
 *
 * It owns the loop, the signals and waiting for children; sources watch (source.h), the collector
 * keeps (collector.h). What the program is started with, and whether anything is preloaded into it,
 * is the caller's business. */
#ifndef MONARC_RECORD_MONITOR_H
#define MONARC_RECORD_MONITOR_H

#include "base/err.h"
#include "profile/model/recording.h"
#include "record/perf/events.h"

#include <signal.h>

enum {
    MONITOR_CANNOT_RUN = 126,
    MONITOR_NOT_FOUND = 127,
    MONITOR_SIGNAL = 128, /* + the signal's number */
};

/* The files of the recorded objects, by their numbers, as they were opened while the programs ran:
 * whatever has become of their paths since, and in whichever container these lead to them. NULL:
 * not to be had. */
struct object;
struct monitor_files {
    struct object **at;
    size_t len;
};
void monitor_files_close(struct monitor_files *f);

/* What to record and how. Nothing of it is copied: it must live until monitor_record() returns. */
struct monitor_options {
    char **argv;                  /* the program; NULL: `pids` are attached to */
    char **environment;           /* of the program */
    int input, output;            /* descriptors that it has as its standard input and output */
    pid_t group;                  /* of processes, that it joins; 0: ours */
    bool is_placed_at_random;     /* its memory is, even where ours is not */
    const sigset_t *mask;         /* of signals that it has blocked; NULL: as we have it */
    const struct proc_tids *pids; /* processes that are attached to, with those below them */
    uint64_t most_ns;             /* recording ends after so long; 0: no limit */
    uint64_t daemons_ns;          /* how long to wait for processes that outlive the program */
    uint32_t rate;
    uint64_t slice_ns; /* of the slices of time; 0: the usual ones */
    bool no_stacks, no_follow, wants_waits;
    bool no_arguments;                 /* of the program, its name alone is recorded */
    bool refuses_perf, refuses_ptrace; /* as if the system did */
    const char
        *control; /* file to make, for recorders in the program to speak through; NULL: none */

    /* Called with what was recorded so far when the program requests it (monarc_rt_dump). */
    void (*dump)(void *context, const char *folder, const struct recording *so_far);
    void *context;
    const struct event_list *events;
    struct monitor_files *files; /* gets them at the end; NULL: not wanted */
};

/* The results of the program and of watching it. */
struct monitor_result {
    int status;           /* the program's exit status, as a shell would have it */
    bool has_started;     /* else `status` says why not, and *e */
    bool cannot_run;      /* the program itself is why it has not started: it is not there, say */
    bool was_refused;     /* perf events were, and `refusal` says why */
    bool was_interrupted; /* by SIGINT or another signal that ends programs, whoever sent it */
    struct err refusal;
};

/* Runs to the program's end and fills a zeroed run. false: nothing was recorded, see *e. */
MUST_CHECK bool monitor_record(const struct monitor_options *o, struct recording *out,
                               struct monitor_result *result, struct err *e);

#endif

/* Shared by the parts of `monarc run`: the request, recording one run, and reporting the result.
 *
 * One request is filled from the command line and shared by all runs; what differs from run to run
 * is in a struct run_setting. Memory of both is the request's arena, freed by the command. */
#ifndef MONARC_CLI_RUN_H
#define MONARC_CLI_RUN_H

#include "base/file.h"
#include "cli/cli.h"
#include "record/monitor.h"
#include "record/proc_threads.h"
#include "session/recording_folder.h"

#include <time.h>

enum run_calls_choice { CALLS_AUTO, CALLS_ALWAYS, CALLS_NEVER };
enum run_method { METHOD_AUTO, METHOD_PERF, METHOD_PTRACE };

/* Options as they were given, checked by run.c before anything starts. Times are in seconds, `rate`
 * in samples per second of CPU time. */
struct run_request {
    const char *output, *events;
    uint64_t rate, seconds, daemon_seconds, slice_ns;
    bool no_stacks, no_follow, no_report, no_symbols, no_arguments, off_cpu, lists_events,
        has_events;
    enum run_calls_choice calls;
    enum run_method method;
    char **argv;           /* NULL: `pids` are attached to */
    struct proc_tids pids; /* freed by the command */

    /* Of a series. */
    uint64_t repeat, warmups, seed;
    bool has_repeat, has_warmups, has_seed, varies, compares, ignores_failure, shows_output;
    const char *prepare;

    bool reads_coverage; /* --coverage: no recording, but counters from outside */
    bool covers_blocks;  /* --cover-blocks: the same of a program without counters */
    bool covers_libraries;
    const char *coverage;
    uint64_t coverage_interval; /* milliseconds; 0: the default */

    char **compared; /* the two commands */
    size_t compared_len;

    uint32_t ranks;        /* of the parallel job that this is one rank of; 0: not known */
    const char *all_ranks; /* the names of all their recordings, with `*`; NULL: not known */
    bool shows_ranks;      /* this is the rank that says where they are */
    bool is_rank;          /* of a job of several */
    pid_t group;           /* of processes, that the program joins; 0: ours */
    sigset_t mask;         /* of the program, where we have another: with `group` */

    struct arena arena;
    struct event_list choices;
    struct err dump_failure; /* of the last dump that the program requested in vain */
};

/* Counters of lines that a program writes by itself, if it is linked with libgcov. */
struct run_coverage {
    const char **files;
    size_t len;
    struct timespec start; /* of the run */
};

/* How many of the files were not written since, and the first of them. */
size_t run_coverage_missed(const struct run_coverage *c, const char **first);

/* What differs between the runs of a series. */
struct run_setting {
    char **argv;                   /* NULL: the request's process */
    const char *working;           /* absolute: the folder that gets the recording */
    char **environment;            /* as the program is to have it, but for the counting of calls */
    int input, output;             /* its standard input and output */
    const sigset_t *mask;          /* NULL: ours */
    struct recording_part *part;   /* NULL: no series; returns what is known of its elapsed time */
    struct run_coverage *coverage; /* NULL: of no interest */
};

/* Records one run into its folder. False: nothing was recorded, or it could not be kept; see
 * *result and *e. *result is filled in either case; has_started says whether the program ran at
 * all. */
MUST_CHECK bool run_record(struct run_request *r, const struct run_setting *s,
                           struct monitor_result *result, struct err *e);

/* Runs without recording: --coverage and --cover-blocks. The exit status. */
int run_with_coverage(const struct run_request *r, struct err *e);
int run_with_blocks(const struct run_request *r, struct out *out, struct err *e);

/* Runs that are reported together: --repeat and --compare. The exit status. Folders of what is
 * finished stay, whatever ends the series. */
int run_series(struct run_request *r, struct out *out, struct err *e);

/* What being one rank of a parallel job changes: the name of the recording, which may have the rank
 * in it, and that no report is shown. Fails if a folder cannot be made. */
MUST_CHECK bool run_take_rank(struct run_request *r, struct err *e);

/* Of a rank: goes on in a process of its own that a launcher does not kill with the rank. False in
 * the process that stays for the launcher, when that one has ended: *status is its exit status. */
bool run_apart(struct run_request *r, int *status);

/* Before we become the program: what it would have had without that process. */
void run_apart_no_more(const struct run_request *r);

/* Of one rank: the line that says where the recordings are. */
void run_tell_ranks(struct run_request *r);

/* A remark on standard error. */
void run_remark(const char *text);

/* Whether the program, which was not started since recording is refused, is to run all the same:
 * unless the user insists on a way to record. */
bool run_may_be_unrecorded(const struct run_request *r, const struct monitor_result *result);

/* recording_folder_make(), which names what killed runs left on standard error. */
MUST_CHECK bool run_make_folder(struct recording_folder *folder, const char *name, struct arena *a,
                                struct err *e);

/* recording_folder_keep(), which says on standard error if the recording got another name. */
MUST_CHECK bool run_keep_folder(struct recording_folder *folder, struct arena *a, struct err *e);

/* Where recording is refused: says so in one line, and becomes the program, which then runs as if
 * it had been started alone. Returns only if that fails, with *e. `e` comes with what was said. */
int run_unrecorded(char **argv, const struct monitor_result *result, struct err *e);

/* What standard output was before the program ran. `at`: where a file ended, in bytes. A report
 * goes there only if that has not changed. */
struct output_before {
    bool is_regular, is_terminal;
    off_t at;
};
struct output_before run_look_at_output(void);

/* Has a report written to standard output, or to standard error where it would get among the
 * program's results. `before` is NULL if the program had another output. */
MUST_CHECK bool run_report(output_writer *write, void *context, const struct output_before *before,
                           struct out *out, struct err *e);

/* The flat profile of a recording, unless nothing is to be shown. */
MUST_CHECK bool run_report_flat(struct run_request *r, const char *folder,
                                const struct output_before *before, struct out *out, struct err *e);

#endif

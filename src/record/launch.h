/* Starting the program that is recorded so that it notices nothing.
 *
 * The launcher is an idle process between us and the program: perf events are opened on it, the
 * program is forked from it and inherits them. The program is our child all the same
 * (CLONE_PARENT), with the signal mask, dispositions, limits and descriptors that we were started
 * with. */
#ifndef MONARC_RECORD_LAUNCH_H
#define MONARC_RECORD_LAUNCH_H

#include "base/arena.h"
#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

struct launch {
    pid_t launcher, program;
    int to_launcher, to_program; /* pipes that we write to; -1: closed */
    int news;                    /* that we read from */
};

/* What the program starts with. */
struct launch_state {
    sigset_t mask;
    struct sigaction child, pipe; /* SIGCHLD's and SIGPIPE's */
    int input, output;            /* in place of ours; 0 and 1: ours */
    pid_t group;                  /* of processes, that it joins; 0: ours */
    bool is_placed_at_random;     /* even if we were not (ADDR_NO_RANDOMIZE of personality(2)) */
};

/* The steps, each after the one before it: the launcher; the program, not yet executed; its exec,
 * which fails with the errno in *why. Call launch_end() after failure, too; it leaves the program
 * alone. */
MUST_CHECK bool launch_begin(struct launch *l, char **argv, char **environment,
                             const struct launch_state *state, struct err *e);
MUST_CHECK bool launch_fork(struct launch *l, struct err *e);
MUST_CHECK bool launch_exec(struct launch *l, int *why);
void launch_end(struct launch *l);

/* Starts a process of ours that does `work` and ends; -1: it cannot be started. */
pid_t launch_apart(void (*work)(void *context), void *context);

/* Runs a program to its end without recording it. False if it could not be started (errno says
 * why); *status as wait(2) gives it. */
MUST_CHECK bool launch_unrecorded(char **argv, char **environment, const struct launch_state *state,
                                  int *status);

/* --- the recorder's library: where it is, and whether a program can be made to load it -----------
 */

/* libmonarc_rt.so: beside this program in its build tree or installation, then where it was to be
 * installed. NULL with a message if it is nowhere. */
const char *preload_find(struct arena *a, struct err *e);

/* Whether `program` (looked up in PATH) will load `library`. Fails for static programs, programs
 * for other machines and programs that run with other rights, saying what to do. *is_linked: the
 * recorder is in the program already. What is not an ELF file, a script say, passes. */
MUST_CHECK bool preload_check(const char *program, const char *library, bool *is_linked,
                              struct arena *a, struct err *e);

/* Whether the program (looked up in PATH) was compiled to count calls or blocks, or calls monarc's
 * functions: then there is something for the library to do. */
bool preload_counts_calls(const char *program);

/* As execvp() would find it; the name itself where it would not. */
const char *preload_in_path(const char *program, struct arena *a);

/* Puts the library after those that LD_PRELOAD names already. */
const char *preload_value(const char *library, struct arena *a);

#endif

/* Counting calls beside sampling: the library that is loaded into a program compiled with -pg, and
 * what it leaves.
 *
 * Each process counts into a file in a folder of its own, named by its number; when all is over the
 * profiles are made out of these files, whatever ended the processes. */
#ifndef MONARC_CLI_RUN_CALLS_H
#define MONARC_CLI_RUN_CALLS_H

#include "base/arena.h"
#include "base/err.h"

struct run_calls {
    const char *library; /* NULL: no calls are counted */
    const char *folder;  /* absolute */
    const char *control; /* absolute path of the control file */
    bool is_linked;      /* the library is in the program already */
};

/* Fails, saying why, where the library is not to be had or the program would not load it. */
MUST_CHECK bool run_calls_prepare(struct run_calls *c, const char *program, const char *folder,
                                  struct arena *a, struct err *e);

/* The environment of the program: `from`, with what the library is to know. */
char **run_calls_environment(const struct run_calls *c, char **from, struct arena *a);

/* Completes what the processes left, and removes the control file. */
MUST_CHECK bool run_calls_finish(const struct run_calls *c, struct arena *a, struct err *e);

#endif

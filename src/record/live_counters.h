/* Runs a program and reads its coverage counters from outside, whatever ends it. */
#ifndef MONARC_RECORD_LIVE_COUNTERS_H
#define MONARC_RECORD_LIVE_COUNTERS_H

#include "base/err.h"

#include <stdint.h>

struct live_counters_request {
    char **argv;
    const char *output;   /* files are OUTPUT.PID.profraw, OUTPUT.PID-2.profraw after an exec */
    uint64_t interval_ms; /* between readings; at least 1 */
};

/* Numbers are of programs that processes ran: an exec begins another one. */
struct live_counters_result {
    int status;                           /* the program's, as a shell has it */
    uint64_t processes, written, without; /* without: nothing in them counts */
    uint64_t replaced, killed; /* whose counts are as of the last reading: by exec, by SIGKILL */
    uint64_t stripped;         /* objects whose version is unknown */
    uint64_t gcc_files;        /* that were added to for programs of gcc's, */
    uint64_t gcc_written;      /* objects whose libgcov has written itself, */
    uint64_t gcc_foreign;      /* and those of a version that is not known */
    uint64_t gcc_aside;        /* files that did not fit, and have another name now */
    uint64_t unmapped;         /* objects whose sections are not mapped as their files say */
    uint64_t unreadable;       /* spaces that could not be read */
    uint64_t with_rights;      /* programs with rights of their files, which were not followed */
    bool was_stopped;          /* by a signal, while processes ran that outlived the program */
    char *example;             /* the first file; the caller frees it */
};

/* False: the program could not be run or followed, or a file not be written. */
MUST_CHECK bool live_counters_run(const struct live_counters_request *request,
                                  struct live_counters_result *result, struct err *e);

#endif

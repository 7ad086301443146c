/* Whether a program would not work, or would work otherwise, while somebody traces it. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_CONFLICT_H
#define MONARC_RECORD_PTRACE_PTRACE_CONFLICT_H

#include "base/map.h"

#include <sys/types.h>

enum ptrace_conflict {
    TRACED_WELL,
    TRACED_TRACER, /* may trace others or itself, which only one can do at a time */
    TRACED_LEAKS,  /* looks for leaks at its end, by tracing itself */
    TRACED_RIGHTS, /* runs with rights of its file, which it does not get while traced */
    TRACED_KINDS
};

/* What is known of files; zeroed at first. */
struct traced_files {
    struct map by_inode; /* to enum ptrace_conflict */
};

/* For the program that a process has just executed. */
enum ptrace_conflict ptrace_conflict(struct traced_files *known, pid_t pid);

void traced_files_deinit(struct traced_files *known);

/* A sentence that says why it is left alone; NULL: it is not. */
const char *ptrace_conflict_text(enum ptrace_conflict why);

#endif

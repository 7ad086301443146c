/* Counters of gcc's coverage (libgcov) in the memory of another process. */
#ifndef MONARC_RECORD_GCC_COUNTERS_H
#define MONARC_RECORD_GCC_COUNTERS_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One gcda that the process would write: all but its counters is known from the first look on. */
struct gcc_file {
    char *path;
    struct writer bytes;
};

/* Where counters lie, and where in a file they go. */
struct gcc_span {
    uint64_t at;
    uint32_t file;
    size_t offset, len;
    bool is_arcs;
};

/* Of one object in one process. Zeroed, it has none. */
struct gcc_counters {
    uint64_t root;   /* address of __gcov_root; 0: the object has none that can be found */
    uint8_t word;    /* of a pointer */
    bool is_known;   /* the list was read */
    bool is_written; /* libgcov has written, or is about to */
    bool is_foreign; /* a version whose structures are not known */
    VEC(struct gcc_file) files;
    VEC(struct gcc_span) spans;
};

/* Reads what was counted by now. What fails leaves the last reading. */
void gcc_counters_read(struct gcc_counters *g, pid_t pid);

/* Adds to the files as libgcov would have done; nothing if it has. *written: how many. */
MUST_CHECK bool gcc_counters_write(struct gcc_counters *g, uint64_t *written, struct err *e);

void gcc_counters_deinit(struct gcc_counters *g);

#endif

/* Counters of gcc's coverage (libgcov) in the memory of another process. */
#ifndef MONARC_RECORD_GCC_COUNTERS_H
#define MONARC_RECORD_GCC_COUNTERS_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "record/counter_files.h"
#include "record/space.h"

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

/* Of one object in one space. Zeroed, it has none. */
struct gcc_counters {
    uint64_t root;   /* address of __gcov_root; 0: the object has none that can be found */
    uint64_t head;   /* of its list, when it was read */
    uint8_t word;    /* of a pointer */
    bool is_known;   /* the list was read */
    bool is_written; /* libgcov has written, or is about to */
    bool is_foreign; /* a version whose structures are not known */
    VEC(struct gcc_file) files;
    VEC(struct gcc_span) spans; /* by address */
    struct counter_outcome outcome;
};

/* Reads what was counted by now. What fails leaves the last reading. `tid`: a living thread. */
void gcc_counters_read(struct gcc_counters *g, const struct space *s, pid_t tid);

/* Of a space that is a copy of the one of `from`, NULL: not known: it begins with zeros, as libgcov
 * has it begin where it sees the fork. */
void gcc_counters_begin(struct gcc_counters *g, const struct gcc_counters *from,
                        const struct space *s, pid_t tid);

/* Counts from zero again, and libgcov has written nothing, as its __gcov_reset() has it. */
void gcc_counters_clear(struct gcc_counters *g, const struct space *s);

/* Adds to the files as libgcov would have done; nothing if it has. May be called again if a file
 * was busy. */
MUST_CHECK bool gcc_counters_write(struct gcc_counters *g, const struct counter_place *place,
                                   bool is_patient, struct err *e);

void gcc_counters_deinit(struct gcc_counters *g);

#endif

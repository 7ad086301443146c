/* Writing the counter files of another process: as it would, where it would, and nothing that it
 * could not. */
#ifndef MONARC_RECORD_COUNTER_FILES_H
#define MONARC_RECORD_COUNTER_FILES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a process is and what it may do, taken while it lives. Zeroed: not known. */
struct counter_place {
    bool is_known;
    bool is_ours; /* its root, folders and rights are ours, but for the folder it is in */
    int root, cwd;
    uid_t uid;
    gid_t gid;
    mode_t umask;
    uint64_t capabilities; /* that are good here */
    VEC(gid_t) groups;
};

/* Of a thread that is stopped. What was there is replaced, unless this cannot be read. */
void counter_place_take(struct counter_place *p, pid_t tid);
void counter_place_copy(struct counter_place *into, const struct counter_place *from);
void counter_place_deinit(struct counter_place *p);

/* A counters file (gcda) that is to be added to. */
struct counter_file {
    const char *path; /* as the process names it */
    struct bytes bytes;
};

struct counter_outcome {
    size_t done; /* files that are not to be written (again): a later call goes on there */
    uint64_t written;
    uint64_t aside; /* files that did not fit, or were damaged, and are PATH.other-N now ... */
    bool is_busy;   /* it was not gone on with: another process has the next one locked */
};

/* Adds each to the file that is there, under the lock that libgcov takes. `most`: the largest count
 * of the program. `is_patient`: waits ten seconds for a lock, and then fails. False with the first
 * *e: a file could not be written, or is another program's; the others were. Zeroed *out before the
 * first call. */
MUST_CHECK bool counter_files_add(const struct counter_place *p, const struct counter_file *files,
                                  size_t len, uint64_t most, bool is_patient,
                                  struct counter_outcome *out, struct err *e);

#endif

/* Records that were taken out of a kernel's buffer and wait for their turn.
 *
 * A sample's piece of stack is kept as far as the kernel could copy it: most are much shorter than
 * what a record reserves. */
#ifndef MONARC_RECORD_PERF_PERF_BACKLOG_H
#define MONARC_RECORD_PERF_PERF_BACKLOG_H

#include "base/vec.h"
#include "record/perf/perf_record.h"

struct perf_backlog {
    VEC(uint8_t) bytes;
    size_t taken; /* of these */
    struct perf_record first;
    size_t first_len; /* 0: `first` is not known yet */
};

void perf_backlog_deinit(struct perf_backlog *q);

/* Adds one whole record; one that cannot be read is left out. */
void perf_backlog_add(struct perf_backlog *q, const struct perf_layout *l, struct bytes record);

/* Moves everything of *from behind what is in it. */
void perf_backlog_move(struct perf_backlog *q, struct perf_backlog *from);

/* The first record; NULL: there is none. Good until the backlog is touched. */
const struct perf_record *perf_backlog_first(struct perf_backlog *q, const struct perf_layout *l);
void perf_backlog_drop_first(struct perf_backlog *q);

#endif

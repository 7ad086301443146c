/* The monitor's end of the control file: recorded processes report through it what cannot be seen
 * from outside. Specification: docs/formats/control.md.
 *
 * The program can write anything into the file, so nothing in it is believed twice. */
#ifndef MONARC_RECORD_CONTROL_H
#define MONARC_RECORD_CONTROL_H

#include "base/err.h"
#include "wire/control.h"
#include "record/collector.h"

#include <stdbool.h>

struct control;

struct control_record {
    enum monarc_control_kind kind;
    uint32_t pid, tid; /* tid 0: not known */
    uint64_t at_ns;    /* 0: not known */
    char text[MONARC_CONTROL_TEXT_BYTES];
};

/* Makes the file, which must not exist, with its space on disk; NULL: see *e. `path` is copied. */
struct control *control_create(const char *path, struct err *e);
/* Unmaps and removes it: processes that start later are not recorded any more. */
void control_free(struct control *c);

/* The next record, in the order in which they were begun; false: there is none now. A record that
 * its writer began and did not end is waited for, and given up after a fifth of a second.
 * `now_ns`: CLOCK_MONOTONIC. A program may write as fast as this reads: take at most as many at a
 * time as control_capacity() says. */
bool control_next(struct control *c, uint64_t now_ns, struct control_record *out);
/* As control_next, when all writers have ended: what was not completed is given up at once. */
bool control_next_at_end(struct control *c, struct control_record *out);
uint32_t control_capacity(const struct control *c);

/* Records that found the ring full, or were given up. */
uint64_t control_lost(const struct control *c);

/* A program wants what was recorded so far in a folder of its own; "": in the recording. */
typedef void control_dump(void *context, const char *folder);

/* Passes the reports up to now on to the collector; at the end, when all writers have ended,
 * everything. */
void control_dispatch(struct control *control, struct collector *c, uint64_t now_ns, bool is_end,
                      control_dump *dump, void *context);

#endif

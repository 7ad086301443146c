/* Reports to the monitor what it cannot see from outside: records in a ring that all recorded
 * processes share with it. Specification: docs/formats/control.md.
 *
 * A writer is lock-free, in any thread and any signal handler, makes no system call and never
 * waits. */
#ifndef MONARC_PROFILE_CONTROL_H
#define MONARC_PROFILE_CONTROL_H

#include <wire/control.h>
#include <stdbool.h>

struct control_ring {
    struct monarc_control_header *header;
    uint32_t capacity; /* as it was when the file was mapped */
};

enum control_found { CONTROL_MAPPED, CONTROL_MISSING, CONTROL_UNUSABLE };

/* Maps the file; no descriptor stays open. Missing: the monitor has ended. */
enum control_found control_map(struct control_ring *ring, const char *path);

/* One record; text that does not fit is cut. False, counted in the ring, if it is full. */
bool control_put(struct control_ring *ring, enum monarc_control_kind kind, uint64_t at_ns,
                 uint32_t pid, uint32_t tid, const char *text);

#endif

/* Notices that the executable mappings of a process have changed, by reading /proc/PID/maps as
 * often as a fixed share of the time allows. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_MAPS_H
#define MONARC_RECORD_PTRACE_PTRACE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ptrace_maps {
    uint64_t next_ns; /* not before */
    uint64_t print;   /* a hash of the executable mappings; 0: never read */
};

/* Whether they are others than at the last call that read them; false where it is too early to look
 * again, or nothing can be read. */
bool ptrace_maps_changed(struct ptrace_maps *m, pid_t pid, uint64_t now_ns);

#endif

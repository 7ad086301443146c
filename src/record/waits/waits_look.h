/* Looking at a thread that does not run, from outside, without its noticing. */
#ifndef MONARC_RECORD_WAITS_WAITS_LOOK_H
#define MONARC_RECORD_WAITS_WAITS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum waits_state {
    WAITS_BLOCKED,
    WAITS_STOPPED,
    WAITS_RUNNING, /* or could run */
    WAITS_REFUSED, /* this process may not look */
    WAITS_GONE
};

struct waits_look {
    enum waits_state state;
    int64_t syscall; /* -2: in none */
    uint64_t sp, pc; /* of user code; 0 if it is running, refused or gone */
};

/* Reads what /proc/PID/task/TID/syscall says: `running`, or NUMBER [six arguments] SP PC; -1 stands
 * for none. false: it is none of these. */
bool waits_look_read(const char *text, struct waits_look *out);

/* Whether there is such a thread, be it a zombie. */
bool waits_look_lives(pid_t pid, pid_t tid);

void waits_look_at(pid_t pid, pid_t tid, struct waits_look *out);

/* Copies up to `bytes` of a stack from its pointer on; returns how much there is. */
size_t waits_look_stack(pid_t pid, uint64_t sp, uint8_t *into, size_t bytes);

#endif

/* Brings the counter files up to date. */
#ifndef MONARC_COVER_DUMP_H
#define MONARC_COVER_DUMP_H

#include <stdbool.h>
#include <stdint.h>

enum dump {
    DUMP_MORE = 0,  /* the program goes on */
    DUMP_LAST = 1,  /* it ends: what comes after is not written */
    DUMP_ASYNC = 2, /* in a signal handler: the loader is not to be waited for */
};

/* Writes what was counted since the last time. False if a file could not be written, which was
 * reported. Does nothing in a child of vfork: its counters are its parent's. */
bool dump(int flags);
/* The same for the objects of libraries alone; and for those mapped at [low, high), if high is not
 * 0. */
bool dump_libraries(uintptr_t low, uintptr_t high);
/* This process is the one that counts: at the start and in a forked child. */
void dump_begin(void);
/* A process forked by a bare system call begins to count, all counters being zero. */
void dump_adopt(void);

#endif

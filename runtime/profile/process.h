/* The recorder's state for this process, kept in pages that the kernel empties in a forked child
 * (MADV_WIPEONFORK): however a process came to be, by fork, by _Fork, by a bare clone, the first
 * thing it records finds `alive` zero and starts a state of its own. The fast path reads its
 * segment header from such pages too, so a child can never count into its parent's tables. */
#ifndef MONARC_PROFILE_PROCESS_H
#define MONARC_PROFILE_PROCESS_H

#include "cells.h"
#include "config.h"
#include "lost.h"

#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct thread;
struct mark;

#define SPARE_THREADS 32

struct note_page {
    struct thread_note *notes;
    uint32_t count;
    struct note_page *next;
};

struct process {
    int alive;  /* 0: a forked child that has not started yet */
    int lock;   /* guards everything below but the counts; held with all signals blocked */
    int inside; /* threads that hold the lock or wait for it */
    int pid;
    bool forked;
    int folder_state; /* see live.c */
    uint64_t start_real, start_mono;
    /* CPU time of the process and of its first thread, before: an exec keeps the clocks of what
     * ran in the process until then, a shell mostly. */
    uint64_t start_cpu, start_thread_cpu;
    char *control_at; /* wipe-on-fork memory, carved from the front */
    size_t control_left;
    struct segment *segments; /* every segment of every table, newest first */
    uint64_t next_id;         /* of a cell; see segment.first_id */
    struct thread *threads, *free_threads;
    struct thread *spare_threads[SPARE_THREADS]; /* for when the program has sandboxed itself */
    uint32_t thread_count, rings;
    struct mark *marks;
    struct table stacks, late, late_blocks;
    struct table unloaded; /* arcs that were moved there */
    uint64_t lost[LOST_REASONS];
    uint64_t *live_lost[LOST_REASONS]; /* the same in the live file; NULL: not there */
    uint64_t samples, sampled_ns;      /* ns: CPU time of sampled threads that have ended */
    /* The live file: see live.c. */
    char *chunk_at;
    size_t chunk_left, chunk_next;
    uint64_t live_bytes;
    uint32_t extents;
    bool live_broken, live_removed;
    struct mapped *mapped; /* see sigbus.c */
    bool is_cut;
    struct extent *notes;
    size_t notes_used;
    struct thread_note *thread_notes;
    uint32_t thread_notes_left;
    struct note_page *note_pages; /* all of them, newest first */
    int told_uncounted;           /* see arcs.c */
    char folder[PATH_MAX];
    char exe[PATH_MAX];
    char stem[PATH_MAX], path[PATH_MAX], other[PATH_MAX]; /* scratch: stacks may be tiny */
    char record[2 * PATH_MAX];                            /* a sidecar record in the making */
};

/* What the fast path tests first: 0 while nothing is to be recorded. */
extern int monarc_recording HIDDEN;

/* The process that has sandboxed itself: the recorder makes no system call any more, there and in
 * what is forked from it. 0: none has. See sandbox.h. */
extern int monarc_sealed HIDDEN;
/* Whether asking for the time is forbidden there. */
extern bool monarc_clock_forbidden HIDDEN;

/* This process's state, or NULL. What starts one: see start.h. */
struct process *process_if_started(void);
/* A state that is not `alive` yet; NULL without memory. For start.c alone. */
struct process *process_prepare(void);
/* In a child that the kernel did not empty (no MADV_WIPEONFORK): do it now. */
void process_forget(void);

/* Blocks every signal but SIGBUS, which a live file that is cut short raises: see sigbus.h. */
void process_block(uint64_t *old);
void process_lock(struct process *p, uint64_t *mask);
void process_unlock(struct process *p, const uint64_t *mask);

/* Zeroed wipe-on-fork memory that lives as long as the process; NULL without memory. Lock held. */
void *process_control(struct process *p, size_t bytes);

void lost_add(enum lost_reason reason, uint64_t n);

#endif

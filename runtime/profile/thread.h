/* One record a thread: its arc table, and its facts. Records and their tables are never freed: when
 * a thread ends, the next one goes on counting in its tables, so that memory is bounded by the most
 * threads there were at one time and nothing is merged or lost on the way out.
 */
#ifndef MONARC_PROFILE_THREAD_H
#define MONARC_PROFILE_THREAD_H

#include "process.h"

/* A note of one thread in the live file and the sidecar: 64 bytes. */
struct thread_note {
    uint32_t tid, state;               /* 0 empty, 1 running, 2 ended */
    uint64_t start_ns, end_ns, cpu_ns; /* CLOCK_MONOTONIC; CPU time used */
    uint64_t samples;
    char name[16];
    uint64_t root; /* parent of the outermost frames of its stacks */
};

struct thread {
    struct table arcs;
    struct table blocks;
    struct thread *next, *next_free;
    struct thread_note *note;
    int tid;
    int perf_fd;       /* -1: none */
    int timer_id;      /* -1: none */
    struct ring *ring; /* see ring.h; made when first needed, and kept */
    bool is_deep;      /* its stacks are deeper than the kernel follows them */
    bool is_redrawn;   /* its ring's period is drawn from wide bounds: see clocks.c */
    bool sampled;
    uint64_t root;                   /* of its stacks: as in the note */
    uint64_t clock_start;            /* of the sampled clock, moved on by what is left out */
    uint64_t paused_at;              /* where it is left out now; else 0 */
    uintptr_t stack_low, stack_high; /* 0: unknown */
    uint64_t samples;
    uint64_t *frames;        /* scratch for one walk over the stack */
    struct entered *entered; /* the functions that it is in: see entered.h; kept */
};

/* What the fast paths read. The assembly knows the order of the first three. */
struct thread_slot {
    struct segment *arcs; /* NULL: take the slow path */
    struct segment *blocks;
    struct entered *entered; /* the newest; NULL: nothing is noted */
    struct thread *thread;
    int leaving;      /* destructor rounds seen; the tables are handed over in the last */
    int pid;          /* of the process that `thread` belongs to */
    int shared;       /* another task runs on this TLS: count with locked operations only */
    int tid, tid_pid; /* the thread's id, read in that process */
};

extern __thread struct thread_slot monarc_slot HIDDEN __attribute__((tls_model("initial-exec")));

/* What is done when a thread is attached and when it ends, by that thread: sampling. */
struct thread_watcher {
    void (*begun)(struct process *p, struct thread *t);
    void (*ends)(struct process *p, struct thread *t);
};
void thread_watch(const struct thread_watcher *watcher);

/* This thread's record; made, or taken over, if it has none. NULL while it has none and should not
 * or cannot get one. Safe in a signal handler. */
struct thread *thread_attach(struct process *p);
/* Records and tables for threads that begin after the program has sandboxed itself. */
void thread_reserve(struct process *p);
/* Enables detaching at thread exit; run once, outside signal handlers, before threads exist. */
void thread_key_create(void);
/* Where this thread's stack lies, for the walk over it. */
void thread_set_stack(uintptr_t low, uintptr_t high);
/* True if this process, or the one it was forked from, ever had a second thread. */
bool thread_were_many(void);
/* A second task is about to run on this thread's TLS: from now on count with locked operations. */
void thread_share(void);
/* Forgets the parent's record in a forked child. */
void thread_forget(void);
/* Brings the notes of running threads up to date. Lock held. */
void thread_refresh_notes(struct process *p);

#endif

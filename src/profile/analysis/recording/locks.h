/* Locks, and whatever else threads wait for: how often, how long, in which stacks, and what whoever
 * holds it did meanwhile; and files, in the same form. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_LOCKS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_LOCKS_H

#include "base/arena.h"
#include "profile/analysis/names.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/stacks.h"

/* A function on stacks. Those of one caller share it and all that is further out, so that a file of
 * deep stacks needs no more memory than it has frames. */
struct lock_frame {
    uint32_t function, caller; /* caller 0: none */
};

/* The functions of a stack, and the system call that it ended in. */
struct lock_stack {
    uint32_t frame; /* the innermost; 0: no functions */
    uint32_t len;
    const char *call; /* "fsync"; "page fault" ...; NULL: it ran, or is not known */
};

struct lock_waiter {
    uint32_t stack;
    uint64_t waits, ns;
};

/* Who ended waits. */
struct lock_waker {
    uint32_t woken;     /* enum recording_waker */
    uint32_t function;  /* that the thread began with, as far as samples say; or NO_FUNCTION */
    uint32_t threads;   /* how many these are */
    uint32_t tid;       /* of the thread; 0: several, or none that was recorded */
    const char *thread; /* its name, of several that of the first; NULL: none */
    uint64_t waits, ns; /* that it ended */
};

/* What was read from a file in a stack, or written to it. */
struct lock_transfer {
    uint32_t stack;
    bool is_write;
    uint64_t calls;             /* that were seen */
    uint64_t bytes, disk_bytes; /* as far as they are distinguished (recording.h) */
};

/* What a holder did: rows of a tree, each below whoever waits for it. */
struct lock_holder {
    uint32_t depth;
    uint32_t stack;        /* RECORDING_NONE: not known where */
    uint32_t doing;        /* enum recording_doing */
    uint32_t tid;          /* of the thread; 0: several, or not recorded */
    const char *thread;    /* its name, or NULL */
    const char *waits_for; /* what it waits for itself, as `name` of a lock; NULL: no such thing */
    uint64_t ns;           /* with all that is below */
    double error_ns;       /* half the 95 % interval of that; 0: not known */
};

/* What was waited for. Things without a name that were waited for in one function are one row. */
struct lock {
    const char *kind;  /* "mutex", "file" ... */
    const char *name;  /* of the variable or file, demangled; NULL: none */
    uint32_t twin;     /* how many other things of its name are before it: shown as `NAME #2` */
    uint32_t function; /* no name: where it was waited for; or NO_FUNCTION */
    uint32_t objects;  /* how many things that are */
    uint32_t deadlock; /* from 1: whose holders wait for each other in a circle; 0: none such */
    bool is_lock;      /* a thread holds it, as far as such locks say who */
    bool is_shared;    /* between processes */
    bool is_seldom;    /* no name: of files with one, too few calls were seen to distinguish them */
    const char *unheld; /* why some of the time has no known holder; NULL: all was seen */
    uint64_t waits, ns; /* ns: of all waits, up to when they were over */
    uint64_t held_ns;   /* of that, with a holder that was seen */
    const struct lock_waiter *waiters; /* by time */
    size_t waiters_len;
    const struct lock_waker *wakers; /* by time; of what no thread holds */
    size_t wakers_len;
    const struct lock_holder *holders; /* depth first, by time */
    size_t holders_len;
    uint64_t read, written, disk_read, disk_written;
    double read_error, written_error;      /* half the 95 % interval; 0: exact, or not known */
    const struct lock_transfer *transfers; /* by bytes */
    size_t transfers_len;
};

struct locks {
    const struct summary *summary;
    struct names *names; /* of the functions of stacks */
    const struct lock_stack *stacks;
    const struct lock_frame *frames; /* [0] is none */
    const struct lock *rows;         /* locks first, then the rest, each by time */
    size_t len;
    uint64_t waited_ns; /* of all threads chosen, in whatever */
    uint64_t ready_ns;  /* and for a CPU, of which what came after waits is in the rows as well */
    uint64_t seen_ns;   /* of that, in the rows */
    uint64_t unseen_ns; /* in waits too short to inspect, or that may not be inspected */
    bool has_total;     /* it is known what the whole run read and wrote */
    struct recording_transferred total;
    uint64_t placed_read, placed_written; /* of that, of the threads chosen, in the rows */
    uint32_t deadlocks;                   /* numbers of such circles of rows */
    bool has_waits;                       /* the recording has off-CPU time at all */
    bool is_io;
};

struct locks_input {
    const struct summary *summary;
    const struct recording *recording;
    const struct recording_choice *choice; /* windows do not count */
    const bool *nodes;                     /* only waits and bytes of these; NULL: of all */
    const struct named_frames *frames;
    struct names *names; /* of the functions of `frames` */
    const char *demangle;
    bool is_io; /* files, pipes and sockets, not locks */
};

/* All lives in the arena, and points into the input. */
void locks_make(struct locks *out, const struct locks_input *in, struct arena *a);

#endif

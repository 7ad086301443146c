/* What the tables of locks and files are made in (locks.c), for those who add rows of their own:
 * bytes, and waits that were not inspected (locks_bytes.c, locks_short.c). */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_LOCKS_PRIVATE_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_LOCKS_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "profile/analysis/recording/locks.h"

enum { NO_ROW = UINT32_MAX, SHORT_WAITS = UINT32_MAX - 1 };

/* A row, and the steps below rows, while they are made. */
struct lock_making {
    struct lock row;
    uint32_t kind;  /* of locks.c's KINDS, or SHORT_WAITS */
    uint32_t first; /* step; 0: none */
};

/* Links are numbers, as the vector of steps moves when it grows. Step 0 is no step: its time is
 * that of all, and is not read. */
struct lock_step {
    struct lock_holder holder;
    uint32_t row, parent; /* parent 0: none */
    uint32_t first, next; /* children, and siblings, by time; 0: none */
};

/* A stack that read or wrote, and in which row. */
struct lock_transferring {
    struct lock_transfer transfer;
    uint32_t row;
};

/* Who ended waits, and for which row. */
struct lock_waking {
    struct lock_waker waker;
    uint32_t row;
};

/* A stack that waited, and for which row. */
struct lock_waiting {
    struct lock_waiter waiter;
    uint32_t row;
};

/* Maps lead from what makes things equal to their numbers: a row's kind and name, a step's
 * parent and stack, a waiter's row and stack. */
struct locks_making {
    const struct locks_input *in;
    struct arena *arena;
    VEC(struct lock_stack) stacks;
    VEC(struct lock_making) rows;
    VEC(struct lock_step) steps; /* [0] is none */
    VEC(struct lock_waiting) waiters;
    VEC(struct lock_transferring) transfers;
    VEC(struct lock_waking) wakers;
    VEC(struct lock_frame) frames; /* [0] is none */
    struct map frame_of;           /* caller and function -> frame */
    struct map same_stack;         /* innermost frame and call -> stack */
    uint32_t *twin;                /* resource -> how many of its name are before it */
    uint32_t *same;                /* resource -> one at the same place that says more, or itself */
    struct map stack_of;           /* node -> stack */
    struct map row_of, step_of, waiter_of, transfer_of;
    uint32_t deadlocks;
};

/* Whether a thread's waits and bytes in a stack are wanted; those of unknown threads always are. */
static inline bool locks_takes(const struct locks_input *in, uint32_t thread, uint32_t node)
{
    bool is_there = !in->nodes || (node != RECORDING_NONE && in->nodes[node]);
    return is_there &&
           (thread == RECORDING_NONE || !in->choice->threads || in->choice->threads[thread]);
}

/* The stack of a node, equal ones with equal numbers; RECORDING_NONE for the root. */
uint32_t locks_stack(struct locks_making *m, uint32_t node);

/* Who waits, for people: the innermost function that is none of a library. Only if there is
 * none, the innermost at all: a row must have some name. */
uint32_t locks_function(const struct locks_making *m, uint32_t stack);

/* The row of a resource that is waited for in a stack, or of all without a name there, in which
 * `thing` is one more. */
uint32_t locks_row_with(struct locks_making *m, uint32_t resource, uint32_t stack, uint32_t thing);
uint32_t locks_row(struct locks_making *m, uint32_t resource, uint32_t stack);

/* The waiter of a row in a stack, made if there is none: its number. */
uint32_t locks_waiter(struct locks_making *m, uint32_t row, uint32_t stack);

/* What was transferred, to the rows of files: no thread had to wait for some of these. */
void locks_add_transfers(struct locks_making *m, struct locks *out);
void locks_sort_transfers(struct locks_making *m); /* those of a row together, most bytes first */

/* Whether some thread ends waits for it that does not hold it, as far as was seen. */
bool locks_is_signalled(const struct lock_making *of);

/* Who ended waits, to the rows that are there; then in the order of rows and time. */
void locks_add_wakers(struct locks_making *m);
void locks_give_wakers(struct locks_making *m);

/* Rows for waits that were over before they could be inspected; `out` has the sums of all waits. */
void locks_add_short_waits(struct locks_making *m, const struct locks *out);

#endif

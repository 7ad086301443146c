/* What the files about waiting share.
 *
 *   waits.c          reports of a source: threads, switches, clocks
 *   waits_look.c     looks at threads that wait, and waits that go on
 *   waits_resource.c what a thread waits for, and who holds it
 *   waits_chain.c    what the holder does meanwhile, and for whom that one waits
 *   waits_io.c       what threads read and write
 *   waits_observe.c  waits of threads whose switches are not reported
 *   waits_times.c    how many run at a time
 */
#ifndef MONARC_RECORD_WAITS_WAITS_PRIVATE_H
#define MONARC_RECORD_WAITS_WAITS_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/labels.h"
#include "record/waits/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WAITS_PIECE_NS = 100 * 1000 * 1000, /* what is kept back of a thread's time, at most */
    WAITS_STACK_BYTES = 16 << 10,
    WAITS_NAME_BYTES = 512,
    WAITS_ARGUMENTS = 6,
    NO_THREAD = -1,
};

enum waits_thread_state {
    WAITS_THREAD_NONE, /* the slot is free */
    WAITS_THREAD_RUNS,
    WAITS_THREAD_WAITS,
    WAITS_THREAD_READY,
    WAITS_THREAD_FOUND,  /* was there before recording; it has not switched since */
    WAITS_THREAD_UNKNOWN /* something was lost */
};

/* The leaf of a queue is a slot; slots refer to each other by number. */
struct waiting_queue {
    int32_t first, last;
};

struct waits_observed;
struct waits_chain;

/* A thread that ran when it was inspected: its next sample says where. */
struct waits_asked {
    pid_t tid;
    uint64_t at_ns;          /* of the look */
    uint32_t parent, thread; /* of the step */
    int32_t slot;            /* of the thread that waits */
};

/* A call that was seen, which transfers bytes. */
struct waits_call {
    pid_t pid, tid;
    uint32_t resource, node;
    bool is_write, is_wait, is_file;
    uint64_t wanted; /* of a wait: how much it requested */
    uint64_t weight; /* of a sample */
};

/* A thread's account, as it was read last, and calls that were seen since then. */
struct waits_io {
    struct recording_transferred account;
    uint64_t read_ns;
    bool is_listed; /* in io_slots */
    VEC(struct waits_call) calls;
};

struct waiting_thread {
    pid_t pid, tid;
    enum waits_thread_state state;
    int32_t previous, next;      /* in `queue`; of free slots: the next free one */
    struct waiting_queue *queue; /* NULL: in none */
    uint64_t left_ns;            /* when it left the CPU */
    uint64_t gone_ns;            /* when it was found to be no more; 0: it is */
    uint64_t there_ns;           /* when it was last found to be there; 0: never asked */
    uint64_t counted_ns;         /* up to where its time is counted */
    struct collector_wake wake;  /* what woke it last, since then; at_ns 0: not reported */
    bool is_leaving;             /* `place` is reported for the next wait */
    bool has_place, has_look;
    struct collector_place place;       /* where it left, as the source saw it */
    struct collector_place look;        /* where it was seen from outside ... */
    uint64_t looked_ns;                 /* ... until then */
    uint32_t labels;                    /* what it published, at the look */
    struct unwind_registers *registers; /* as it left; NULL: never known */
    uint64_t unknown_ns, ready_ns;      /* not yet given to the collector */
    uint64_t first_kept_ns;             /* since when these are kept */
    struct waits_observed *observed;    /* of one that is known by its clock alone; or NULL */
    bool is_on;                         /* one of those in `running` */
    uint64_t on_ns;                     /* since when, as far as not reported yet ... */
    double on_shared;                   /* ... and `shared` then */
    uint64_t preempted_ns;              /* reported time without a CPU while ready */
    bool has_delay;                     /* `first_delay_ns` is known */
    uint64_t first_delay_ns;            /* by its account, when it was found */
    uint64_t delay_ns, delay_read_ns;   /* the last reading, that may be used later, and when; 0 */
    uint64_t delayed_ns, delayed_until_ns; /* how much was reported, and up to when */
    struct waits_chain *chain;             /* who holds what it waits for; or NULL */
    struct waits_io *io;                   /* NULL: no such call was seen */
    uint32_t asked;                        /* how many of `asked` want its next sample */
};

enum { WAITS_MOST_STEPS = 8, WAITS_GLANCES = 16 }; /* of a chain; that are kept at a time */

/* What a look at who holds a lock has seen: others that wait at the same word share it for a
 * moment. */
struct waits_glance {
    pid_t pid; /* of the lock; 0: none */
    uint64_t waited_at, operation, value;
    uint64_t at_ns;
    uint64_t number; /* another one whenever something else is seen */
    pid_t asked;     /* the last one runs, and its next sample says where; 0: it does not */
    uint32_t len;
    struct recording_link steps[WAITS_MOST_STEPS]; /* without their parents */
    pid_t tids[WAITS_MOST_STEPS];
};

/* Threads that are off stand in one of two queues: those that may still be inspected, in the order
 * in which they left, and those that were, or that are only short of a CPU. So a poll takes the
 * longest waits first and touches nothing else. */
struct waits {
    struct collector *collector;
    struct waits_options options;
    VEC(struct waiting_thread) threads;
    struct map slot_of; /* tid -> slot; slots of other tids are out of date */
    int32_t free;
    size_t living;
    struct waiting_queue fresh, known; /* may be inspected; all others that are off */
    uint64_t start_ns, piece_ns;       /* the first reported time; of the last pieces */
    uint64_t piece_cost_ns;            /* what counting these took */
    uint64_t pause_ns;                 /* until then nothing is inspected */
    struct waits_sums sums;
    uint64_t losses;
    VEC(int32_t) running;      /* slots */
    double shared;             /* the time in which any ran, each moment divided by how many did */
    uint64_t shared_ns;        /* up to when that is known */
    VEC(uint64_t) parallel;    /* how long so many ran, since the last report */
    struct waiting_queue held; /* were inspected, and wait for a thread: inspected again */
    uint64_t again_ns, random; /* until then not */
    int64_t credit_ns;         /* CPU time that looking again may take ... */
    uint64_t credited_ns;      /* ... as of then */
    VEC(struct waits_asked) asked; /* in the order of looks */
    struct waits_glance glances[WAITS_GLANCES];
    uint64_t glance_number;
    VEC(int32_t) io_slots;          /* threads of which calls were seen */
    VEC(struct waits_call) io_left; /* of threads that ended before their accounts were read */
    struct recording_transferred io_told; /* what was shared out, and what had no place */
    uint64_t io_again_ns;                 /* until then no account is read */
    uint8_t stack[WAITS_STACK_BYTES];
};

/* The slot of a thread that lives, or NO_THREAD. */
int32_t waits_find(const struct waits *w, pid_t tid);

/* A slot for a new thread, in the state that it has from then on. */
int32_t waits_begin(struct waits *w, pid_t pid, pid_t tid, enum waits_thread_state state,
                    uint64_t at_ns);

/* Takes a thread out of its queue. */
void waits_unqueue(struct waits *w, int32_t slot);

/* Puts a thread at the end of a queue, out of that in which it is. */
void waits_queue(struct waits *w, int32_t slot, struct waiting_queue *queue);

/* A sample of the thread, without a place, that ends where counting ends; it began at `from_ns`. */
struct collector_sample waits_sample(const struct waits *w, const struct waiting_thread *t,
                                     uint64_t weight, uint64_t from_ns);

/* Adds time without a place to one of the thread's two sums, which the collector gets from time to
 * time. The time counts up to counted_ns. */
void waits_keep(struct waits *w, struct waiting_thread *t, uint64_t *kept, uint64_t ns);

/* Counts what a thread has been off the CPU since that was last done. */
void waits_count(struct waits *w, struct waiting_thread *t, uint64_t until_ns);

/* Forgets a thread that has ended if its end was not reported, and will not be: when is not known.
 * Returns whether it has ended. */
bool waits_drop_if_gone(struct waits *w, int32_t slot, uint64_t told_ns);

/* Looks at a thread from outside, and keeps where it waits if it does. */
void waits_look(struct waits *w, int32_t slot);

/* Counts what is known of an observed thread; no more reports of it follow. */
void waits_observed_end(struct waits *w, struct waiting_thread *t, uint64_t at_ns);

/* --- waits_times.c ---------------------------------------------------------------------------- */

/* The thread is on a CPU from now on, or it is not. */
void waits_run(struct waits *w, int32_t slot, bool is_on, uint64_t at_ns);

/* Nothing is known of what runs. */
void waits_run_none(struct waits *w);

/* A whole wait: it goes into the list of these. */
void waits_keep_wait(struct waits *w, const struct waiting_thread *t, uint64_t at_ns);

/* Reads how long the thread has been ready without a CPU in its life. is_waiting: it waits since
 * `left_ns`, and all before was reported, so that the account is exact; else the reading counts
 * once all up to it is reported. */
void waits_read_delay(struct waits *w, struct waiting_thread *t, bool is_waiting);

/* --- waits_look.c: looking at a thread that does not run, from outside, without its noticing
 * ------ */

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
    uint64_t arguments[WAITS_ARGUMENTS];
};

/* Reads what /proc/PID/task/TID/syscall says: `running`, or NUMBER [six arguments] SP PC; -1 stands
 * for none. false: it is none of these. */
bool waits_look_read(const char *text, struct waits_look *out);

void waits_look_at(pid_t pid, pid_t tid, struct waits_look *out);

/* Where a thread is that was seen waiting or stopped. `registers`: more of them than the look has,
 * or NULL. */
struct collector_place waits_look_place(struct waits *w, pid_t pid, pid_t tid,
                                        const struct waits_look *look,
                                        const struct unwind_registers *registers, uint64_t at_ns);

/* --- waits_resource.c: what it waits for ------------------------------------------------------ */

struct waits_resource {
    uint32_t kind;               /* enum recording_resource_kind */
    uint64_t address;            /* of the lock; the inode of what has one */
    uint64_t waited_at;          /* the word that is waited at */
    uint32_t word;               /* what was there */
    char name[WAITS_NAME_BYTES]; /* of what is not in memory */
    pid_t holder_pid, holder;    /* holder 0: not known */
    bool is_gone;                /* there is no thread of that number */
    bool is_stored;              /* a file or a disk: there is as much as calls request */
};

/* false: it waits for what has no name here. */
bool waits_resource(const struct waits *w, pid_t pid, pid_t tid, const struct waits_look *look,
                    struct waits_resource *out);

/* What a descriptor is, as far as /proc says; false: it is closed, or not ours to see. */
bool waits_resource_of_descriptor(pid_t pid, int fd, struct waits_resource *out);

/* Whether the lock still has the same word. */
bool waits_resource_is_same(pid_t pid, const struct waits_resource *before);

/* --- waits_io.c ------------------------------------------------------------------------------- */

/* A thread that was there before recording: what it transferred so far does not count. */
void waits_io_found(struct waits *w, int32_t slot);

/* A thread that was inspected in a call, or sampled in one. */
void waits_io_waiting(struct waits *w, int32_t slot, const struct waits_look *look);
void waits_io_sampled(struct waits *w, const struct collector_sample *s,
                      struct collector_place place);

/* Reads accounts that are due; returns in how long it wants to be asked again. */
uint64_t waits_io_poll(struct waits *w, uint64_t now_ns);

/* The thread has ended; all have. */
void waits_io_end(struct waits *w, int32_t slot);
void waits_io_finish(struct waits *w, uint64_t now_ns);

/* --- waits_chain.c: who holds it -------------------------------------------------------------- */

struct waits_seen {
    uint64_t at_ns;
    uint32_t step; /* the last one of the chain */
};

/* Of one wait at a time; kept for the next one. */
struct waits_chain {
    struct waits_look look; /* at the thread itself, which cannot change while it waits */
    uint32_t first;         /* step */
    bool is_on;
    bool is_new;     /* the wait has not been counted yet */
    uint64_t glance; /* number of the glance that the last look has from others; 0: none */
    VEC(struct waits_seen) looks;
    /* Of looks that were counted. Turns are between looks that saw different things. */
    uint32_t seen, alike; /* how many; how many at the end saw the same: 2 stands for more */
    uint32_t before;      /* what was seen before the last turn; RECORDING_NONE: there was none */
    uint64_t turn_ns;     /* how far apart the looks of that turn were */
    uint64_t whole_ns, until_ns; /* how much of the wait is counted, and until when */
};

/* The thread was inspected, and is at this node; the chain begins there. */
void waits_chain_begin(struct waits *w, int32_t slot, const struct waits_look *look, uint32_t node);

/* The wait is over. */
void waits_chain_end(struct waits *w, struct waiting_thread *t);
void waits_chain_free(struct waiting_thread *t);

/* Looks again at the holders of what threads wait for; returns in how long it wants to be asked
 * again. */
uint64_t waits_chain_again(struct waits *w, uint64_t now_ns);

/* Counts a stretch of the wait on the chains that were seen. */
void waits_chain_count(struct waits *w, struct waiting_thread *t, uint64_t from_ns,
                       uint64_t until_ns);

#endif

/* What the files of the ptrace source share. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_PRIVATE_H
#define MONARC_RECORD_PTRACE_PTRACE_PRIVATE_H

#include "record/ptrace/ptrace_registers.h"
#include "record/ptrace/ptrace_threads.h"
#include "record/source.h"
#include "record/ptrace/ptrace_conflict.h"
#include "record/waits/waits.h"

#include <sched.h>

enum { PTRACE_STACK_BYTES = 16384, MOST_LOOKS_AT_ONCE = 2 };

/* A process that is not traced, for a reason. */
struct ptrace_left {
    pid_t pid;
    const char *why;
    uint64_t start_ns, cpu_ns; /* CPU time when it was left, and when last seen */
};

struct ptrace_source {
    struct source base;
    struct collector *collector;
    struct ptrace_threads threads;
    VEC(struct ptrace_left) left;
    struct traced_files files;
    VEC(pid_t) running; /* threads that one round found running */
    uint32_t event;
    struct waits *waits;       /* NULL: nobody wants them */
    uint64_t next_observed_ns; /* when the threads' clocks are read next */
    bool has_waiting;          /* some had begun another wait then */
    bool no_stacks, no_follow;
    bool is_passing;   /* traces a thread only while it is looked at: ptrace_places.h */
    bool has_answered; /* a stop, since the last round */
    bool is_finished;
    int wake_options;       /* PTRACE_O_... */
    uint64_t random;        /* state of the generator */
    uint64_t period_ns;     /* mean time between looks */
    uint64_t next_ns;       /* of the next look */
    double cost_ns;         /* of a look */
    uint32_t most_files;    /* threads whose files in /proc may stay open */
    uint64_t asleep_cpu_ns; /* our own CPU time when the last round ended */
    double prompt_ns;       /* one look in fifty begins sooner after its time */
    uint64_t next_left_ns;  /* of the next look at what is not traced */
    uint32_t active, quiet; /* threads of either kind at the last look */
    int64_t ends_ns;        /* CPU time that ended threads have left over, see ptrace_sampling.c */
    uint64_t unplaced_ns;   /* the same of those that go on, as of the last look */
    uint64_t samples, placed_ns; /* so far: how many, and what they weigh */
    uint64_t look_weight_ns;     /* CPU time that the next look stands for */
    pid_t self, self_tid;        /* our own process and thread */
    cpu_set_t cpus, used; /* that we may run on; of these, that the program has used lately */
    uint8_t stack[PTRACE_STACK_BYTES];
};

/* ptrace_plan.c */

/* A random number in (0, 1]. */
double ptrace_random(struct ptrace_source *s);

/* Of a zeroed one; the second, in the thread that is to look, whose timer slack it changes. */
void ptrace_init_looks(struct ptrace_source *s, uint32_t rate);
void ptrace_prepare_looks(struct ptrace_source *s);

/* Decides when the next look is to be, and returns in how many nanoseconds. */
uint64_t ptrace_plan_next(struct ptrace_source *s);

/* Whether a look can begin soon enough after its time. */
bool ptrace_is_prompt(struct ptrace_source *s, uint64_t now);

/* ptrace_sampling.c */

/* Looks at the threads, and asks one of those that run to stop. `by_timer`: the end of the time
 * that was to pass has woken us, nothing else, and just now. */
enum ptrace_asked { PTRACE_NOBODY, PTRACE_ASKED, PTRACE_REFUSED };
enum ptrace_asked ptrace_look(struct ptrace_source *s, bool by_timer);

/* Moves us to the CPU that the next look is to be on; returns its mean distance in ns. */
uint64_t ptrace_choose_cpu(struct ptrace_source *s);

/* Takes a sample of a stopped thread that was asked for it. */
void ptrace_sample(struct ptrace_source *s, struct ptrace_thread *t);

/* What a thread has had after its last sample is left over, and it starts anew: at its end, or when
 * its program is replaced. Returns its CPU time. */
uint64_t ptrace_leave_over(struct ptrace_source *s, struct ptrace_thread *t);

/* Tells the collector about mappings that have changed. */
void ptrace_refresh_maps(struct ptrace_source *s, struct ptrace_process *p);

/* ptrace_waits.c */

/* Reads a thread's clock, or those of all threads if it is time to, so that their waits are known.
 */
void ptrace_observe(struct ptrace_source *s, struct ptrace_thread *t);
void ptrace_observe_all(struct ptrace_source *s);
void ptrace_observe_end(struct ptrace_source *s, struct ptrace_thread *t);

/* ptrace_stops.c */

/* struct source: stopped() */
bool ptrace_stopped(struct source *source, pid_t pid, int status);

/* A thread that is traced from now on. */
struct ptrace_thread *ptrace_follow(struct ptrace_source *s, pid_t tid, pid_t pid, pid_t parent);

#endif

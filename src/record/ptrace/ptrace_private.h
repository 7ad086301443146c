/* Shared by the files of the ptrace source.
 *
 *   ptrace_source.c    beginning and end, and the answers to stops
 *   ptrace_sampling.c  when to look at which thread, and what a sample weighs
 *   ptrace_threads.c   the list of threads and processes, their mappings and their waits
 *   ptrace_conflict.c  programs that cannot be traced, or not all the time
 *   ptrace_places.c    the same looks beside perf events, by a thread of its own
 *
 * `struct ptrace_source` is the state of all of them. One thread uses it at a time: the monitor's,
 * or for ptrace_places.c that of the looks, under its lock. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_PRIVATE_H
#define MONARC_RECORD_PTRACE_PTRACE_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_continue.h"
#include "record/ptrace/ptrace_registers.h"
#include "record/source.h"
#include "record/labels.h"
#include "record/waits/waits.h"

#include <sched.h>
#include <signal.h>

enum {
    PTRACE_STACK_BYTES = 16384,
    MOST_LOOKS_AT_ONCE = 2,
    AT_CALL = SIGTRAP | 0x80, /* of a stop's number: on the way into a call or out of it */
    NONE_WAITS = -1,          /* of `wanted_by` */
};

/* Why a program would not work, or would work otherwise, while another process traces it. */
enum ptrace_conflict {
    TRACED_WELL,
    TRACED_TRACER, /* may trace others or itself, which only one can do at a time */
    TRACED_LEAKS,  /* looks for leaks at its end, by tracing itself */
    TRACED_RIGHTS, /* runs with rights of its file, which it does not get while traced */
    TRACED_UNREAD, /* its user may not read it, so that what it is cannot be known */
    TRACED_KINDS
};

/* Files known so far; zeroed at first. */
struct traced_files {
    struct map by_inode; /* to enum ptrace_conflict */
};

/* The executable mappings of a process, as a hash. */
struct ptrace_maps {
    uint64_t next_ns; /* they are not read again before */
    uint64_t print;   /* the hash; 0: never read */
};

struct ptrace_process {
    pid_t pid;
    uint32_t threads;       /* records that point here; the last one frees it */
    bool is_watched;        /* is stopped at system calls: ptrace_conflict.c */
    uint32_t calls;         /* that it was stopped at, ... */
    uint64_t first_call_ns; /* ... of which the first was then */
    bool has_executed;      /* false: still our own code, before the program's exec */
    char name[PROC_NAME_BYTES];
    struct ptrace_maps maps;
};

/* CPU times are the kernel's of that thread, in ns since its start. */
struct ptrace_thread {
    pid_t tid;
    struct ptrace_process *process;
    struct proc_thread files;
    uint64_t base_ns;   /* CPU time when recording began */
    uint64_t placed_ns; /* CPU time up to its last sample, or its start */
    uint64_t turns;     /* it had had a CPU so often at the last look */
    uint64_t seen_ns;   /* CPU time at the last look */
    int cpu;            /* that it ran on last; -1: not known */
    bool is_asked;      /* to stop for a sample */
    bool is_moot;       /* ... but ran on before the command */
    bool is_first;      /* its next sample is the first since its start, or its program's */
    bool is_ending;     /* has reported its end, and is not gone yet */
    bool is_ready;      /* ran or could run at the last look */
    bool is_held;       /* in a group stop, as by SIGSTOP */
    bool has_name;
    pid_t wanted_by;    /* a thread that waits for us to let this one go; 0: none; -1: it is to go
                           although none waits */
    uint64_t asleep_ns; /* first seen asleep then, after `turns` turns; 0: not yet */
    uint64_t observed_runs;   /* turns, when its waits were last observed */
    uint64_t observed_waits;  /* how many these were by then, and one */
    uint64_t stops;           /* that it came to for us ... */
    uint64_t held_ns;         /* ... and how long we took to answer them */
    uint64_t asleep_in;       /* in which call: see proc_thread_call() */
    struct ptrace_rest *rest; /* of a call that was cut short; NULL: never */
    uint8_t quiet_looks;      /* in a row that saw it neither run nor to have run */
};

struct ptrace_threads {
    VEC(struct ptrace_thread) at; /* dense, in no order */
    struct map by_tid; /* to an index; entries of threads that are gone stay for a while */
};

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
    struct labels *labels;     /* NULL: looks are another source's */
    struct waits *waits;       /* NULL: not wanted */
    uint64_t next_observed_ns; /* when the threads' clocks are read next */
    bool has_waiting;          /* some had begun another wait then */
    bool no_stacks, no_follow;
    bool is_passing;   /* traces a thread only while it inspects it: ptrace_places.h */
    bool has_answered; /* a stop, since the last round */
    bool is_finished;
    int wake_options;            /* PTRACE_O_... */
    uint64_t random;             /* state of the generator */
    uint64_t period_ns;          /* mean time between looks */
    uint64_t next_ns;            /* of the next look */
    double cost_ns;              /* of a look */
    uint32_t most_files;         /* threads whose files in /proc may stay open */
    uint64_t asleep_cpu_ns;      /* our own CPU time when the last round ended */
    uint64_t next_left_ns;       /* of the next look at what is not traced */
    uint32_t active, quiet;      /* threads of either kind at the last look */
    int64_t ends_ns;             /* CPU time that ended threads have left over: ptrace_sampling.c */
    uint64_t unplaced_ns;        /* the same of those that go on, as of the last look */
    uint64_t samples, placed_ns; /* so far: how many, and what they weigh */
    uint64_t look_weight_ns;     /* CPU time that the next look stands for */
    pid_t self, self_tid;        /* our own process and thread */
    cpu_set_t cpus, used; /* that we may run on; of these, that the program has used lately */
    uint8_t stack[PTRACE_STACK_BYTES];
};

/* --- ptrace_sampling.c ----------------------------------------------------------------------- */

/* Of a zeroed one; the second, in the thread that is to look, whose timer slack it changes. */
void ptrace_init_looks(struct ptrace_source *s, uint32_t rate);
void ptrace_prepare_looks(struct ptrace_source *s);

/* Decides when the next look is to be, moves us to the CPU that it is to be on, and returns in how
 * many nanoseconds it is. */
uint64_t ptrace_plan_next(struct ptrace_source *s);

/* Whether a look can begin soon enough after its time. */
bool ptrace_is_prompt(struct ptrace_source *s, uint64_t now);

/* Looks at the threads, and asks one of those that run to stop. `by_timer`: the end of the time
 * that was to pass has woken us, nothing else, and just now. */
enum ptrace_asked { PTRACE_NONE_ASKED, PTRACE_ASKED, PTRACE_REFUSED };
enum ptrace_asked ptrace_look(struct ptrace_source *s, bool by_timer);

/* Takes a sample of a thread that was stopped for it. */
void ptrace_sample(struct ptrace_source *s, struct ptrace_thread *t);

/* What a thread has had after its last sample is left over, and it starts anew: at its end, or when
 * its program is replaced. Returns its CPU time. */
uint64_t ptrace_leave_over(struct ptrace_source *s, struct ptrace_thread *t);

/* Reports changed mappings to the collector. */
void ptrace_refresh_maps(struct ptrace_source *s, struct ptrace_process *p);

/* --- ptrace_threads.c ------------------------------------------------------------------------ */

/* Whether it makes the rest of a call now. */
static inline bool ptrace_thread_rests(const struct ptrace_thread *t)
{
    return t->rest && t->rest->tid;
}

void ptrace_threads_deinit(struct ptrace_threads *t);

/* NULL: not known. Pointers are valid until the next ptrace_threads_add() or _remove(). */
struct ptrace_thread *ptrace_threads_find(const struct ptrace_threads *t, pid_t tid);

/* The first thread of a process, or any other that is traced. */
struct ptrace_thread *ptrace_threads_of(const struct ptrace_threads *t, pid_t pid);

/* A thread of `process`, or with NULL the first one of a new process. It must not be known. */
struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *t, pid_t tid,
                                         struct ptrace_process *process);

/* The last thread of a process takes that with it; others take the place of this one. */
void ptrace_threads_remove(struct ptrace_threads *t, struct ptrace_thread *thread);

/* After an exec by another thread than the first: it goes on under the process's number. */
struct ptrace_thread *ptrace_threads_rename(struct ptrace_threads *t, pid_t from, pid_t to);

/* Removes all threads of a process but `kept`, which may be 0. */
void ptrace_threads_remove_others(struct ptrace_threads *t, pid_t pid, pid_t kept);

/* Whether the executable mappings are others than at the last call that read them; false where it
 * is too early to look again, or nothing can be read. */
bool ptrace_maps_changed(struct ptrace_maps *m, pid_t pid, uint64_t now_ns);

/* Reads a thread's clock, or those of all threads if it is time to, so that their waits are known;
 * the last, when the thread ends. */
void ptrace_observe(struct ptrace_source *s, struct ptrace_thread *t);
void ptrace_observe_all(struct ptrace_source *s);
void ptrace_observe_end(struct ptrace_source *s, struct ptrace_thread *t);

/* --- ptrace_conflict.c ----------------------------------------------------------------------- */

void traced_files_deinit(struct traced_files *known);
enum ptrace_conflict ptrace_conflict_of(struct traced_files *known, pid_t pid);

/* Right after an exec. true: the process is not traced any more, and `t` is gone. A program that
 * may trace others is watched from now on. */
bool ptrace_leave_if_needed(struct ptrace_source *s, struct ptrace_thread *t);

/* Reads the CPU time of what was left, now and then; at the end for the last time, and reports it.
 */
void ptrace_look_at_left(struct ptrace_source *s, uint64_t now_ns);
void ptrace_report_left(struct ptrace_source *s);

/* At any stop: whether another tracer wants the thread. It is let go then, and `t` is gone. */
bool ptrace_watch_wanted(struct ptrace_source *s, struct ptrace_thread *t, int event, int number);

/* The thread is gone by itself. */
void ptrace_watch_ended(struct ptrace_thread *t);

/* At the beginning or end of a system call of a watched process: false if the thread is to go on
 * as ever; true: it was let go, and `t` is gone. */
bool ptrace_watch_call(struct ptrace_source *s, struct ptrace_thread *t);

#endif

/* The threads that are traced, and their processes. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_THREADS_H
#define MONARC_RECORD_PTRACE_PTRACE_THREADS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_continue.h"
#include "record/ptrace/ptrace_maps.h"

struct ptrace_process {
    pid_t pid;
    uint32_t threads; /* records that point here */
    bool is_watched;  /* is stopped at system calls: ptrace_watch.h */
    uint32_t calls;   /* that it was stopped at, of which the first was then */
    uint64_t first_call_ns;
    bool has_executed; /* false: still our own code, before the program's exec */
    char name[PROC_NAME_BYTES];
    struct ptrace_maps maps;
};

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
    bool is_moot;       /* ... but ran on before it was told to */
    bool is_young;      /* has had no sample since its start or its program's */
    bool is_ending;
    bool is_ready; /* ran or could run at the last look */
    bool is_held;  /* in a group stop, as by SIGSTOP */
    bool has_name;
    pid_t wanted_by;    /* a thread that waits for us to let this one go; -1: none does, but it is
                           to go; 0 */
    uint64_t asleep_ns; /* first seen asleep then, after `turns` turns; 0: not yet */
    uint64_t observed_runs;   /* turns, when its waits were last observed */
    uint64_t asleep_in;       /* in which call: see proc_thread_call() */
    struct ptrace_rest *rest; /* of a call that was cut; NULL: none has been */
    uint8_t quiet_looks;      /* in a row that saw it neither run nor to have run */
};

struct ptrace_threads {
    VEC(struct ptrace_thread) at;
    struct map by_tid; /* to an index; entries of threads that are gone stay for a while */
};

/* Whether it makes the rest of a call now. */
static inline bool ptrace_thread_rests(const struct ptrace_thread *t)
{
    return t->rest && t->rest->tid;
}

void ptrace_threads_deinit(struct ptrace_threads *t);

/* NULL: not known. Pointers are valid until the next ptrace_threads_add() or _remove(). */
struct ptrace_thread *ptrace_threads_find(const struct ptrace_threads *t, pid_t tid);

/* A thread of `process`, or with NULL the first one of a new process. It must not be known. */
struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *t, pid_t tid,
                                         struct ptrace_process *process);

/* The last thread of a process takes that with it; others take the place of this one. */
void ptrace_threads_remove(struct ptrace_threads *t, struct ptrace_thread *thread);

/* After an exec by another thread than the first: it goes on under the process's number. */
struct ptrace_thread *ptrace_threads_rename(struct ptrace_threads *t, pid_t from, pid_t to);

/* Removes all threads of a process but `kept`, which may be 0. */
void ptrace_threads_remove_others(struct ptrace_threads *t, pid_t pid, pid_t kept);

#endif

/* What the sources of a recording have in common: they say what happens in the processes, in the
 * order of time, and the collector makes a run of it.
 *
 * A source (perf events, ptrace) watches; it knows nothing of stacks, files and weights beyond what
 * it hands over. The collector keeps processes, threads and mappings, unwinds, and counts samples
 * on a tree of stacks in memory that is bounded whatever the run's length: time is kept in at most
 * 1,000 slices, which are merged by two as the run grows.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds.
 *
 * The order of use: collector_new(); events; then whatever happens, oldest first; totals and
 * factors; collector_finish(). Pids and tids are the kernel's, and may be used again: a fork or
 * an exec says when. */
#ifndef MONARC_RECORD_COLLECTOR_H
#define MONARC_RECORD_COLLECTOR_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct collector;

/* How samples are to be understood. `vdso_id` must live as long as the collector. */
struct collector_options {
    uint64_t start_ns;
    const struct arch *arch;
    uint64_t slice_ns; /* of the slices of time, if others than the usual ones are wanted */
    bool no_stacks;
    bool reads_commands; /* arguments of what runs, from /proc, when it is reported */
    bool reads_ranks;    /* who a process is in a parallel job, likewise */
    bool is_started;  /* the first process is ours: of our own rank, and known from its begin on */
    bool is_replayed; /* another tool recorded it, at some time, perhaps elsewhere: processes of
                         these numbers are others by now, and none is asked */
    bool opens_no_files;  /* for tests with hostile input */
    struct bytes vdso_id; /* replayed: build-id of the vDSO; it is not used if ours has another */
};

struct collector *collector_new(const struct collector_options *o);
/* Frees it and closes all files that it has opened. NULL is fine. */
void collector_free(struct collector *c);

/* Where it is known late: before the first event that has a time. */
void collector_set_start(struct collector *c, uint64_t start_ns);

/* --- events that are counted ------------------------------------------------------------------ */

/* Adds one before the first sample of it; returns its number. The name is copied. */
uint32_t collector_add_event(struct collector *c, const char *name, enum recording_event_unit unit,
                             uint64_t period, bool user_only);

/* --- processes -------------------------------------------------------------------------------- */

/* A new thread or process; pid == parent_pid for a thread. Unknown parents are allowed. */
void collector_fork(struct collector *c, pid_t pid, pid_t tid, pid_t parent_pid, uint64_t at_ns);

/* Another program in a process: its mappings so far are gone, its threads but one too. */
void collector_exec(struct collector *c, pid_t pid, const char *name, uint64_t at_ns);

/* A thread's new name. */
void collector_name(struct collector *c, pid_t pid, pid_t tid, const char *name, uint64_t at_ns);

/* A thread ends. */
void collector_exit(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns);

/* The exact CPU time of a thread so far, in nanoseconds: the last one given counts. */
void collector_thread_cpu(struct collector *c, pid_t pid, pid_t tid, uint64_t cpu_ns);

/* For a CPU time that is known for all threads together, not for each. */
void collector_scale_threads(struct collector *c, double factor);

/* What the first process used by the kernel's accounts, with all whom it has waited for; zeros
 * until it has ended. The accounts of our own children would not do: they survive an exec, and
 * who executed us (a shell) may have waited for others. */
struct collector_accounts {
    uint64_t user_ns, system_ns, switches;
};
void collector_account(struct collector *c, struct collector_accounts accounts);
struct collector_accounts collector_accounts(const struct collector *c);

/* A process's own CPU time, and its wait status where it was waited for. */
void collector_process_cpu(struct collector *c, pid_t pid, uint64_t user_ns, uint64_t system_ns);
void collector_process_peak(struct collector *c, pid_t pid, uint64_t bytes);
void collector_process_status(struct collector *c, pid_t pid, int status);

/* Whether a process is known and has not ended; how many have not. */
bool collector_has_process(const struct collector *c, pid_t pid);
size_t collector_running(const struct collector *c);

/* --- mappings --------------------------------------------------------------------------------- */

/* A stretch of a process's memory. The texts are copied. */
struct collector_mapping {
    pid_t pid;
    uint64_t start, end, offset; /* offset: of `start` in the file */
    uint64_t device, inode;      /* 0: no file */
    const char *path;            /* "" or "//anon" for none; "[vdso]" */
    struct bytes build_id;       /* where the kernel reported it */
    bool is_executable;
};

/* An executable mapping that replaces whatever was in its range. */
void collector_map(struct collector *c, const struct collector_mapping *m, uint64_t at_ns);

/* The same for code of the kernel, by a name in brackets; `pid` does not count. Its addresses count
 * from the start of the mapping, so that they are the same wherever the kernel was loaded. */
void collector_map_kernel(struct collector *c, const struct collector_mapping *m);

/* Reads /proc/PID/maps and replaces all mappings of the process; false: it cannot be read. */
bool collector_read_maps(struct collector *c, pid_t pid, uint64_t at_ns);

/* --- samples ---------------------------------------------------------------------------------- */

enum collector_where {
    COLLECTOR_IN_USER,
    COLLECTOR_IN_KERNEL, /* a system call, recognised by the code at `pc` or `syscall` */
    COLLECTOR_WAITING,   /* off the CPU; `syscall` says in which call, -2 for a page */
    COLLECTOR_READY,     /* off the CPU, though it could run */
    COLLECTOR_STOPPED    /* off the CPU: stopped by a signal or a debugger */
};

/* Frames that another tool has found: addresses at run time of what ran or will run next, innermost
 * first; return addresses of callers. */
struct collector_chain {
    const uint64_t *user, *kernel; /* user: none, if it is to be unwound from registers */
    uint32_t user_len, kernel_len;
    bool is_leaf; /* no stack was wanted: the innermost frame alone */
    bool is_cut;  /* there may be more than there was room for */
};

/* One sample, with whatever the source knows of its stack; the rest is 0 or NULL. */
struct collector_sample {
    pid_t pid, tid;
    uint64_t at_ns;
    uint64_t weight;    /* in the event's unit */
    uint64_t lasted_ns; /* the weight is of the time from so much before at_ns; 0: of a moment */
    uint32_t event;
    enum collector_where where;
    int64_t syscall; /* number; -1: not known, -2: none (a fault or interrupt) */
    const struct unwind_registers *registers; /* of user code; NULL: there is none, as while the
                                                 kernel loads a program or ends a thread */
    struct bytes stack;                       /* from the user's stack pointer on */
    struct bytes beyond; /* what follows it there, where more was read than samples have */
    const struct collector_chain *chain; /* NULL: none */
    bool is_first_period; /* the weight is to be scaled: collector_scale_first_periods() */
    bool is_live;         /* just now: what the process has mapped may be asked of it */
    bool is_still;        /* the thread has not run since: its memory may be read for the rest */
    uint32_t labels;      /* of collector_labels(); 0: none */
    uint32_t others;      /* further samples that it stands for, and whose weight it has */
};

void collector_sample(struct collector *c, const struct collector_sample *s);

/* A branch that was taken: from the address of its instruction to where it led, at run time. */
struct collector_branch {
    uint64_t from, to;
    bool is_missed; /* the CPU had expected otherwise */
};

/* What the CPU noted before a sample of the process: branches, the latest first. */
void collector_branches(struct collector *c, const struct collector_sample *s,
                        const struct collector_branch *branches, size_t len);

/* Where time in the kernel is not sampled: what shows which code it was for. */
enum collector_probe {
    COLLECTOR_PROBE_USER,   /* a thread that ran was in user code; no registers needed */
    COLLECTOR_PROBE_CALL,   /* ... was in a system call */
    COLLECTOR_PROBE_FAULTS, /* `weight` page faults happened here, or about so many */
    COLLECTOR_PROBES
};

/* Looks have weights among themselves, in no unit: the CPU time that each kind of look stands for;
 * `event` is ignored. At the end they divide the first event's time in the kernel. Returns
 * whether the stack goes on beyond the bytes of it that are there. */
bool collector_probe(struct collector *c, const struct collector_sample *s,
                     enum collector_probe kind);

/* The factor for the weights of first-period samples at the end: the time that they stand for is
 * known exactly, their sum on average only. */
void collector_scale_first_periods(struct collector *c, double factor);

/* How much of an event there was by the kernel's counter: at the end its samples share that out. */
void collector_event_total(struct collector *c, uint32_t event, uint64_t total);

/* The place of a sample, found while the stack is there, for samples that are counted later or
 * never: a wait's length is known at its end. Good for as long as the collector. */
struct collector_place {
    uint32_t stack, node; /* without and with what the thread does there outside of user code */
    bool has_stack, is_whole;
    bool is_deep; /* the stack goes on beyond the part that samples have */
};
struct collector_place collector_place(struct collector *c, const struct collector_sample *s);

/* The same stack, with COLLECTOR_READY or COLLECTOR_STOPPED at its end, or for COLLECTOR_IN_KERNEL
 * a fault or an interrupt. */
struct collector_place collector_place_as(struct collector *c, struct collector_place place,
                                          enum collector_where where);

/* Counts a sample at a place; its registers, stack, `where` and `syscall` are ignored. */
void collector_sample_at(struct collector *c, const struct collector_sample *s,
                         struct collector_place place);

/* What a thread of `pid` waits for: its number, made if it is new, or RECORDING_NONE if there are
 * too many. `name` of what is not in memory, else NULL; it is copied. */
uint32_t collector_resource(struct collector *c, pid_t pid, enum recording_resource_kind kind,
                            uint64_t address, const char *name, uint64_t at_ns);

/* A step of a chain of waiting threads; `waits` and `ns` are 0. If there are too many, the step
 * before it stands for it. */
uint32_t collector_wait_step(struct collector *c, const struct recording_link *step);

/* Counts time for which a step was the last one of its chain; is_new: of a wait that is counted for
 * the first time. */
void collector_wait(struct collector *c, uint32_t step, bool is_new, uint64_t ns, uint64_t at_ns);

/* How sure the time of a step is, in us^2 (struct recording_link): adds to the step's. */
void collector_wait_error(struct collector *c, uint32_t step, uint64_t error, uint64_t single);

/* The step before a step; RECORDING_NONE: it is a first one. */
uint32_t collector_step_before(const struct collector *c, uint32_t step);

/* Whether two steps say the same of a holder, or that it runs in the same place but for the
 * instruction. anywhere: or that it runs at all. */
bool collector_steps_are_alike(const struct collector *c, uint32_t one, uint32_t other,
                               bool anywhere);

/* The system call that a place is in, by number; -1: in none, or it is not known. */
int64_t collector_call_of(const struct collector *c, struct collector_place place);

/* Whether a place is in a fault or an interrupt. */
bool collector_is_fault(const struct collector *c, struct collector_place place);

/* A number of the innermost function of a place, as far as tables distinguish functions; 0: none.
 */
uint64_t collector_function_of(const struct collector *c, struct collector_place place);

/* Counts what calls at a place transferred; `t` has no thread yet. */
void collector_transfer(struct collector *c, pid_t pid, pid_t tid, struct recording_transfer t,
                        uint64_t at_ns);

/* What a process that has ended transferred with all that it waited for, by the kernel's account;
 * may be called for several. */
void collector_transferred(struct collector *c, const struct recording_transferred *all);

/* The sum of these. */
struct recording_transferred collector_transferred_so_far(const struct collector *c);

/* A program's labels of its work (labels.h): the number of these labels, which are copied, with the
 * ids of a trace and of a span in it, or NULL. Keys differ from each other. If there are too many
 * sets already, those with a span lose that, and others become none. */
uint32_t collector_labels(struct collector *c, const struct recording_label *labels, size_t len,
                          const uint8_t *trace, const uint8_t *span);

/* Labels of the whole process: all its samples have these as well. The last report counts. */
void collector_process_labels(struct collector *c, pid_t pid, const struct recording_label *labels,
                              size_t len, uint64_t at_ns);

/* Where a variable of the process's threads is (objfile/object.h), in its program or in a library:
 * slots are addresses of run time. false: no file of it that is mapped defines such. Opens those
 * files. */
struct object_thread_variable;
bool collector_thread_variable(struct collector *c, pid_t pid, const char *name,
                               struct object_thread_variable *out, uint64_t at_ns);

/* The number of a thread; RECORDING_NONE if its process is not recorded. */
uint32_t collector_thread_number(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns);

/* Processes that have not ended, the newest first, at most so many. */
size_t collector_living(const struct collector *c, pid_t *pids, size_t most);

/* The process is not to be recorded from a time on, and again from another on: what falls between
 * is lost at its own request. Report it before the samples around that time. */
void collector_stop(struct collector *c, pid_t pid, uint64_t at_ns);
void collector_resume(struct collector *c, pid_t pid, uint64_t at_ns);

/* Forgets all samples of the process before the time, reported or to come. */
void collector_reset(struct collector *c, pid_t pid, uint64_t at_ns);

/* A mark of the program's: enum of run_mark's kinds. The name is copied. */
void collector_mark(struct collector *c, uint32_t kind, pid_t pid, pid_t tid, const char *name,
                    uint64_t at_ns);

/* CPU time or records that were lost, by kind and reason; sums up. The text is copied. */
void collector_lose(struct collector *c, enum recording_loss_kind kind, const char *text,
                    uint64_t count, uint64_t ns);

/* --- when threads ran --------------------------------------------------------------------------
 */

/* From which thread a new one came: after collector_fork(). */
void collector_creator(struct collector *c, pid_t tid, pid_t creator);

/* The length of the slices of time just now. */
uint64_t collector_slice_ns(const struct collector *c);

/* The thread ran throughout. `shared_ns`: each moment divided by how many ran then. */
void collector_turn(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                    uint64_t shared_ns);

/* So many threads ran for `ns`, within a slice that ends at `at_ns` or later. */
void collector_parallel(struct collector *c, uint32_t threads, uint64_t at_ns, uint64_t ns);

/* A wait that was counted, from its begin to its end, or a time in which the thread was ready;
 * `place` NULL: not known. */
void collector_waited(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                      bool is_ready, const struct collector_place *place);

/* What woke the thread whose wait was reported last, if that was kept. */
struct collector_wake {
    uint64_t at_ns;
    pid_t tid;                            /* who ran then */
    bool is_interrupt, is_soft_interrupt; /* the wake was not its own, or perhaps not */
};
void collector_woken(struct collector *c, uint64_t until_ns, const struct collector_wake *wake);

/* From the start, all wakes by threads that are recorded are reported: also if there are none. */
void collector_reports_wakes(struct collector *c);

/* The recorder stopped the thread then, for a moment: that is no wait of the thread's. */
void collector_paused(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns);

/* Of what the thread waited in that time, it could have run for so long, but had no CPU. */
void collector_delayed(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                       uint64_t ns);

/* --- at the end ------------------------------------------------------------------------------- */

/* Fills a zeroed run with all that was collected: nodes, samples, objects, processes, threads,
 * events, symbols of generated code. The collector can go on. */
void collector_finish(struct collector *c, uint64_t end_ns, struct recording *out);

/* The files of that recording's objects, as they were opened while programs ran, by number; NULL
 * where there is none. The array is the caller's to free, as the files are to close. Nothing can be
 * collected after. */
struct object **collector_take_files(struct collector *c, size_t *len);

#endif

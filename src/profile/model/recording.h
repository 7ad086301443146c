/* A recording: a recorded program and all processes that came out of it.
 *
 * Samples are counted on nodes of one tree of call stacks that all processes share. A frame is an
 * object and a link address in it, so that the same code is the same frame in every process and in
 * every run. Each sample carries its own weight: nanoseconds for clocks, events for counters.
 * Nothing here is scaled to make sums meet: what was not seen is in `losses`, by amount.
 *
 * All indices are into the lists of the same run. A run owns its memory: recording_deinit() frees
 * it.
 *
 *     sample -> node -> node -> ... -> root      each an object and an address in it
 *            -> thread -> process -> program (an object)
 *            -> event
 *            -> slice of time
 *
 * Times are nanoseconds; start_ns, end_ns and at_ns count from the run's start. Texts live in the
 * arena or in constants, and are never NULL but where it says so. A writer of a recording
 * guarantees what recording_check() requires, and a reader of a file checks it; nothing else looks
 * at an index again. */
#ifndef MONARC_PROFILE_MODEL_RECORDING_H
#define MONARC_PROFILE_MODEL_RECORDING_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "profile/model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECORDING_BUILD_ID_BYTES = 32, RECORDING_THREAD_NAME_BYTES = 16 };
#define RECORDING_NONE UINT32_MAX /* no object, process, thread or node */
#define RECORDING_ROOT 0u         /* the node that is the parent of outermost frames */

/* What an object is, and what addresses in it mean. */
enum recording_object_kind {
    RECORDING_OBJECT_FILE, /* an ELF file; addresses are link addresses */
    RECORDING_OBJECT_VDSO, /* the kernel's library; addresses from its start; its symbols are listed
                            */
    RECORDING_OBJECT_KERNEL,    /* addresses are numbers of system calls; RECORDING_KERNEL_...
                                   otherwise */
    RECORDING_OBJECT_GENERATED, /* code in no file, of one process; run-time addresses */
    RECORDING_OBJECT_WAIT, /* off the CPU: addresses are numbers of system calls; RECORDING_WAIT_...
                            */
    RECORDING_OBJECT_CUT,  /* stands outside of frames whose callers are not known: enum
                              recording_cut */
    RECORDING_OBJECT_KINDS
};

/* Addresses in RECORDING_OBJECT_KERNEL that are no system calls. */
#define RECORDING_KERNEL_FAULT (UINT64_C(1) << 32) /* page faults, interrupts, other exceptions */
#define RECORDING_KERNEL_UNKNOWN                                          \
    ((UINT64_C(1) << 32) + 1) /* in the kernel, and nothing says for what \
                               */
/* The same in RECORDING_OBJECT_WAIT. */
#define RECORDING_WAIT_READY   (UINT64_C(1) << 32)       /* could run, but no CPU was free */
#define RECORDING_WAIT_UNKNOWN ((UINT64_C(1) << 32) + 1) /* waits, and nothing says where */
#define RECORDING_WAIT_FAULT   ((UINT64_C(1) << 32) + 2) /* waits for a page */
#define RECORDING_WAIT_STOPPED ((UINT64_C(1) << 32) + 3) /* stopped by a signal or a debugger */

/* Why the callers of a frame are not known: addresses in RECORDING_OBJECT_CUT. */
enum recording_cut {
    RECORDING_CUT_DEEP,      /* the stack is deeper than its copy */
    RECORDING_CUT_NO_TABLE,  /* code without unwind table and frame pointer */
    RECORDING_CUT_GENERATED, /* generated code without frame pointer */
    RECORDING_CUT_BROKEN,    /* registers, stack and table do not fit together */
    RECORDING_CUT_TOO_MANY,  /* more frames than are kept */
    RECORDING_CUT_NO_STACK,  /* no stack was recorded: not requested, or refused */
    RECORDING_CUTS
};

/* What frames are in: a file, or something that stands for code that is in none. */
struct recording_object {
    uint32_t kind;           /* enum recording_object_kind */
    uint32_t build_id_bytes; /* 0: none */
    uint8_t build_id[RECORDING_BUILD_ID_BYTES];
    uint64_t low, high; /* link addresses of what was mapped; of the others: of what occurs */
    const char
        *path; /* as the program had it, absolute where that was known; of RECORDING_OBJECT_FILE */
    uint32_t process; /* of RECORDING_OBJECT_GENERATED; else RECORDING_NONE */
    bool is_deleted;  /* the file was gone, or another one in its place, when it was mapped */
    bool is_read;     /* the recorder needed its file, and could open it */
    bool has_unwind;  /* there were tables to unwind by; of a file that is read */
    bool is_listed;   /* its functions are those in `symbols`, and no file is read: addresses are
                       * from the kernel's start, or stand for names from another tool */
};

/* A name for code of an object that no file names: [start, start + size). */
struct recording_symbol {
    uint32_t object;
    uint64_t start, size;
    const char *name;
};

/* One frame in one context. Parents precede their children; node 0 is the root. */
struct recording_node {
    uint32_t parent, object;
    uint64_t address; /* of the instruction that ran; of callers: within the call instruction */
};

/* What ran in a process between two execs. A process that has executed another program has an
 * entry for each; they share `pid` and stand in the order of time. */
struct recording_process {
    uint32_t pid, parent_pid;
    uint32_t program;            /* an object of RECORDING_OBJECT_FILE, or RECORDING_NONE */
    uint64_t start_ns, end_ns;   /* since the run's start; end 0: it was still running */
    uint64_t user_ns, system_ns; /* CPU time as the kernel accounts it; all of the pid's in its last
                                    entry */
    bool has_cpu;                /* the two are known */
    uint64_t peak_bytes;         /* the most memory that was resident, of it or of one of the
                                    children that it waited for; 0: not known */
    bool has_ended;              /* `status` is known */
    int32_t status;              /* as wait(2) gives it */
    const char *name;            /* the command's, as the kernel has it */
    const char *command;         /* its arguments, spaces between them; NULL: not known */
    const char *why_unseen;      /* NULL: recorded; else why it is not, or not wholly */
};

/* A thread of a process's entry. */
struct recording_thread {
    uint32_t process, tid; /* tid 0: several short-lived threads of the process together */
    uint64_t start_ns, end_ns;
    uint64_t cpu_ns; /* exact; 0 with has_cpu false */
    bool has_cpu;
    char name[RECORDING_THREAD_NAME_BYTES + 1];
};

/* Samples of one event with one stack, of one thread, in one slice of the run's time. In slices up
 * to RECORDING_ORDERED_NS, those of a thread and event stand in the order of time, and each entry
 * is a run of samples that follow each other. Longer slices begin like that, with the samples of a
 * part of the slice that has this length, at random; then each stack has one entry for all the rest
 * of the slice (with labels one for each set), by rising numbers of nodes and of sets.
 * recording_find_ordered() distinguishes the two. */
#define RECORDING_ORDERED_NS UINT64_C(32000000)
struct recording_sample {
    uint32_t slice, thread, event, node;
    uint64_t weight; /* in the event's unit */
    uint32_t count;  /* how many samples that are */
    uint32_t labels; /* a set of label_sets; 0: none */
};

/* What the program said of its work at the time of samples: keys and values, and the span of a
 * trace that it was in. Keys of a set differ from each other. */
enum { RECORDING_TRACE_BYTES = 16, RECORDING_SPAN_BYTES = 8 };
struct recording_label {
    const char *key, *value;
};
struct recording_label_set {
    uint32_t first, len; /* of `labels` */
    bool has_span;
    uint8_t trace[RECORDING_TRACE_BYTES], span[RECORDING_SPAN_BYTES];
};

/* Of weights: nanoseconds of clocks, events, or bytes, as of memory in imports. */
enum recording_event_unit { RECORDING_UNIT_NS, RECORDING_UNIT_COUNT, RECORDING_UNIT_BYTES };

/* The events of samples. Reports show the first event unless another is requested. */
struct recording_event {
    const char *name; /* as the user wrote it: cpu, wall, cycles, r1a8, ... */
    uint32_t unit;    /* enum recording_event_unit */
    uint64_t period;  /* nominal weight of a sample, in the unit; 0: they differ */
    bool user_only;   /* does not see the kernel */
};

/* A moment that the program or the user named. */
struct recording_mark {
    uint64_t at_ns; /* since the run's start */
    uint32_t kind;  /* 0 phase, 1 region begins, 2 region ends, 3 recording stopped, 4 resumed */
    uint32_t process, tid;
    const char *name;
};

/* What kinds of things were not recorded, and in which of `count` and `ns` the amount is. */
enum recording_loss_kind {
    RECORDING_LOST_RECORDS,   /* the kernel's buffer was full: samples */
    RECORDING_LOST_THROTTLED, /* the kernel slowed sampling down */
    RECORDING_LOST_UNPLACED,  /* CPU time that was measured, and no sample says where: ns */
    RECORDING_LOST_KERNEL,    /* of that: in the kernel, whose place we may not see: ns */
    RECORDING_LOST_UNSEEN,    /* CPU time of processes that were not recorded: ns */
    RECORDING_LOST_STOPPED,   /* left out at the program's own request (monarc_rt_stop): ns */
    RECORDING_LOST_OTHER,
    RECORDING_LOSSES
};

struct recording_loss {
    uint32_t kind; /* enum recording_loss_kind */
    uint64_t count, ns;
    const char *text; /* a sentence without full stop, with what to do about it */
};

/* How samples were taken. */
enum recording_method {
    RECORDING_METHOD_NONE,
    RECORDING_METHOD_PERF,      /* perf events, kernel included */
    RECORDING_METHOD_PERF_USER, /* perf events in user code alone */
    RECORDING_METHOD_PTRACE,    /* threads stopped for a moment */
    RECORDING_METHOD_PROCESS    /* by the program itself: timers, signals */
};

/* A fact about the run for people, by key. */
struct recording_text {
    const char *key, *value;
};

/* Calls that a recorder inside the process counted. Ends in no object have RECORDING_NONE. */
struct recording_arc {
    uint32_t from_object, self_object;
    uint64_t from, self; /* link addresses; `from` is a return address */
    uint64_t count;
};

/* Executions of a block of code that a recorder inside the process counted. */
struct recording_block {
    uint32_t object;
    uint64_t address, count;
};

/* A branch that was taken, and that code from where it led up to and with the next branch that was
 * taken then, at `end`, ran straight through. Only CPUs with branch records have them, for a few
 * branches before each sample, and each of those is counted. */
struct recording_branch {
    uint32_t from_object, to_object; /* RECORDING_NONE: in no file, as the kernel */
    uint64_t from, to;               /* link addresses: of the instruction; where it led */
    uint64_t end;                    /* in `to_object`; 0: not known */
    uint64_t count, missed;          /* missed: how many of them the CPU had expected otherwise */
};

/* The functions and lines that the run needs of an object's file, perhaps in several excerpts.
 * objfile/object.h defines the bytes. */
struct recording_excerpt {
    uint32_t object; /* of RECORDING_OBJECT_FILE */
    struct bytes bytes;
};

/* One of several runs of a program that are reported as their mean (monarc run --repeat). A run
 * that was recorded in such a series, and stands alone, has one: itself. */
struct recording_part {
    uint32_t process;    /* its first one; its others follow, up to the next part's */
    uint32_t number;     /* as which of its series it ran, from 1 */
    int32_t status;      /* of its first process, as wait(2) gives it */
    uint32_t padding;    /* bytes by which its environment was made longer (--vary) */
    uint64_t seed;       /* of what was varied; 0: nothing was */
    uint64_t elapsed_ns; /* from the program's exec to its end, nothing of the recorder's between */
    uint64_t cpu_ns;     /* of all its processes */
};

/* How long a thread ran within a slice, by its switches; and the same with each moment divided by
 * the number of threads that ran then: its part of the time in which anything ran. */
struct recording_turn {
    uint32_t slice, thread;
    uint64_t ran_ns, shared_ns;
};

/* For how long exactly so many threads ran within a slice, at least one. */
struct recording_parallel {
    uint32_t slice, threads;
    uint64_t ns;
};

/* What woke a thread, as the kernel reported it. */
enum recording_waker {
    RECORDING_WAKER_UNKNOWN,   /* not reported */
    RECORDING_WAKER_INTERRUPT, /* a timer or a device */
    RECORDING_WAKER_OUTSIDE,   /* a thread that was not recorded, one of the kernel's, too */
    RECORDING_WAKER_SOFT, /* soft interrupt work while this thread ran, as it has for a socket */
    RECORDING_WAKER_THREAD,
    RECORDING_WAKERS
};

/* How a loss begins that is of such reports. */
#define RECORDING_LOST_WAKES "more wake-ups"

/* One time that a thread was off the CPU. Shorter ones than some length are left out. */
struct recording_wait {
    uint32_t thread;
    uint32_t node; /* where; RECORDING_NONE: not known */
    uint64_t from_ns, length_ns;
    uint32_t woken;   /* enum recording_waker */
    uint32_t waker;   /* the thread, of the last two; else 0 */
    uint64_t woke_ns; /* how long after its begin; what is left it had no CPU */
};

/* Which thread has made a thread, by fork or as one of its own process. */
struct recording_creator {
    uint32_t thread, creator;
};

/* Which rank of a parallel job a process is. A rank may be several processes: what a rank starts
 * is of that rank, too. */
struct recording_rank {
    uint32_t process;
    uint32_t rank, size;  /* from 0; size 0: not known, else above `rank` */
    uint32_t local;       /* among the ranks of its machine; RECORDING_NONE: not known */
    const char *launcher; /* whose variables named it: "Open MPI", "Slurm", ... */
    const char *host;     /* name of the machine; "": not known */
};

/* What threads wait for, as far as it is visible from outside. */
enum recording_resource_kind {
    RECORDING_RESOURCE_FUTEX,  /* a word of memory, of which nothing says what it is for */
    RECORDING_RESOURCE_MUTEX,  /* one that names its owner */
    RECORDING_RESOURCE_RWLOCK, /* names its writer, not its readers */
    RECORDING_RESOURCE_PI,     /* the kernel knows the owner, and lends it priority */
    RECORDING_RESOURCE_JOIN,   /* the end of a thread */
    RECORDING_RESOURCE_CHILD,  /* the end of a process */
    RECORDING_RESOURCE_FILE,   /* and what /proc shows of other descriptors, by name */
    RECORDING_RESOURCE_PIPE,
    RECORDING_RESOURCE_SOCKET,
    RECORDING_RESOURCE_FILE_LOCK, /* on a file, of a process */
    RECORDING_RESOURCE_SLEEP,     /* nothing: a time that has to pass */
    RECORDING_RESOURCE_SEVERAL,   /* any of several descriptors */
    RECORDING_RESOURCE_KINDS
};
struct recording_resource {
    uint32_t kind;    /* enum recording_resource_kind */
    uint32_t process; /* whose memory; RECORDING_NONE: shared, or no memory */
    uint64_t address; /* in memory; of what is shared: in the file; of pipes and files the inode */
    const char *name; /* linkage name of a variable, path of a file; NULL: none */
};

/* What a thread did while others waited for it, or why they did not see it. */
enum recording_doing {
    RECORDING_DOING_WAIT, /* it waited itself, at its node */
    RECORDING_DOING_RUN,  /* it ran, at its node if one is known, or could */
    RECORDING_DOING_STOPPED,
    RECORDING_DOING_ENDED,  /* there was no such thread any more */
    RECORDING_DOING_UNSEEN, /* it may not be inspected, or was not recorded */
    RECORDING_DOING_CIRCLE, /* it waited for one that waits for it: no thread will go on */
    RECORDING_DOINGS
};

/* A step of a chain of threads of which each waits for the next: the waiting thread, who holds what
 * it waits for, and so on. Chains that begin alike share steps, as stacks share nodes. */
struct recording_link {
    uint32_t parent;   /* who waits for this one; RECORDING_NONE: none that was inspected */
    uint32_t thread;   /* RECORDING_NONE: one that was not recorded */
    uint32_t node;     /* where it was; RECORDING_ROOT: not known */
    uint32_t resource; /* what it waits for itself; RECORDING_NONE: nothing with a name here */
    uint32_t doing;    /* enum recording_doing */
    uint64_t waits;    /* that were first seen with this as their last step */
    uint64_t ns;       /* for how long this was the last step, all waits together */
    /* How sure that is, in us^2: the variance of the time of this step and all after it, as far as
     * changes between looks leave it open; and the squares of the lengths of those waits of which
     * there was one look, with this as the last step. */
    uint64_t error, single;
};

/* What calls at a place read from a file, pipe or terminal, or wrote to it. Exact in sum, as the
 * kernel accounts for each thread; how it is shared out among files and stacks follows from the
 * calls that were seen. */
struct recording_transfer {
    uint32_t thread;
    uint32_t resource;          /* RECORDING_NONE: what the descriptor was is not known */
    uint32_t node;              /* in the system call */
    uint32_t is_write;          /* 0 or 1 */
    uint64_t calls;             /* that were seen, by samples or waiting */
    uint64_t bytes, disk_bytes; /* disk: of these, those that a disk had to read or write */
    uint64_t squares;           /* of the kB that each sample got, added up */
};

/* All that a run transferred, by the kernel's account; what the list above lacks has no place. */
struct recording_transferred {
    uint64_t read, written;
    uint64_t read_calls, write_calls;
    uint64_t disk_read, disk_written; /* also by faults of mapped files */
};

struct recording {
    struct arena arena; /* texts */
    VEC(struct recording_text)
    texts; /* argument (one each), directory, processor, environment, version */
    VEC(struct recording_object) objects;
    VEC(struct recording_symbol) symbols;    /* by object and start */
    VEC(struct recording_excerpt) excerpts;  /* by object */
    VEC(struct recording_node) nodes;        /* [0] is the root */
    VEC(struct recording_process) processes; /* [0] is the requested program */
    VEC(struct recording_thread) threads;
    VEC(struct recording_event) events;
    VEC(struct recording_sample) samples;
    VEC(struct recording_mark) marks;
    VEC(struct recording_loss) losses;
    VEC(struct recording_part) parts;      /* by process; none: the run is one, or a sum */
    VEC(struct recording_rank) ranks;      /* by process, those that have one */
    VEC(struct recording_arc) arcs;        /* not in the file: added by who opens a recording */
    VEC(struct recording_block) blocks;    /* likewise */
    VEC(struct recording_branch) branches; /* none: the CPU noted none */
    VEC(struct recording_turn) turns; /* by slice and thread; none: switches were not reported */
    VEC(struct recording_parallel) parallel;  /* by slice and number */
    VEC(struct recording_wait) waits;         /* by thread and time */
    VEC(struct recording_creator) creators;   /* by thread */
    VEC(struct recording_resource) resources; /* what threads were seen waiting for */
    VEC(struct recording_link) links;         /* parents before their children */
    VEC(struct recording_transfer) transfers;
    VEC(struct recording_transferred) transferred; /* one a run, if it is known */
    VEC(struct recording_label) labels;
    VEC(struct recording_label_set) label_sets; /* [0] is empty, if there are any */

    bool reports_wakes; /* in `waits`: the kernel reported them, if only that no thread here woke
                           any */
    uint16_t machine;   /* EM_... of <elf.h> */
    uint32_t method;    /* enum recording_method */
    uint32_t rate;      /* requested samples per second and thread; 0: none */
    uint32_t cpus;
    uint64_t start_real_ns;      /* since 1970 */
    uint64_t length_ns;          /* wall time */
    uint64_t slice_ns;           /* length of a slice; slice i is [i, i + 1) times that */
    uint64_t user_ns, system_ns; /* CPU time of the whole tree, as far as it was waited for */
    uint64_t cpu_ns;        /* CPU time of all that was watched, by the kernel's own counter; 0:
                               unknown */
    uint64_t monitor_ns;    /* CPU time of the recorder's own process */
    uint64_t cost_ns;       /* estimate: what sampling took from the program's CPU time */
    uint64_t stacks, whole; /* samples with stacks wanted; those of them that reach the outermost
                               frame */
};

/* Frees everything, the texts too. A zeroed run is fine. */
void recording_deinit(struct recording *r);

/* Adds an excerpt after those of its object; the bytes are copied. One that is there already is not
 * added again. */
void recording_add_excerpt(struct recording *r, uint32_t object, struct bytes bytes);

/* Takes away the excerpts of an object. */
void recording_drop_excerpts(struct recording *r, uint32_t object);

/* The first text of a key, or NULL. */
const char *recording_text(const struct recording *r, const char *key);

/* Are all of its files known by names of functions alone? Then lines are unknown. */
bool recording_has_names_alone(const struct recording *r);

/* The name of an event by its number in the files of a recorder inside a process, as MONARC_EVENT
 * takes it; its dimension and abbreviation in gmon.out. NULL: not known. */
const char *event_name(uint32_t event);
const char *event_dimension(uint32_t event, char *abbreviation);

/* Weights of an event, all samples together. */
uint64_t recording_weight(const struct recording *r, uint32_t event);

/* Per thread, whether its clock's period was drawn all the time: its samples of the event have ever
 * new weights. A clock that keeps its period may be in step with the program, and then samples
 * agree with each other and not with the truth: what they show by their order is not to be trusted.
 */
bool *recording_redrawn_threads(const struct recording *r, uint32_t event, struct arena *a);

/* Per entry of the samples: whether its place among those of its thread and event in its slice is
 * known. */
bool *recording_find_ordered(const struct recording *r, struct arena *a);

/* Whether a node is where a thread was off the CPU: such time has an exact length. */
bool recording_is_wait(const struct recording *r, uint32_t node);

/* Whether an event is called so, modifiers ("wall:u") aside. */
bool event_name_is(const char *event, const char *name);

/* The event of that name, or the only one that has modifiers besides; NULL: the first one.
 * RECORDING_NONE: there is none. */
uint32_t recording_find_event(const struct recording *r, const char *name);

/* Whether time off the CPU was recorded, though there may have been none. */
bool recording_covers_waits(const struct recording *r);

/* Whether the kernel slowed sampling down: then a higher rate gives no more samples. */
bool recording_is_throttled(const struct recording *r);

/* CPU time of all threads by the kernel's counters: of processes that outlived their parent, which
 * are in no account, and of the others. */
struct recording_cpu {
    uint64_t orphans_ns, others_ns;
};
struct recording_cpu recording_cpu(const struct recording *r);

/* CPU time of all processes: the accounts of those that were waited for, and the counters of the
 * others; or the counter of all, if that is more. */
uint64_t recording_used_ns(const struct recording *r);

/* The most memory that one process had resident, of a series in the mean run; 0: not known. */
uint64_t recording_peak_bytes(const struct recording *r);

/* The part of it in no account, far beyond the difference of accounts and counters: children for
 * which no process waited. 0: none, or not known. */
uint64_t recording_unaccounted_ns(const struct recording *r);

/* When the last process ended whose end is known: some outlive the program, with which a run ends.
 */
uint64_t recording_last_end_ns(const struct recording *r);

/* Of how many runs the reports say the mean: 1, unless it is of a series. */
static inline uint32_t recording_count(const struct recording *r)
{
    return r->parts.len ? (uint32_t)r->parts.len : 1;
}

/* The value of a key in a set; NULL: it has none. */
const char *recording_label_value(const struct recording *r, uint32_t set, const char *key);

/* The rank of a process, or NULL. */
const struct recording_rank *recording_rank_of(const struct recording *r, uint32_t process);

/* The ranks that processes of a recording are of, each counted once. */
struct recording_ranks_sum {
    uint32_t ranks, size; /* size: of the job; 0: not known */
    uint32_t first;       /* the least rank */
    uint32_t hosts;
    const char *host; /* the first process's; "": not known */
};
struct recording_ranks_sum recording_sum_ranks(const struct recording *r);

/* Of which part the process is. */
uint32_t recording_part_of(const struct recording *r, uint32_t process);

/* Whether indices are in range, parents before children, slices sane: what readers check and
 * writers promise. On failure *e says what. */
struct err;
bool recording_check(const struct recording *r, struct err *e);

/* ---- Several runs as one, and the calls that recorders inside processes counted added to a run.
 */

/* Whether the two stand for the same code: kind, and of files path and build-id, as far as both
 * have one. */
bool recording_object_same(const struct recording_object *a, const struct recording_object *b);

/* Adds `from` to `into`, which may be zeroed: objects by identity, stacks node by node, events by
 * name, processes and threads side by side. In time the runs stand one after the other; ranks of
 * one job stand at the times at which they ran, are in `into` once however often they are added,
 * and give the same whatever is merged with what first. Fails where machines or the units of an
 * event differ. */
MUST_CHECK bool recording_merge(struct recording *into, const struct recording *from,
                                struct err *e);

/* The same, where `agree` says of two files of one path, of which not both have a build-id, whether
 * they are one. */
typedef bool recording_agree(const struct recording *a, uint32_t object, const struct recording *b,
                             uint32_t other);
MUST_CHECK bool recording_merge_by(struct recording *into, const struct recording *from,
                                   recording_agree *agree, struct err *e);

/* Sums arcs with the same ends and blocks of the same address; counts saturate. */
void recording_sum_calls(struct recording *r);

/* Sorts branches and adds up those with the same addresses; returns how many are left. */
size_t recording_sum_branches(struct recording_branch *at, size_t len);

/* Adds arcs and blocks alone, and the objects they need; then sums. */
void recording_add_calls(struct recording *into, const struct recording *from);

/* ---- A run's samples of its program as a profile, for those who read gmon.out. */

/* Fills a zeroed *out with histograms of where the program itself was sampled: link addresses, in
 * bins of two bytes, samples of the first event by its nominal period. A text of more than 1 MB has
 * one for each kilobyte that was sampled. Code of libraries and of other programs, time in the
 * kernel, and stacks have no place in the format. false: no sample was in the program. */
bool recording_profile(const struct recording *r, struct profile *out);

#endif

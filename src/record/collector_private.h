/* Shared by the files of the collector.
 *
 *   collector.c         processes, threads and mappings, losses, marks, labels, generated code
 *   collector_sample.c  from a sample to a node of the tree of stacks; what threads wait for
 *   collector_finish.c  the recording that comes out: when threads ran, and time in the kernel that
 *                       was not sampled
 */
#ifndef MONARC_RECORD_COLLECTOR_PRIVATE_H
#define MONARC_RECORD_COLLECTOR_PRIVATE_H

#include "record/collector.h"
#include "record/images.h"
#include "record/ranks.h"
#include "record/tally.h"

#define COLLECTOR_STOPPED_TEXT \
    "the program had switched recording off, or forgotten what was before"

/* A file that a process has mapped to say that it leaves names of generated code in it. */
struct code_dump {
    const char *path;
    uint64_t inode; /* 0: not known */
    int fd;         /* -1: it is opened when it is read */
};

/* Code of a process that no file has. */
struct collected_code {
    VEC(uint64_t) addresses; /* that stand in nodes */
    size_t named;            /* how many of them there were when names were last looked for */
    VEC(struct recording_symbol) symbols;
    uint64_t reused; /* addresses at which several functions were */
    VEC(struct code_dump) dumps;
    bool is_elsewhere; /* what the process has as "/" is not ours */
    int root, mounts;  /* its own then, and what keeps them as they are; or -1 */
    uint32_t pid;      /* in its own namespace */
    unsigned users[4]; /* who the process was: real, effective, saved, for files */
    bool has_users;
};

/* What a run's process does not say. */
struct collected_process {
    struct mappings *mappings;
    struct collected_code *code; /* NULL: none was seen */
    uint32_t generated;          /* its object for code in no file, or RECORDING_NONE */
    uint32_t forked_from;        /* process whose code it has inherited, or RECORDING_NONE */
    uint32_t other_threads; /* the thread that stands for all further ones, or RECORDING_NONE */
    uint32_t living;        /* threads that have not ended, as far as reported */
    uint64_t maps_read_ns;  /* when its maps were last read because an address was in none */
    uint64_t not_before_ns; /* samples from before are forgotten */
    uint64_t user_before_ns, system_before_ns; /* of the programs that it executed before */
    struct rank_told rank;                     /* if `has_rank` */
    bool has_rank;
    uint8_t rank_tries;  /* how many more times to search its environment for one */
    uint32_t labels;     /* of the process as a whole */
    bool has_stops;      /* there are some in `stops` */
    bool has_samples;    /* or waits */
    bool awaits_program; /* the next file that is mapped is the program */
};

/* What was lost for one reason, summed up. */
struct collected_loss {
    uint32_t kind;
    const char *text;
    uint64_t count, ns;
};

/* A process that was not to be recorded in [from, to). */
struct collected_stop {
    uint32_t process;
    uint64_t from_ns, to_ns;
};

/* What a thread was kept waiting for a CPU after it was woken, in [from, to). */
struct collected_delay {
    uint32_t thread;
    uint64_t from_ns, to_ns, ns; /* since the start */
};

/* The recorder stopped a thread for a moment. */
struct collected_pause {
    uint32_t thread;
    uint64_t at_ns; /* since the start */
};

/* The collector. Lists grow only, and their items' numbers go into the recording; the first node of
 * the tally is the root. */
struct collector {
    struct collector_options options;
    struct arena arena; /* names */
    struct images images;
    struct tally tally;
    VEC(struct recording_process) processes;
    VEC(struct collected_process) inner; /* of the same numbers */
    VEC(struct recording_thread) threads;
    VEC(struct recording_event) events;
    VEC(uint64_t) totals; /* per event; 0: not known */
    VEC(uint64_t)
    left_out; /* per event: what samples weighed that fell into times of no recording */
    VEC(struct collected_loss) losses;
    VEC(struct collected_stop) stops;
    VEC(struct recording_mark) marks;
    VEC(struct recording_branch) branches;
    size_t branches_summed;       /* of them, when equal ones were last added up */
    struct map process_of;        /* pid -> the number of what runs in it */
    struct map thread_of;         /* tid -> the number of the thread */
    struct mappings *kernel_code; /* where it was reported */
    uint32_t kernel, wait, cut;   /* objects */
    uint32_t kernel_unseen;       /* node: in the kernel, and no sample says for whom */
    uint32_t open_files;          /* of the structs of code */
    uint64_t stacks, whole;
    struct collector_accounts accounts;
    double first_period_factor;
    VEC(struct collected_delay) delays;
    VEC(struct collected_pause) pauses;
    VEC(struct recording_wait) waits;
    VEC(struct recording_creator) creators;
    uint64_t shortest_wait_ns; /* of those that are kept */
    bool reports_wakes;
    VEC(struct recording_resource) resources; /* what was waited for */
    VEC(struct recording_link) steps;
    struct map resource_of, step_of;
    VEC(struct recording_transfer) transfers;
    struct map transfer_of;
    struct recording_transferred transferred;
    struct map lacks_variable; /* image -> whether it does not define that of labels */
    struct intern label_texts; /* keys and values */
    struct intern label_keys;  /* of sets: their bytes, put together; the number is the set's */
    size_t label_bytes;        /* what labels take */
    VEC(struct recording_label) labels;
    VEC(struct recording_label_set) label_sets; /* [0] is empty */
};

/* Looks stand in the tally as events of these numbers, up to the end of recording. */
#define COLLECTOR_PROBE_EVENT (UINT32_C(1) << 30)

/* What collector_finish.c counts stands there likewise; of these the last has as many as there are
 * thread numbers, and the first of them stands for none. */
#define COLLECTOR_RAN_EVENT      (COLLECTOR_PROBE_EVENT + COLLECTOR_PROBES)
#define COLLECTOR_SHARED_EVENT   (COLLECTOR_RAN_EVENT + 1)
#define COLLECTOR_PARALLEL_EVENT (COLLECTOR_SHARED_EVENT + 1)

/* A time as the recording writes it: since its start. */
static inline uint64_t collector_since_start(const struct collector *c, uint64_t at_ns)
{
    return at_ns > c->options.start_ns ? at_ns - c->options.start_ns : 0;
}

/* Whether a process has not ended: threads may outlive the first one, whose end its time of end is
 * until then. */
static inline bool collector_goes_on(const struct collector *c, size_t process)
{
    return !c->processes.at[process].end_ns || c->inner.at[process].living;
}

/* The process that runs under the pid, and the thread, made if they are new. Both may move the
 * lists. */
uint32_t collector_process(struct collector *c, pid_t pid, uint64_t at_ns);
uint32_t collector_thread(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns);

/* Who a process is in a parallel job, if its environment can be read by now. */
enum { COLLECTOR_RANK_TRIES = 8 };
void collector_read_rank(struct collector *c, uint32_t process);

/* Whether a sample of that time counts. */
bool collector_counts(const struct collector *c, uint32_t process, uint64_t at_ns);

/* When that is next decided anew after `at_ns`; UINT64_MAX: never, as far as is known. */
uint64_t collector_counts_until(const struct collector *c, uint32_t process, uint64_t at_ns);

/* The process's object for code that is in no file; a new node's address in it. */
uint32_t collector_generated(struct collector *c, uint32_t process);
void collector_generated_at(struct collector *c, uint32_t process, uint64_t address);

/* Sorts addresses, and leaves each once; returns how many are left. */
size_t collector_sort_addresses(uint64_t *at, size_t len);

/* Names what has not ended, or went on after its end, and gives all names to the run. */
void collector_code_finish(struct collector *c, struct recording *out);

/* Gives the labels to the run, and those of processes to their samples. */
void collector_labels_finish(struct collector *c, struct recording *out);

/* Gives what was waited for to the run. */
void collector_waits_finish(struct collector *c, struct recording *out);

#endif

/* What the files of the collector share. */
#ifndef MONARC_RECORD_COLLECTOR_PRIVATE_H
#define MONARC_RECORD_COLLECTOR_PRIVATE_H

#include "record/collector.h"
#include "record/images.h"
#include "record/mappings.h"
#include "record/tally.h"

#define COLLECTOR_STOPPED_TEXT \
    "the program had switched recording off, or forgotten what was before"

/* What a run's process does not say. */
struct collected_process {
    struct mappings *mappings;
    uint32_t generated;     /* its object for code in no file, or RUN_NONE */
    uint32_t other_threads; /* the thread that stands for all further ones, or RUN_NONE */
    uint64_t maps_read_ns;  /* when its maps were last read because an address was in none */
    uint64_t not_before_ns; /* samples from before are forgotten */
    bool has_stops;         /* there are some in `stops` */
    bool has_samples;       /* or waits */
    bool awaits_program;    /* the next file that is mapped is the program */
};

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

struct collector {
    struct collector_options options;
    struct arena arena; /* names */
    struct images images;
    struct tally tally;
    VEC(struct run_process) processes;
    VEC(struct collected_process) inner; /* of the same numbers */
    VEC(struct run_thread) threads;
    VEC(struct run_event) events;
    VEC(struct run_symbol) symbols; /* of generated code, of processes that have ended */
    VEC(struct collected_loss) losses;
    VEC(struct collected_stop) stops;
    VEC(struct run_mark) marks;
    struct map process_of;      /* pid -> the number of what runs in it */
    struct map thread_of;       /* tid -> the number of the thread */
    uint32_t kernel, wait, cut; /* objects */
    uint32_t kernel_unseen;     /* node: in the kernel, and no sample says for whom */
    uint64_t stacks, whole;
    double young_factor;
};

/* The process that runs under the pid, made if it is new. */
uint32_t collector_process(struct collector *c, pid_t pid, uint64_t at_ns);
uint32_t collector_thread(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns);

/* Whether a sample of that time counts. */
bool collector_counts(const struct collector *c, uint32_t process, uint64_t at_ns);

/* The process's object for code that is in no file. */
uint32_t collector_generated(struct collector *c, uint32_t process);

/* Takes the names of generated code from where the program leaves them, for what was sampled. */
void collector_name_generated(struct collector *c, uint32_t process);

#endif

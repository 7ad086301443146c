/* Shared by the parts of the perf source: opening events, emptying buffers, and reporting their
 * records. */
#ifndef MONARC_RECORD_PERF_PERF_SOURCE_PRIVATE_H
#define MONARC_RECORD_PERF_PERF_SOURCE_PRIVATE_H

#include "base/vec.h"
#include "record/labels.h"
#include "record/perf/deep_stacks.h"
#include "record/perf/events.h"
#include "record/perf/perf_record.h"
#include "record/perf/perf_source.h"
#include "record/perf/perf_clocks.h"
#include "record/ptrace/ptrace_places.h"
#include "record/waits/waits.h"

#include <linux/perf_event.h>
#include <pthread.h>

/* The buffers of each CPU. */
enum { PERF_RING_SAMPLES, PERF_RING_TASKS, PERF_RING_COUNTS, PERF_RING_WAKES, PERF_RINGS };

/* One event on one CPU, of the launcher or of a thread that was attached to. */
struct perf_event {
    int fd;
    uint32_t ring;   /* that it writes into */
    uint32_t choice; /* of the requested list */
    uint64_t id;
    bool tells_lost; /* read() has the number of its records that found no room */
};

/* What a thread's counters said at its end or, where the kernel is sampled, its samples. */
struct perf_thread {
    uint64_t cpu_ns;
    uint64_t before_ns;     /* of what it counts: of programs that it executed before */
    uint32_t ticks;         /* samples of its inherited clocks, of the first choice */
    uint32_t refused_ticks; /* as many: until then it gets no other clock */
    uint32_t unsure_ticks;  /* as many: until then the one that it has is not believed */
    uint32_t living;        /* its place in the list of inherited_clocks, and one; 0: has ended */
};

typedef VEC(struct perf_backlog) perf_backlogs;

struct perf_reader {
    pthread_t thread;
    bool is_running;
    bool is_stirred;        /* by the monitor: samples must not wait now */
    int end, news;          /* eventfds: readable when it is to end, when there is enough to take */
    pthread_mutex_t lock;   /* of what follows */
    perf_backlogs backlogs; /* of the numbers of the rings */
    size_t bytes;           /* in these */
    uint64_t until_ns;      /* all records before are in them */
};

struct perf_source {
    struct source source;
    struct collector *collector;
    struct source_options options;
    struct perf_source_result *result;
    VEC(struct event_choice) choices; /* those requested, and what waits need */
    uint32_t asked;                   /* how many of them were requested */
    uint64_t *totals;                 /* of each of these, where it is no clock: what there was */
    struct perf_layout layout, wakes_layout;
    VEC(struct perf_event) events;
    VEC(struct perf_ring) rings; /* PERF_RINGS of each CPU; the reader's */
    struct perf_reader reader;
    bool has_redrawn; /* the first choice is a clock: threads that live long get their own */
    struct redrawn_clocks redrawn;
    struct inherited_clocks inherited;
    perf_backlogs backlogs;      /* what it has read of each of them */
    uint64_t until_ns;           /* all records before were in these */
    struct map choice_of;        /* id -> choice */
    VEC(struct periods) periods; /* by choice */
    struct map thread_of;        /* tid -> index of `threads` */
    VEC(struct perf_thread) threads;
    uint64_t first_period_weight,
        later_weight;           /* of the first choice's samples, by the age of clocks */
    struct map draw_of;         /* period that was drawn -> index of `draws` */
    VEC(uint64_t) draws;        /* what first-period samples of each weigh */
    double first_period_square; /* sum of the squares of these */
    uint64_t first_samples;     /* how many these were, with those that were left out */
    uint64_t interrupts;        /* the same, of all choices */
    size_t buffer_bytes;        /* for samples */
    bool is_crowded;            /* there was no room for the last buffer */
    uint32_t stack_bytes;
    struct labels *labels;
    struct waits *waits; /* NULL: not wanted */
    uint32_t tasks;      /* the choice that counts CPU time and reports what tasks do */
    uint32_t counts;  /* the choice that reports each thread's CPU time at its end; or RUN_NONE */
    uint64_t told_ns; /* by these */
    uint32_t leaving; /* the choice whose samples are of threads leaving the CPU */
    uint32_t waking;  /* the choice that reports who wakes whom; or RUN_NONE */
    uint64_t lost_wakes;
    uint64_t wakes_before, wakes_since_ns; /* how many were lost at the last check */
    uint64_t wakes_off_ns;                 /* until then it is switched off; 0: it is not */
    uint32_t faulting; /* the choice whose samples are of page faults, where the kernel may not be
                          sampled; or RUN_NONE */
    struct ptrace_places *places; /* the same for system calls; NULL: not used */
    struct deep_looks *looks;     /* at whole stacks; NULL: not used, ... */
    struct deep_stacks *deep;     /* ... and none wait */
    int wake_fd;                  /* of all buffers, for the reader */
    VEC(int) apart;               /* events of perf_keep_apart() */
    bool is_prompt;               /* request_short_slice() was called */
    uint32_t first_tid;           /* of the program */
    uint64_t runs;                /* times that threads of attached processes have come to a CPU */
    uint64_t runs_before;         /* when they were attached to */
    uint64_t throttled;
    uint64_t lost_tasks; /* records of what tasks do */
    uint64_t lost,
        lost_first;  /* other records; samples of the first choice, where these are reported */
    bool tells_lost; /* they are */
};

/* Of the records of a buffer. */
static inline const struct perf_layout *perf_layout_of(const struct perf_source *s, size_t ring)
{
    return ring % PERF_RINGS == PERF_RING_WAKES ? &s->wakes_layout : &s->layout;
}

/* The state of a thread, new if it was not known. */
struct perf_thread *perf_thread(struct perf_source *s, uint32_t tid);

/* Opens all events and maps the buffers. */
bool perf_open_all(struct perf_source *s, struct err *e);

/* A software counter of a fixed period: its samples do not carry it, and none is drawn. */
bool perf_is_counter(const struct event_choice *c);
void perf_close(struct perf_source *s);

/* The attributes of all events that a thread of the program has. */
typedef VEC(struct perf_event_attr) perf_attrs;
void perf_list_attrs(const struct perf_source *s, perf_attrs *out);

/* Opens a clock of the first choice on a thread, not enabled, that writes into the CPU's buffer;
 * -1: it cannot be. */
int perf_open_redrawn(struct perf_source *s, pid_t tid, uint32_t cpu, uint64_t period,
                      uint64_t *id);

/* Switches events on that no exec does. */
void perf_enable(struct perf_source *s);

/* --- redrawn_clocks.c ------------------------------------------------------------------------- */

/* What a sample's period is. */
enum clock_kind { CLOCK_INHERITED, CLOCK_OWN, CLOCK_COPY };

/* Whether a sample of this thread counts; the period of one of its own clock is its weight. Opens a
 * clock when it is time. */
bool redrawn_clocks_admit(struct perf_source *s, const struct perf_record *r, struct perf_thread *t,
                          enum clock_kind *kind);

/* The process has one thread; afterwards that has a clock on each CPU which counts, and of which
 * there are no copies. Takes new ones for those that have. false: it cannot be. */
bool redrawn_clocks_cover(struct perf_source *s, uint32_t pid);

/* Closes those of threads that have begun to leave the CPU all the time. */
void redrawn_clocks_check(struct perf_source *s, uint64_t now_ns);

/* The thread has ended. */
void redrawn_clocks_end(struct perf_source *s, uint32_t tid);

/* The thread's clocks may be with another, as it has made one: they count no more until they are
 * known to be where they were. */
void redrawn_clocks_doubt(struct perf_source *s, uint32_t tid);

/* --- inherited_clocks.c ---------------------------------------------------------------------- */

/* In the reader, each time that it has emptied all buffers. */
void inherited_clocks_update(struct perf_source *s, uint64_t now_ns);

/* A record, in its turn; a thread that lives from now on; one that has ended. */
void inherited_clocks_happened(struct perf_source *s, const struct perf_record *r);
void inherited_clocks_begin(struct perf_source *s, uint32_t pid, uint32_t tid);
void inherited_clocks_end(struct perf_source *s, uint32_t tid);

/* Whether they are on, and nothing is left that was recorded while they were not. If not, they will
 * be. */
bool inherited_clocks_want(struct perf_source *s);

/* Closes a clock, at once or when its copies are of no more use. */
void inherited_clocks_close(struct perf_source *s, int fd);

/* Switches off where it is time. */
void inherited_clocks_check(struct perf_source *s, uint64_t now_ns);

/* --- perf_wakes.c --------------------------------------------------------------------------- */

/* false: it is not to be had here. */
bool perf_wakes_choice(struct event_choice *out);

/* A record of the buffer of wakes. */
void perf_wakes_happened(struct perf_source *s, const struct perf_record *r);

/* Switches it off for a while where wakes come in floods. */
void perf_wakes_pace(struct perf_source *s, uint64_t now_ns);

/* Says how many were lost. */
void perf_wakes_finish(struct perf_source *s);

/* --- perf_reader.c -------------------------------------------------------------------------- */

/* Whether samples of the event come at periods that are drawn. */
bool perf_is_drawn(const struct perf_source *s, uint32_t choice);

/* Gives each event a period of its own; is_first: before anything is sampled. */
void perf_draw_periods(struct perf_source *s, bool is_first);

/* How long samples may wait where nothing but samples has come for so long. */
uint64_t perf_reader_patience(uint64_t calm_ns);

/* How long the reader sleeps where nothing has come for so long: not shorter than is worth it, and
 * not longer than buffers last, or labels that are to be read stay the same. */
uint64_t perf_reader_sleep(uint64_t idle_ns, uint64_t patience_ns, bool reads_labels);

/* Begins when all buffers are there. */
MUST_CHECK bool perf_reader_start(struct perf_source *s);

/* Ends the thread; takes what is left. Once. */
void perf_reader_stop(struct perf_source *s);
void perf_reader_deinit(struct perf_source *s);

/* Appends what was read to `to`, a backlog for each ring; returns up to which time that is all
 * there is. */
uint64_t perf_reader_take(struct perf_source *s, perf_backlogs *to);

/* --- perf_cost.c ------------------------------------------------------------------------------ */

/* What a sample costs the thread that it is taken of, and what a switch costs one that has events:
 * estimates, measured on ourselves. */

/* Some 15 ms of work with and without samples of this kind; nanoseconds a sample, 0 if not
 * measurable. The time of the interrupt itself is most of it, and many times longer in a virtual
 * machine.
 */
uint64_t perf_cost_of_sample(const struct perf_layout *l, uint32_t stack_bytes, bool user_only);

/* Some 10 ms of two threads that wake each other, with events of these attributes on each CPU and
 * without; nanoseconds that a thread's leaving the CPU and coming back take more, 0 if not
 * measurable. What it is depends on where the threads run: the mean of what happens to ours. */
uint64_t perf_cost_of_switch(const struct perf_event_attr *attrs, size_t len);

/* Both are measured by turns, without events and with them. Of each the least counts, with as many
 * events as there were then; 0 ns: not measurable in that turn. A zeroed one has none yet. */
struct perf_turns {
    uint64_t bare_ns, sampled_ns, events;
};

void perf_turns_add(struct perf_turns *t, uint64_t bare_ns, uint64_t sampled_ns, uint64_t events);

/* Of one event; 0 if not measurable. */
uint64_t perf_turns_cost(const struct perf_turns *t);

#endif

/* What the two halves of the perf source share: opening events, and reading what they say. */
#ifndef MONARC_RECORD_PERF_PRIVATE_H
#define MONARC_RECORD_PERF_PRIVATE_H

#include "base/vec.h"
#include "record/perf/events.h"
#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"
#include "record/perf/perf_source.h"
#include "record/perf/periods.h"
#include "record/waits/waits.h"

/* One event on one CPU, of the launcher or of a thread that was attached to. */
struct perf_event {
    int fd;
    uint32_t cpu;    /* its place in `rings` */
    uint32_t choice; /* of the list that was asked for */
    uint64_t id;
};

/* What a thread's counters said at its end. */
struct perf_thread {
    uint64_t cpu_ns;
};

struct perf_source {
    struct source source;
    struct collector *collector;
    struct source_options options;
    struct perf_source_result *result;
    VEC(struct event_choice) choices; /* those asked for, and what waits need */
    struct perf_layout layout;
    VEC(struct perf_event) events;
    VEC(struct perf_ring) rings; /* by CPU */
    struct map choice_of;        /* id -> choice */
    VEC(struct periods) periods; /* by choice */
    struct map thread_of;        /* tid -> index of `threads` */
    VEC(struct perf_thread) threads;
    uint64_t young_weight, old_weight; /* of the first choice's samples, by the age of clocks */
    size_t buffer_bytes;
    uint32_t stack_bytes;
    struct waits *waits; /* NULL: not wanted */
    uint32_t leaving;    /* the choice whose samples are of threads leaving the CPU */
    int wake_fd;
    VEC(int) apart; /* events of perf_keep_apart() */
    uint64_t wait_ns;
    uint64_t live_reads; /* of the collector, at the last round */
    bool has_forks;      /* since periods were drawn */
    uint64_t forked_ns;  /* when there were some */
    uint32_t first_tid;  /* of the program */
    uint64_t lost, throttled;
};

/* Opens all events and maps the buffers. */
bool perf_open_all(struct perf_source *s, struct err *e);
void perf_close(struct perf_source *s);

/* Makes a task's events its own for as long as it lives. */
bool perf_keep_apart(struct perf_source *s, pid_t pid);

/* Switches events on that no exec does. */
void perf_enable(struct perf_source *s);

#endif

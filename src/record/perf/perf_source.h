/* Watching by perf events: a buffer for each CPU, in which the kernel writes samples and what
 * happens to processes, of the program and of everything that comes out of it.
 *
 * Nothing of it is in the program. Events are opened on an idle process, the launcher, from which
 * the program is forked: so they are inherited by the program and all that comes out of it, and the
 * period of threads to come can be changed without touching those that run. docs/recording.md. */
#ifndef MONARC_RECORD_PERF_PERF_SOURCE_H
#define MONARC_RECORD_PERF_PERF_SOURCE_H

#include "record/source.h"

struct event_choice;

/* The outcome, filled in by perf_source_new() and, as it says, by finish(). */
struct perf_source_result {
    bool is_refused; /* the system does not permit it: another way may be tried */
    bool user_only;  /* the kernel is not sampled */
    uint64_t
        cpu_ns; /* after finish(): CPU time of all that was watched, by the kernel's counters */
    uint64_t foreign;       /* programs of other rights, which lost their events with their exec */
    uint64_t samples;       /* taken, lost ones not counted */
    uint64_t cost_ns;       /* after finish(): estimate of what these took from the program */
    uint64_t estimating_ns; /* CPU time that this took us */
};

/* Opens the events; the program must not have begun. Failure has `is_refused` and *e. `events`
 * are copied. With `is_attached` in the options the program runs, and its threads get events one
 * by one. */
bool perf_source_new(struct source **out, struct collector *c, const struct source_options *o,
                     const struct event_choice *events, size_t events_len,
                     struct perf_source_result *result, struct err *e);

#endif

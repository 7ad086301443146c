/* A thread's perf event whose samples the kernel writes into shared pages, with the call chain it
 * walked and the innermost bytes of the stack. A second event, sixteen times as slow, signals the
 * thread to empty the ring: an event with a signal would send it for each sample. The mappings keep
 * the events alive, so no descriptor stays open.
 *
 * Specification: perf_event_open(2), "MMAP layout". x86-64 only so far. */
#ifndef MONARC_PROFILE_RING_H
#define MONARC_PROFILE_RING_H

#include "../thread.h"

#include <linux/perf_event.h>

#if defined(__x86_64__)
#define HAVE_RINGS 1
#else
#define HAVE_RINGS 0
#endif

/* Requests samples that a ring can take. */
void ring_attributes(struct perf_event_attr *a);
#define RING_EVERY 16 /* samples between two signals */

/* Maps the pages of the event, and of the one that signals, in place of those that the thread may
 * have; false where the kernel does not allow so many. Both descriptors may be closed then. */
bool ring_map(struct process *p, struct thread *t, int fd, int alarm);
bool ring_is_mapped(const struct thread *t);
/* How many samples of its event have been entered. */
uint32_t ring_samples(const struct thread *t);
/* Enters the samples that wait in the thread's ring, or drops them while nothing is recorded. Any
 * thread, any context. True if a chain was longer than the kernel follows. */
bool ring_drain(struct process *p, struct thread *t);
/* The same for all threads. Process lock not held. */
void ring_drain_all(struct process *p);
/* Drops what waits in the thread's ring: the recorder's own doings, by that thread itself. */
void ring_drop(struct thread *t);
/* Ends the event; what waits in the ring is entered first. */
void ring_unmap(struct process *p, struct thread *t);

#endif

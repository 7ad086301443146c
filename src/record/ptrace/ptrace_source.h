/* A source where perf events are refused: threads that run are stopped for a moment, at random
 * times, and inspected.
 *
 * Only threads that run are stopped, never one that sleeps, some 250 times a second in all at the
 * most. A sample weighs the CPU time that its thread has had since the one before, as the kernel
 * counts it. What a thread has had after its last sample goes, on average, to the first samples of
 * other threads, which have no sample before them to begin at (see ptrace_sampling.c); what is left
 * of that is reported as lost.
 *
 * The program sees nothing but TracerPid in /proc/self/status, and that no debugger can attach to
 * it. Programs that trace others, or themselves, and those with rights of their own are left alone
 * and reported as not seen (see ptrace_conflict.c). */
#ifndef MONARC_RECORD_PTRACE_PTRACE_SOURCE_H
#define MONARC_RECORD_PTRACE_PTRACE_SOURCE_H

#include "base/err.h"
#include "record/source.h"

/* The monitor has to wait by the time that round() returns, in the thread that called this, and to
 * call round() soon after: where that timer takes a CPU away is what is sampled. It adds the event
 * "cpu". Of the calling thread it changes the timer slack, the length of its turns and the CPUs it
 * may run on (until finish()); of the process, the soft limit of open files. */
MUST_CHECK bool ptrace_source_new(struct source **out, struct collector *c,
                                  const struct source_options *o, struct err *e);

#endif

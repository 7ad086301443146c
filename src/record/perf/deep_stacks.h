/* Stacks that go on beyond the part that the kernel copies with a sample.
 *
 * Such a sample is not counted at once. It waits for a look at its thread (deep_looks.h), which
 * reads the whole stack while the thread stands: then that place counts instead, for all samples
 * that wait and were in the same function, with their weights. A look only counts if its own stack
 * goes on beyond what a sample would have copied. So what is said of a thread was seen of that
 * thread, and no stack is made of two.
 *
 *     sample    what the kernel copied           leaf <- parse <- parse <- ... cut
 *     look      the same thread, a little later  leaf <- parse <- parse <- ... <- read_file <- main
 *     counted   the look's place, with the weight of all samples that waited in leaf()
 *
 * Taking the outer end of the look and the inner one of the sample would say more, and might be
 * false: that both have the same frames in the middle does not prove that they had the same
 * callers.
 *
 * Where no look comes in time, and none was before, it is counted as it was sampled, without its
 * outer end. */
#ifndef MONARC_RECORD_PERF_DEEP_STACKS_H
#define MONARC_RECORD_PERF_DEEP_STACKS_H

#include "record/collector.h"
#include "record/perf/deep_looks.h"

struct deep_stacks;

/* `copied`: bytes of stack that samples have at most. */
struct deep_stacks *deep_stacks_new(struct collector *c, struct deep_looks *p, size_t copied);

/* A sample whose place was found. true: it is counted here, now or later; false: it is whole, or as
 * whole as it will be. */
bool deep_stacks_sampled(struct deep_stacks *d, const struct collector_sample *s,
                         struct collector_place place);

/* The stack of a thread in a system call was longer than the `len` bytes of it that were read: the
 * next one may be read as a whole. */
void deep_stacks_cut(struct deep_stacks *d, pid_t pid, pid_t tid, size_t len);

/* Takes finished looks, before records of that time are reported. */
void deep_stacks_take(struct deep_stacks *d);

/* Everything up to then was reported: looks up to then count. */
void deep_stacks_until(struct deep_stacks *d, uint64_t until_ns);

/* The thread has ended, or executes another program; all have. */
void deep_stacks_end(struct deep_stacks *d, pid_t tid);
void deep_stacks_finish(struct deep_stacks *d);

/* NULL is allowed. */
void deep_stacks_free(struct deep_stacks *d);

#endif

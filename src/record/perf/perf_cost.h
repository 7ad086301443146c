/* What a sample costs the thread that it is taken of: an estimate, measured on ourselves. */
#ifndef MONARC_RECORD_PERF_PERF_COST_H
#define MONARC_RECORD_PERF_PERF_COST_H

#include "record/perf/perf_record.h"

/* Some 15 ms of work with and without samples of this kind; nanoseconds a sample, 0 if it cannot be
 * told. The time of the interrupt itself is most of it, and many times longer in a virtual machine.
 */
uint64_t perf_cost_of_sample(const struct perf_layout *l, uint32_t stack_bytes, bool user_only);

#endif

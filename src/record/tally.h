/* Samples, counted on a tree of stacks, slice by slice of the run's time.
 *
 * The tree only grows by stacks that differ, the list of counts by slices that differ; slices get
 * twice as long, and are merged by two, whenever there are TALLY_SLICES of them. */
#ifndef MONARC_RECORD_TALLY_H
#define MONARC_RECORD_TALLY_H

#include "base/map.h"
#include "base/vec.h"
#include "profile/model/recording.h"

enum { TALLY_SLICES = 1000, TALLY_MOST_SLICES = 1 << 20 };

/* Counts so far. Rows of both lists are samples with `count` and `weight` summed up. */
struct tally {
    uint64_t slice_ns;
    uint32_t slice; /* of `open` */
    VEC(struct recording_node) nodes;
    struct map node_of;                  /* parent and object, address -> node */
    VEC(struct recording_sample) closed; /* of slices that are over, by slice */
    VEC(struct recording_sample) open;   /* of the slice that runs */
    struct map open_of; /* of a long slice: thread and event, node and labels -> index of `open` */
    uint64_t most_slices;
    size_t most, most_rows; /* of `closed`, until slices get longer: of what lasts, of all */
};

/* `slice_ns`: of the first slices, which are kept as long as there are no more than
 * TALLY_MOST_SLICES, and as memory allows; 0: the usual ones. */
void tally_init(struct tally *t, uint64_t slice_ns);
void tally_deinit(struct tally *t);

/* The node of a frame within its caller's; RECORDING_ROOT for none. */
uint32_t tally_node(struct tally *t, uint32_t parent, uint32_t object, uint64_t address);

/* Counts a sample: thread, event, node, labels and weight of `s`. Times may be late by some slices:
 * they count in the slice that runs. */
void tally_add(struct tally *t, uint64_t at_ns, const struct recording_sample *s);

/* Counts what lasted: its weight is spread evenly over the slices from its start to its end, and
 * the last one counts it. Slices get longer if that makes the list too long. */
void tally_add_over(struct tally *t, uint64_t from_ns, uint64_t to_ns,
                    const struct recording_sample *s);

/* Forgets all samples of the threads for which is_of() holds; adds their weights to those of the
 * first events. */
void tally_forget(struct tally *t, bool (*is_of)(uint32_t thread, void *context), void *context,
                  uint64_t *forgotten, size_t events);

/* With an event's number: a sample whose weight is to be scaled. */
#define TALLY_FIRST_PERIOD (UINT32_C(1) << 31)

/* And: of a part of a long slice in which the order of samples is not kept. */
#define TALLY_MERGED (UINT32_C(1) << 29)

/* Sorts by slice, thread and event. In slices up to RECORDING_ORDERED_NS what has these in common
 * stays in the order in which it came, and what follows each other with the same node is added up;
 * in longer ones so is what recording_find_ordered() finds, unless it is of other origin
 * (is_imported), and the rest by nodes. What has other labels stays apart everywhere. */
void tally_sum_up(struct recording *out, bool is_imported);

/* All samples, by slice, thread and event, as struct recording_sample wants them; first-period ones
 * times the factor. */
void tally_copy(const struct tally *t, double first_period_factor, struct recording *out);

#endif

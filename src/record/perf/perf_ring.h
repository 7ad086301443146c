/* The buffer that the kernel fills with records of one CPU's events (perf_event_open(2)). */
#ifndef MONARC_RECORD_PERF_PERF_RING_H
#define MONARC_RECORD_PERF_PERF_RING_H

#include "base/bytes.h"
#include "base/vec.h"

#include <stdbool.h>

/* One buffer. `head` is as far as was looked, `tail` as far as was taken. */
struct perf_ring {
    void *pages; /* the header page, then the data; NULL: not mapped */
    size_t size; /* of the data, a power of two */
    uint64_t head, tail;
    VEC(uint8_t) whole; /* a record that goes over the end of the buffer */
};

/* Maps the buffer of an event, of `size` bytes, a power of two of pages; false: see errno. */
bool perf_ring_map(struct perf_ring *r, int fd, size_t size);
void perf_ring_unmap(struct perf_ring *r);

/* Looks how far the kernel has written. */
void perf_ring_look(struct perf_ring *r);

/* Whether the kernel has written more since then. */
bool perf_ring_has_more(const struct perf_ring *r);

/* The first record that was not taken, up to where was looked; empty: there is none. Good until the
 * next call. A record whose length makes no sense empties the buffer. */
struct bytes perf_ring_first(struct perf_ring *r);
void perf_ring_take(struct perf_ring *r, size_t len);

/* Gives the room of what was taken back to the kernel. */
void perf_ring_release(struct perf_ring *r);

#endif

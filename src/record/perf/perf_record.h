/* One record of the kernel's, taken apart (perf_event_open(2), "MMAP layout"): out of the kernel's
 * buffer, or out of a file that another tool recorded.
 *
 * All events of a recording of ours have the same fields, so that there is one layout; a file has
 * one for each event.
 *
 *     header:   u32 type, u16 misc, u16 size
 *     SAMPLE    [identifier] ip pid tid time ... period ... [chain] ... [registers] [stack]
 *     others    fields by type, then a trailer: [pid tid] [time] [id] [stream] [cpu] [identifier]
 *
 * Fields are there as sample_type says; all are multiples of 8 bytes. */
#ifndef MONARC_RECORD_PERF_PERF_RECORD_H
#define MONARC_RECORD_PERF_PERF_RECORD_H

#include "base/bytes.h"
#include "base/vec.h"
#include "unwind/unwind.h"

#include <linux/perf_event.h>
#include <stdbool.h>

/* The kernel may know more than the headers that this is compiled with: before those of Linux 5.12,
 * the bit for build-ids is the first reserved one. */
#ifdef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_ATTR_BUILD_ID build_id
#else
#define PERF_ATTR_BUILD_ID             __reserved_1
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

/* Younger than the headers that we may be compiled with: of Linux 6.19, where the user's part of a
 * stack is walked when the kernel returns to user code. */
enum { RECORD_CALLCHAIN_DEFERRED = 22 };

/* An entry of a sample's branches: u64 where it was taken, u64 where it led, u64 flags, of which
 * the first in the machine's order of bits says that the CPU had expected otherwise. */
enum { PERF_BRANCH_BYTES = 24 };

/* What an event was opened with (struct perf_event_attr), as far as records depend on it. */
struct perf_layout {
    const struct arch *arch;
    uint64_t sample_type;        /* PERF_SAMPLE_... */
    uint64_t registers;          /* sample_regs_user: a bit for each that is there */
    uint64_t read_format;        /* PERF_FORMAT_... */
    uint64_t branch_sample_type; /* PERF_SAMPLE_BRANCH_... */
    bool has_trailer;            /* sample_id_all: records that are no samples say when and who */
    bool is_big_endian;
};

/* That of our own recordings; without stacks, samples have registers alone. */
struct perf_layout perf_layout_live(const struct arch *arch, bool has_stacks);

/* That of our tracepoints, which have buffers of their own. */
struct perf_layout perf_layout_tracepoint(const struct arch *arch);

/* A record's fields; those that its type does not have are 0, empty or "". */
struct perf_record {
    uint32_t type; /* PERF_RECORD_... */
    uint16_t misc;
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu;
    uint64_t id;     /* of the event that was opened */
    uint64_t stream; /* of the copy of it that a thread inherited, unique */

    uint64_t ip, period; /* SAMPLE */
    bool has_user_code; /* there is user code that was interrupted; not while a program is loaded */
    struct unwind_registers registers; /* of it; of 32-bit programs the pc alone */
    struct bytes stack;
    struct bytes counts; /* of the members of its group, entries of perf_count_bytes(): the count so
                            far, the id, ...; empty without ids */
    struct bytes branches; /* taken, the latest first: entries of 24 bytes, likewise */
    struct bytes raw;      /* of a tracepoint: its fields */
    struct bytes chain;    /* as the kernel has walked it: words, in the order of bytes of the file;
                              of CALLCHAIN_DEFERRED, too */

    uint64_t start, length, offset; /* MMAP, MMAP2 */
    uint32_t major, minor, protection;
    uint64_t inode;
    struct bytes build_id;
    const char *text; /* MMAP, MMAP2, COMM; else "" */

    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
    uint64_t value; /* LOST, LOST_SAMPLES: how many; READ: the count; CALLCHAIN_DEFERRED: cookie */
};

/* The size of an entry of a group's counts. */
size_t perf_count_bytes(const struct perf_layout *l);

/* false: it is shorter than its fields, or text without an end. Types that are not known have only
 * what follows all records. Bytes of *out point into the record. */
bool perf_record_read(const struct perf_layout *l, struct bytes in, struct perf_record *out);

/* --- rings ----------------------------------------------------------------------------------- */

/* The buffer that the kernel fills with records of one CPU's events (perf_event_open(2)). */

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

/* --- backlogs -------------------------------------------------------------------------------- */

/* Records that were taken out of a kernel's buffer and wait for their turn.
 *
 * A sample's piece of stack is kept as far as the kernel could copy it: most are much shorter than
 * what a record reserves. */

struct perf_backlog {
    VEC(uint8_t) bytes;
    size_t taken; /* of these */
    struct perf_record first;
    size_t first_len; /* 0: `first` is not known yet */
};

void perf_backlog_deinit(struct perf_backlog *q);

/* Adds one whole record; one that cannot be read is left out. */
void perf_backlog_add(struct perf_backlog *q, const struct perf_layout *l, struct bytes record);

/* Appends everything in *from, which then has room for what may be left here at the next time. */
void perf_backlog_move(struct perf_backlog *q, struct perf_backlog *from);

/* The first record; NULL: there is none. Good until the backlog is touched. */
const struct perf_record *perf_backlog_first(struct perf_backlog *q, const struct perf_layout *l);
void perf_backlog_drop_first(struct perf_backlog *q);

#endif

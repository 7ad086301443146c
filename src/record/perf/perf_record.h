/* One record of the kernel's, taken apart (perf_event_open(2), "MMAP layout"): out of the kernel's
 * buffer, or out of a file that somebody else recorded.
 *
 * All events of a recording of ours ask for the same fields, so that there is one layout; a file
 * has one for each event.
 *
 *     header:   u32 type, u16 misc, u16 size
 *     SAMPLE    [identifier] ip pid tid time ... period ... [chain] ... [registers] [stack]
 *     others    fields by type, then a trailer: [pid tid] [time] [id] [stream] [cpu] [identifier]
 *
 * Fields are there as sample_type says; all are multiples of 8 bytes. */
#ifndef MONARC_RECORD_PERF_PERF_RECORD_H
#define MONARC_RECORD_PERF_PERF_RECORD_H

#include "base/bytes.h"
#include "unwind/unwind.h"

#include <stdbool.h>

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
    struct bytes chain; /* as the kernel has walked it: words, in the order of bytes of the file */

    uint64_t start, length, offset; /* MMAP, MMAP2 */
    uint32_t major, minor, protection;
    uint64_t inode;
    struct bytes build_id;
    const char *text; /* MMAP, MMAP2, COMM; else "" */

    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
    uint64_t value;                  /* LOST, LOST_SAMPLES: how many; READ: the count */
};

/* false: it is shorter than its fields, or text without an end. Types that are not known have only
 * what follows all records. Bytes of *out point into the record. */
bool perf_record_read(const struct perf_layout *l, struct bytes in, struct perf_record *out);

#endif

/* One record of the kernel's, taken apart (perf_event_open(2), "MMAP layout").
 *
 * All events of a recording ask for the same fields, so that there is one layout. */
#ifndef MONARC_RECORD_PERF_RECORD_H
#define MONARC_RECORD_PERF_RECORD_H

#include "base/bytes.h"
#include "unwind/unwind.h"

#include <stdbool.h>

struct perf_layout {
    enum unwind_machine machine;
    bool has_stacks; /* samples have registers and a piece of stack */
};

/* What to ask for: sample_type, and sample_regs_user where there are stacks. */
uint64_t perf_layout_sample_type(const struct perf_layout *l);
uint64_t perf_layout_registers(const struct perf_layout *l);

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

    uint64_t start, length, offset; /* MMAP, MMAP2 */
    uint32_t major, minor, protection;
    uint64_t inode;
    struct bytes build_id;
    const char *text; /* MMAP, MMAP2, COMM; else "" */

    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
    uint64_t value;                  /* LOST: how many; READ: the count */
};

/* false: it is shorter than its fields, or text without an end. Types that are not known have only
 * what follows all records. Bytes of *out point into the record. */
bool perf_record_read(const struct perf_layout *l, struct bytes in, struct perf_record *out);

#endif

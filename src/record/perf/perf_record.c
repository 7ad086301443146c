/* Taking records apart. Every field is read through the bounded cursor: what the kernel writes is
 * trusted no more than a file. */
#include "record/perf/perf_record.h"

#include "base/cursor.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

/* Fields of perf_layout_sample_type() that follow records other than samples, and their bytes:
 * pid and tid, time, stream, cpu, id. */
enum { TRAILER_BYTES = 8 + 8 + 8 + 8 + 8 };

#define MASK_X86_64  UINT64_C(0xff0fff) /* all but the segment registers, which is refused */
#define MASK_AARCH64 ((UINT64_C(1) << 33) - 1)
#define MASK_RISCV64 ((UINT64_C(1) << 32) - 1)

uint64_t perf_layout_sample_type(const struct perf_layout *l)
{
    uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    return l->has_stacks ? type | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
                         : type | PERF_SAMPLE_REGS_USER;
}

uint64_t perf_layout_registers(const struct perf_layout *l)
{
    switch (l->machine) {
    case UNWIND_X86_64: return MASK_X86_64;
    case UNWIND_AARCH64: return MASK_AARCH64;
    case UNWIND_RISCV64: return MASK_RISCV64;
    default: return 0;
    }
}

/* From the kernel's numbers (asm/perf_regs.h) to DWARF's; -1: not kept; -2: the pc. */
static int dwarf_register(enum unwind_machine machine, unsigned number)
{
    static const int8_t x86_64[24] = {0,  3,  2,  1,  4, 5, 6,  7,  -2, -1, -1, -1,
                                      -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};
    if (machine == UNWIND_X86_64)
        return number < 24 ? x86_64[number] : -1;
    if (machine == UNWIND_AARCH64)
        return number == 32 ? -2 : (int)number;
    return number == 0 ? -2 : (int)number;
}

static void read_registers(const struct perf_layout *l, struct cursor *in, struct perf_record *out)
{
    uint64_t abi = cursor_u64(in), mask = perf_layout_registers(l);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    out->has_user_code = true;
    for (unsigned i = 0; i < 64; i++) {
        if (!(mask >> i & 1))
            continue;
        uint64_t value = cursor_u64(in);
        int number = dwarf_register(l->machine, i);
        if (number == -2)
            out->registers.pc = value;
        if (number < 0)
            continue;
        out->registers.at[number] = value;
        if (abi == PERF_SAMPLE_REGS_ABI_64)
            out->registers.known |= UINT32_C(1) << number;
    }
}

/* The kernel reserves what was asked for and says behind it how much of that it could copy. */
static void read_stack(struct cursor *in, struct perf_record *out)
{
    uint64_t size = cursor_u64(in);
    if (!size)
        return;
    const uint8_t *at = cursor_take(in, size);
    uint64_t real = cursor_u64(in);
    if (at && real <= size)
        out->stack = (struct bytes){at, real};
}

static void read_sample(const struct perf_layout *l, struct cursor *in, struct perf_record *out)
{
    out->id = cursor_u64(in);
    out->ip = cursor_u64(in);
    out->pid = cursor_u32(in);
    out->tid = cursor_u32(in);
    out->time = cursor_u64(in);
    out->stream = cursor_u64(in);
    out->cpu = cursor_u32(in);
    cursor_u32(in);
    out->period = cursor_u64(in);
    read_registers(l, in, out);
    if (l->has_stacks)
        read_stack(in, out);
}

static void read_text(struct cursor *in, struct perf_record *out)
{
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    if (nul)
        out->text = (const char *)in->at;
    else
        in->failed = true;
}

static void read_mapping(struct cursor *in, struct perf_record *out)
{
    out->start = cursor_u64(in);
    out->length = cursor_u64(in);
    out->offset = cursor_u64(in);
    out->protection = PROT_EXEC;
    if (out->type == PERF_RECORD_MMAP2 && out->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        enum { FIELD_BYTES = 20 };
        uint8_t len = cursor_u8(in);
        cursor_take(in, 3);
        const uint8_t *id = cursor_take(in, FIELD_BYTES);
        if (id && len <= FIELD_BYTES)
            out->build_id = (struct bytes){id, len};
    } else if (out->type == PERF_RECORD_MMAP2) {
        out->major = cursor_u32(in);
        out->minor = cursor_u32(in);
        out->inode = cursor_u64(in);
        cursor_u64(in); /* the inode's generation */
    }
    if (out->type == PERF_RECORD_MMAP2) {
        out->protection = cursor_u32(in);
        cursor_u32(in);
    }
    read_text(in, out);
}

static void read_task(struct cursor *in, struct perf_record *out)
{
    out->pid = cursor_u32(in);
    out->parent_pid = cursor_u32(in);
    out->tid = cursor_u32(in);
    out->parent_tid = cursor_u32(in);
}

static void read_fields(struct cursor *in, struct perf_record *out)
{
    if (out->type == PERF_RECORD_LOST) {
        cursor_u64(in);
        out->value = cursor_u64(in);
    } else if (out->type == PERF_RECORD_FORK || out->type == PERF_RECORD_EXIT) {
        read_task(in, out);
    } else if (out->type == PERF_RECORD_COMM || out->type == PERF_RECORD_MMAP ||
               out->type == PERF_RECORD_MMAP2 || out->type == PERF_RECORD_READ) {
        out->pid = cursor_u32(in);
        out->tid = cursor_u32(in);
        if (out->type == PERF_RECORD_READ)
            out->value = cursor_u64(in);
        else if (out->type == PERF_RECORD_COMM)
            read_text(in, out);
        else
            read_mapping(in, out);
    }
}

/* What follows every record that is no sample. Records of tasks have pids of their own, of the task
 * they speak of; the others take who ran. */
static bool read_trailer(struct bytes in, struct perf_record *out)
{
    struct cursor c = cursor_over(in, NULL);
    if (in.len < sizeof(struct perf_event_header) + TRAILER_BYTES)
        return false;
    cursor_take(&c, in.len - TRAILER_BYTES);
    uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
    if (!out->pid && !out->tid) {
        out->pid = pid;
        out->tid = tid;
    }
    out->time = cursor_u64(&c);
    out->stream = cursor_u64(&c);
    out->cpu = cursor_u32(&c);
    cursor_u32(&c);
    out->id = cursor_u64(&c);
    return !c.failed;
}

bool perf_record_read(const struct perf_layout *l, struct bytes in, struct perf_record *out)
{
    struct cursor c = cursor_over(in, NULL);
    *out = (struct perf_record){.text = ""};
    out->type = cursor_u32(&c);
    out->misc = cursor_u16(&c);
    cursor_u16(&c);
    if (out->type == PERF_RECORD_SAMPLE)
        read_sample(l, &c, out);
    else
        read_fields(&c, out);
    if (c.failed)
        return false;
    return out->type == PERF_RECORD_SAMPLE || read_trailer(in, out);
}

/* Records, from the kernel's buffer to their turn.
 *
 *     ring     pages:  header page | data, of a power of two ...
 *              data:   ....[tail: first not taken | record | record | head: the kernel writes
 * on].... backlog  bytes:  | taken ...      | first | record | record ...
 *
 * A ring is read along with the kernel. head and tail only grow; their low bits are places in the
 * data. The kernel moves data_head, we move data_tail, each with the barrier that makes the records
 * visible before it (perf_event_open(2) and tools/lib/perf/mmap.c of Linux). A record that goes
 * over the end is put together in a buffer of our own. Nothing is read beyond `head`.
 *
 * A backlog has records as the kernel had them but for the length of stacks. What was taken stays
 * in front until more is moved in; a backlog that is empty then takes the other's memory over. The
 * first record is read once and kept, since it is compared with those of all other buffers.
 *
 * A record is taken apart from front to back, field by field as its event's attributes say, through
 * the bounded cursor: what the kernel writes is trusted no more than a file. Fields that nothing is
 * wanted of are skipped by their length; one that reaches beyond the record fails the whole of it.
 * Source: perf_event_open(2), and kernel/events/core.c of Linux for the order. */
#include "record/perf/perf_record.h"

#include "base/bytes.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- taking records apart -------------------------------------------------------------------- */

struct perf_layout perf_layout_live(const struct arch *arch, bool has_stacks)
{
    return (struct perf_layout){.arch = arch,
                                .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                                               PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                               PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                               PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER |
                                               (has_stacks ? PERF_SAMPLE_STACK_USER : 0),
                                .registers = arch ? arch->perf_registers : 0,
                                .has_trailer = true};
}

struct perf_layout perf_layout_tracepoint(const struct arch *arch)
{
    return (struct perf_layout){.arch = arch,
                                .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                               PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
                                .has_trailer = true};
}

/* Younger than the headers that we may be compiled with. */
#define FORMAT_LOST     (UINT64_C(1) << 4)
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Bit n of the mask is the kernel's register n; the machine's map says which of ours that is.
 * Values of 32-bit programs are not taken for registers, but for the pc. */
static void perf_read_registers(const struct perf_layout *l, struct cursor *in,
                                struct perf_record *out)
{
    uint64_t abi = cursor_u64(in);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    out->has_user_code = true;
    static const struct register_map unknown = {0};
    const struct register_map *map = arch_has_stacks(l->arch) ? l->arch->perf : &unknown;
    for (uint64_t mask = l->registers; mask; mask &= mask - 1) {
        uint64_t value = cursor_u64(in);
        unsigned kernels = (unsigned)__builtin_ctzll(mask);
        int number = kernels < map->len ? map->at[kernels] : REGISTER_NONE;
        if (number == REGISTER_PC)
            out->registers.pc = value;
        if (number < 0)
            continue;
        out->registers.at[number] = value;
        if (abi == PERF_SAMPLE_REGS_ABI_64)
            out->registers.known |= UINT32_C(1) << number;
    }
}

/* The kernel reserves the requested size and says after it how much of that it could copy. */
static void perf_read_stack(struct cursor *in, struct perf_record *out)
{
    uint64_t size = cursor_u64(in);
    if (!size)
        return;
    const uint8_t *at = cursor_take(in, size);
    uint64_t real = cursor_u64(in);
    if (at && real <= size)
        out->stack = (struct bytes){at, real};
}

size_t perf_count_bytes(const struct perf_layout *l)
{
    return 8 * (size_t)(1 + !!(l->read_format & PERF_FORMAT_ID) + !!(l->read_format & FORMAT_LOST));
}

/* Counters that are read with each sample. Of a single event they say what its samples do. */
static struct bytes perf_read_counts(const struct perf_layout *l, struct cursor *in)
{
    uint64_t format = l->read_format, each = perf_count_bytes(l);
    uint64_t times =
        !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    bool is_group = format & PERF_FORMAT_GROUP;
    uint64_t len = is_group ? cursor_u64(in) : 1;
    in->failed |= len > cursor_left(in) / 8;
    cursor_take(in, is_group && !in->failed ? times * 8 : 0);
    const uint8_t *at = in->failed ? NULL : cursor_take(in, len * each);
    cursor_take(in, is_group || in->failed ? 0 : times * 8);
    bool has_ids = is_group && at && format & PERF_FORMAT_ID;
    return (struct bytes){has_ids ? at : NULL, has_ids ? len * each : 0};
}

/* Words, as many as a number in front of them says. */
static struct bytes perf_read_words(struct cursor *in)
{
    uint64_t len = cursor_u64(in);
    in->failed |= len > cursor_left(in) / 8;
    const uint8_t *at = in->failed ? NULL : cursor_take(in, len * 8);
    return (struct bytes){at, at ? len * 8 : 0};
}

/* A number, an index with newer kernels, entries of 24 bytes, counters with the newest. */
static struct bytes perf_read_branches(const struct perf_layout *l, struct cursor *in)
{
    uint64_t len = cursor_u64(in);
    cursor_take(in, l->branch_sample_type & BRANCH_HW_INDEX ? 8 : 0);
    in->failed |= len > cursor_left(in) / PERF_BRANCH_BYTES;
    const uint8_t *at = in->failed ? NULL : cursor_take(in, len * PERF_BRANCH_BYTES);
    cursor_take(in, !in->failed && l->branch_sample_type & BRANCH_COUNTERS ? len * 8 : 0);
    return (struct bytes){at, at ? len * PERF_BRANCH_BYTES : 0};
}

/* What stands between a sample's period and its registers. */
static void perf_read_inner(const struct perf_layout *l, struct cursor *in, struct perf_record *out)
{
    if (l->sample_type & PERF_SAMPLE_READ)
        out->counts = perf_read_counts(l, in);
    if (l->sample_type & PERF_SAMPLE_CALLCHAIN)
        out->chain = perf_read_words(in);
    if (l->sample_type & PERF_SAMPLE_RAW) {
        uint32_t len = cursor_u32(in);
        const uint8_t *at = cursor_take(in, len);
        out->raw = (struct bytes){at, at ? len : 0};
    }
    if (l->sample_type & PERF_SAMPLE_BRANCH_STACK)
        out->branches = perf_read_branches(l, in);
}

/* In the order of the kernel's perf_output_sample(). What follows the stack is not read.
 */
static void perf_read_sample(const struct perf_layout *l, struct cursor *in,
                             struct perf_record *out)
{
    uint64_t type = l->sample_type;
    if (type & PERF_SAMPLE_IDENTIFIER)
        out->id = cursor_u64(in);
    if (type & PERF_SAMPLE_IP)
        out->ip = cursor_u64(in);
    if (type & PERF_SAMPLE_TID) {
        out->pid = cursor_u32(in);
        out->tid = cursor_u32(in);
    }
    if (type & PERF_SAMPLE_TIME)
        out->time = cursor_u64(in);
    cursor_take(in, type & PERF_SAMPLE_ADDR ? 8 : 0);
    if (type & PERF_SAMPLE_ID)
        out->id = cursor_u64(in);
    if (type & PERF_SAMPLE_STREAM_ID)
        out->stream = cursor_u64(in);
    if (type & PERF_SAMPLE_CPU) {
        out->cpu = cursor_u32(in);
        cursor_u32(in);
    }
    if (type & PERF_SAMPLE_PERIOD)
        out->period = cursor_u64(in);
    perf_read_inner(l, in, out);
    if (type & PERF_SAMPLE_REGS_USER)
        perf_read_registers(l, in, out);
    if (type & PERF_SAMPLE_STACK_USER)
        perf_read_stack(in, out);
}

/* Up to a NUL, which must be within the record. */
static void perf_read_text(struct cursor *in, struct perf_record *out)
{
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    if (nul)
        out->text = (const char *)in->at;
    else
        in->failed = true;
}

/* MMAP2 has either a build-id or device and inode, in the same bytes. MMAP reports of data only
 * that it is data. */
static void perf_read_mapping(struct cursor *in, struct perf_record *out)
{
    out->start = cursor_u64(in);
    out->length = cursor_u64(in);
    out->offset = cursor_u64(in);
    out->protection = out->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
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
    perf_read_text(in, out);
}

static void perf_read_task(struct cursor *in, struct perf_record *out)
{
    out->pid = cursor_u32(in);
    out->parent_pid = cursor_u32(in);
    out->tid = cursor_u32(in);
    out->parent_tid = cursor_u32(in);
}

/* Fields of records that are no samples. */
static void perf_read_fields(struct cursor *in, struct perf_record *out)
{
    if (out->type == PERF_RECORD_LOST) {
        cursor_u64(in);
        out->value = cursor_u64(in);
    } else if (out->type == PERF_RECORD_LOST_SAMPLES) {
        out->value = cursor_u64(in);
    } else if (out->type == RECORD_CALLCHAIN_DEFERRED) {
        out->value = cursor_u64(in);
        out->chain = perf_read_words(in);
    } else if (out->type == PERF_RECORD_FORK || out->type == PERF_RECORD_EXIT) {
        perf_read_task(in, out);
    } else if (out->type == PERF_RECORD_COMM || out->type == PERF_RECORD_MMAP ||
               out->type == PERF_RECORD_MMAP2 || out->type == PERF_RECORD_READ) {
        out->pid = cursor_u32(in);
        out->tid = cursor_u32(in);
        if (out->type == PERF_RECORD_READ)
            out->value = cursor_u64(in);
        else if (out->type == PERF_RECORD_COMM)
            perf_read_text(in, out);
        else
            perf_read_mapping(in, out);
    }
}

/* What follows every record that is no sample. Records of tasks have pids of their own, of the task
 * they speak of; the others take who ran. */
static bool perf_read_trailer(const struct perf_layout *l, struct bytes in, struct perf_record *out)
{
    static const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    struct cursor c = cursor_over(in, NULL);
    uint64_t type = l->sample_type;
    size_t bytes = 8 * (size_t)__builtin_popcountll(type & fields);
    if (!l->has_trailer)
        return true;
    if (in.len < sizeof(struct perf_event_header) + bytes)
        return false;
    c.big_endian = l->is_big_endian;
    cursor_take(&c, in.len - bytes);
    if (type & PERF_SAMPLE_TID) {
        uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
        bool is_own = out->pid || out->tid;
        out->pid = is_own ? out->pid : pid;
        out->tid = is_own ? out->tid : tid;
    }
    if (type & PERF_SAMPLE_TIME)
        out->time = cursor_u64(&c);
    if (type & PERF_SAMPLE_ID)
        out->id = cursor_u64(&c);
    if (type & PERF_SAMPLE_STREAM_ID)
        out->stream = cursor_u64(&c);
    if (type & PERF_SAMPLE_CPU) {
        out->cpu = cursor_u32(&c);
        cursor_u32(&c);
    }
    if (type & PERF_SAMPLE_IDENTIFIER)
        out->id = cursor_u64(&c);
    return !c.failed;
}

/* Everything of *out is set, whatever the type. */
bool perf_record_read(const struct perf_layout *l, struct bytes in, struct perf_record *out)
{
    struct cursor c = cursor_over(in, NULL);
    c.big_endian = l->is_big_endian;
    *out = (struct perf_record){.text = ""};
    out->type = cursor_u32(&c);
    out->misc = cursor_u16(&c);
    cursor_u16(&c);
    if (out->type == PERF_RECORD_SAMPLE)
        perf_read_sample(l, &c, out);
    else
        perf_read_fields(&c, out);
    if (c.failed)
        return false;
    return out->type == PERF_RECORD_SAMPLE || perf_read_trailer(l, in, out);
}

/* --- rings ----------------------------------------------------------------------------------- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool perf_ring_map(struct perf_ring *r, int fd, size_t size)
{
    void *pages = mmap(NULL, page_bytes() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED)
        return false;
    *r = (struct perf_ring){.pages = pages, .size = size};
    return true;
}

void perf_ring_unmap(struct perf_ring *r)
{
    if (r->pages)
        munmap(r->pages, page_bytes() + r->size);
    vec_free(&r->whole);
    *r = (struct perf_ring){0};
}

void perf_ring_look(struct perf_ring *r)
{
    const struct perf_event_mmap_page *header = r->pages;
    r->head = __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE);
}

bool perf_ring_has_more(const struct perf_ring *r)
{
    const struct perf_event_mmap_page *header = r->pages;
    return __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE) != r->head;
}

/* A record in two pieces, as one. */
static struct bytes around_the_end(struct perf_ring *r, const uint8_t *data, size_t at, size_t len)
{
    size_t first = r->size - at;
    vec_reserve(&r->whole, len);
    memcpy(r->whole.at, data + at, first);
    memcpy(r->whole.at + first, data, len - first);
    return (struct bytes){r->whole.at, len};
}

/* Looks and does not move on: the caller takes the record when it is done with it. */
struct bytes perf_ring_first(struct perf_ring *r)
{
    struct perf_event_header header;
    const uint8_t *data = (const uint8_t *)r->pages + page_bytes();
    size_t at = r->tail & (r->size - 1); /* records are aligned to 8 bytes: headers never wrap */
    if (r->head - r->tail < sizeof header)
        return (struct bytes){0};
    memcpy(&header, data + at, sizeof header);
    if (header.size < sizeof header || header.size > r->head - r->tail || header.size % 8) {
        r->tail = r->head;
        return (struct bytes){0};
    }
    if (header.size > r->size - at)
        return around_the_end(r, data, at, header.size);
    return (struct bytes){data + at, header.size};
}

void perf_ring_take(struct perf_ring *r, size_t len)
{
    r->tail += len;
}

void perf_ring_release(struct perf_ring *r)
{
    struct perf_event_mmap_page *header = r->pages;
    __atomic_store_n(&header->data_tail, r->tail, __ATOMIC_RELEASE);
}

/* --- backlogs -------------------------------------------------------------------------------- */

void perf_backlog_deinit(struct perf_backlog *q)
{
    vec_free(&q->bytes);
    *q = (struct perf_backlog){0};
}

/* Room has been made. */
static void backlog_put(struct perf_backlog *q, const void *bytes, size_t len)
{
    memcpy(q->bytes.at + q->bytes.len, bytes, len);
    q->bytes.len += len;
}

/* The stack is the last field of a sample: its size, the bytes, and how many of them are real. */
static void backlog_put_trimmed(struct perf_backlog *q, struct bytes record, struct bytes stack)
{
    static const uint8_t zeros[8];
    uint64_t real = stack.len, size = (real + 7) & ~UINT64_C(7);
    size_t before = (size_t)(stack.at - record.at) - sizeof size;
    struct perf_event_header header;
    memcpy(&header, record.at, sizeof header);
    header.size = (uint16_t)(before + sizeof size + size + sizeof real);
    backlog_put(q, &header, sizeof header);
    backlog_put(q, record.at + sizeof header, before - sizeof header);
    backlog_put(q, &size, sizeof size);
    backlog_put(q, stack.at, real);
    backlog_put(q, zeros, size - real);
    backlog_put(q, &real, sizeof real);
}

void perf_backlog_add(struct perf_backlog *q, const struct perf_layout *l, struct bytes record)
{
    struct perf_event_header header;
    struct perf_record r;
    if (!perf_record_read(l, record, &r))
        return;
    memcpy(&header, record.at, sizeof header);
    if (header.size != record.len)
        return;
    vec_reserve(&q->bytes, q->bytes.len + record.len);
    if (r.stack.len)
        backlog_put_trimmed(q, record, r.stack);
    else
        backlog_put(q, record.at, record.len);
}

/* The lists change places, and what is left of ours, most often a record or two that came when the
 * other buffers were not complete yet, goes into the room in front of what came later. */
void perf_backlog_move(struct perf_backlog *q, struct perf_backlog *from)
{
    enum { MOST_SPARE = 8 << 20 /* bytes of room that are kept */, FRONT = 64 << 10 };
    size_t rest = q->bytes.len - q->taken, more = from->bytes.len - from->taken;
    if (!more)
        return;
    if (rest <= from->taken) {
        struct perf_backlog spare = *q;
        *q = *from;
        q->taken -= rest;
        if (rest)
            memcpy(q->bytes.at + q->taken, spare.bytes.at + spare.taken, rest);
        *from = spare;
    } else {
        memmove(q->bytes.at, q->bytes.at + q->taken, rest);
        q->bytes.len = rest;
        q->taken = 0;
        vec_reserve(&q->bytes, rest + more);
        backlog_put(q, from->bytes.at + from->taken, more);
    }
    if (from->bytes.cap > MOST_SPARE)
        vec_free(&from->bytes);
    vec_reserve(&from->bytes, FRONT);
    from->bytes.len = from->taken = FRONT;
    from->first_len = q->first_len = 0;
}

const struct perf_record *perf_backlog_first(struct perf_backlog *q, const struct perf_layout *l)
{
    struct perf_event_header header;
    while (!q->first_len && q->bytes.len - q->taken >= sizeof header) {
        memcpy(&header, q->bytes.at + q->taken, sizeof header);
        struct bytes record = {q->bytes.at + q->taken, header.size};
        if (perf_record_read(l, record, &q->first))
            q->first_len = header.size;
        else
            q->taken += header.size;
    }
    return q->first_len ? &q->first : NULL;
}

void perf_backlog_drop_first(struct perf_backlog *q)
{
    q->taken += q->first_len;
    q->first_len = 0;
}

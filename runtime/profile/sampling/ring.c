/* Samples from the kernel's ring. See ring.h.
 *
 * A ring has one reader at a time: its thread, in the signal handler, or whoever writes the files.
 * The handler finds the lock taken only if another thread empties the ring just then. */
#include "ring.h"
#include "../../common/sys.h"
#include "../../common/text.h"
#include "stack.h"

#define PAGE         4096
#define RING_BYTES   ((uint64_t)8 * PAGE)
#define MOST_RINGS   256 /* each pins its pages */
#define STACK_BYTES  512 /* of the innermost stack, for callers without a frame */
#define KERNEL_CHAIN 127
#define RECORD_BYTES 8192
#define MOST_SPINS   1000000

struct ring {
    struct perf_event_mmap_page *pages; /* NULL: no event */
    void *alarm;                        /* of the event that signals; nothing is written into it */
    int lock;
    bool was_cut;     /* a chain longer than the kernel follows was seen */
    uint32_t samples; /* of this event */
    uint64_t record[RECORD_BYTES / sizeof(uint64_t)];
};

/* Bits of sample_regs_user, in the order in which the values come: rbp, rsp. */
#define REGISTERS ((uint64_t)1 << 6 | (uint64_t)1 << 7)

void ring_attributes(struct perf_event_attr *a)
{
    a->sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    a->exclude_callchain_kernel = 1;
    a->sample_regs_user = REGISTERS;
    a->sample_stack_user = STACK_BYTES;
    a->wakeup_events = 0; /* no thread polls; each wakeup would be an interrupt of its own */
}

bool ring_map(struct process *p, struct thread *t, int fd, int alarm)
{
    uint64_t mask;
    process_lock(p, &mask);
    bool may = t->ring || p->rings < MOST_RINGS;
    if (may && !t->ring) {
        t->ring = process_control(p, sizeof *t->ring);
        p->rings += t->ring != NULL;
    }
    process_unlock(p, &mask);
    if (!may || !t->ring)
        return false;
    struct perf_event_mmap_page *pages = sys_map(PAGE + RING_BYTES, fd, 0);
    void *alarm_page = pages ? sys_map(PAGE, alarm, 0) : NULL;
    if (!alarm_page) {
        sys_pages_free(pages, PAGE + RING_BYTES);
        return false;
    }
    ring_unmap(p, t);
    t->ring->alarm = alarm_page;
    t->ring->was_cut = false;
    t->ring->samples = 0;
    __atomic_store_n(&t->ring->pages, pages, __ATOMIC_RELEASE);
    return true;
}

uint32_t ring_samples(const struct thread *t)
{
    return t->ring->samples;
}

bool ring_is_mapped(const struct thread *t)
{
    const struct ring *r = __atomic_load_n(&t->ring, __ATOMIC_ACQUIRE);
    return r && __atomic_load_n(&r->pages, __ATOMIC_RELAXED);
}

/* With all signals blocked. Gives up where the holder cannot go on, a crash inside for one. */
static bool lock(struct ring *r)
{
    for (int i = 0; i < MOST_SPINS; i++) {
        if (!__atomic_exchange_n(&r->lock, 1, __ATOMIC_ACQUIRE))
            return true;
        SYS3(SYS_sched_yield, 0, 0, 0);
    }
    return false;
}

static void unlock(struct ring *r)
{
    __atomic_store_n(&r->lock, 0, __ATOMIC_RELEASE);
}

/* One sample, taken apart. */
struct sample {
    uint64_t sp, fp;
    const uint64_t *chain, *stack;
    size_t chain_len, stack_len; /* words */
};

/* ip, nr, chain, abi, rbp, rsp, size, bytes of the stack, how many of them hold. False if the words
 * end before the sample does, or if there is nothing of the program's own code in it. */
static bool take_apart(struct sample *s, const uint64_t *at, size_t words)
{
    const uint64_t *end = at + words;
    if (words < 3 || at[1] > words - 3)
        return false;
    s->chain_len = at[1];
    s->chain = at + 2;
    at = s->chain + s->chain_len;
    uint64_t abi = *at++;
    if (abi == PERF_SAMPLE_REGS_ABI_NONE || end - at < 3)
        return false;
    s->fp = at[0];
    s->sp = at[1];
    uint64_t bytes = at[2];
    at += 3;
    s->stack = at;
    if (bytes == 0 || bytes / 8 >= (uint64_t)(end - at))
        return true;
    uint64_t held = at[bytes / 8];
    s->stack_len = (held < bytes ? held : bytes) / 8;
    return true;
}

/* The part of the chain after the marker for user space: the interrupted address, then callers. */
static bool in_user_space(struct sample *s)
{
    while (s->chain_len > 0 && *s->chain != PERF_CONTEXT_USER) {
        s->chain++;
        s->chain_len--;
    }
    if (s->chain_len < 2)
        return false;
    s->chain++;
    s->chain_len--;
    return true;
}

static void enter(struct process *p, struct thread *t, const uint64_t *record, size_t bytes)
{
    struct sample s = {0};
    if (!take_apart(&s, record, bytes / sizeof *record) || !in_user_space(&s))
        return;
    if (s.chain_len >= KERNEL_CHAIN)
        t->ring->was_cut = true;
    stack_record_chain(p, t,
                       &(struct chain){s.chain, s.chain_len, s.stack, s.stack_len, s.sp, s.fp,
                                       s.chain_len >= KERNEL_CHAIN});
}

/* A record's bytes in one piece: in the ring, or copied where they go round its end. */
static const uint64_t *piece(struct ring *r, uint64_t from, size_t bytes)
{
    const char *data = (const char *)r->pages + r->pages->data_offset;
    uint64_t at = from % RING_BYTES, first = RING_BYTES - at;
    if (bytes <= first)
        return (const uint64_t *)(const void *)(data + at);
    if (bytes > RECORD_BYTES)
        return NULL;
    bytes_copy(r->record, data + at, first);
    bytes_copy((char *)r->record + first, data, bytes - first);
    return r->record;
}

/* Records are multiples of 8 bytes, so a header never goes round the end. Lock held. */
static void drain(struct process *p, struct thread *t)
{
    struct ring *r = t->ring;
    uint64_t head = __atomic_load_n(&r->pages->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = __atomic_load_n(&r->pages->data_tail, __ATOMIC_RELAXED);
    while (monarc_recording && tail < head) {
        struct perf_event_header h;
        bytes_copy(&h, piece(r, tail, sizeof h), sizeof h);
        if (h.size <= sizeof h || h.size > head - tail)
            break;
        const uint64_t *record = piece(r, tail, h.size);
        if (record && h.type == PERF_RECORD_SAMPLE) {
            enter(p, t, record + 1, h.size - sizeof h);
            r->samples++;
        } else if (record && h.type == PERF_RECORD_LOST)
            lost_add(LOST_RING, record[2]);
        tail += h.size;
    }
    __atomic_store_n(&r->pages->data_tail, head, __ATOMIC_RELEASE);
}

bool ring_drain(struct process *p, struct thread *t)
{
    struct ring *r = t->ring;
    uint64_t mask;
    if (!ring_is_mapped(t))
        return false;
    process_block(&mask);
    bool ours = lock(r), cut = false;
    if (ours && r->pages) {
        drain(p, t);
        cut = r->was_cut;
    }
    if (ours)
        unlock(r);
    sys_unblock(&mask);
    return cut;
}

void ring_drain_all(struct process *p)
{
    struct thread *t = __atomic_load_n(&p->threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next)
        ring_drain(p, t);
}

void ring_drop(struct thread *t)
{
    uint64_t mask;
    if (!t || !ring_is_mapped(t))
        return;
    process_block(&mask);
    /* Without waiting: whoever empties the ring may wait for the lock that the caller holds. */
    if (!__atomic_exchange_n(&t->ring->lock, 1, __ATOMIC_ACQUIRE)) {
        struct perf_event_mmap_page *pages = t->ring->pages;
        __atomic_store_n(&pages->data_tail, __atomic_load_n(&pages->data_head, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
        unlock(t->ring);
    }
    sys_unblock(&mask);
}

void ring_unmap(struct process *p, struct thread *t)
{
    struct ring *r = t->ring;
    uint64_t mask;
    if (!ring_is_mapped(t))
        return;
    process_block(&mask);
    if (lock(r)) {
        drain(p, t);
        sys_pages_free(r->alarm, PAGE);
        sys_pages_free(r->pages, PAGE + RING_BYTES);
        __atomic_store_n(&r->pages, NULL, __ATOMIC_RELEASE);
        unlock(r);
    }
    sys_unblock(&mask);
}

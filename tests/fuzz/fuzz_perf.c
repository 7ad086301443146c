/* libFuzzer: what the kernel's buffer of perf events may hold. Whatever it is, what comes out of a
 * record lies within it, and all of the buffer is taken. */
#include "record/perf/perf_record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_within(struct bytes record, const void *at, size_t len)
{
    const uint8_t *start = at;
    if (len && (start < record.at || len > record.len || start > record.at + record.len - len))
        abort();
}

static void check(const struct perf_layout *layout, struct bytes record)
{
    struct perf_record r;
    if (!perf_record_read(layout, record, &r))
        return;
    check_within(record, r.stack.at, r.stack.len);
    check_within(record, r.chain.at, r.chain.len);
    check_within(record, r.build_id.at, r.build_id.len);
    if (r.text[0])
        check_within(record, r.text, strlen(r.text) + 1);
}

/* The first byte says how; the buffer starts anywhere, so that records go over its end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { SIZE = 1 << 16 };
    long page = sysconf(_SC_PAGESIZE);
    if (len < 3)
        return 0;
    static const struct arch *const MACHINES[] = {NULL, &arch_x86_64, &arch_aarch64, &arch_riscv64};
    struct perf_layout layout = perf_layout_live(MACHINES[data[0] % 4], data[0] & 8);
    uint8_t *pages = calloc(1, (size_t)page + SIZE);
    if (!pages)
        abort();
    uint64_t start = (uint64_t)(data[1] | data[2] << 8) & ~UINT64_C(7);
    data += 3;
    len = (len - 3 < SIZE ? len - 3 : SIZE) & ~(size_t)7;
    for (size_t i = 0; i < len; i++)
        pages[(size_t)page + (start + i) % SIZE] = data[i];
    struct perf_ring ring = {.pages = pages, .size = SIZE, .tail = start};
    ((struct perf_event_mmap_page *)(void *)pages)->data_head = start + len;
    perf_ring_look(&ring);
    for (struct bytes record; (record = perf_ring_first(&ring)).len;) {
        check(&layout, record);
        perf_ring_take(&ring, record.len);
    }
    perf_ring_release(&ring);
    if (ring.tail > start + len)
        abort();
    vec_free(&ring.whole);
    free(pages);
    return 0;
}

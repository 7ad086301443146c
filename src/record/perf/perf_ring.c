/* Reading along with the kernel.
 *
 *     pages:  header page | data, of a power of two ...
 *     data:   ....[tail: first record not taken | record | record | head: the kernel writes on]....
 *
 * head and tail only grow; their low bits are places in the data. The kernel moves data_head, we
 * move data_tail, each with the barrier that makes the records visible before it
 * (perf_event_open(2) and tools/lib/perf/mmap.c of Linux). A record that goes over the end is put
 * together in a buffer of our own. Lengths are checked: only the kernel shares the pages with us,
 * and yet nothing is read beyond `head`. */
#include "record/perf/perf_ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

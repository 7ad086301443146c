/* The writer's side of the control file. See control.h. Trusts nothing in it but its own copy of
 * the capacity: another process may have written anything. */
#include "control.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <errno.h>
#include <fcntl.h>

#define BYTES_OF(capacity) \
    (MONARC_CONTROL_HEADER_BYTES + (size_t)(capacity)*MONARC_CONTROL_RECORD_BYTES)

_Static_assert(sizeof(struct monarc_control_record) == MONARC_CONTROL_RECORD_BYTES, "control.md");
_Static_assert(offsetof(struct monarc_control_header, next) == 64, "control.md");
_Static_assert(offsetof(struct monarc_control_header, read) == 128, "control.md");
_Static_assert(offsetof(struct monarc_control_header, dropped) == 192, "control.md");

static bool is_header(const struct monarc_control_header *h)
{
    return h->magic == MONARC_CONTROL_MAGIC && h->version == MONARC_CONTROL_VERSION &&
           h->record_bytes == MONARC_CONTROL_RECORD_BYTES && h->capacity > 0 &&
           h->capacity <= MONARC_CONTROL_MOST_RECORDS;
}

/* The header is read by a call, not through the mapping, so that a short file cannot fault. */
static bool map(struct control_ring *ring, int fd)
{
    struct monarc_control_header h;
    if (sys_read(fd, &h, sizeof h) != sizeof h || !is_header(&h) ||
        SYS3(SYS_lseek, fd, 0, 2 /* SEEK_END */) < (long)BYTES_OF(h.capacity))
        return false;
    void *at = sys_map(BYTES_OF(h.capacity), fd, 0);
    if (!at)
        return false;
    *ring = (struct control_ring){at, h.capacity};
    return true;
}

enum control_found control_map(struct control_ring *ring, const char *path)
{
    long fd = sys_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd == -ENOENT)
        return CONTROL_MISSING;
    if (sys_failed(fd))
        return CONTROL_UNUSABLE;
    bool is_mapped = map(ring, (int)fd);
    sys_close((int)fd);
    return is_mapped ? CONTROL_MAPPED : CONTROL_UNUSABLE;
}

/* The number of a record that is ours to fill; false if there is no room. `read` is loaded first:
 * it only grows, so what is loaded after it is no smaller. */
static bool take_number(struct control_ring *ring, uint64_t *number)
{
    struct monarc_control_header *h = ring->header;
    for (;;) {
        uint64_t read = __atomic_load_n(&h->read, __ATOMIC_ACQUIRE);
        uint64_t next = __atomic_load_n(&h->next, __ATOMIC_ACQUIRE);
        if (next - read >= ring->capacity) {
            if (read != __atomic_load_n(&h->read, __ATOMIC_ACQUIRE))
                continue;
            return false;
        }
        if (__atomic_compare_exchange_n(&h->next, &next, next + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            *number = next;
            return true;
        }
    }
}

static void copy_text(char *to, const char *from)
{
    size_t n = text_length(from);
    n = n < MONARC_CONTROL_TEXT_BYTES ? n : MONARC_CONTROL_TEXT_BYTES - 1;
    bytes_copy(to, from, n);
    to[n] = 0;
}

bool control_put(struct control_ring *ring, enum monarc_control_kind kind, uint64_t at_ns,
                 uint32_t pid, uint32_t tid, const char *text)
{
    uint64_t number;
    if (!ring->header)
        return false;
    char *records = (char *)ring->header + MONARC_CONTROL_HEADER_BYTES;
    for (uint32_t tries = 0; tries < ring->capacity && take_number(ring, &number); tries++) {
        struct monarc_control_record *r =
            (void *)(records + number % ring->capacity * MONARC_CONTROL_RECORD_BYTES);
        if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != MONARC_CONTROL_FREE)
            continue;
        r->kind = kind;
        r->at_ns = at_ns;
        r->pid = pid;
        r->tid = tid;
        copy_text(r->text, text);
        uint32_t state = MONARC_CONTROL_FREE;
        return __atomic_compare_exchange_n(&r->state, &state, MONARC_CONTROL_READY, false,
                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&ring->header->dropped, 1, __ATOMIC_RELAXED);
    return false;
}

/* The live file. See live.h.
 *
 * No descriptor stays open: the program may close or reuse any. Space is reserved with fallocate
 * before it is mapped, so that a full disk is an error here and not a SIGBUS in the program. What
 * does not fit goes to anonymous memory and is counted. */
#include "live.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "sigbus.h"
#include "folder.h"
#include "process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <wire/sidecar.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define FIRST_CHUNK ((size_t)256 << 10)
#define LAST_CHUNK  ((size_t)4 << 20)
#define NOTES_BYTES ((size_t)16 << 10)

enum { FOLDER_UNTRIED, FOLDER_OURS, FOLDER_NONE };

struct live_header {
    uint32_t magic, version, byte_order, header_bytes;
    uint32_t word_bytes, machine, pid, parent;
    uint64_t start_real_ns, start_mono_ns;
    uint32_t rate, event;
    uint64_t checksum; /* of all before it */
};

struct extent {
    uint32_t magic, kind;
    uint64_t bytes, cells, first_id;
    uint32_t tid, sequence;
    uint64_t reserved[2];
    uint64_t checksum; /* of all before it */
};
_Static_assert(sizeof(struct extent) == MONARC_EXTENT_HEADER, "drawn in sidecar.md");

static void (*tell_new_file)(struct process *p);

void live_on_new_file(void (*told)(struct process *p))
{
    tell_new_file = told;
}

static uint64_t fnv1a(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3u;
    return h;
}

static uint32_t machine(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__i386__)
    return EM_386;
#elif defined(__arm__)
    return EM_ARM;
#elif defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_RISCV;
#endif
}

static bool write_header(struct process *p, int fd)
{
    struct live_header h = {
        .magic = MONARC_LIVE_MAGIC,
        .version = MONARC_LIVE_VERSION,
        .byte_order = MONARC_BYTE_ORDER,
        .header_bytes = MONARC_LIVE_PAGE,
        .word_bytes = sizeof(void *),
        .machine = machine(),
        .pid = (uint32_t)p->pid,
        .parent = (uint32_t)SYS3(SYS_getppid, 0, 0, 0),
        .start_real_ns = p->start_real,
        .start_mono_ns = p->start_mono,
        .rate = config.rate,
        .event = config.event,
    };
    h.checksum = fnv1a(&h, offsetof(struct live_header, checksum));
    if (sys_limit(RLIMIT_FSIZE) < MONARC_LIVE_PAGE)
        return false; /* writing on would raise SIGXFSZ in the program */
    p->live_bytes = MONARC_LIVE_PAGE;
    return sys_write(fd, &h, sizeof h) == sizeof h &&
           SYS3(SYS_ftruncate, fd, MONARC_LIVE_PAGE, 0) == 0;
}

/* Runs once, when the first table is needed: a child that only execs leaves no folder. */
static void take_folder(struct process *p)
{
    long fd;
    p->folder_state = FOLDER_NONE;
    if (config.classic)
        return;
    if (!folder_claim(p, &fd)) {
        p->folder[0] = 0;
        lost_add(LOST_FOLDER, 1);
        return;
    }
    p->folder_state = FOLDER_OURS;
    p->live_broken = !write_header(p, (int)fd) || !config.live;
    sys_close((int)fd);
    if (tell_new_file)
        tell_new_file(p);
}

/* Blocks on disk for [at, at + n), without fallocate by writing zeros. */
static bool reserve(int fd, uint64_t at, size_t n)
{
    long r = sys_allocate(fd, at, n);
    static const char zeros[MONARC_LIVE_PAGE];
    if (r == -EOPNOTSUPP || r == -ENOSYS)
        for (r = 0; r >= 0 && n > 0; at += sizeof zeros, n -= sizeof zeros)
            r = sys_write_at(fd, zeros, sizeof zeros, at) == sizeof zeros ? 0 : -ENOSPC;
    if (r < 0)
        lost_add(LOST_DISK_FULL, 1);
    return r >= 0;
}

static void *map_more(struct process *p, size_t n)
{
    if (sys_limit(RLIMIT_FSIZE) < p->live_bytes + n ||
        !folder_path(p->folder, "monarc.live", p->path))
        return NULL;
    long fd = sys_open(p->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (sys_failed(fd))
        return NULL;
    void *at = NULL;
    /* Grown again, a file that was cut would give empty pages for those that are gone. */
    if (!cut_check(p, (int)fd) && reserve((int)fd, p->live_bytes, n))
        at = sys_map(n, (int)fd, p->live_bytes);
    sys_close((int)fd);
    if (!at)
        return NULL;
    p->live_bytes += n;
    return cut_watch(p, at, n) ? at : NULL;
}

/* `n` bytes of the live file, page aligned; NULL if it cannot give them. */
static void *from_file(struct process *p, size_t n)
{
    if (p->folder_state != FOLDER_OURS || p->live_broken)
        return NULL;
    if (p->chunk_left < n) {
        size_t chunk = p->chunk_next ? p->chunk_next : FIRST_CHUNK;
        char *more = map_more(p, n > chunk ? n : chunk);
        if (!more) {
            p->live_broken = true;
            return NULL;
        }
        p->chunk_at = more;
        p->chunk_left = n > chunk ? n : chunk;
        p->chunk_next = chunk < LAST_CHUNK ? chunk * 2 : chunk;
    }
    void *at = p->chunk_at;
    p->chunk_at += n;
    p->chunk_left -= n;
    return at;
}

static void *from_memory(size_t n)
{
    void *at = sys_pages(n);
    if (at)
        SYS3(SYS_madvise, at, n, MADV_WIPEONFORK);
    return at;
}

static struct extent *extent_new(struct process *p, uint32_t kind, size_t bytes, uint64_t cells,
                                 uint64_t first_id)
{
    if (p->folder_state == FOLDER_UNTRIED)
        take_folder(p);
    size_t n = (bytes + MONARC_LIVE_PAGE - 1) & ~(size_t)(MONARC_LIVE_PAGE - 1);
    struct extent *x = from_file(p, n);
    if (!x) {
        x = from_memory(n);
        if (config.live && !p->live_removed)
            lost_add(LOST_LIVE, 1);
    }
    if (!x)
        return NULL;
    *x = (struct extent){.magic = MONARC_EXTENT_MAGIC,
                         .kind = kind,
                         .bytes = n,
                         .cells = cells,
                         .first_id = first_id,
                         .tid = (uint32_t)sys_tid(),
                         .sequence = p->extents++};
    x->checksum = fnv1a(x, offsetof(struct extent, checksum));
    return x;
}

void *live_extent(struct process *p, uint32_t kind, uint64_t cells, uint64_t first_id)
{
    struct extent *x = extent_new(p, kind, sizeof *x + cells * MONARC_CELL_SIZE, cells, first_id);
    return x ? x + 1 : NULL;
}

void *live_note(struct process *p, uint32_t tag, const void *payload, uint32_t bytes)
{
    size_t whole = 8 + ((bytes + 7u) & ~7u);
    if (!config.live || monarc_sealed)
        return NULL;
    if (!p->notes || p->notes->bytes - p->notes_used < whole + 8) {
        size_t room = whole + 8 + sizeof(struct extent);
        p->notes =
            extent_new(p, MONARC_EXTENT_NOTES, room > NOTES_BYTES ? room : NOTES_BYTES, 0, 0);
        p->notes_used = sizeof(struct extent);
        if (!p->notes)
            return NULL;
    }
    uint32_t *at = (uint32_t *)((char *)p->notes + p->notes_used);
    bytes_copy(at + 2, payload, bytes);
    at[1] = bytes;
    __atomic_store_n(at, tag, __ATOMIC_RELEASE); /* last: a reader stops at tag 0 */
    p->notes_used += whole;
    return at + 2;
}

bool live_folder(struct process *p)
{
    uint64_t mask;
    process_lock(p, &mask);
    if (p->folder_state == FOLDER_UNTRIED)
        take_folder(p);
    process_unlock(p, &mask);
    return p->folder_state == FOLDER_OURS;
}

void live_check(struct process *p)
{
    if (p->folder_state != FOLDER_OURS || p->live_removed ||
        !folder_path(p->folder, "monarc.live", p->path))
        return;
    long fd = sys_open(p->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (sys_failed(fd))
        return;
    cut_check(p, (int)fd);
    sys_close((int)fd);
}

void live_remove(struct process *p)
{
    if (p->folder_state == FOLDER_OURS && folder_path(p->folder, "monarc.live", p->path))
        sys_unlink(p->path);
    p->live_removed = p->live_broken = true; /* what comes later stays in memory */
}

void live_discard(struct process *p)
{
    live_remove(p);
    p->folder_state = FOLDER_NONE;
    p->folder[0] = 0;
}

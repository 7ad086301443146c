/* Reads the ring of control records (docs/formats/control.md), and passes on what they say.
 *
 *     header:  next ............ writers count it up to take a place
 *              read ............ we count it up: places before it are free
 *     records: state, kind, pid, tid, time, text; CAPACITY of them, place = number % CAPACITY
 *
 * A record is FREE, then READY when its writer is done, or ABANDONED by us if that takes longer
 * than PATIENCE_NS: a program may be killed, or stopped, between the two. The state changes by
 * compare-and-exchange, so either the writer or we have the record, never both.
 *
 * The program can write anything at any time into this memory. So each record is copied once and
 * then judged, `read` is kept here and only shown there, and a round takes a bounded number of
 * records. It never waits. */
#include "record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CAPACITY = 2048 };

static const uint64_t PATIENCE_NS = 200000000;

#define FILE_BYTES (MONARC_CONTROL_HEADER_BYTES + (size_t)CAPACITY * MONARC_CONTROL_RECORD_BYTES)

/* The file as it is mapped, and what we believe of it. */
struct control {
    struct monarc_control_header *header;
    struct monarc_control_record *records;
    char *path;
    uint64_t read;      /* the file's `read` is for the writers */
    uint64_t waits_ns;  /* since when the next record is waited for; 0: it is not */
    uint64_t abandoned; /* records given up */
};

_Static_assert(sizeof(struct monarc_control_record) == MONARC_CONTROL_RECORD_BYTES, "control.md");
_Static_assert(offsetof(struct monarc_control_header, dropped) == 192, "control.md");

struct control *control_create(const char *path, struct err *e)
{
    struct control *c = calloc(1, sizeof *c);
    char *copy = c ? strdup(path) : NULL;
    int fd = copy ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0) {
        err_errno(e, path, copy ? errno : ENOMEM);
        free(copy);
        free(c);
        return NULL;
    }
    /* With all blocks on disk: on a full one, a program's write into the mapping would kill it. */
    int why = posix_fallocate(fd, 0, (off_t)FILE_BYTES);
    struct monarc_control_header *h = MAP_FAILED;
    if (!why) {
        h = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        why = h == MAP_FAILED ? errno : 0;
    }
    close(fd);
    if (why) {
        unlink(path);
        err_errno(e, path, why);
        free(copy);
        free(c);
        return NULL;
    }
    h->version = MONARC_CONTROL_VERSION;
    h->capacity = CAPACITY;
    h->record_bytes = MONARC_CONTROL_RECORD_BYTES;
    __atomic_store_n(&h->magic, MONARC_CONTROL_MAGIC, __ATOMIC_RELEASE);
    *c = (struct control){
        .header = h, .records = (void *)((char *)h + MONARC_CONTROL_HEADER_BYTES), .path = copy};
    return c;
}

void control_free(struct control *c)
{
    if (!c)
        return;
    unlink(c->path);
    munmap(c->header, FILE_BYTES);
    free(c->path);
    free(c);
}

uint32_t control_capacity(const struct control *c)
{
    (void)c;
    return CAPACITY;
}

/* Writers count what found no room, we what was given up. */
uint64_t control_lost(const struct control *c)
{
    return c->abandoned + __atomic_load_n(&c->header->dropped, __ATOMIC_RELAXED);
}

/* Goes on to the next record, which the writers may see. */
static void control_advance(struct control *c)
{
    c->read++;
    c->waits_ns = 0;
    __atomic_store_n(&c->header->read, c->read, __ATOMIC_RELEASE);
}

/* True: the writer of this record is not waited for any longer. */
static bool control_give_up(struct control *c, struct monarc_control_record *r, uint64_t now_ns,
                            bool is_end)
{
    if (!c->waits_ns)
        c->waits_ns = now_ns;
    if (!is_end && now_ns - c->waits_ns < PATIENCE_NS)
        return false;
    uint32_t state = MONARC_CONTROL_FREE;
    if (!__atomic_compare_exchange_n(&r->state, &state, MONARC_CONTROL_ABANDONED, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return true; /* it has just become ready */
    c->abandoned++;
    control_advance(c);
    return true;
}

/* Copies the next record that means anything, and frees its place. */
static bool control_take_next(struct control *c, uint64_t now_ns, bool is_end,
                              struct control_record *out)
{
    for (uint32_t steps = 0; steps < 2 * CAPACITY; steps++) {
        uint64_t begun = __atomic_load_n(&c->header->next, __ATOMIC_ACQUIRE) - c->read;
        if (begun == 0 || begun > CAPACITY)
            return false;
        struct monarc_control_record *r = &c->records[c->read % CAPACITY];
        uint32_t state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
        if (state == MONARC_CONTROL_READY) {
            /* Copies a ready record and frees its place. False: it is none that means anything. */
            *out = (struct control_record){
                .kind = r->kind, .pid = r->pid, .tid = r->tid, .at_ns = r->at_ns};
            memcpy(out->text, r->text, sizeof out->text);
            out->text[sizeof out->text - 1] = '\0';
            __atomic_store_n(&r->state, MONARC_CONTROL_FREE, __ATOMIC_RELEASE);
            control_advance(c);
            if ((out->kind > 0 && out->kind < MONARC_CONTROL_KINDS))
                return true;
        } else if (state != MONARC_CONTROL_FREE) {
            control_advance(c);
        } else if (!control_give_up(c, r, now_ns, is_end)) {
            return false;
        }
    }
    return false;
}

bool control_next(struct control *c, uint64_t now_ns, struct control_record *out)
{
    return control_take_next(c, now_ns, false, out);
}

bool control_next_at_end(struct control *c, struct control_record *out)
{
    return control_take_next(c, 0, true, out);
}

/* --- to the collector ------------------------------------------------------------------------ */

/* One record. Names are the program's, and may be anything. */
static void pass_on(struct collector *c, const struct control_record *r, uint64_t now_ns,
                    control_dump *dump, void *context)
{
    enum { PHASE, REGION_BEGIN, REGION_END, STOPPED, RESUMED };
    pid_t pid = (pid_t)r->pid, tid = (pid_t)r->tid;
    uint64_t at_ns = r->at_ns ? r->at_ns : now_ns;
    if (!collector_has_process(c, pid))
        return;
    switch (r->kind) {
    case MONARC_CONTROL_PHASE: collector_mark(c, PHASE, pid, tid, r->text, at_ns); break;
    case MONARC_CONTROL_REGION_BEGIN:
        collector_mark(c, REGION_BEGIN, pid, tid, r->text, at_ns);
        break;
    case MONARC_CONTROL_REGION_END: collector_mark(c, REGION_END, pid, tid, r->text, at_ns); break;
    case MONARC_CONTROL_STOPPED:
        collector_stop(c, pid, at_ns);
        collector_mark(c, STOPPED, pid, tid, "", at_ns);
        break;
    case MONARC_CONTROL_RESUMED:
        collector_resume(c, pid, at_ns);
        collector_mark(c, RESUMED, pid, tid, "", at_ns);
        break;
    case MONARC_CONTROL_RESET: collector_reset(c, pid, at_ns); break;
    case MONARC_CONTROL_DUMP: dump(context, r->text); break;
    case MONARC_CONTROL_NOT_COUNTED:
        collector_lose(c, RECORDING_LOST_OTHER, r->text[0] ? r->text : "calls were not counted", 1,
                       0);
        break;
    default: break;
    }
}

void control_dispatch(struct control *control, struct collector *c, uint64_t now_ns, bool is_end,
                      control_dump *dump, void *context)
{
    struct control_record r;
    for (uint32_t left = control_capacity(control); left > 0; left--) {
        if (is_end ? !control_next_at_end(control, &r) : !control_next(control, now_ns, &r))
            break;
        pass_on(c, &r, now_ns, dump, context);
    }
}

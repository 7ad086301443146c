/* Publishing regions and labels of threads.
 *
 *     mapping named OTEL_CTX   header, two payloads: the names of keys, in protobuf; one is
 * current, the other one is written when a key is new otel_thread_ctx_v1       per thread: the
 * record, with the number and value of each key
 *
 * A thread has one record, which it changes in place while the byte `valid` is 0; no other thread
 * writes it. Readers look while the thread does not run, or look twice, so that the order in which
 * this processor stores is enough. Records are reused when their threads have ended, so that there
 * are as many as there were threads at a time. A forked child has its parent's record, which is its
 * own copy, and publishes a context of its own when it first changes that.
 *
 * Limits: it publishes nothing where another library does, as an SDK of OpenTelemetry: two writers
 * of one record would take each other's labels away. Names are cut to NAME_BYTES, and there are at
 * most KEYS of them.
 *
 * Cost: a label is a few hundred bytes written; a new key is a system call or two. */
#include "context.h"

#include "../common/sys.h"
#include "../common/text.h"

#include <errno.h>
#include <time.h>

enum {
    KEYS = 32, /* of the process; 0 is that of regions */
    NAME_BYTES = 64,
    DEPTH = 16, /* of regions that are reported; deeper ones are counted */
    RECORD_ROOM = 612,
    PAGE_BYTES = 4096,
    PAYLOAD_BYTES = 3 * PAGE_BYTES,
    SOME_RECORDS = 64, /* until those of ended threads are looked for */
};

#define REGION_KEY "monarc.region"

struct context_record {
    uint8_t trace[16], span[8], valid, flags;
    uint16_t size;
    uint8_t attributes[RECORD_ROOM];
};

struct context {
    struct context_record record;
    struct context *next;
    int tid, pid;
    unsigned depth;
    char regions[DEPTH][NAME_BYTES];
    char values[KEYS][NAME_BYTES]; /* [0] is not used */
    bool has_value[KEYS];
};

struct context_header {
    char signature[8];
    uint32_t version, size;
    uint64_t stamp, payload;
};

/* Where readers look: the symbol is part of the specification. */
__attribute__((visibility("default"), tls_model("initial-exec"))) __thread void *otel_thread_ctx_v1;

static __thread struct context *own __attribute__((tls_model("initial-exec")));

static struct {
    int pid; /* of the process that published; 0: none has */
    bool is_foreign;
    struct context_header *header;
    unsigned which; /* of the payloads */
    char keys[KEYS][NAME_BYTES];
    unsigned keys_len;
    struct context *all;
    unsigned all_len;
} published;

/* --- the context of the process -------------------------------------------------------------- */

/* A field of bytes: {1 tag, length of one or two bytes, bytes}. */
static size_t put(uint8_t *to, size_t at, unsigned field, const void *bytes, size_t len)
{
    to[at++] = (uint8_t)(field << 3 | 2);
    if (len >= 128)
        to[at++] = (uint8_t)(len | 128);
    to[at++] = (uint8_t)(len >= 128 ? len >> 7 : len);
    bytes_copy(to + at, bytes, len);
    return at + len;
}

/* attributes {key "threadlocal.schema_version", value {string}}, and the same of the names of keys,
 * whose value is an array of strings. */
static size_t encode(uint8_t *payload)
{
    static const char SCHEMA[] = "threadlocal.schema_version", FORM[] = "tlsdesc_v1_dev";
    static const char MAP[] = "threadlocal.attribute_key_map";
    static uint8_t value[NAME_BYTES + 8], list[KEYS * (NAME_BYTES + 8)], pair[sizeof list + 64];
    size_t list_len = 0;
    size_t len = put(value, 0, 1, FORM, sizeof FORM - 1);
    size_t pair_len = put(pair, 0, 1, SCHEMA, sizeof SCHEMA - 1);
    pair_len = put(pair, pair_len, 2, value, len);
    size_t at = put(payload, 0, 2, pair, pair_len);
    for (unsigned i = 0; i < published.keys_len; i++) {
        len = put(value, 0, 1, published.keys[i], text_length(published.keys[i]));
        list_len = put(list, list_len, 1, value, len);
    }
    static uint8_t array[sizeof list + 8];
    len = put(array, 0, 5, list, list_len);
    pair_len = put(pair, 0, 1, MAP, sizeof MAP - 1);
    pair_len = put(pair, pair_len, 2, array, len);
    return put(payload, at, 2, pair, pair_len);
}

/* Whether another library in this process publishes already. */
static bool is_taken(void)
{
    static char text[PAGE_BYTES];
    static const char NAME[] = "OTEL_CTX";
    size_t matched = 0;
    long fd = sys_open("/proc/self/maps", 0, 0), n;
    if (sys_failed(fd))
        return true;
    while ((n = sys_read((int)fd, text, sizeof text)) > 0 && NAME[matched])
        for (long i = 0; i < n && NAME[matched]; i++)
            matched = text[i] == NAME[matched] ? matched + 1 : text[i] == NAME[0];
    sys_close((int)fd);
    return !NAME[matched];
}

/* A mapping of its own that a child does not inherit; by a memfd, so that it has a name on kernels
 * that name no anonymous memory. */
static struct context_header *map_header(void)
{
    enum { BYTES = PAGE_BYTES + 2 * PAYLOAD_BYTES, DONTFORK = 10, SET_VMA = 0x53564d41 };
    long fd = SYS3(SYS_memfd_create, "OTEL_CTX", 1, 0);
    void *at = NULL;
    if (!sys_failed(fd)) {
        long done = SYS3(SYS_ftruncate, fd, BYTES, 0);
        at = sys_failed(done) ? NULL : sys_map(BYTES, (int)fd, 0);
        sys_close((int)fd);
    }
    at = at ? at : sys_pages(BYTES);
    if (at) {
        SYS3(SYS_madvise, at, BYTES, DONTFORK);
        SYS5(SYS_prctl, SET_VMA, 0, at, BYTES, "OTEL_CTX");
    }
    return at;
}

/* With the process's lock: makes the mapping, or announces a new key. */
static bool publish(struct process *p)
{
    if (published.pid == p->pid && published.is_foreign)
        return false;
    if (monarc_sealed)
        return false;
    if (published.pid != p->pid) {
        published.pid = p->pid;
        published.is_foreign = is_taken();
        published.header = published.is_foreign ? NULL : map_header();
        published.is_foreign = !published.header;
    }
    if (published.is_foreign)
        return false;
    if (!published.keys_len) {
        bytes_copy(published.keys[0], REGION_KEY, sizeof REGION_KEY);
        published.keys_len = 1;
    }
    struct context_header *h = published.header;
    uint8_t *payload = (uint8_t *)h + PAGE_BYTES + PAYLOAD_BYTES * (published.which ^= 1);
    size_t len = encode(payload);
    __atomic_store_n(&h->stamp, 0, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    h->version = 2;
    h->size = (uint32_t)len;
    h->payload = (uintptr_t)payload;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&h->stamp, sys_clock(CLOCK_BOOTTIME) | 1, __ATOMIC_SEQ_CST);
    bytes_copy(h->signature, "OTEL_CTX", sizeof h->signature);
    return true;
}

/* --- records of threads ---------------------------------------------------------------------- */

static void copy_name(char to[NAME_BYTES], const char *from)
{
    size_t len = text_length(from);
    len = len < NAME_BYTES ? len : NAME_BYTES - 1;
    bytes_copy(to, from, len);
    to[len] = 0;
}

/* With the process's lock. A record whose thread is gone is as good as a new one; of those of a
 * parent, one is that of the thread that forked, which is not known. */
static struct context *take_record(struct process *p)
{
    struct context *c = published.all_len >= SOME_RECORDS ? published.all : NULL;
    while (c && (c->pid != p->pid || SYS3(SYS_tgkill, p->pid, c->tid, 0) != -ESRCH))
        c = c->next;
    if (c) {
        c->depth = 0;
        bytes_zero(c->has_value, sizeof c->has_value);
    } else if ((c = sys_pages(sizeof *c))) {
        c->next = published.all;
        published.all = c;
        published.all_len++;
    }
    if (c) {
        c->tid = sys_tid();
        c->pid = p->pid;
    }
    return c;
}

/* This thread's, if the process publishes at all. */
static struct context *context_of(struct process *p)
{
    uint64_t mask;
    if (own && published.pid == p->pid && !published.is_foreign)
        return own;
    process_lock(p, &mask);
    bool is_ours = published.pid == p->pid ? !published.is_foreign : publish(p);
    if (is_ours && !own && (!monarc_sealed))
        own = take_record(p);
    if (own && own->pid != p->pid) { /* of the parent that this process was forked from */
        own->pid = p->pid;
        own->tid = sys_tid();
    }
    process_unlock(p, &mask);
    return is_ours ? own : NULL;
}

static void add_attribute(struct context_record *r, unsigned key, const char *value)
{
    size_t len = text_length(value);
    if (r->size + len + 2 > RECORD_ROOM)
        return;
    r->attributes[r->size] = (uint8_t)key;
    r->attributes[r->size + 1] = (uint8_t)len;
    bytes_copy(r->attributes + r->size + 2, value, len);
    r->size = (uint16_t)(r->size + len + 2);
}

/* The record is not valid meanwhile. */
static void update(struct context *c)
{
    struct context_record *r = &c->record;
    *(volatile uint8_t *)&r->valid = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r->size = 0;
    if (c->depth)
        add_attribute(r, 0, c->regions[(c->depth <= DEPTH ? c->depth : DEPTH) - 1]);
    for (unsigned i = 1; i < published.keys_len; i++)
        if (c->has_value[i])
            add_attribute(r, i, c->values[i]);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uint8_t *)&r->valid = r->size > 0;
    if (!otel_thread_ctx_v1)
        *(void *volatile *)&otel_thread_ctx_v1 = r;
}

void context_region_begin(struct process *p, const char *name)
{
    struct context *c = name ? context_of(p) : NULL;
    if (!c)
        return;
    if (c->depth < DEPTH)
        copy_name(c->regions[c->depth], name);
    c->depth++;
    update(c);
}

/* Those within it end with it; one that never began ends nothing. */
void context_region_end(struct process *p, const char *name)
{
    struct context *c = name ? context_of(p) : NULL;
    char wanted[NAME_BYTES];
    if (!c || !c->depth)
        return;
    copy_name(wanted, name);
    if (c->depth > DEPTH) { /* which one it is is not known: the innermost, as mostly */
        c->depth--;
        return;
    }
    for (unsigned i = c->depth; i-- > 0;)
        if (text_equal(c->regions[i], wanted)) {
            c->depth = i;
            update(c);
            return;
        }
}

bool context_label(struct process *p, const char *key, const char *value)
{
    struct context *c = key && *key ? context_of(p) : NULL;
    char wanted[NAME_BYTES];
    uint64_t mask;
    if (!c)
        return false;
    copy_name(wanted, key);
    unsigned at = 1;
    unsigned len = __atomic_load_n(&published.keys_len, __ATOMIC_ACQUIRE);
    while (at < len && !text_equal(published.keys[at], wanted))
        at++;
    if (at >= len && value) {
        process_lock(p, &mask);
        for (at = 1; at < published.keys_len && !text_equal(published.keys[at], wanted);)
            at++;
        bool is_new = at == published.keys_len && at < KEYS && !monarc_sealed;
        if (is_new) {
            copy_name(published.keys[at], wanted);
            __atomic_store_n(&published.keys_len, at + 1, __ATOMIC_RELEASE);
            publish(p);
        }
        process_unlock(p, &mask);
    }
    if (at >= published.keys_len)
        return !value;
    c->has_value[at] = value != NULL;
    copy_name(c->values[at], value ? value : "");
    update(c);
    return true;
}

/* Finding and reading what threads publish.
 *
 * A process is inspected when it has been sampled for some milliseconds, and again at longer and
 * longer distances until it publishes something; from then on ten times a second, as the names of
 * keys may grow. The stamp in the header of its context says when that changed, and is 0 while it
 * does: what was read between two equal stamps is whole.
 *
 *     thread pointer ─► the variable ─► record: trace 16 │ span 8 │ valid 1 │ flags 1 │ size 2
 *     (see below)                               then {key 1 │ length 1 │ value}
 *
 * The specification has records read while their thread is stopped. Of a thread that runs, pointer
 * and record are read twice, and count if both times are equal and valid: a writer makes a record
 * invalid, or takes the pointer away, before it changes it, so that a mixture of old and new is not
 * seen twice. (x86-64 shows stores of another CPU in their order; other machines do not, and there
 * only threads that are stopped or wait would be read.)
 *
 * The thread pointer comes from the registers of a thread that is stopped. Else the kernel reports
 * where a thread's list of robust mutexes is, which glibc keeps in the struct that the thread
 * pointer points to: it is looked for in the bytes before, by its pointers to itself.
 *
 * A sample of a thread that runs gets what was read after it, at most 0.2 ms later; or what was
 * read both before and after it, if that is equal; else what was read at the nearest time. How many
 * were of the last kind is said.
 *
 * Cost: a look reads /proc/PID/maps; a record takes four reads of memory, some 5 microseconds. What
 * costs more is to be awake for it: a reader of running threads wakes up once a millisecond, which
 * takes ten times as long on a virtual machine (perf/perf_reader.c). */
#include "record/labels.h"

#include "arch/arch.h"
#include "objfile/object.h"
#include "record/clocks.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST_LOOK_NS = 5 * 1000 * 1000,
    AGAIN_NS = 100 * 1000 * 1000,
    LONGEST_NS = 2 * 1000 * 1000 * 1000,
    PROMPT_NS = 200 * 1000,  /* a record read so soon after a sample is that of the sample */
    MOST_PAYLOAD = 64 << 10, /* of a context */
    MOST_SEEN = 100000,      /* readings that were not taken yet */
    TRIES = 3,
    MOST_CHANGES = 64,    /* of one process's own attributes */
    VERSION = 2,          /* of contexts; of others nothing is known */
    PTHREAD_BYTES = 4096, /* of glibc's struct, at most */
};

#define VARIABLE "otel_thread_ctx_v1"

#define BAD_CONTEXT                                                                               \
    "processes that publish a damaged context (OTEL_CTX): their labels are not recorded, or not " \
    "all of them"
#define MANY_CHANGES                                                                              \
    "attributes of processes changed more than 64 times (OTEL_CTX): later samples keep the 64th " \
    "set"
#define BAD_RECORD                                                                        \
    "samples whose labels could not be read, or not all: the record of their thread was " \
    "damaged, or being changed"
#define NO_POINTER                                                                              \
    "samples of threads that publish labels where monarc cannot find them: libraries of musl, " \
    "or programs without pthreads"
#define NEAREST                                                                              \
    "samples taken while their thread's labels changed, or after they were last read: they " \
    "have those of the nearer one"

/* How the variable of a thread is found. */
enum labels_place { PLACE_NONE, PLACE_OFFSET, PLACE_MODULE };

/* A process that was sampled. */
struct labels_process {
    uint64_t next_ns, wait_ns; /* of looks */
    uint64_t header;           /* where its context is; 0: it has none */
    uint64_t stamp;            /* of what was read */
    bool is_bad;               /* that was said */
    enum labels_place place;
    uint64_t offset; /* from the thread pointer, or in the module's block */
    uint64_t module;
    struct labels_context *context; /* NULL: none was read; most processes have none */
    struct arena texts;             /* of the context */
    unsigned changes;               /* of it */
};

/* A record as it was read. */
struct labels_seen {
    pid_t pid, tid;
    uint64_t at_ns;
    bool is_bad;
    uint16_t len; /* 0: none was published */
    uint64_t pointer;
    uint8_t bytes[LABELS_HEAD + 612]; /* what is longer does not count as equal to anything */
    uint32_t labels;
};

/* Readings of a thread, the oldest first: the last one before the last sample, and later ones. */
struct labels_thread {
    uint64_t pointer; /* 0: not known; 1: not to be found */
    VEC(struct labels_seen) seen;
};

struct labels {
    struct collector *collector;
    const struct arch *arch;
    pthread_mutex_t lock; /* of what follows, up to the empty line */
    struct map process_of, thread_of;
    VEC(struct labels_process) processes;
    VEC(uint64_t) pointers;       /* by thread */
    VEC(struct labels_seen) news; /* was observed, and not taken yet */
    _Atomic bool is_active;

    VEC(struct labels_thread) threads;
    struct map seen_of; /* tid -> index of `threads` */
    uint64_t bad_contexts, bad_records, no_pointers, nearest, many_changes;
};

struct labels *labels_new(struct collector *c, const struct arch *arch)
{
    struct labels *l = calloc(1, sizeof *l);
    if (!l)
        memory_exhausted(sizeof *l);
    l->collector = c;
    l->arch = arch;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void labels_forget_context(struct labels_process *p)
{
    if (p->context)
        vec_free(&p->context->attributes);
    free(p->context);
    p->context = NULL;
    arena_deinit(&p->texts);
}

void labels_free(struct labels *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->processes.len; i++)
        labels_forget_context(&l->processes.at[i]);
    for (size_t i = 0; i < l->threads.len; i++)
        vec_free(&l->threads.at[i].seen);
    vec_free(&l->processes);
    vec_free(&l->pointers);
    vec_free(&l->news);
    vec_free(&l->threads);
    map_deinit(&l->process_of);
    map_deinit(&l->thread_of);
    map_deinit(&l->seen_of);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

bool labels_are_read(const struct labels *l)
{
    return l && l->is_active;
}

static bool labels_read_word(pid_t pid, uint64_t from, uint64_t *out)
{
    return proc_read_memory(pid, from, out, sizeof *out) == sizeof *out;
}

/* --- contexts of processes ------------------------------------------------------------------- */

/* struct of OTEP 4719. */
struct labels_header {
    char signature[8];
    uint32_t version, size;
    uint64_t stamp, payload;
};
_Static_assert(sizeof(struct labels_header) == 32, "OTEP 4719, Header Structure");

/* Names that the kernel gives to the mapping, with what may follow them: " (deleted)". */
static uint64_t labels_find_header(pid_t pid)
{
    static const char *const NAMES[] = {"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
                                        "/memfd:OTEL_CTX"};
    enum { LINE_ROOM = 4096 + 128 };
    char path[32], line[LINE_ROOM];
    uint64_t found = 0;
    struct labels_header h;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)proc_living(pid));
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        struct proc_mapping m;
        if (!proc_parse_mapping(line, &m))
            continue;
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && !found; i++)
            if (!strncmp(m.path, NAMES[i], strlen(NAMES[i])) &&
                proc_read_memory(pid, m.start, &h, sizeof h) == sizeof h &&
                !memcmp(h.signature, "OTEL_CTX", sizeof h.signature) && h.version == VERSION)
                found = m.start;
    }
    if (file)
        fclose(file);
    return found;
}

/* The payload in `a`, whole: its stamp was the same before and after. The size is the process's
 * word, so that it is believed only up to MOST_PAYLOAD. */
static bool labels_read_payload(pid_t pid, uint64_t header, struct labels_header *out,
                                struct bytes *payload, struct arena *a)
{
    for (int i = 0; i < TRIES; i++) {
        struct labels_header after;
        if (proc_read_memory(pid, header, out, sizeof *out) != sizeof *out ||
            out->version != VERSION || out->size > MOST_PAYLOAD)
            return false;
        if (!out->stamp)
            continue;
        uint8_t *bytes = ARENA_NEW(a, uint8_t, out->size + 1);
        if (proc_read_memory(pid, out->payload, bytes, out->size) != out->size)
            return false;
        *payload = (struct bytes){bytes, out->size};
        if (proc_read_memory(pid, header, &after, sizeof after) == sizeof after &&
            !memcmp(&after, out, sizeof after))
            return true;
    }
    return false;
}

/* --- where a thread's variable is ------------------------------------------------------------ */

/* TLSDESC: the second word is the offset from the thread pointer, which is below it, or leads to
 * {number of the module, offset} in glibc's memory. */
static void labels_by_descriptor(pid_t pid, const struct object_thread_variable *v,
                                 struct labels_process *p)
{
    uint64_t argument, words[2];
    if (!labels_read_word(pid, v->descriptor + sizeof argument, &argument))
        return;
    if ((int64_t)argument < 0) {
        p->place = PLACE_OFFSET;
        p->offset = argument;
    } else if (proc_read_memory(pid, argument, words, sizeof words) == sizeof words && words[0]) {
        p->place = PLACE_MODULE;
        p->module = words[0];
        p->offset = words[1];
    }
}

/* Slots hold 0 until the dynamic linker has filled them in. */
static void labels_find_variable(struct labels *l, pid_t pid, struct labels_process *p,
                                 uint64_t now_ns)
{
    struct object_thread_variable v;
    p->place = PLACE_NONE;
    if (!collector_thread_variable(l->collector, pid, VARIABLE, &v, now_ns))
        return;
    if (v.is_program) {
        uint64_t before = (-v.block_address - v.block_size) & (v.block_align - 1);
        p->place = PLACE_OFFSET;
        p->offset = v.offset - v.block_size - before;
        return;
    }
    if (v.offset_slot && labels_read_word(pid, v.offset_slot, &p->offset) && p->offset) {
        p->place = PLACE_OFFSET;
        return;
    }
    if (v.descriptor)
        labels_by_descriptor(pid, &v, p);
    if (p->place == PLACE_NONE && v.module_slot &&
        labels_read_word(pid, v.module_slot, &p->module) && p->module) {
        p->place = PLACE_MODULE;
        p->offset = v.offset;
    }
}

/* The address of the thread's variable; 0: there is none yet. glibc's table of blocks has two words
 * a module. */
static uint64_t labels_variable(pid_t pid, uint64_t thread, const struct labels_process *p)
{
    enum { MOST_MODULES = 1 << 16 };
    uint64_t table, block;
    if (p->place == PLACE_OFFSET)
        return thread + p->offset;
    if (p->module >= MOST_MODULES || !labels_read_word(pid, thread + 8, &table) ||
        !labels_read_word(pid, table + 16 * p->module, &block) || block + 1 <= 1)
        return 0;
    return block + p->offset;
}

/* The thread pointer without stopping the thread; 1: it is not to be found. It points to itself at
 * two places of its struct. */
static uint64_t labels_thread_pointer(pid_t pid, pid_t tid)
{
    void *head = NULL;
    size_t len = 0;
    uint64_t words[PTHREAD_BYTES / 8];
    if (syscall(SYS_get_robust_list, tid, &head, &len) || !head)
        return 1;
    uint64_t end = (uintptr_t)head & ~UINT64_C(7), start = end - sizeof words;
    /* The struct may be the first thing on its page, and the page before not be there. */
    while (proc_read_memory(pid, start, words, end - start) != end - start) {
        start = (start & -UINT64_C(4096)) + 4096;
        if (start >= end)
            return 1;
    }
    for (size_t i = (end - start) / 8; i-- > 0;) {
        uint64_t at = start + 8 * i;
        if (words[i] == at && i + 2 < (end - start) / 8 && words[i + 2] == at)
            return at;
    }
    return 1;
}

/* --- looks ----------------------------------------------------------------------------------- */

/* The process's number, made if it is new. Called with the lock. */
static struct labels_process *labels_process(struct labels *l, pid_t pid, uint64_t now_ns)
{
    bool is_new;
    uint32_t at = map_index(&l->process_of, (uint64_t)pid, 0, l->processes.len, &is_new);
    if (is_new)
        vec_push(&l->processes, (struct labels_process){.next_ns = now_ns + FIRST_LOOK_NS,
                                                        .wait_ns = FIRST_LOOK_NS});
    return &l->processes.at[at];
}

/* What the context says. Some programs change it all the time: its texts are those of the last
 * reading, and the collector, which keeps all reports, gets a limited number of them. */
static void labels_read_context(struct labels *l, pid_t pid, struct labels_process *p,
                                uint64_t now_ns)
{
    struct labels_header h = {0};
    struct bytes payload;
    struct arena scratch = {0};
    bool is_whole = labels_read_payload(pid, p->header, &h, &payload, &scratch);
    if (is_whole && h.stamp != p->stamp) {
        labels_forget_context(p);
        p->context = calloc(1, sizeof *p->context);
        if (!p->context)
            memory_exhausted(sizeof *p->context);
        is_whole = labels_context_read(payload, p->context, &p->texts);
        p->stamp = h.stamp;
        if (p->changes++ < MOST_CHANGES)
            collector_process_labels(l->collector, pid, p->context->attributes.at,
                                     p->context->attributes.len, now_ns);
        else
            l->many_changes++;
    }
    /* The library with the variable may be loaded, or reported, later than this is published. */
    const char *schema = p->context ? p->context->schema : NULL;
    bool has_threads = schema && (!strcmp(schema, "tlsdesc_v1_dev") || !strcmp(schema, "tls_v1"));
    if (has_threads && p->place == PLACE_NONE)
        labels_find_variable(l, pid, p, now_ns);
    if (p->place != PLACE_NONE)
        l->is_active = true;
    if (!is_whole && !p->is_bad && h.stamp) {
        l->bad_contexts++;
        p->is_bad = true;
    }
    arena_deinit(&scratch);
}

void labels_look(struct labels *l, pid_t pid, uint64_t now_ns)
{
    if (!l->arch || !l->arch->thread_word)
        return;
    pthread_mutex_lock(&l->lock);
    struct labels_process *p = labels_process(l, pid, now_ns);
    if (now_ns >= p->next_ns) {
        if (!p->header)
            p->header = labels_find_header(pid);
        if (p->header)
            labels_read_context(l, pid, p, now_ns);
        p->wait_ns = p->header                     ? AGAIN_NS
                     : p->wait_ns < LONGEST_NS / 2 ? 2 * p->wait_ns
                                                   : LONGEST_NS;
        p->next_ns = now_ns + p->wait_ns;
    }
    pthread_mutex_unlock(&l->lock);
}

/* All readings of the process are of the program before: those that were not taken yet as well, for
 * until now the variable of that one was read. Threads but the first have ended. */
static void labels_forget_readings(struct labels *l, pid_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->news.len; i++)
        if (l->news.at[i].pid != pid)
            l->news.at[kept++] = l->news.at[i];
    l->news.len = kept;
    const uint32_t *at = map_find(&l->seen_of, (uint64_t)pid, 0);
    if (at)
        l->threads.at[*at].seen.len = 0;
}

void labels_exec(struct labels *l, pid_t pid)
{
    uint32_t *at;
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    labels_forget_readings(l, pid);
    if ((at = map_find(&l->process_of, (uint64_t)pid, 0))) {
        labels_forget_context(&l->processes.at[*at]);
        l->processes.at[*at] = (struct labels_process){.wait_ns = FIRST_LOOK_NS};
    }
    if ((at = map_find(&l->thread_of, (uint64_t)pid, 0)))
        l->pointers.at[*at] = 0;
    pthread_mutex_unlock(&l->lock);
}

void labels_exit(struct labels *l, pid_t pid, pid_t tid)
{
    const uint32_t *at;
    if (!l)
        return;
    if (!collector_has_process(l->collector, pid))
        labels_exec(l, pid);
    pthread_mutex_lock(&l->lock);
    if ((at = map_find(&l->thread_of, (uint64_t)tid, 0)))
        l->pointers.at[*at] = 0;
    pthread_mutex_unlock(&l->lock);
    if ((at = map_find(&l->seen_of, (uint64_t)tid, 0)))
        l->threads.at[*at].seen.len = 0;
}

/* --- records --------------------------------------------------------------------------------- */

/* The record at an address, all of it, in one reading or two. false: it is damaged. */
static bool labels_read_record(pid_t pid, uint64_t from, uint8_t record[LABELS_MOST_RECORD],
                               size_t *len)
{
    uint16_t size;
    enum { USUAL = 640 };
    size_t got = proc_read_memory(pid, from, record, USUAL);
    if (got < LABELS_HEAD)
        got = proc_read_memory(pid, from, record, LABELS_HEAD);
    if (got < LABELS_HEAD)
        return false;
    memcpy(&size, record + 26, sizeof size);
    *len = LABELS_HEAD + (size_t)size;
    if (*len > LABELS_MOST_RECORD)
        return false;
    return got >= *len || proc_read_memory(pid, from, record, *len) == *len;
}

/* What a thread publishes now, into *out and, all of it, `record`; is_still: the thread does not
 * run. false: nothing can be said of it. */
static bool labels_read_thread(pid_t pid, uint64_t thread, const struct labels_process *p,
                               bool is_still, struct labels_seen *out,
                               uint8_t record[LABELS_MOST_RECORD])
{
    uint8_t again[LABELS_MOST_RECORD];
    uint64_t pointer, pointer_again;
    size_t len = 0, len_again = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t variable = labels_variable(pid, thread, p);
        out->len = 0;
        out->is_bad = false;
        out->at_ns = clock_now();
        if (!variable || !labels_read_word(pid, variable, &pointer))
            return variable == 0;
        out->pointer = pointer;
        if (!pointer)
            return true;
        out->is_bad = !labels_read_record(pid, pointer, record, &len);
        if (!out->is_bad && record[24] == 1)
            out->len = (uint16_t)len;
        if (is_still)
            return true;
        if (!labels_read_word(pid, variable, &pointer_again) || pointer_again != pointer)
            continue;
        bool is_bad = !labels_read_record(pid, pointer, again, &len_again);
        if (out->is_bad && is_bad)
            return true;
        if (!out->is_bad && !is_bad && len == len_again && !memcmp(record, again, len))
            return true;
    }
    out->is_bad = true;
    out->len = 0;
    return true;
}

/* The number of the labels in a record. A key that is not known may be new: the context is read
 * again, once. */
static uint32_t labels_number(struct labels *l, pid_t pid, struct labels_process *p,
                              struct bytes record, uint64_t now_ns)
{
    struct recording_label labels[LABELS_MOST_KEYS];
    struct arena scratch = {0};
    const uint8_t *ids = NULL;
    size_t len = 0;
    bool is_cut = false, has_unknown = false;
    bool is_valid =
        labels_record_read(record, p->context, labels, &len, &ids, &is_cut, &has_unknown, &scratch);
    if (is_valid && has_unknown) {
        labels_read_context(l, pid, p, now_ns);
        is_valid = labels_record_read(record, p->context, labels, &len, &ids, &is_cut, &has_unknown,
                                      &scratch);
    }
    l->bad_records += is_cut;
    uint32_t number = is_valid ? collector_labels(l->collector, labels, len, ids,
                                                  ids ? ids + RECORDING_TRACE_BYTES : NULL)
                               : 0;
    arena_deinit(&scratch);
    return number;
}

/* The process, if its threads publish anything. Called with the lock. */
static struct labels_process *labels_publishing(struct labels *l, pid_t pid)
{
    const uint32_t *at = map_find(&l->process_of, (uint64_t)pid, 0);
    return at && l->processes.at[*at].place != PLACE_NONE ? &l->processes.at[*at] : NULL;
}

/* Called with the lock; 1: it is not to be found, yet: new threads run before they have a list. */
static uint64_t labels_pointer_of(struct labels *l, pid_t pid, pid_t tid)
{
    bool is_new;
    uint32_t at = map_index(&l->thread_of, (uint64_t)tid, 0, l->pointers.len, &is_new);
    if (is_new)
        vec_push(&l->pointers, 0);
    if (l->pointers.at[at] <= 1)
        l->pointers.at[at] = labels_thread_pointer(pid, tid);
    return l->pointers.at[at];
}

uint32_t labels_stopped(struct labels *l, pid_t pid, pid_t tid, uint64_t thread, uint64_t now_ns)
{
    uint8_t record[LABELS_MOST_RECORD];
    struct labels_seen seen = {.pid = pid, .tid = tid};
    uint32_t number = 0;
    pthread_mutex_lock(&l->lock);
    struct labels_process *p = labels_publishing(l, pid);
    if (p && !thread)
        thread = labels_pointer_of(l, pid, tid);
    l->no_pointers += p && thread == 1;
    if (p && thread > 1 && labels_read_thread(pid, thread, p, true, &seen, record)) {
        l->bad_records += seen.is_bad;
        if (seen.len)
            number = labels_number(l, pid, p, (struct bytes){record, seen.len}, now_ns);
    }
    pthread_mutex_unlock(&l->lock);
    return number;
}

uint32_t labels_waiting(struct labels *l, pid_t pid, pid_t tid, uint64_t now_ns)
{
    labels_look(l, pid, now_ns); /* it may wait all the time, and never be sampled */
    return labels_stopped(l, pid, tid, 0, now_ns);
}

/* --- threads that run ------------------------------------------------------------------------ */

/* A record that is longer than usual is cut, and equals others that begin alike. */
void labels_observe(struct labels *l, pid_t pid, pid_t tid)
{
    uint8_t record[LABELS_MOST_RECORD];
    struct labels_seen seen = {.pid = pid, .tid = tid};
    pthread_mutex_lock(&l->lock);
    struct labels_process *p = labels_publishing(l, pid);
    uint64_t thread = p ? labels_pointer_of(l, pid, tid) : 0;
    if (p && thread > 1 && l->news.len < MOST_SEEN &&
        labels_read_thread(pid, thread, p, false, &seen, record)) {
        size_t kept = seen.len < sizeof seen.bytes ? seen.len : sizeof seen.bytes;
        memcpy(seen.bytes, record, kept);
        seen.len = (uint16_t)kept;
        vec_push(&l->news, seen);
    }
    l->no_pointers += thread == 1;
    pthread_mutex_unlock(&l->lock);
}

/* Equal to the reading before it: has the same labels. */
static bool labels_are_equal(const struct labels_seen *a, const struct labels_seen *b)
{
    return !a->is_bad && !b->is_bad && a->pid == b->pid && a->len == b->len &&
           a->len < sizeof a->bytes && !memcmp(a->bytes, b->bytes, a->len);
}

void labels_take(struct labels *l)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->news.len; i++) {
        struct labels_seen *seen = &l->news.at[i];
        struct labels_process *p = labels_publishing(l, seen->pid);
        bool is_new;
        uint32_t at = map_index(&l->seen_of, (uint64_t)seen->tid, 0, l->threads.len, &is_new);
        if (is_new)
            vec_push(&l->threads, (struct labels_thread){0});
        struct labels_thread *t = &l->threads.at[at];
        const struct labels_seen *last = t->seen.len ? &t->seen.at[t->seen.len - 1] : NULL;
        if (last && labels_are_equal(last, seen))
            seen->labels = last->labels;
        else if (p && seen->len)
            seen->labels =
                labels_number(l, seen->pid, p, (struct bytes){seen->bytes, seen->len}, seen->at_ns);
        vec_push(&t->seen, *seen);
    }
    l->news.len = 0;
    pthread_mutex_unlock(&l->lock);
}

uint32_t labels_at(struct labels *l, pid_t pid, pid_t tid, uint64_t at_ns)
{
    const uint32_t *found = map_find(&l->seen_of, (uint64_t)tid, 0);
    struct labels_thread *t = found ? &l->threads.at[*found] : NULL;
    size_t next = 0;
    while (t && next < t->seen.len && t->seen.at[next].at_ns < at_ns)
        next++;
    if (t && next > 1) { /* samples come in the order of time */
        memmove(t->seen.at, t->seen.at + next - 1, (t->seen.len - next + 1) * sizeof *t->seen.at);
        t->seen.len -= next - 1;
        next = 1;
    }
    if (!t || !t->seen.len)
        return 0;
    const struct labels_seen *after = next < t->seen.len ? &t->seen.at[next] : NULL;
    const struct labels_seen *before = next ? &t->seen.at[0] : NULL;
    const struct labels_seen *chosen = after ? after : before;
    bool is_sure = after && after->at_ns - at_ns <= PROMPT_NS;
    if (!is_sure && before && after) {
        is_sure = labels_are_equal(before, after);
        chosen = at_ns - before->at_ns < after->at_ns - at_ns ? before : after;
    }
    if (chosen->pid != pid)
        return 0;
    bool is_bad = (before && before->is_bad) || (after && after->is_bad);
    l->nearest += !is_sure && !is_bad;
    l->bad_records += chosen->is_bad;
    return chosen->labels;
}

void labels_finish(struct labels *l)
{
    const struct {
        uint64_t count;
        const char *text;
    } losses[] = {{l->bad_contexts, BAD_CONTEXT},
                  {l->bad_records, BAD_RECORD},
                  {l->no_pointers, NO_POINTER},
                  {l->nearest, NEAREST},
                  {l->many_changes, MANY_CHANGES}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count)
            collector_lose(l->collector, RECORDING_LOST_OTHER, losses[i].text, losses[i].count, 0);
}

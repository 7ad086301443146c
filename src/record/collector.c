/* Processes, threads and their mappings, as sources report them.
 *
 * A process here is a program that runs under a pid: an exec makes a new one, unless the old one
 * has no sample yet. Processes, threads and events have numbers, in the order of their reports,
 * that go into the recording as they are. Maps from pid and tid lead to the newest owner of the
 * number; the kernel uses numbers again.
 *
 * What holds throughout: each process has a list of mappings, shared with its parent until one of
 * the two changes it; a thread's process is known before its first sample. Numbers of processes and
 * threads are bounded (MOST_...): what comes after counts for the first process, or for one thread
 * without a name.
 *
 * Pointers into the lists are valid until the next one is added: what follows takes numbers. */
#include "record/collector.h"

#include "base/path.h"
#include "objfile/object.h"
#include "record/arguments.h"
#include "record/collector_private.h"
#include "record/jit_names.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What waits and transfers of a process were counted is taken back, at its own request. */
static void collector_waits_forget(struct collector *c, uint32_t process)
{
    for (size_t i = 0; i < c->steps.len; i++) {
        const struct recording_link *first = &c->steps.at[i];
        while (first->parent != RECORDING_NONE)
            first = &c->steps.at[first->parent];
        struct recording_link *s = &c->steps.at[i];
        if (c->threads.at[first->thread].process == process)
            s->ns = s->waits = s->error = s->single = 0;
    }
    for (size_t i = 0; i < c->transfers.len; i++) {
        struct recording_transfer *t = &c->transfers.at[i];
        if (c->threads.at[t->thread].process != process)
            continue;
        *(t->is_write ? &c->transferred.written : &c->transferred.read) -= t->bytes;
        *(t->is_write ? &c->transferred.write_calls : &c->transferred.read_calls) -= t->calls;
        *(t->is_write ? &c->transferred.disk_written : &c->transferred.disk_read) -= t->disk_bytes;
        t->calls = t->bytes = t->disk_bytes = t->squares = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->waits.len; i++)
        if (c->threads.at[c->waits.at[i].thread].process != process)
            c->waits.at[kept++] = c->waits.at[i];
    c->waits.len = kept;
}

static void collector_waits_free(struct collector *c)
{
    vec_free(&c->resources);
    vec_free(&c->steps);
    map_deinit(&c->resource_of);
    map_deinit(&c->step_of);
    vec_free(&c->transfers);
    map_deinit(&c->transfer_of);
}

/* ---- Sets of labels: programs' labels of their work while they are sampled.
 *
 *     keys and values -> numbers of texts, trace and span -> bytes -> number of the set
 *
 * Samples carry the number. A set with a span is one request, so that there may be as many as
 * samples: beyond MOST_SPANS sets the span is left out, and what remains is a set that others have,
 * too. Values may be any number as well (of users, say): beyond MOST_SETS, or when texts and sets
 * take MOST_BYTES, there are no new ones, and samples have none. Both are said.
 *
 * Labels of a whole process are a set, too. It is reported once, perhaps late, so that it is put
 * together with those of the process's samples at the end. A thread's value of a key has precedence
 * over its process's.
 *
 * Cost: a look-up for each text and a hash of their numbers for each reported set; at the end a
 * look-up for each sample. Memory: each text once, 24 bytes for each label of a set. */

enum { MOST_SPANS = 1 << 16, MOST_SETS = 1 << 17, MOST_BYTES = 64 << 20 };

#define NO_SPANS \
    "samples without their spans, as there were more than 65,536 requests; they have their labels"
#define NO_SETS                                                                               \
    "samples whose labels are not recorded, as there were more than 131,072 that differ, or " \
    "more than 64 MiB"

typedef VEC(char) labels_bytes;

static void labels_put(labels_bytes *to, const void *from, size_t len)
{
    vec_reserve(to, to->len + len);
    memcpy(to->at + to->len, from, len);
    to->len += len;
}

/* The number of a text; INTERN_NONE: it is new, and there shall be none. */
static uint32_t labels_text_number(struct collector *c, const char *text, bool may_add)
{
    size_t len = strlen(text);
    uint32_t number = intern_find(&c->label_texts, text, len);
    if (number == INTERN_NONE && may_add) {
        number = intern(&c->label_texts, text, len);
        c->label_bytes += len + 1;
    }
    return number;
}

/* The set's number, made if it is new and there are fewer than `most`; else 0. */
static uint32_t labels_add(struct collector *c, const struct recording_label *labels, size_t len,
                           const struct recording_label_set *ids, size_t most)
{
    labels_bytes key = {0};
    if (!c->label_sets.len) {
        intern(&c->label_keys, "", 0);
        vec_push(&c->label_sets, (struct recording_label_set){0});
    }
    bool may_add = c->label_sets.len < most && c->label_bytes < MOST_BYTES, is_known = true;
    labels_put(&key, &ids->has_span, sizeof ids->has_span);
    for (size_t i = 0; i < len && is_known; i++) {
        uint32_t pair[] = {labels_text_number(c, labels[i].key, may_add),
                           labels_text_number(c, labels[i].value, may_add)};
        is_known = pair[0] != INTERN_NONE && pair[1] != INTERN_NONE;
        labels_put(&key, pair, sizeof pair);
    }
    if (ids->has_span) {
        labels_put(&key, ids->trace, sizeof ids->trace);
        labels_put(&key, ids->span, sizeof ids->span);
    }
    uint32_t number = is_known ? intern_find(&c->label_keys, key.at, key.len) : INTERN_NONE;
    if (number == INTERN_NONE && !may_add) {
        number = 0;
    } else if (number == INTERN_NONE) {
        struct recording_label_set set = *ids;
        set.first = (uint32_t)c->labels.len;
        set.len = (uint32_t)len;
        number = intern(&c->label_keys, key.at, key.len);
        for (size_t i = 0; i < len; i++) {
            uint32_t pair[2];
            memcpy(pair, key.at + sizeof ids->has_span + i * sizeof pair, sizeof pair);
            vec_push(&c->labels, (struct recording_label){intern_text(&c->label_texts, pair[0]),
                                                          intern_text(&c->label_texts, pair[1])});
        }
        vec_push(&c->label_sets, set);
        c->label_bytes += key.len + len * sizeof(struct recording_label);
    }
    vec_free(&key);
    return number;
}

uint32_t collector_labels(struct collector *c, const struct recording_label *labels, size_t len,
                          const uint8_t *trace, const uint8_t *span)
{
    struct recording_label_set ids = {.has_span = trace && span};
    if (!len && !ids.has_span)
        return 0;
    if (ids.has_span) {
        memcpy(ids.trace, trace, sizeof ids.trace);
        memcpy(ids.span, span, sizeof ids.span);
        uint32_t number = labels_add(c, labels, len, &ids, MOST_SPANS);
        if (number)
            return number;
        collector_lose(c, RECORDING_LOST_OTHER, NO_SPANS, 1, 0);
        ids = (struct recording_label_set){0};
    }
    uint32_t number = len ? labels_add(c, labels, len, &ids, MOST_SETS) : 0;
    if (len && !number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    return number;
}

void collector_process_labels(struct collector *c, pid_t pid, const struct recording_label *labels,
                              size_t len, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    struct recording_label_set ids = {0};
    uint32_t number = len ? labels_add(c, labels, len, &ids, MOST_SETS) : 0;
    if (len && !number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    c->inner.at[process].labels = number;
}

/* Each file is asked once for all processes: most do not define it. */
bool collector_thread_variable(struct collector *c, pid_t pid, const char *name,
                               struct object_thread_variable *out, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns); /* it may move the list */
    const struct mappings *m = c->inner.at[process].mappings;
    for (size_t i = 0; i < m->all.len; i++) {
        struct mapping code = m->all.at[i];
        bool is_new;
        if (c->images.all.at[code.image]->object.kind != RECORDING_OBJECT_FILE)
            continue;
        uint32_t *lacks = map_at(&c->lacks_variable, code.image, 0, 1, &is_new);
        if (!is_new && *lacks)
            continue;
        struct object *o = images_open(&c->images, code.image);
        *lacks = !o || !object_thread_variable(o, name, out);
        if (*lacks)
            continue;
        uint64_t bias = code.start - images_link_address(&c->images, code.image, code.offset);
        out->offset_slot += out->offset_slot ? bias : 0;
        out->descriptor += out->descriptor ? bias : 0;
        out->module_slot += out->module_slot ? bias : 0;
        return true;
    }
    return false;
}

/* The labels of a sample's set, then those of its process that it does not have; the sample's own
 * if there is no room for more. */
static uint32_t labels_of_both(struct collector *c, uint32_t own, uint32_t process)
{
    struct recording_label_set ids = c->label_sets.at[own];
    struct recording_label_set whole = c->label_sets.at[process];
    VEC(struct recording_label) all = {0};
    for (uint32_t i = 0; i < ids.len; i++)
        vec_push(&all, c->labels.at[ids.first + i]);
    for (uint32_t i = 0; i < whole.len; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < ids.len && is_new; k++)
            is_new = strcmp(all.at[k].key, c->labels.at[whole.first + i].key) != 0;
        if (is_new)
            vec_push(&all, c->labels.at[whole.first + i]);
    }
    uint32_t number = labels_add(c, all.at, all.len, &ids, UINT32_MAX);
    vec_free(&all);
    if (!number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    return number ? number : own;
}

void collector_labels_finish(struct collector *c, struct recording *out)
{
    struct map both = {0};
    if (!c->label_sets.len)
        return;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        uint32_t process = c->inner.at[c->threads.at[s->thread].process].labels;
        bool is_new;
        if (!process)
            continue;
        uint32_t *known = map_at(&both, s->labels, process, 0, &is_new);
        if (is_new)
            *known = labels_of_both(c, s->labels, process);
        s->labels = *known;
    }
    map_deinit(&both);
    vec_copy(&out->label_sets, &c->label_sets);
    for (size_t i = 0; i < c->labels.len; i++) {
        const struct recording_label *from = &c->labels.at[i];
        vec_push(&out->labels, (struct recording_label){
                                   arena_copy(&out->arena, from->key, strlen(from->key)),
                                   arena_copy(&out->arena, from->value, strlen(from->value))});
    }
}

static void collector_labels_free(struct collector *c)
{
    vec_free(&c->labels);
    vec_free(&c->label_sets);
    intern_deinit(&c->label_texts);
    intern_deinit(&c->label_keys);
    map_deinit(&c->lacks_variable);
}

/* ---- Names for code that no file has, from where the programs leave them: /tmp/perf-PID.map and
 * jitdumps, which jit_names.c reads (docs/formats/generated.md).
 *
 *     first sample in generated code    code_of(): its root, its number there, its users
 *     each new address of a node        collector_generated_at()
 *     a jitdump is mapped               collector_jitdump(): opened at once
 *     the process ends, or executes     collector_code_ends(): the names are read, all is closed
 *     the recording ends                collector_code_finish(): the rest is read, all is handed on
 *
 * Nothing is asked of the program. A process that has ended has no folder in /proc any more, so
 * what is found through it is kept from when it first has generated code; the names themselves are
 * read at the end of the process, when they are complete. Only addresses that were sampled get
 * names: what is kept is bounded by the tree of stacks, not by what the program generated.
 *
 * Others may write to /tmp as well: a map must belong to one of the users that the process was, to
 * us or to root. Of a file the first MOST_BYTES are read; at most MOST_OPEN files are held open. */

#define MOST_BYTES ((size_t)256 << 20) /* of a file: it is in memory while it is read */
#define NOT_ALL_READ \
    "some names of generated code are missing: only the first 256 MB of a perf map are read"
#define REUSED                                                                          \
    "addresses of generated code had several functions, one after the other: each has " \
    "the name of its last one"

enum {
    MOST_OPEN = 128, /* files and roots of processes that are held open */
    MOST_DUMPS = 8,  /* of a process */
    MOST_PARENTS = 8,
    FIRST_BYTES = 1 << 16,
};

/* --- what is known of a process while it lives ----------------------------------------------- */

/* Its number in its own namespace, by which it calls its files, and who they may belong to. */
static void code_read_status(struct collected_code *code)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", code->pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        const char *last = strrchr(line, '\t'); /* of NSpid: the innermost */
        unsigned *u = code->users;
        if (!strncmp(line, "NSpid:", 6) && last)
            code->pid = (uint32_t)strtoul(last, NULL, 10);
        else if (!strncmp(line, "Uid:", 4))
            code->has_users = sscanf(line + 4, "%u %u %u %u", &u[0], &u[1], &u[2], &u[3]) == 4;
    }
    free(line);
    if (file)
        fclose(file);
}

/* Not when either is not to be had: the process has ended, or is none of ours. */
static bool code_differs(const char *left, const char *right)
{
    struct stat l, r;
    return !stat(left, &l) && !stat(right, &r) && (l.st_dev != r.st_dev || l.st_ino != r.st_ino);
}

/* Opens the root of a process that does not see what we see: the folder in /proc ends with it, and
 * what is mounted for it alone ends with the last process that sees it. */
static void code_open_root(struct collector *c, struct collected_code *code)
{
    char root[64], space[64];
    pid_t living = proc_living((pid_t)code->pid);
    snprintf(root, sizeof root, "/proc/%d/root", (int)living);
    snprintf(space, sizeof space, "/proc/%d/ns/mnt", (int)living);
    code->is_elsewhere = code_differs(root, "/") || code_differs(space, "/proc/self/ns/mnt");
    if (!code->is_elsewhere || c->open_files >= MOST_OPEN)
        return;
    code->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    code->mounts = open(space, O_RDONLY | O_CLOEXEC);
    c->open_files += (code->root >= 0) + (code->mounts >= 0);
}

/* What is kept of a process with generated code, begun on first use. */
static struct collected_code *code_of(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    if (p->code)
        return p->code;
    p->code = calloc(1, sizeof *p->code);
    if (!p->code)
        memory_exhausted(sizeof *p->code);
    p->code->pid = c->processes.at[process].pid;
    p->code->root = p->code->mounts = -1;
    if (c->options.is_replayed) { /* who the process was is not known: what is ours or root's */
        for (size_t i = 0; i < 4; i++)
            p->code->users[i] = geteuid();
        p->code->has_users = true;
        return p->code;
    }
    code_open_root(c, p->code);
    code_read_status(p->code);
    return p->code;
}

uint32_t collector_generated(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    if (p->generated == RECORDING_NONE) {
        p->generated = images_other(&c->images, RECORDING_OBJECT_GENERATED, process);
        code_of(c, process);
    }
    return p->generated;
}

void collector_generated_at(struct collector *c, uint32_t process, uint64_t address)
{
    vec_push(&code_of(c, process)->addresses, address);
}

/* --- files ----------------------------------------------------------------------------------- */

/* As the process sees the path; symbolic links do not lead out of its root. A pipe does not keep
 * us, and is not taken. */
static int code_file_open(const struct collected_code *code, const char *path, struct stat *st)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
    struct open_how how = {.flags = FLAGS, .resolve = RESOLVE_IN_ROOT};
    int fd = code->is_elsewhere ? (int)syscall(__NR_openat2, code->root, path, &how, sizeof how)
                                : open(path, FLAGS);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The file that the process has mapped, if it is there still. */
static int code_open_dump(const struct collected_code *code, const struct code_dump *dump)
{
    struct stat st;
    int fd = code_file_open(code, dump->path, &st);
    if (fd >= 0 && dump->inode && st.st_ino != dump->inode) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Any user can make a file in /tmp; other users' files say nothing about the process. */
static bool code_is_its_own(const struct collected_code *code, const struct stat *st)
{
    bool is_own = !code->has_users || !st->st_uid || st->st_uid == geteuid();
    for (size_t i = 0; i < sizeof code->users / sizeof *code->users; i++)
        is_own |= st->st_uid == code->users[i];
    return is_own;
}

/* The whole of a file that may grow meanwhile, or its first MOST_BYTES. false: it is empty, or
 * cannot be read. out->at is the caller's to free, in either case. */
static bool code_read(struct collector *c, int fd, struct bytes *out)
{
    struct stat st;
    size_t cap = FIRST_BYTES, len = 0;
    ssize_t got;
    if (!fstat(fd, &st) && st.st_size > 0 && (uint64_t)st.st_size < MOST_BYTES)
        cap = (size_t)st.st_size + 1; /* one more shows the end */
    uint8_t *at = malloc(cap);
    while (at && (got = pread(fd, at + len, cap - len, (off_t)len)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        len += got > 0 ? (size_t)got : 0;
        if (len == MOST_BYTES)
            break;
        if (len == cap) {
            cap = 2 * cap < MOST_BYTES ? 2 * cap : MOST_BYTES;
            uint8_t *grown = realloc(at, cap);
            if (!grown)
                memory_exhausted(cap);
            at = grown;
        }
    }
    if (!at)
        memory_exhausted(cap);
    if (len == MOST_BYTES)
        collector_lose(c, RECORDING_LOST_OTHER, NOT_ALL_READ, 1, 0);
    *out = (struct bytes){at, len};
    return len;
}

/* /any/where/jit-PID.dump */
static bool collector_is_jitdump(const char *path)
{
    static const char end[] = ".dump";
    const char *name = strrchr(path, '/');
    size_t len = strcspn(name ? name : "", " "); /* "... (deleted)" */
    return len > sizeof end && !strncmp(name, "/jit-", 5) &&
           !strncmp(name + len + 1 - sizeof end, end, sizeof end - 1);
}

/* Opened at once: it may be removed, or its folder out of reach, when it is to be read. */
static void collector_jitdump(struct collector *c, uint32_t process,
                              const struct collector_mapping *m)
{
    struct collected_code *code = code_of(c, process);
    for (size_t i = 0; i < code->dumps.len; i++)
        if (code->dumps.at[i].inode == m->inode && !strcmp(code->dumps.at[i].path, m->path))
            return;
    if (code->dumps.len >= MOST_DUMPS || c->options.opens_no_files)
        return;
    struct code_dump dump = {arena_copy(&c->arena, m->path, strlen(m->path)), m->inode, -1};
    if (c->open_files < MOST_OPEN)
        dump.fd = code_open_dump(code, &dump);
    c->open_files += dump.fd >= 0;
    vec_push(&code->dumps, dump);
}

/* --- names ----------------------------------------------------------------------------------- */

/* A file that is not a jitdump is reported: the program has mapped it as one. */
static void code_read_dump(struct collector *c, const struct collected_code *code,
                           const struct code_dump *dump, struct jit_names *names)
{
    struct err e = {{0}};
    struct bytes bytes = {0};
    int fd = dump->fd >= 0 ? dump->fd : code_open_dump(code, dump);
    if (fd >= 0 && code_read(c, fd, &bytes) && !jit_names_read_dump(names, bytes, code->pid, &e))
        collector_lose(c, RECORDING_LOST_OTHER, e.line, 1, 0);
    free((void *)bytes.at);
    if (fd >= 0 && fd != dump->fd)
        close(fd);
}

/* What the process has from those it was forked from comes first: what it says itself is newer. */
static void code_read_all(struct collector *c, uint32_t process, struct jit_names *names)
{
    const struct collected_code *own = c->inner.at[process].code;
    uint32_t line[MOST_PARENTS] = {process}, len = 1;
    while (len < MOST_PARENTS && c->inner.at[line[len - 1]].forked_from != RECORDING_NONE) {
        line[len] = c->inner.at[line[len - 1]].forked_from;
        len++;
    }
    while (len-- > 0) {
        const struct collected_code *code = c->inner.at[line[len]].code;
        char map_path[64]; /* as runtimes write it for perf, by their own number */
        struct stat st;
        struct bytes map = {0};
        snprintf(map_path, sizeof map_path, "/tmp/perf-%" PRIu32 ".map",
                 code ? code->pid : c->processes.at[line[len]].pid);
        int fd = code_file_open(own, map_path, &st);
        if (fd >= 0 && code_is_its_own(own, &st) && code_read(c, fd, &map))
            jit_names_read_map(names, map);
        free((void *)map.at);
        if (fd >= 0)
            close(fd);
        for (size_t i = 0; code && i < code->dumps.len; i++)
            code_read_dump(c, own, &code->dumps.at[i], names);
    }
}

static int addresses_order(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

size_t collector_sort_addresses(uint64_t *at, size_t len)
{
    size_t kept = 0;
    if (len)
        qsort(at, len, sizeof *at, addresses_order);
    for (size_t i = 0; i < len; i++)
        if (!i || at[i] != at[kept - 1])
            at[kept++] = at[i];
    return kept;
}

/* Takes the names of what was sampled from where the program leaves them; they replace those that
 * were read earlier. */
static void code_name(struct collector *c, uint32_t process)
{
    struct collected_code *code = c->inner.at[process].code;
    if (!code || !code->addresses.len || c->options.opens_no_files)
        return;
    struct jit_names names;
    code->addresses.len = collector_sort_addresses(code->addresses.at, code->addresses.len);
    code->named = code->addresses.len;
    jit_names_init(&names, code->addresses.at, (uint32_t)code->addresses.len);
    code_read_all(c, process, &names);
    if (!names.sources) { /* what was read earlier stays */
        jit_names_deinit(&names);
        return;
    }
    struct jit_pieces pieces = {0};
    jit_names_place(&names, &pieces);
    code->symbols.len = 0;
    code->reused = pieces.reused;
    for (size_t i = 0; i < pieces.all.len; i++) {
        const struct jit_piece *p = &pieces.all.at[i];
        vec_push(&code->symbols, (struct recording_symbol){
                                     c->inner.at[process].generated, p->start, p->end - p->start,
                                     arena_copy(&c->arena, p->name, strlen(p->name))});
    }
    vec_free(&pieces.all);
    jit_names_deinit(&names);
}

static void code_file_close(struct collector *c, int *fd)
{
    if (*fd < 0)
        return;
    close(*fd);
    *fd = -1;
    c->open_files--;
}

static void code_close_all(struct collector *c, struct collected_code *code)
{
    for (size_t i = 0; i < code->dumps.len; i++)
        code_file_close(c, &code->dumps.at[i].fd);
    code_file_close(c, &code->root);
    code_file_close(c, &code->mounts);
}

/* When the process ends: names its generated code; nothing of it is held open then. */
static void collector_code_ends(struct collector *c, uint32_t process)
{
    code_name(c, process);
    if (c->inner.at[process].code)
        code_close_all(c, c->inner.at[process].code);
}

/* It had not ended: there may be more names, which are looked for at the end of the run. */
static void collector_code_goes_on(struct collector *c, uint32_t process)
{
    if (c->inner.at[process].code)
        c->inner.at[process].code->named = 0;
}

void collector_code_finish(struct collector *c, struct recording *out)
{
    uint64_t reused = 0;
    for (uint32_t i = 0; i < c->processes.len; i++) {
        struct collected_code *code = c->inner.at[i].code;
        if (!code)
            continue;
        if (collector_goes_on(c, i) || code->named < code->addresses.len)
            code_name(c, i);
        for (size_t k = 0; k < code->symbols.len; k++) {
            struct recording_symbol s = code->symbols.at[k];
            s.name = arena_copy(&out->arena, s.name, strlen(s.name));
            vec_push(&out->symbols, s);
        }
        reused += code->reused;
    }
    if (reused)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, reused, 0,
                                         arena_copy(&out->arena, REUSED, strlen(REUSED))});
}

static void collector_code_free(struct collector *c, uint32_t process)
{
    struct collected_code *code = c->inner.at[process].code;
    if (!code)
        return;
    code_close_all(c, code);
    vec_free(&code->addresses);
    vec_free(&code->symbols);
    vec_free(&code->dumps);
    free(code);
    c->inner.at[process].code = NULL;
}

/* ---- The collector itself: its life, processes, threads, mappings and losses. */

enum { MOST_THREADS = 50000, MOST_PROCESSES = 200000 };

struct collector *collector_new(const struct collector_options *o)
{
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->options = *o;
    c->first_period_factor = 1;
    tally_init(&c->tally, o->slice_ns);
    images_init(&c->images, o->arch);
    c->images.is_replayed = o->is_replayed;
    c->images.opens_nothing = o->opens_no_files;
    c->images.vdso_id = o->vdso_id;
    c->kernel = images_other(&c->images, RECORDING_OBJECT_KERNEL, RECORDING_NONE);
    c->wait = images_other(&c->images, RECORDING_OBJECT_WAIT, RECORDING_NONE);
    c->cut = images_other(&c->images, RECORDING_OBJECT_CUT, RECORDING_NONE);
    c->kernel_code = mappings_new();
    return c;
}

/* Times that were converted already stay: call it before all reports but that of the first process.
 */
void collector_set_start(struct collector *c, uint64_t start_ns)
{
    c->options.start_ns = start_ns;
}

void collector_free(struct collector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->inner.len; i++)
        mappings_release(c->inner.at[i].mappings);
    for (uint32_t i = 0; i < c->inner.len; i++)
        collector_code_free(c, i);
    mappings_release(c->kernel_code);
    vec_free(&c->processes);
    vec_free(&c->inner);
    vec_free(&c->threads);
    vec_free(&c->events);
    vec_free(&c->totals);
    vec_free(&c->left_out);
    vec_free(&c->losses);
    vec_free(&c->stops);
    vec_free(&c->marks);
    vec_free(&c->delays);
    vec_free(&c->pauses);
    vec_free(&c->waits);
    vec_free(&c->creators);
    vec_free(&c->branches);
    map_deinit(&c->process_of);
    map_deinit(&c->thread_of);
    collector_waits_free(c);
    collector_labels_free(c);
    tally_deinit(&c->tally);
    images_deinit(&c->images);
    arena_deinit(&c->arena);
    free(c);
}

uint32_t collector_add_event(struct collector *c, const char *name, enum recording_event_unit unit,
                             uint64_t period, bool user_only)
{
    vec_push(&c->events, (struct recording_event){.name = arena_copy(&c->arena, name, strlen(name)),
                                                  .unit = unit,
                                                  .period = period,
                                                  .user_only = user_only});
    vec_push(&c->totals, 0);
    vec_push(&c->left_out, 0);
    return (uint32_t)c->events.len - 1;
}

void collector_event_total(struct collector *c, uint32_t event, uint64_t total)
{
    c->totals.at[event] = total;
}

/* --- processes ------------------------------------------------------------------------------- */

/* An entry in both lists. Its mappings are the caller's to set. */
static uint32_t collector_add_process(struct collector *c, pid_t pid, pid_t parent, uint64_t at_ns)
{
    uint32_t number = (uint32_t)c->processes.len;
    vec_push(&c->processes, (struct recording_process){.pid = (uint32_t)pid,
                                                       .parent_pid = (uint32_t)parent,
                                                       .program = RECORDING_NONE,
                                                       .start_ns = collector_since_start(c, at_ns),
                                                       .name = ""});
    vec_push(&c->inner, (struct collected_process){.generated = RECORDING_NONE,
                                                   .forked_from = RECORDING_NONE,
                                                   .other_threads = RECORDING_NONE});
    if (!number && c->options.is_started)
        c->inner.at[0].has_rank = rank_of_own(&c->inner.at[0].rank);
    return number;
}

/* What cannot be read any more stays what it was. In the middle of an exec a process has no
 * environment yet: it is asked again with its first samples, when it runs. */
void collector_read_rank(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    struct rank_told told;
    bool is_read = false;
    if (!c->options.reads_ranks)
        return;
    if (rank_of_process((pid_t)c->processes.at[process].pid, &told, &is_read)) {
        p->rank = told;
        p->has_rank = true;
    }
    p->rank_tries = is_read ? 0 : p->rank_tries ? p->rank_tries - 1 : COLLECTOR_RANK_TRIES;
}

/* A process that was not announced is made, and waits for its program. */
uint32_t collector_process(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t *found = map_find(&c->process_of, pid, 0);
    if (found)
        return *found;
    if (c->processes.len >= MOST_PROCESSES)
        return 0;
    uint32_t number = collector_add_process(c, pid, 0, at_ns);
    c->inner.at[number].mappings = mappings_new();
    c->inner.at[number].awaits_program = true;
    map_set(&c->process_of, pid, 0, number);
    collector_read_rank(c, number);
    return number;
}

bool collector_has_process(const struct collector *c, pid_t pid)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    return found && collector_goes_on(c, *found);
}

size_t collector_running(const struct collector *c)
{
    size_t running = 0;
    for (size_t i = 0; i < c->processes.len; i++)
        running += collector_goes_on(c, i);
    return running;
}

/* A child is its parent's copy; one whose parent is not known waits for its program. */
void collector_fork(struct collector *c, pid_t pid, pid_t tid, pid_t parent_pid, uint64_t at_ns)
{
    uint32_t *thread = map_find(&c->thread_of, tid, 0);
    if (thread)
        *thread = RECORDING_NONE; /* the number had another owner */
    if (pid != parent_pid && c->processes.len < MOST_PROCESSES) {
        const uint32_t *found = map_find(&c->process_of, parent_pid, 0);
        uint32_t parent = found ? *found : RECORDING_NONE;
        uint32_t number = collector_add_process(c, pid, parent_pid, at_ns);
        if (parent == RECORDING_NONE) {
            c->inner.at[number].mappings = mappings_new();
            c->inner.at[number].awaits_program = true;
        } else {
            c->inner.at[number].mappings = mappings_share(c->inner.at[parent].mappings);
            c->inner.at[number].forked_from = parent;
            c->inner.at[number].rank = c->inner.at[parent].rank;
            c->inner.at[number].has_rank = c->inner.at[parent].has_rank;
            c->processes.at[number].program = c->processes.at[parent].program;
            c->processes.at[number].name = c->processes.at[parent].name;
            c->processes.at[number].command = c->processes.at[parent].command;
        }
        map_set(&c->process_of, pid, 0, number);
    }
    collector_thread(c, pid, tid, at_ns);
}

/* Of all programs of the process, up to now. */
static void collector_process_used(struct recording_process *p,
                                   const struct collected_process *inner, uint64_t user_ns,
                                   uint64_t system_ns)
{
    p->user_ns = user_ns > inner->user_before_ns ? user_ns - inner->user_before_ns : 0;
    p->system_ns = system_ns > inner->system_before_ns ? system_ns - inner->system_before_ns : 0;
    p->has_cpu = true;
}

/* One thread is left: that which executes, with the number of the first one, whatever became of
 * that. */
static void collector_revive(struct collector *c, uint32_t process, const uint32_t *thread)
{
    bool is_known = thread && *thread != RECORDING_NONE;
    c->processes.at[process].end_ns = 0;
    c->inner.at[process].living = is_known;
    if (is_known)
        c->threads.at[*thread].end_ns = 0;
}

/* The entry of the next program of a process, whose other threads are gone. Where nothing was
 * sampled under the old program, its entry is used again: a shell that only executes something
 * leaves no trace. */
static uint32_t collector_next_program(struct collector *c, uint32_t old, uint64_t at_ns)
{
    pid_t pid = (pid_t)c->processes.at[old].pid;
    uint32_t *thread = map_find(&c->thread_of, pid, 0);
    if (!c->inner.at[old].has_samples || c->processes.len >= MOST_PROCESSES) {
        collector_code_free(c, old);
        c->inner.at[old].forked_from = RECORDING_NONE;
        collector_revive(c, old, thread);
        return old;
    }
    collector_code_ends(c, old);
    c->inner.at[old].living = 0;
    c->processes.at[old].end_ns = collector_since_start(c, at_ns);
    if (thread)
        *thread = RECORDING_NONE;
    uint32_t number = collector_add_process(c, pid, (pid_t)c->processes.at[old].parent_pid, at_ns);
    map_set(&c->process_of, pid, 0, number);
    return number;
}

/* What a process has used when it executes a program is the old one's: the kernel does not
 * distinguish programs. */
static void collector_split_cpu(struct collector *c, uint32_t old, uint32_t number)
{
    uint64_t user, system;
    const struct collected_process *before = &c->inner.at[old];
    if (!c->options.is_started ||
        !proc_process_cpu_split((pid_t)c->processes.at[old].pid, &user, &system))
        return;
    collector_process_used(&c->processes.at[old], before, user, system);
    c->inner.at[number].user_before_ns = user;
    c->inner.at[number].system_before_ns = system;
}

/* The name is what the kernel keeps of the command: 15 bytes. */
void collector_exec(struct collector *c, pid_t pid, const char *name, uint64_t at_ns)
{
    uint32_t old = collector_process(c, pid, at_ns), number = collector_next_program(c, old, at_ns);
    mappings_release(c->inner.at[old].mappings);
    c->inner.at[old].mappings = mappings_new();
    if (number != old) {
        c->inner.at[number].mappings = mappings_new();
        collector_split_cpu(c, old, number);
    }
    c->inner.at[number].rank = c->inner.at[old].rank;
    c->inner.at[number].has_rank = c->inner.at[old].has_rank;
    c->inner.at[number].rank_tries = 0;
    collector_read_rank(c, number);
    c->inner.at[number].awaits_program = true;
    c->processes.at[number].program = RECORDING_NONE;
    c->processes.at[number].name = arena_copy(&c->arena, name, strlen(name));
    if (c->options.reads_commands)
        c->processes.at[number].command = arguments_of_process(pid, name, &c->arena);
    collector_name(c, pid, pid, name, at_ns);
}

void collector_process_cpu(struct collector *c, pid_t pid, uint64_t user_ns, uint64_t system_ns)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (!found)
        return;
    collector_process_used(&c->processes.at[*found], &c->inner.at[*found], user_ns, system_ns);
}

void collector_account(struct collector *c, struct collector_accounts accounts)
{
    c->accounts = accounts;
}

struct collector_accounts collector_accounts(const struct collector *c)
{
    return c->accounts;
}

void collector_process_peak(struct collector *c, pid_t pid, uint64_t bytes)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (found)
        c->processes.at[*found].peak_bytes = bytes;
}

void collector_process_status(struct collector *c, pid_t pid, int status)
{
    const uint32_t *found = map_find(&c->process_of, pid, 0);
    if (!found)
        return;
    c->processes.at[*found].status = status;
    c->processes.at[*found].has_ended = true;
    c->inner.at[*found].living = 0; /* some exits may not have been reported */
}

/* --- threads --------------------------------------------------------------------------------- */

/* With the process's name, until its own name is reported. */
static uint32_t collector_add_thread(struct collector *c, uint32_t process, pid_t tid,
                                     uint64_t at_ns)
{
    vec_push(&c->threads, (struct recording_thread){.process = process,
                                                    .tid = (uint32_t)tid,
                                                    .start_ns = collector_since_start(c, at_ns)});
    const char *name = c->processes.at[process].name;
    struct recording_thread *t = &c->threads.at[c->threads.len - 1];
    snprintf(t->name, sizeof t->name, "%s", name);
    c->inner.at[process].living++;
    return (uint32_t)c->threads.len - 1;
}

/* A tid that was another process's thread before is a new thread. */
uint32_t collector_thread(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint32_t *found = map_find(&c->thread_of, tid, 0);
    uint32_t process = collector_process(c, pid, at_ns);
    if (found && *found != RECORDING_NONE && c->threads.at[*found].process == process)
        return *found;
    uint32_t number;
    if (c->threads.len < MOST_THREADS) {
        number = collector_add_thread(c, process, tid, at_ns);
    } else { /* one stands for all further threads of the process */
        struct collected_process *p = &c->inner.at[process];
        if (p->other_threads == RECORDING_NONE)
            p->other_threads = collector_add_thread(c, process, 0, at_ns);
        number = p->other_threads;
    }
    map_set(&c->thread_of, tid, 0, number);
    return number;
}

void collector_name(struct collector *c, pid_t pid, pid_t tid, const char *name, uint64_t at_ns)
{
    uint32_t number = collector_thread(c, pid, tid, at_ns); /* which may move the list */
    struct recording_thread *t = &c->threads.at[number];
    if (t->tid)
        snprintf(t->name, sizeof t->name, "%s", name);
}

/* Of a thread. A process ends with its last one, when its first one has ended as well: all others
 * may be threads that were not reported. */
void collector_exit(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    uint64_t end_ns = collector_since_start(c, at_ns);
    end_ns = end_ns ? end_ns : 1; /* before recording started */
    const uint32_t *process = map_find(&c->process_of, pid, 0);
    const uint32_t *thread = map_find(&c->thread_of, tid, 0);
    if (thread && *thread != RECORDING_NONE) {
        struct recording_thread *t = &c->threads.at[*thread];
        struct collected_process *of = &c->inner.at[t->process];
        of->living -= !t->end_ns && of->living;
        t->end_ns = end_ns;
    }
    if (!process)
        return;
    struct recording_process *p = &c->processes.at[*process];
    if (pid != tid && !p->end_ns)
        return;
    if (p->end_ns) /* threads have outlived the first one */
        collector_code_goes_on(c, *process);
    p->end_ns = end_ns;
    if (!c->inner.at[*process].living)
        collector_code_ends(c, *process);
}

/* A thread that was not reported before is left out: it has no samples either. */
void collector_thread_cpu(struct collector *c, pid_t pid, pid_t tid, uint64_t cpu_ns)
{
    const uint32_t *found = map_find(&c->thread_of, tid, 0);
    (void)pid;
    if (!found || *found == RECORDING_NONE)
        return;
    c->threads.at[*found].cpu_ns = cpu_ns;
    c->threads.at[*found].has_cpu = true;
}

void collector_scale_threads(struct collector *c, double factor)
{
    for (size_t i = 0; i < c->threads.len; i++)
        c->threads.at[i].cpu_ns = (uint64_t)((double)c->threads.at[i].cpu_ns * factor + 0.5);
}

void collector_scale_first_periods(struct collector *c, double factor)
{
    c->first_period_factor = factor;
}

/* --- mappings -------------------------------------------------------------------------------- */

/* Mappings that have a path and are no files: the kernel's names for other memory. */
static bool collector_is_file(const char *path)
{
    static const char *const others[] = {"/dev/", "/SYSV", "/anon_hugepage", NULL};
    return path[0] == '/' && path[1] != '/' && !path_begins_with(path, others) &&
           !collector_is_jitdump(path);
}

/* Memory with a name, and files in memory that shm_open() makes as well as compilers, may hold a
 * program, or a library, as well as code that was generated. */
static bool collector_is_program(const struct collector *c, const struct image_identity *id)
{
    static const char memfd[] = "/memfd:", shm[] = "/dev/shm/";
    if (strncmp(id->path, memfd, strlen(memfd)) != 0 && strncmp(id->path, shm, strlen(shm)) != 0)
        return collector_is_file(id->path);
    return id->build_id.len || (!c->images.is_replayed && images_is_elf(id));
}

/* The image of a mapping. Where maps are read again (`old`), the file that was there is there
 * still, unless another has taken its path: the kernel's report of it had more than maps say.
 */
static uint32_t collector_image_of(struct collector *c, uint32_t process,
                                   const struct mappings *old, const struct collector_mapping *m)
{
    const struct mapping *found = old ? mappings_find(old, m->start) : NULL;
    const struct image *image = found ? c->images.all.at[found->image] : NULL;
    bool is_replaced = image && image->inode && m->inode &&
                       (image->inode != m->inode || image->device != m->device);
    if (collector_is_file(m->path) && image && !is_replaced && !strcmp(image->object.path, m->path))
        return found->image;
    if (!strcmp(m->path, "[vdso]"))
        return images_other(&c->images, RECORDING_OBJECT_VDSO, RECORDING_NONE);
    struct image_identity id = {.path = m->path,
                                .build_id = m->build_id,
                                .device = m->device,
                                .inode = m->inode,
                                .pid = m->pid,
                                .start = m->start,
                                .end = m->end,
                                .offset = m->offset};
    return collector_is_program(c, &id) ? images_file(&c->images, &id)
                                        : collector_generated(c, process);
}

/* Addresses are distinguished by their offset in the image: in the file's bytes for a file, from
 * the start of the mapping for the vDSO and the kernel, as they are for generated code. */
static void collector_put_mapping(struct collector *c, uint32_t process, const struct mappings *old,
                                  const struct collector_mapping *m)
{
    uint32_t image = collector_image_of(c, process, old, m);
    if (collector_is_jitdump(m->path))
        collector_jitdump(c, process, m);
    enum recording_object_kind kind = c->images.all.at[image]->object.kind;
    struct mapping one = {m->start, m->end, m->offset, image};
    if (kind == RECORDING_OBJECT_VDSO)
        one.offset = 0;
    else if (kind == RECORDING_OBJECT_GENERATED)
        one.offset = m->start;
    mappings_put(&c->inner.at[process].mappings, &one);
    /* One that was found running may have a library first: its own text can lie in memory without a
     * file. */
    if (kind == RECORDING_OBJECT_FILE && c->inner.at[process].awaits_program &&
        !path_is_library(m->path)) {
        c->inner.at[process].awaits_program = false;
        c->processes.at[process].program = image;
    }
}

/* Memory without code is not kept. */
void collector_map(struct collector *c, const struct collector_mapping *m, uint64_t at_ns)
{
    if (m->is_executable)
        collector_put_mapping(c, collector_process(c, m->pid, at_ns), NULL, m);
}

void collector_map_kernel(struct collector *c, const struct collector_mapping *m)
{
    uint32_t image = images_listed(
        &c->images, &(struct image_identity){.path = m->path, .build_id = m->build_id});
    mappings_put(&c->kernel_code, &(struct mapping){m->start, m->end, 0, image});
}

/* Whether memory has the bytes that a file has from `offset` on, judged by a few pieces: its first,
 * its last and some between. The last page of a file is zero after its end; a file of zeros there
 * proves nothing. */
static bool collector_has_text(const struct collector_mapping *m, const char *path, uint64_t offset)
{
    enum { PIECES = 4, PIECE_BYTES = 256 };
    uint8_t memory[PIECE_BYTES], text[PIECE_BYTES];
    char name[PATH_MAX + sizeof "/proc/4294967295/root"];
    snprintf(name, sizeof name, "/proc/%d/root%s", (int)proc_living(m->pid), path);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_same = fd >= 0, has_any = false;
    for (uint64_t i = 0; i < PIECES && is_same; i++) {
        uint64_t at = (m->end - m->start - PIECE_BYTES) * i / (PIECES - 1);
        ssize_t len = pread(fd, text, sizeof text, (off_t)(offset + at));
        is_same = len >= 0 &&
                  proc_read_memory(m->pid, m->start + at, memory, (size_t)len) == (size_t)len &&
                  !memcmp(memory, text, (size_t)len);
        for (ssize_t k = 0; k < len; k++)
            has_any |= text[k] != 0;
    }
    if (fd >= 0)
        close(fd);
    return is_same && has_any;
}

/* Code in memory without a file, where text was or would go on: programs copy theirs to have it on
 * large pages, as node, HHVM and ClickHouse do. The kernel moves memory without a word to perf, and
 * its maps have no name for it. Where it has the file's bytes it is the file still; code that was
 * generated in the place of a library that is gone has others.
 *
 * `beside` is the mapping before: what does not adjoin it is skipped, as just-in-time compilers
 * have many such mappings. */
static void collector_find_copied(const struct collector *c, const struct mappings *old,
                                  const struct collector_mapping *beside,
                                  struct collector_mapping *m)
{
    const struct mapping *found = old ? mappings_find(old, m->start) : NULL;
    const struct image *image = found ? c->images.all.at[found->image] : NULL;
    struct collector_mapping was = *beside;
    if (image && image->object.kind == RECORDING_OBJECT_FILE)
        was = (struct collector_mapping){.start = found->start,
                                         .offset = found->offset,
                                         .path = image->object.path,
                                         .device = image->device,
                                         .inode = image->inode};
    else if (beside->end != m->start)
        return;
    uint64_t offset = m->start - was.start + was.offset;
    if (!was.path || !collector_is_file(was.path) || !collector_has_text(m, was.path, offset))
        return;
    m->path = was.path;
    m->offset = offset;
    m->device = was.device;
    m->inode = was.inode;
}

/* Puts the executable mappings that a file in /proc lists. Returns whether the process has any. */
static bool collector_read_maps_at(struct collector *c, uint32_t process,
                                   const struct mappings *old, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    char beside_path[PATH_MAX];
    struct collector_mapping beside = {0};
    while (file && getline(&line, &room, file) > 0) {
        struct proc_mapping found;
        if (!proc_parse_mapping(line, &found))
            continue;
        struct collector_mapping one = {.pid = (pid_t)c->processes.at[process].pid,
                                        .start = found.start,
                                        .end = found.end,
                                        .offset = found.offset,
                                        .device = found.device,
                                        .inode = found.inode,
                                        .path = found.path,
                                        .is_executable = found.rights[2] == 'x'};
        if (one.is_executable && !*one.path)
            collector_find_copied(c, old, &beside, &one);
        if (one.is_executable)
            collector_put_mapping(c, process, old, &one);
        if (one.path != beside_path) /* the line is read over by the next */
            snprintf(beside_path, sizeof beside_path, "%s", one.path);
        beside = one;
        beside.path = beside_path;
    }
    free(line);
    if (file)
        fclose(file);
    return c->inner.at[process].mappings->all.len;
}

/* The old list is kept until the new one is whole, for what the kernel had reported about files;
 * and if there is none, for good. */
bool collector_read_maps(struct collector *c, pid_t pid, uint64_t at_ns)
{
    char path[64];
    uint32_t process = collector_process(c, pid, at_ns), number = c->processes.at[process].pid;
    struct mappings *old = c->inner.at[process].mappings;
    c->inner.at[process].mappings = mappings_new();
    snprintf(path, sizeof path, "/proc/%d/maps", (int)proc_living((pid_t)number));
    if (!collector_read_maps_at(c, process, old, path)) { /* a process that is ending has none */
        mappings_release(c->inner.at[process].mappings);
        c->inner.at[process].mappings = old;
        return false;
    }
    mappings_release(old);
    return true;
}

/* --- losses, and what programs publish about themselves -------------------------------------- */

/* There are few kinds of text: looking through all of them is cheap. */
void collector_lose(struct collector *c, enum recording_loss_kind kind, const char *text,
                    uint64_t count, uint64_t ns)
{
    struct collected_loss *loss = NULL;
    for (size_t i = 0; i < c->losses.len && !loss; i++)
        if (c->losses.at[i].kind == kind && !strcmp(c->losses.at[i].text, text))
            loss = &c->losses.at[i];
    if (!loss) {
        text = arena_copy(&c->arena, text, strlen(text));
        vec_push(&c->losses, (struct collected_loss){.kind = kind, .text = text});
        loss = &c->losses.at[c->losses.len - 1];
    }
    loss->count += count;
    loss->ns += ns;
}

/* One that is stopped already stays so: the first time counts. */
void collector_stop(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            return;
    vec_push(&c->stops, (struct collected_stop){process, at_ns, UINT64_MAX});
    c->inner.at[process].has_stops = true;
}

void collector_resume(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            c->stops.at[i].to_ns = at_ns;
}

/* Stops of all processes are in one list, in the order of time. */
bool collector_counts(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    if (at_ns < p->not_before_ns)
        return false;
    /* A program that stops and resumes all the time makes the list long: the newest come first. */
    for (size_t i = p->has_stops ? c->stops.len : 0; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process == process && s->to_ns <= at_ns)
            return true;
        if (s->process == process && s->from_ns <= at_ns)
            return false;
    }
    return true;
}

uint64_t collector_counts_until(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    uint64_t until = p->not_before_ns > at_ns ? p->not_before_ns : UINT64_MAX;
    for (size_t i = p->has_stops ? c->stops.len : 0; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process != process)
            continue;
        if (s->to_ns <= at_ns)
            break;
        until = s->to_ns < until ? s->to_ns : until;
        until = s->from_ns > at_ns && s->from_ns < until ? s->from_ns : until;
    }
    return until;
}

/* What tally_forget() is to forget. */
struct forgotten_process {
    const struct collector *c;
    uint32_t process;
};

static bool forgotten_is_of(uint32_t thread, void *context)
{
    const struct forgotten_process *of = context;
    return of->c->threads.at[thread].process == of->process;
}

/* What was sampled so far is lost at the program's request; what comes late of the time before is
 * forgotten as well. */
void collector_reset(struct collector *c, pid_t pid, uint64_t at_ns)
{
    struct forgotten_process of = {c, collector_process(c, pid, at_ns)};
    uint64_t before = c->left_out.len ? c->left_out.at[0] : 0;
    tally_forget(&c->tally, forgotten_is_of, &of, c->left_out.at, c->left_out.len);
    uint64_t forgotten = c->left_out.len ? c->left_out.at[0] - before : 0;
    if (forgotten && c->events.at[0].unit == RECORDING_UNIT_NS)
        collector_lose(c, RECORDING_LOST_STOPPED, COLLECTOR_STOPPED_TEXT, 1, forgotten);
    collector_waits_forget(c, of.process);
    c->inner.at[of.process].not_before_ns = at_ns;
}

/* Beyond a bound, marks are left out: a program may set one in a loop. */
void collector_mark(struct collector *c, uint32_t kind, pid_t pid, pid_t tid, const char *name,
                    uint64_t at_ns)
{
    enum { MOST_MARKS = 100000 };
    if (c->marks.len >= MOST_MARKS)
        return;
    vec_push(&c->marks, (struct recording_mark){.at_ns = collector_since_start(c, at_ns),
                                                .kind = kind,
                                                .process = collector_process(c, pid, at_ns),
                                                .tid = (uint32_t)tid,
                                                .name = arena_copy(&c->arena, name, strlen(name))});
}

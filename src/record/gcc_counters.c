/* What libgcov would write, read from outside.
 *
 * Constructors of a program hand their counters to libgcov, which keeps a list that begins at
 * `__gcov_root`, a local symbol of every program and shared object that it is linked into. The
 * structures are those of libgcov.h, as runtime/coverage has them from inside:
 *
 *     __gcov_root   list, dumped
 *     gcov_info     version, next, stamp, checksum (12), path, merge[], n_functions, functions
 *     gcov_fn_info  key, ident, checksums of lines and flow, { number, address } of each kind
 *
 * They do not change while the program runs, so a file is laid out at the first look, with zeros
 * where counters go; later looks fill these in, what lies together by one system call. What is
 * written is added to the file that is there (counter_files.c).
 *
 * Nothing is written where libgcov has done so, or is about to: at exit, and before an exec, which
 * gcc makes a call of libgcov's. A copy of a space by fork begins with zeros. libgcov sees to that
 * where the program calls fork() itself; where a library does, or the program makes the system
 * call, the child would go on with its parent's counts, and write them again. Arcs and conditions
 * are read; profiles of values are left out. gcc 9 and later, of 32 and 64 bits. A stripped program
 * has no symbol that leads to its list. */
#include "record/gcc_counters.h"

#include "coverage/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OLDEST = 900,
    LEAST_INFO = 64,     /* bytes of an object's part of the list, which may be damaged */
    AT_ONCE = 256 << 10, /* bytes a call */
    GAP = 4096,          /* between what is read at once */
    DUMPED = 1
};

/* Bytes of the space, of which some are kept: its structures are small, and lie together. */
struct remote {
    const struct space *space;
    uint64_t at;
    size_t len;
    uint8_t bytes[4096];
};

static bool remote_read(struct remote *r, uint64_t at, void *to, size_t len)
{
    if (len > sizeof r->bytes)
        return space_read(r->space, at, to, len);
    if (at < r->at || at - r->at > r->len || len > r->len - (at - r->at)) {
        r->len = 0;
        for (size_t n = sizeof r->bytes; n >= len && n && !r->len; n /= 2)
            r->len = space_read(r->space, at, r->bytes, n) ? n : 0;
        if (r->len < len) {
            r->len = space_read(r->space, at, r->bytes, len) ? len : 0;
            if (r->len < len)
                return false;
        }
        r->at = at;
    }
    memcpy(to, r->bytes + (at - r->at), len);
    return true;
}

/* A pointer, or a number of that size. */
static bool remote_word(const struct gcc_counters *g, struct remote *r, uint64_t at,
                        uint64_t *value)
{
    *value = 0; /* of four bytes the others stay so: machines that ptrace is used on are little */
    return remote_read(r, at, value, g->word);
}

static bool remote_text(struct remote *r, uint64_t at, char *to, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (!remote_read(r, at + i, to + i, 1))
            return false;
        if (!to[i])
            return i > 0;
    }
    return false;
}

/* A variable that the program was started with, in the text of its environment; NULL: none. */
static const char *environment_value(const struct writer *environment, const char *name)
{
    const char *at = (const char *)environment->out.at, *end = at + environment->out.len;
    for (size_t len = strlen(name); at && at < end; at += strlen(at) + 1)
        if (!strncmp(at, name, len) && at[len] == '=')
            return at + len + 1;
    return NULL;
}

/* As the kernel keeps it; what the program has changed since is not seen. */
static void environment_read(struct writer *out, pid_t tid)
{
    char path[64], buffer[4096];
    ssize_t len;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (len = read(fd, buffer, sizeof buffer)) > 0)
        writer_bytes(out, buffer, (size_t)len);
    if (fd >= 0)
        close(fd);
    writer_u8(out, 0);
}

/* GCOV_PREFIX and GCOV_PREFIX_STRIP are those that the program was started with. */
static char *file_path(const struct writer *environment, const char *path)
{
    const char *prefix = environment_value(environment, "GCOV_PREFIX");
    const char *strip = environment_value(environment, "GCOV_PREFIX_STRIP");
    char *out = NULL;
    for (long n = strip && prefix ? strtol(strip, NULL, 10) : 0; n > 0 && *path; n--) {
        const char *slash = strchr(path + 1, '/');
        if (!slash)
            break;
        path = slash;
    }
    size_t len = prefix ? strlen(prefix) : 0;
    out = malloc(len + strlen(path) + 2);
    if (!out)
        memory_exhausted(len + strlen(path));
    memcpy(out, prefix ? prefix : "", len);
    strcpy(out + len, path);
    return out;
}

/* What one look at the list needs. */
struct list_look {
    struct remote remote;
    struct writer environment;
    uint64_t left; /* bytes of counters that there can be: all is mapped somewhere, and once */
};

/* One function's records. Those of a kind are a number and an address, in the order of slots. */
static bool function_take(struct gcc_counters *g, struct list_look *look, uint64_t at,
                          uint64_t owner, const struct gcov_dialect *d, const bool *has_slot,
                          struct writer *w)
{
    uint32_t identity[3], unit = d->has_byte_lengths ? 4 : 1;
    uint64_t key = 0,
             next = (at + g->word + sizeof identity + g->word - 1) & ~(uint64_t)(g->word - 1);
    if (at && !remote_word(g, &look->remote, at, &key))
        return false;
    writer_u32(w, GCOV_TAG_FUNCTION);
    if (key != owner) { /* another object has the counters of this inline function */
        writer_u32(w, 0);
        return true;
    }
    if (!remote_read(&look->remote, at + g->word, identity, sizeof identity))
        return false;
    writer_u32(w, 3 * unit);
    for (int i = 0; i < 3; i++)
        writer_u32(w, identity[i]);
    for (uint32_t slot = 0; slot < d->merge_functions; slot++) {
        uint32_t count;
        uint64_t values;
        if (!has_slot[slot])
            continue;
        if (!remote_read(&look->remote, next, &count, sizeof count) ||
            !remote_word(g, &look->remote, next + g->word, &values) ||
            count * sizeof(uint64_t) > look->left || values > UINT64_MAX - look->left)
            return false;
        look->left -= count * sizeof(uint64_t);
        next += 2 * (uint64_t)g->word;
        if (d->kinds[slot] != KIND_ARCS && d->kinds[slot] != KIND_CONDITIONS)
            continue;
        writer_u32(w, GCOV_TAG_OF_SLOT(slot));
        writer_u32(w, count * 2 * unit);
        vec_push(&g->spans, (struct gcc_span){.at = values,
                                              .file = (uint32_t)g->files.len,
                                              .offset = w->out.len,
                                              .len = count * sizeof(uint64_t),
                                              .is_arcs = d->kinds[slot] == KIND_ARCS});
        for (uint32_t i = 0; i < count; i++)
            writer_u64(w, 0);
    }
    return true;
}

/* One object file's part. *next: the one after it. */
static bool info_take(struct gcc_counters *g, struct list_look *look, uint64_t info, uint64_t *next)
{
    uint32_t version, stamp[2], len;
    uint64_t name, functions, word = g->word, merge, at = info;
    char path[4096];
    bool has_slot[GCOV_SLOTS];
    if (!remote_read(&look->remote, at, &version, sizeof version) ||
        !remote_word(g, &look->remote, at + word, next) ||
        !remote_read(&look->remote, at + 2 * word, stamp, 8))
        return false;
    const struct gcov_dialect *d = dialect_of_word(version);
    if (!d || d->since < OLDEST) {
        g->is_foreign = true;
        return true;
    }
    at += 2 * word + (word == 4 && !d->has_byte_lengths ? 4 : 8);
    if (!remote_word(g, &look->remote, at, &name) ||
        !remote_text(&look->remote, name, path, sizeof path))
        return false;
    for (uint32_t i = 0; i < d->merge_functions; i++) {
        if (!remote_word(g, &look->remote, at += word, &merge))
            return false;
        has_slot[i] = merge;
    }
    if (!remote_read(&look->remote, at += word, &len, sizeof len) ||
        !remote_word(g, &look->remote, at + word, &functions) || len * word > look->left)
        return false;
    struct writer w = {.word = 8};
    writer_u32(&w, GCOV_MAGIC_COUNTERS);
    writer_u32(&w, version);
    writer_u32(&w, stamp[0]);
    if (d->has_byte_lengths)
        writer_u32(&w, stamp[1]);
    writer_u32(&w, GCOV_TAG_OBJECT_SUMMARY);
    writer_u32(&w, d->has_byte_lengths ? 8 : 2);
    writer_u32(&w, 1); /* run */
    writer_u32(&w, 0); /* the largest count: see gcc_counters_write() */
    bool ok = true;
    for (uint32_t i = 0; i < len && ok; i++) {
        uint64_t function;
        ok = remote_word(g, &look->remote, functions + i * word, &function) &&
             function_take(g, look, function, info, d, has_slot, &w);
    }
    writer_u32(&w, 0);
    vec_push(&g->files, (struct gcc_file){file_path(&look->environment, path), w});
    return ok;
}

/* By address, so that neighbours are read at once. */
static int span_order(const void *a, const void *b)
{
    const struct gcc_span *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The list, once it is there; all of it or nothing. */
static void list_take(struct gcc_counters *g, const struct space *s, pid_t tid)
{
    struct list_look look = {.remote = {.space = s}, .left = space_size(s)};
    struct gcc_counters empty = {.root = g->root, .word = g->word, .is_foreign = g->is_foreign};
    uint64_t at;
    gcc_counters_deinit(g);
    *g = empty;
    bool ok = remote_word(g, &look.remote, g->root, &at) && at;
    g->head = at;
    if (ok)
        environment_read(&look.environment, tid);
    for (uint64_t i = 0; ok && at; i++)
        ok = i * LEAST_INFO <= space_size(s) && info_take(g, &look, at, &at);
    writer_deinit(&look.environment);
    g->is_known = ok;
    if (ok) {
        if (g->spans.len)
            qsort(g->spans.at, g->spans.len, sizeof *g->spans.at, span_order);
        return;
    }
    empty.is_foreign = g->is_foreign;
    gcc_counters_deinit(g);
    *g = empty;
}

/* Spans from the first one on that lie so near to each other that one read has them all; *len: how
 * many, *bytes: from the start of the first one. */
static void spans_together(const struct gcc_counters *g, size_t first, size_t *len, size_t *bytes)
{
    uint64_t start = g->spans.at[first].at, end = start;
    size_t i = first;
    for (; i < g->spans.len; i++) {
        const struct gcc_span *s = &g->spans.at[i];
        if (s->at > end + GAP || s->at + s->len - start > AT_ONCE)
            break;
        end = s->at + s->len > end ? s->at + s->len : end;
    }
    *len = i > first ? i - first : 1;
    *bytes = i > first ? end - start : g->spans.at[first].len;
}

/* Where a span's counters stand in its file. */
static uint8_t *span_bytes(const struct gcc_counters *g, const struct gcc_span *s)
{
    return g->files.at[s->file].bytes.out.at + s->offset;
}

void gcc_counters_read(struct gcc_counters *g, const struct space *s, pid_t tid)
{
    uint32_t flags;
    uint64_t head = 0;
    if (!g->root || !space_read(s, g->root + g->word, &flags, sizeof flags) ||
        !space_read(s, g->root, &head, g->word))
        return;
    if (!g->is_known || head != g->head) /* constructors of other objects may come yet */
        list_take(g, s, tid);
    g->is_written = flags & DUMPED;
    VEC(uint8_t) buffer = {0};
    size_t len, bytes;
    for (size_t i = 0; i < g->spans.len; i += len) {
        const struct gcc_span *first = &g->spans.at[i];
        spans_together(g, i, &len, &bytes);
        vec_reserve(&buffer, bytes + 1);
        bool is_read = space_read(s, first->at, buffer.at, bytes);
        for (size_t k = 0; k < len; k++) {
            const struct gcc_span *span = first + k;
            if (is_read)
                memcpy(span_bytes(g, span), buffer.at + (span->at - first->at), span->len);
            else /* a page between them is not mapped */
                (void)space_read(s, span->at, span_bytes(g, span), span->len);
        }
    }
    vec_free(&buffer);
}

/* Only what is the space's alone is changed, not what it may share with others. */
void gcc_counters_clear(struct gcc_counters *g, const struct space *s)
{
    static const uint8_t zeros[4096];
    const uint32_t none = 0;
    for (size_t i = 0; i < g->spans.len; i++) {
        const struct gcc_span *span = &g->spans.at[i];
        memset(span_bytes(g, span), 0, span->len);
        if (!space_holds(s, span->at, span->len, true))
            continue;
        for (size_t k = 0; k < span->len; k += sizeof zeros)
            (void)space_write(s, span->at + k, zeros,
                              span->len - k < sizeof zeros ? span->len - k : sizeof zeros);
    }
    if (g->root && space_holds(s, g->root + g->word, sizeof none, true))
        (void)space_write(s, g->root + g->word, &none, sizeof none);
    g->is_written = false;
}

void gcc_counters_begin(struct gcc_counters *g, const struct gcc_counters *from,
                        const struct space *s, pid_t tid)
{
    if (!g->root)
        return;
    if (from && from->is_known) {
        g->is_known = true;
        g->head = from->head;
        for (size_t i = 0; i < from->files.len; i++) {
            const struct gcc_file *f = &from->files.at[i];
            struct gcc_file copy = {strdup(f->path), {.word = 8}};
            if (!copy.path)
                memory_exhausted(strlen(f->path));
            writer_bytes(&copy.bytes, f->bytes.out.at, f->bytes.out.len);
            vec_push(&g->files, copy);
        }
        for (size_t i = 0; i < from->spans.len; i++)
            vec_push(&g->spans, from->spans.at[i]);
    } else {
        list_take(g, s, tid);
    }
    gcc_counters_clear(g, s);
}

bool gcc_counters_write(struct gcc_counters *g, const struct counter_place *place, bool is_patient,
                        struct err *e)
{
    uint64_t most = 0; /* the largest count is the whole program's */
    VEC(struct counter_file) files = {0};
    if (g->is_written)
        return true;
    for (size_t i = 0; i < g->spans.len; i++)
        for (size_t k = 0; g->spans.at[i].is_arcs && k < g->spans.at[i].len; k += 8) {
            uint64_t count = bytes_u64(span_bytes(g, &g->spans.at[i]) + k, false);
            most = count > most ? count : most;
        }
    for (size_t i = 0; i < g->files.len; i++) {
        const struct writer *w = &g->files.at[i].bytes;
        vec_push(&files, (struct counter_file){g->files.at[i].path, {w->out.at, w->out.len}});
    }
    bool ok = counter_files_add(place, files.at, files.len, most, is_patient, &g->outcome, e);
    vec_free(&files);
    return ok;
}

void gcc_counters_deinit(struct gcc_counters *g)
{
    for (size_t i = 0; i < g->files.len; i++) {
        free(g->files.at[i].path);
        writer_deinit(&g->files.at[i].bytes);
    }
    vec_free(&g->files);
    vec_free(&g->spans);
    *g = (struct gcc_counters){0};
}

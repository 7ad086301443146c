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
 * where counters go; later looks fill these in, some hundred ranges a system call. What is written
 * is added to the file that is there, under the lock that libgcov takes.
 *
 * Nothing is written where libgcov has done so, or is about to: at exit, and before an exec, which
 * gcc makes a call of libgcov's. A child of fork begins with zeros, likewise by libgcov. Arcs and
 * conditions are read; profiles of values are left out. gcc 9 and later, of 32 and 64 bits. A
 * stripped program has no symbol that leads to its list. */
#include "record/gcc_counters.h"
#include "record/proc_threads.h"

#include "coverage/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OLDEST = 900,
    MOST_OBJECTS = 1 << 20, /* of a list that may be damaged */
    MOST_FUNCTIONS = 1 << 24,
    AT_ONCE = 512, /* ranges a call */
    DUMPED = 1
};

static bool remote_read(pid_t pid, uint64_t at, void *to, size_t len)
{
    return proc_read_memory(pid, at, to, len) == len;
}

/* A pointer, or a number of that size. */
static bool remote_word(const struct gcc_counters *g, pid_t pid, uint64_t at, uint64_t *value)
{
    *value = 0; /* of four bytes the others stay so: machines that ptrace is used on are little */
    return remote_read(pid, at, value, g->word);
}

/* GCOV_PREFIX and GCOV_PREFIX_STRIP are the program's as they are ours. */
static char *file_path(const char *path)
{
    const char *prefix = getenv("GCOV_PREFIX"), *strip = getenv("GCOV_PREFIX_STRIP");
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

static bool remote_text(pid_t pid, uint64_t at, char *to, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (!remote_read(pid, at + i, to + i, 1))
            return false;
        if (!to[i])
            return i > 0;
    }
    return false;
}

/* One function's records. Those of a kind are a number and an address, in the order of slots. */
static bool function_take(struct gcc_counters *g, pid_t pid, uint64_t at, uint64_t owner,
                          const struct gcov_dialect *d, const bool *has_slot, struct writer *w)
{
    uint32_t identity[3], unit = d->has_byte_lengths ? 4 : 1;
    uint64_t key = 0,
             next = (at + g->word + sizeof identity + g->word - 1) & ~(uint64_t)(g->word - 1);
    if (at && !remote_word(g, pid, at, &key))
        return false;
    writer_u32(w, GCOV_TAG_FUNCTION);
    if (key != owner) { /* another object has the counters of this inline function */
        writer_u32(w, 0);
        return true;
    }
    if (!remote_read(pid, at + g->word, identity, sizeof identity))
        return false;
    writer_u32(w, 3 * unit);
    for (int i = 0; i < 3; i++)
        writer_u32(w, identity[i]);
    for (uint32_t slot = 0; slot < d->merge_functions; slot++) {
        uint32_t count;
        uint64_t values;
        if (!has_slot[slot])
            continue;
        if (!remote_read(pid, next, &count, sizeof count) ||
            !remote_word(g, pid, next + g->word, &values) || count > MOST_FUNCTIONS)
            return false;
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

/* One object file's part. *next: the one behind it. */
static bool info_take(struct gcc_counters *g, pid_t pid, uint64_t info, uint64_t *next)
{
    uint32_t version, stamp[2], len;
    uint64_t name, functions, word = g->word, merge, at = info;
    char path[4096];
    bool has_slot[GCOV_SLOTS];
    if (!remote_read(pid, at, &version, sizeof version) || !remote_word(g, pid, at + word, next) ||
        !remote_read(pid, at + 2 * word, stamp, 8))
        return false;
    const struct gcov_dialect *d = dialect_of_word(version);
    if (!d || d->since < OLDEST) {
        g->is_foreign = true;
        return true;
    }
    at += 2 * word + (word == 4 && !d->has_byte_lengths ? 4 : 8);
    if (!remote_word(g, pid, at, &name) || !remote_text(pid, name, path, sizeof path))
        return false;
    for (uint32_t i = 0; i < d->merge_functions; i++) {
        if (!remote_word(g, pid, at += word, &merge))
            return false;
        has_slot[i] = merge;
    }
    if (!remote_read(pid, at += word, &len, sizeof len) ||
        !remote_word(g, pid, at + word, &functions) || len > MOST_FUNCTIONS)
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
        ok = remote_word(g, pid, functions + i * word, &function) &&
             function_take(g, pid, function, info, d, has_slot, &w);
    }
    writer_u32(&w, 0);
    vec_push(&g->files, (struct gcc_file){file_path(path), w});
    return ok;
}

/* The list, once it is there; all of it or nothing. */
static void list_take(struct gcc_counters *g, pid_t pid)
{
    uint64_t at;
    bool ok = remote_word(g, pid, g->root, &at) && at;
    for (size_t i = 0; ok && at; i++)
        ok = i < MOST_OBJECTS && info_take(g, pid, at, &at);
    g->is_known = ok;
    if (ok)
        return;
    struct gcc_counters empty = {.root = g->root, .word = g->word, .is_foreign = g->is_foreign};
    gcc_counters_deinit(g);
    *g = empty;
}

void gcc_counters_read(struct gcc_counters *g, pid_t pid)
{
    uint32_t flags;
    if (!g->root || !remote_read(pid, g->root + g->word, &flags, sizeof flags))
        return;
    if (!g->is_known)
        list_take(g, pid);
    g->is_written = flags & DUMPED;
    struct iovec local[AT_ONCE], remote[AT_ONCE];
    for (size_t i = 0; i < g->spans.len; i += AT_ONCE) {
        size_t len = g->spans.len - i < AT_ONCE ? g->spans.len - i : AT_ONCE;
        for (size_t k = 0; k < len; k++) {
            const struct gcc_span *s = &g->spans.at[i + k];
            local[k] = (struct iovec){g->files.at[s->file].bytes.out.at + s->offset, s->len};
            remote[k] = (struct iovec){(void *)(uintptr_t)s->at, s->len};
        }
        if (process_vm_readv(pid, local, len, remote, len, 0) < 0)
            return;
    }
}

/* What is in the file, if anything is. False: trouble. */
static bool old_read(int fd, struct writer *old, const char *path, struct err *e)
{
    uint8_t buffer[65536];
    ssize_t len;
    while ((len = read(fd, buffer, sizeof buffer)) > 0)
        writer_bytes(old, buffer, (size_t)len);
    return len == 0 || err_errno(e, path, errno);
}

/* Adds one file to what is there. Counters of another build make room for ours, as libgcov has it
 * since gcc 12. */
static bool file_add(const struct gcc_file *f, int fd, uint64_t most, struct err *e)
{
    struct counters ours = {0}, sum = {0};
    struct writer old = {.word = 8}, out = {.word = 8};
    bool ok = old_read(fd, &old, f->path, e) &&
              gcda_read((struct bytes){f->bytes.out.at, f->bytes.out.len}, f->path, &ours, e);
    if (ok) {
        struct err ignored = {0};
        for (size_t i = 0; i < ours.summaries.len; i++)
            ours.summaries.at[i].sum_max = most;
        bool fits = old.out.len &&
                    gcda_read((struct bytes){old.out.at, old.out.len}, f->path, &sum, &ignored) &&
                    sum.origin.version == ours.origin.version &&
                    sum.origin.stamp == ours.origin.stamp && counters_merge(&sum, &ours, &ignored);
        struct counters *all = fits ? &sum : &ours;
        counters_mark_zeros(all);
        ok = gcda_write(&out, all, e);
    }
    ok = ok && ((pwrite(fd, out.out.at, out.out.len, 0) == (ssize_t)out.out.len &&
                 !ftruncate(fd, (off_t)out.out.len)) ||
                err_errno(e, f->path, errno));
    counters_deinit(&ours);
    counters_deinit(&sum);
    writer_deinit(&old);
    writer_deinit(&out);
    return ok;
}

bool gcc_counters_write(struct gcc_counters *g, uint64_t *written, struct err *e)
{
    uint64_t most = 0; /* the largest count is the whole program's */
    bool ok = true;
    for (size_t i = 0; i < g->spans.len && !g->is_written; i++)
        for (size_t k = 0; g->spans.at[i].is_arcs && k < g->spans.at[i].len; k += 8) {
            const struct gcc_span *s = &g->spans.at[i];
            uint64_t count = bytes_u64(g->files.at[s->file].bytes.out.at + s->offset + k, false);
            most = count > most ? count : most;
        }
    for (size_t i = 0; ok && i < g->files.len && !g->is_written; i++) {
        const struct gcc_file *f = &g->files.at[i];
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        for (char *slash = strchr(f->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = '\0'; /* folders of GCOV_PREFIX */
            (void)mkdir(f->path, 0777);
            *slash = '/';
        }
        int fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        ok = fd >= 0 || err_errno(e, f->path, errno);
        if (ok)
            (void)fcntl(fd, F_SETLKW, &lock);
        ok = ok && file_add(f, fd, most, e);
        if (fd >= 0)
            close(fd);
        *written += ok;
    }
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

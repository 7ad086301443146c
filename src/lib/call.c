/* What all calls of the library have in common: errors, sources, targets, formats.
 *
 * Everything that must be given back whatever happens (descriptors) is opened and closed here,
 * outside of heap_run(), which a call may leave in the middle. So reading is two steps: bytes into
 * memory of the handle's heap here, sense made of them inside. Writing is the same in reverse:
 * bytes are encoded in a scratch heap, and only whole ones reach the target, a path by renaming.
 *
 * A source is a path, bytes in memory, or a descriptor, in this order; a descriptor is read from
 * where it stands to its end and not closed. A target is a path, a descriptor, or memory, which
 * is malloc'ed for the caller. Formats by number are the table at the end, in the order of the
 * enumeration; those of profiles are looked up in the profiles' own table, which knows the hint. */
#include "lib/handles.h"

#include "base/file.h"
#include "coverage/format/format.h"
#include "profile/format/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The one place where an error is filled in. */
bool call_fail(struct monarc_error *e, enum monarc_status status, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->status = status;
    return false;
}

bool call_fail_err(struct monarc_error *e, enum monarc_status status, const struct err *why)
{
    return call_fail(e, status, "%s", why->line);
}

/* Takes no memory itself: the text lies in the caller's struct. */
bool call_fail_memory(struct monarc_error *e)
{
    return call_fail(e, MONARC_NO_MEMORY, "out of memory, or beyond the handle's limit");
}

/* No memory comes first: `why` may be half written then. */
bool call_result(enum heap_outcome outcome, enum monarc_status status, const struct err *why,
                 struct monarc_error *e)
{
    if (outcome == HEAP_EXHAUSTED)
        return call_fail_memory(e);
    return outcome == HEAP_TRUE || call_fail_err(e, status, why);
}

/* ---- reading */

/* A file that is being read, of a size that may be unknown: its room doubles. */
struct growing {
    struct heap *heap;
    uint8_t *at;
    size_t len, cap;
};

/* Into a new block, for heap_take() cannot resize. Fails quietly: the caller says why. */
static bool grow(struct growing *g, size_t cap)
{
    uint8_t *moved = heap_take(g->heap, cap);
    if (!moved)
        return false;
    if (g->len)
        memcpy(moved, g->at, g->len);
    heap_give(g->at);
    g->at = moved;
    g->cap = cap;
    return true;
}

/* The last byte of room shows that a file of the size that was expected has ended. Pipes have no
 * size and start with a page. A size that the system names is only where to begin: the file may
 * grow or shrink meanwhile. */
static bool read_all(int fd, struct growing *g, const char *name, struct monarc_error *e)
{
    struct stat st;
    size_t expected = 4096;
    if (fstat(fd, &st))
        return call_fail(e, MONARC_CANNOT_READ, "%s: %s", name, strerror(errno));
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size < PTRDIFF_MAX)
        expected = (size_t)st.st_size + 1;
    for (;;) {
        if (g->len == g->cap && !grow(g, g->cap ? 2 * g->cap : expected))
            return call_fail_memory(e);
        ssize_t n = read(fd, g->at + g->len, g->cap - g->len);
        if (n < 0 && errno != EINTR)
            return call_fail(e, MONARC_CANNOT_READ, "%s: %s", name, strerror(errno));
        if (n == 0)
            return true;
        g->len += n > 0 ? (size_t)n : 0;
    }
}

/* The source's name for messages: what the caller calls it, else its path, else what kind it is. */
static void name_input(const struct monarc_source *in, struct call_input *out)
{
    if (in->name || in->path)
        snprintf(out->name, sizeof out->name, "%s", in->name ? in->name : in->path);
    else if (in->bytes)
        snprintf(out->name, sizeof out->name, "memory");
    else
        snprintf(out->name, sizeof out->name, "descriptor %d", in->descriptor);
}

/* Bytes in memory are used where they lie. A descriptor stays open, and where it was read to. */
bool call_read(const struct monarc_source *in, struct heap *h, struct call_input *out,
               struct monarc_error *e)
{
    if (!in)
        return call_fail(e, MONARC_MISUSE, "no source is given");
    name_input(in, out);
    out->bytes = (struct bytes){in->bytes, in->len};
    if (!in->path && in->bytes)
        return true;
    int fd = in->path ? open(in->path, O_RDONLY | O_CLOEXEC) : in->descriptor;
    if (fd < 0)
        return call_fail(e, MONARC_CANNOT_READ, "%s: %s", out->name,
                         strerror(in->path ? errno : EBADF));
    struct growing g = {.heap = h};
    bool ok = read_all(fd, &g, out->name, e);
    if (in->path)
        close(fd);
    if (!ok)
        heap_give(g.at);
    else
        out->bytes = (struct bytes){g.at, g.len};
    return ok;
}

/* ---- writing */

/* heap_run() knows contexts alone. */
static bool encode(void *context)
{
    struct call_writing *writing = context;
    return writing->encode(writing);
}

/* All of it, in as many pieces as the descriptor takes. What a pipe has taken before it failed is
 * gone. */
static bool write_descriptor(int fd, struct bytes bytes, struct monarc_error *e)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno != EINTR)
            return call_fail(e, MONARC_CANNOT_WRITE, "descriptor %d: %s", fd, strerror(errno));
        bytes.at += n > 0 ? n : 0;
        bytes.len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* To where the target says. Memory is the caller's from then on and of no heap, for it outlives all
 * handles. */
static bool deliver(struct bytes bytes, struct monarc_target *to, struct monarc_error *e)
{
    struct err why = {0};
    if (to->path) /* for commands, "-" is the standard output */
        return file_replace(strcmp(to->path, "-") ? to->path : "./-", bytes, &why) ||
               call_fail_err(e, MONARC_CANNOT_WRITE, &why);
    if (to->descriptor >= 0)
        return write_descriptor(to->descriptor, bytes, e);
    to->bytes = malloc(bytes.len ? bytes.len : 1);
    if (!to->bytes)
        return call_fail_memory(e);
    if (bytes.len)
        memcpy(to->bytes, bytes.at, bytes.len);
    to->len = bytes.len;
    return true;
}

/* The heap has the handle's limit, and is given back once the target has the bytes. */
bool call_write(struct call_writing *writing, const struct monarc_memory *memory,
                struct monarc_target *to, struct monarc_error *e)
{
    struct heap scratch;
    if (!to)
        return call_fail(e, MONARC_MISUSE, "no target is given");
    heap_init(&scratch, memory);
    enum heap_outcome outcome = heap_run(&scratch, encode, writing);
    bool ok = call_result(outcome, MONARC_UNFIT, &writing->why, e) &&
              deliver((struct bytes){writing->w.out.at, writing->w.out.len}, to, e);
    heap_release(&scratch);
    return ok;
}

/* The target may be used again. */
void monarc_target_free(struct monarc_target *t)
{
    if (!t)
        return;
    free(t->bytes);
    t->bytes = NULL;
    t->len = 0;
}

/* ---- The formats by number, name and what their bytes look like. */

/* The library's description of a format. */
struct format_row {
    const char *name, *title;
    bool (*probe)(struct bytes in); /* NULL: profiles, which are probed with a hint */
};

static const struct format_row ROWS[MONARC_FORMATS] = {
    [MONARC_NO_FORMAT] = {"none", "no known format", NULL},
    [MONARC_GMON] = {"gmon", "GNU gmon.out, version 1", NULL},
    [MONARC_GMON0] = {"gmon0", "GNU gmon.out, version 0", NULL},
    [MONARC_SPROF] = {"sprof", "glibc profile of a shared object", NULL},
    [MONARC_BSD44] = {"bsd44", "4.4BSD gmon.out", NULL},
    [MONARC_BSD] = {"bsd", "BSD gmon.out", NULL},
    [MONARC_RECORDING] = {"recording", "recording of monarc run", recording_probe},
    [MONARC_SIDECAR] = {"sidecar", "recording of one process", sidecar_probe},
    [MONARC_GCNO] = {"gcno", "notes of gcc or clang", gcno_probe},
    [MONARC_GCDA] = {"gcda", "counters of gcc or clang", gcda_probe},
    [MONARC_BBG] = {"bbg", "notes of the proposal of 2002", bbg_probe},
    [MONARC_DA] = {"da", "counters of the proposal of 2002", da_probe},
    [MONARC_GCFN] = {"gcfn", "stream of names and counters", gcfn_probe},
    [MONARC_LCOV] = {"lcov", "lcov tracefile", lcov_probe},
};

/* Numbers come from callers, who may have made them up. */
static bool is_format(enum monarc_format format)
{
    return (unsigned)format < MONARC_FORMATS;
}

/* Numbers that are no formats have the name of none. */
const char *monarc_format_name(enum monarc_format format)
{
    return ROWS[is_format(format) ? format : MONARC_NO_FORMAT].name;
}

/* Both tables have the formats under the same names. */
const struct format *profile_format_of(enum monarc_format format)
{
    bool is_one = format >= MONARC_GMON && format <= MONARC_BSD;
    return is_one ? format_named(monarc_format_name(format)) : NULL;
}

enum monarc_format profile_format_number(const struct format *format)
{
    return monarc_format_find(format->name);
}

_Static_assert((int)MONARC_LITTLE_ENDIAN == ORDER_LITTLE && (int)MONARC_BIG_ENDIAN == ORDER_BIG,
               "byte orders are the same");

/* Byte orders have the same numbers. */
struct format_hint profile_hint(const struct monarc_hint *hint)
{
    if (!hint)
        return (struct format_hint){0};
    return (struct format_hint){.word = hint->pointer_bytes,
                                .order = (enum byte_order)hint->byte_order,
                                .default_rate = hint->default_rate,
                                .bsd_header = hint->bsd_header};
}

/* Titles of profiles are those of their own table, which commands print as well. */
const char *monarc_format_title(enum monarc_format format)
{
    const struct format *profile = profile_format_of(format);
    return profile ? profile->title : ROWS[is_format(format) ? format : MONARC_NO_FORMAT].title;
}

/* By the exact name; MONARC_NO_FORMAT if there is none. */
enum monarc_format monarc_format_find(const char *name)
{
    for (int i = 1; i < MONARC_FORMATS; i++)
        if (name && !strcmp(ROWS[i].name, name))
            return (enum monarc_format)i;
    return MONARC_NO_FORMAT;
}

/* A detection that is going on. */
struct detecting {
    struct call_input in;
    struct format_hint hint;
    enum monarc_format found;
    struct err why;
};

/* Those with a magic first: the first BSD files have none and are known by consistency alone.
 * lcov's tracefiles are text without a head and come last. */
static bool detect(void *context)
{
    struct detecting *d = context;
    for (int i = 1; i < MONARC_FORMATS && !d->found; i++)
        if (i != MONARC_LCOV && ROWS[i].probe && ROWS[i].probe(d->in.bytes))
            d->found = (enum monarc_format)i;
    const struct format *profile =
        d->found ? NULL : format_probe(d->in.bytes, d->in.name, &d->hint, &d->why);
    if (profile)
        d->found = profile_format_number(profile);
    if (!d->found && lcov_probe(d->in.bytes))
        d->found = MONARC_LCOV;
    return d->found;
}

/* Reads the whole source, since formats without a magic are judged by all of it. */
enum monarc_format monarc_format_detect(const struct monarc_source *in,
                                        const struct monarc_hint *hint, struct monarc_error *e)
{
    struct heap scratch;
    struct detecting d = {.hint = profile_hint(hint)};
    heap_init(&scratch, NULL);
    if (call_read(in, &scratch, &d.in, e)) {
        enum heap_outcome outcome = heap_run(&scratch, detect, &d);
        if (!call_result(outcome, MONARC_UNKNOWN_FORMAT, &d.why, e))
            d.found = MONARC_NO_FORMAT;
    }
    heap_release(&scratch);
    return d.found;
}

/* Names that a program can print or compare, as the commands' JSON has them. */
const char *monarc_status_name(enum monarc_status status)
{
    static const char *const NAMES[] = {
        [MONARC_OK] = "ok",
        [MONARC_CANNOT_READ] = "cannot-read",
        [MONARC_CANNOT_WRITE] = "cannot-write",
        [MONARC_UNKNOWN_FORMAT] = "unknown-format",
        [MONARC_BAD_INPUT] = "bad-input",
        [MONARC_UNFIT] = "unfit",
        [MONARC_NO_MEMORY] = "no-memory",
        [MONARC_MISUSE] = "misuse",
        [MONARC_STOPPED] = "stopped",
    };
    return (unsigned)status < sizeof NAMES / sizeof *NAMES ? NAMES[status] : "unknown";
}

const char *monarc_version(void)
{
    return MONARC_VERSION;
}

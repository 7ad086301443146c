/* From a target's bytes to gmon.out and gcda files, and the serial line that the bytes may come
 * from.
 *
 * The embedded recorder sends, dumps or leaves in memory any of these, distinguished by their first
 * bytes:
 *
 *   images of its memory (one for each core)     ─► gmon.out, gmon.stack.out, the memory itself
 *   coverage, a gcfn record before each gcda     ─► NAME.gcda at the path compiled in
 *   images, then coverage                        ─► both
 *   a finished gmon.out                          ─► gmon.out
 *   a console with Zephyr's dump of coverage     ─► NAME.gcda
 *
 * Everything is read and checked before anything is written, so a dump that is cut short leaves
 * the folder as it was. File names come from the target: they are put below the requested folder,
 * and refused if they lead out of it. */
#include "session/embedded_files.h"

#include "base/file.h"
#include "coverage/format/format.h"
#include "profile/analysis/diagnosis.h"
#include "profile/format/embedded.h"
#include "profile/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Counters of one object, and where they go. */
struct received_counters {
    const char *path;
    const char *notes; /* the compiler's, where they are; NULL: not there */
    struct counters counters;
};

struct received {
    struct arena arena;
    struct embedded embedded;
    struct bytes memory; /* the images */
    struct bytes gmon;   /* a finished file */
    VEC(struct received_counters) objects;
    VEC(const char *) left_out; /* damaged parts of a console, and why */
};

/* --- reading --------------------------------------------------------------------------------- */

/* Whether ".." is one of the components. */
static bool embedded_leaves_folder(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
            return true;
    return false;
}

/* Where the compiler put the notes, if they are still there and of the same stamp. The notes of an
 * object, where the compiler put them, if they are still there and of the same stamp. They are
 * copied beside the counters, so that the folder can be read alone. */
static const char *embedded_find_notes(const char *name, const struct counters *c, struct arena *a)
{
    size_t len = strlen(name);
    struct file_buffer b = {0};
    const char *found = NULL;
    if (len < 5 || strcmp(name + len - 5, ".gcda"))
        return NULL;
    char *path = arena_printf(a, "%.*s.gcno", (int)(len - 5), name);
    struct stat st;
    if (!stat(path, &st) && file_read(path, &b, NULL) && b.len >= 12) {
        bool big_endian = b.at[0] == 'g';
        if (bytes_u32(b.at + 8, big_endian) == c->origin.stamp)
            found = path;
    }
    file_buffer_deinit(&b);
    return found;
}

/* Under the folder. false: the name leads out of it. */
static bool embedded_place(struct received *r, struct received_counters *o, const char *name,
                           const char *folder)
{
    if (embedded_leaves_folder(name))
        return false;
    o->path = arena_printf(&r->arena, "%s%s%s", folder, *name == '/' ? "" : "/", name);
    o->notes = embedded_find_notes(name, &o->counters, &r->arena);
    return true;
}

/* What a console has may be torn: that is left out. Counters that come again are those of later. */
static void embedded_read_console(struct cursor *in, struct received *r, const char *folder)
{
    const char *name;
    struct bytes gcda;
    while (console_next(in, &r->arena, &name, &gcda)) {
        struct received_counters object = {0};
        struct err why = {0};
        size_t at = 0;
        bool ok = gcda_read(gcda, name, &object.counters, &why);
        if (ok && !embedded_place(r, &object, name, folder))
            ok = err_in(&why, name, "the name leads out of the folder");
        if (!ok) {
            vec_push(&r->left_out, arena_copy(&r->arena, why.line, strlen(why.line)));
            counters_deinit(&object.counters);
            continue;
        }
        while (at < r->objects.len && strcmp(r->objects.at[at].path, object.path) != 0)
            at++;
        if (at == r->objects.len) {
            vec_push(&r->objects, object);
        } else {
            counters_deinit(&r->objects.at[at].counters);
            r->objects.at[at] = object;
        }
    }
}

/* One object after the other to the end of the bytes. */
static bool embedded_read_coverage(struct cursor *in, struct received *r, const char *folder,
                                   struct err *e)
{
    while (cursor_left(in)) {
        struct received_counters object = {0};
        struct cursor where = *in;
        const char *name;
        bool ok = gcfn_next(in, &name, &object.counters, e);
        vec_push(&r->objects, object);
        if (!ok)
            return false;
        struct received_counters *last = &r->objects.at[r->objects.len - 1];
        if (!embedded_place(r, last, name, folder))
            return err_at(e, &where, "the file name '%s' leads out of the folder", name);
    }
    return true;
}

/* Recognises the bytes and reads them. What follows the images counts only if it is coverage: a
 * dump of all memory has anything there. */
static bool files_read_all(struct bytes all, const char *name, struct received *r,
                           const char *folder, struct err *e)
{
    struct cursor in = cursor_over(all, name), images = in;
    if (gcfn_probe(all))
        return embedded_read_coverage(&in, r, folder, e);
    if (embedded_find(&images)) {
        const uint8_t *begin = images.at;
        if (!embedded_read_all(&images, &r->embedded, e))
            return false;
        r->memory = (struct bytes){begin, (size_t)(images.at - begin)};
        struct bytes rest = {images.at, cursor_left(&images)};
        return !gcfn_probe(rest) || embedded_read_coverage(&images, r, folder, e);
    }
    embedded_read_console(&in, r, folder);
    if (r->objects.len)
        return true;
    if (r->left_out.len)
        return err_set(e, "%s", r->left_out.at[0]);
    struct format_hint hint = {0};
    r->gmon = all;
    return all.len >= 4 && !memcmp(all.at, "gmon", 4)
               ? format_read(all, name, &hint, &r->embedded.time, e)
               : err_in(e, name,
                        "there is nothing of the embedded recorder in these %zu bytes: no frames, "
                        "no memory image, no coverage, no gmon.out",
                        all.len);
}

/* --- writing --------------------------------------------------------------------------------- */

/* gmon.out in the target's word size and byte order. */
static bool embedded_save_profile(const struct profile *p, const char *path, struct err *e)
{
    struct writer w = {.word = p->word, .big_endian = p->big_endian};
    bool ok = format_named("gmon")->write(&w, p, e) &&
              file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

static void embedded_tell_profile(const struct profile *p, const char *path, struct out *out)
{
    out_printf(out, "%s: %" PRIu64 " samples, %" PRIu64 " calls along %zu arcs\n", path,
               profile_samples(p), profile_calls(p), p->arcs.len);
}

/* Samples and calls, the memory as it came (which `monarc doctor` reads again), and the depth of
 * the stack if it was measured. */
static bool embedded_write_profiles(const struct received *r,
                                    const struct embedded_request *request, struct arena *a,
                                    struct out *out, struct err *e)
{
    const struct embedded *m = &r->embedded;
    const char *path = arena_printf(a, "%s/gmon.out", request->folder);
    if (r->gmon.len) {
        if (!file_replace(path, r->gmon, e))
            return false;
        embedded_tell_profile(&m->time, path, out);
        return true;
    }
    if (!m->cores.len)
        return true;
    const char *memory = arena_printf(a, "%s/" EMBEDDED_MEMORY_NAME, request->folder);
    if (!embedded_save_profile(&m->time, path, e) || !file_replace(memory, r->memory, e))
        return false;
    embedded_tell_profile(&m->time, path, out);
    /* The table in words, for whoever reads no further. `monarc doctor` says what to do. */
    uint64_t calls = embedded_lost_calls(m), samples = embedded_lost_samples(m);
    if (calls || samples)
        out_printf(out,
                   "lost: %" PRIu64 " calls and %" PRIu64
                   " samples; `monarc doctor` says why and what to do\n",
                   calls, samples);
    if (!m->stacks.histograms.len)
        return true;
    path = arena_printf(a, "%s/gmon.stack.out", request->folder);
    if (!embedded_save_profile(&m->stacks, path, e))
        return false;
    /* With several cores, the first speaks for the stack. */
    const struct embedded_core *c = &m->cores.at[0];
    out_printf(out, "%s: at most %" PRIu64 " bytes of stack in use, at 0x%" PRIx64 "\n", path,
               c->stack_deepest, c->stack_deepest_pc);
    return true;
}

static bool embedded_write_counters(const struct received_counters *o, struct arena *a,
                                    struct err *e)
{
    struct writer w = {0};
    struct file_buffer notes = {0};
    bool ok = file_make_folders(o->path, e) && gcda_write(&w, &o->counters, e) &&
              file_replace(o->path, (struct bytes){w.out.at, w.out.len}, e);
    if (ok && o->notes) {
        char *copy = arena_printf(a, "%s", o->path);
        memcpy(copy + strlen(copy) - 5, ".gcno", 5);
        ok = file_read(o->notes, &notes, e) && file_replace(copy, file_bytes(&notes), e);
    }
    file_buffer_deinit(&notes);
    writer_deinit(&w);
    return ok;
}

/* The image's facts about its program are compared with the ELF file. Another program is refused;
 * one without such facts is noted. */
static bool embedded_check_program(const struct received *r, const struct embedded_request *request,
                                   struct out *out, struct err *e)
{
    if (!request->program || !r->embedded.cores.len)
        return true;
    enum firmware_match match = firmware_match(&r->embedded.cores.at[0], request->program, e);
    if (match == FIRMWARE_OTHER && !request->is_forced)
        return false;
    if (match != FIRMWARE_SAME)
        out_printf(out, "note: %s\n", e->line);
    e->line[0] = '\0';
    return true;
}

bool embedded_files_write(struct bytes in, const char *name, const struct embedded_request *request,
                          struct out *out, struct err *e)
{
    struct received r = {0};
    size_t without_notes = 0;
    bool ok = files_read_all(in, name, &r, request->folder, e) &&
              embedded_check_program(&r, request, out, e);
    if (ok && mkdir(request->folder, 0777) && errno != EEXIST)
        ok = err_errno(e, request->folder, errno);
    ok = ok && embedded_write_profiles(&r, request, &r.arena, out, e);
    for (size_t i = 0; i < r.objects.len && ok; i++) {
        ok = embedded_write_counters(&r.objects.at[i], &r.arena, e);
        without_notes += !r.objects.at[i].notes;
    }
    if (ok && r.objects.len)
        out_printf(out, "%s: coverage of %zu object%s\n", request->folder, r.objects.len,
                   text_plural(r.objects.len));
    for (size_t i = 0; ok && i < r.left_out.len; i++)
        out_printf(out, "note: left out: %s\n", r.left_out.at[i]);
    if (ok && without_notes)
        out_printf(out,
                   "note: of %zu, the .gcno file is not where it was compiled: name its folder "
                   "to `monarc cover` as well\n",
                   without_notes);
    embedded_deinit(&r.embedded);
    for (size_t i = 0; i < r.objects.len; i++)
        counters_deinit(&r.objects.at[i].counters);
    vec_free(&r.objects);
    vec_free(&r.left_out);
    arena_deinit(&r.arena);
    return ok;
}

bool embedded_beside(const char *profile, struct embedded *out)
{
    struct arena a = {0};
    struct file_buffer b = {0};
    const char *slash = strrchr(profile, '/');
    char *path = arena_printf(&a, "%.*s" EMBEDDED_MEMORY_NAME,
                              slash ? (int)(slash + 1 - profile) : 0, profile);
    struct stat st;
    bool ok = !stat(path, &st) && file_read(path, &b, NULL);
    if (ok) {
        struct cursor in = cursor_over(file_bytes(&b), path);
        ok = embedded_find(&in) && embedded_read_all(&in, out, NULL);
    }
    file_buffer_deinit(&b);
    arena_deinit(&a);
    return ok;
}

/* A serial line as a terminal device. */

/* --- the serial line ------------------------------------------------------------------------- */

/* Rates that the system has codes for; others are refused. */
static const struct {
    uint32_t baud;
    speed_t code;
} SPEEDS[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800},   {921600, B921600},
    {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000},
};

/* Standard input as a terminal is the user typing, not a target. */
bool serial_is_line(const char *path)
{
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) || !S_ISCHR(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool is_line = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is_line;
}

static bool speed_of(uint32_t baud, speed_t *code)
{
    for (size_t i = 0; i < sizeof SPEEDS / sizeof *SPEEDS; i++)
        if (SPEEDS[i].baud == baud) {
            *code = SPEEDS[i].code;
            return true;
        }
    return false;
}

/* Raw: no echo, no line editing, no XON/XOFF, eight bits, no parity. The settings that were there
 * before are kept for serial_close(). */
bool serial_open(struct serial *s, const char *path, uint32_t baud, uint32_t timeout_seconds,
                 struct err *e)
{
    *s = (struct serial){.fd = -1, .path = path, .timeout_seconds = timeout_seconds};
    speed_t speed;
    if (!speed_of(baud, &speed))
        return err_set(e, "option '--baud' does not support %u baud", baud);
    s->fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (s->fd < 0 || tcgetattr(s->fd, &s->before))
        return err_errno(e, path, errno);
    s->has_before = true;
    struct termios raw = s->before;
    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL | CREAD;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    cfsetispeed(&raw, speed);
    cfsetospeed(&raw, speed);
    return !tcsetattr(s->fd, TCSANOW, &raw) || err_errno(e, path, errno);
}

/* Waits with a time limit, so that a target that stopped sending does not hold the command for
 * ever. */
bool serial_read(struct serial *s, uint8_t *to, size_t size, size_t *n, struct err *e)
{
    struct pollfd wait = {.fd = s->fd, .events = POLLIN};
    int timeout =
        s->timeout_seconds
            ? (int)(s->timeout_seconds * 1000 > 0x7fffffff ? 0x7fffffff : s->timeout_seconds * 1000)
            : -1;
    *n = 0;
    int ready = poll(&wait, 1, timeout);
    if (ready < 0)
        return errno == EINTR || err_errno(e, s->path, errno);
    if (!ready)
        return true;
    ssize_t len = read(s->fd, to, size);
    if (len < 0 && errno != EIO) /* EIO: the other end hung up */
        return err_errno(e, s->path, errno);
    *n = len > 0 ? (size_t)len : 0;
    return true;
}

void serial_close(struct serial *s)
{
    if (s->has_before)
        tcsetattr(s->fd, TCSANOW, &s->before);
    if (s->fd >= 0)
        close(s->fd);
}
